// What a controller decided, as a line for people who ask what it did: a phase that it wrote, an
// Event that it told.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "controllers/loop/plan.h"

namespace krater::controllers {

using DecisionLog = std::function<void(std::string line)>;

// "" where the kind has none: status.phase, status.state, or status.state.phase.
std::string phase_of(const Object& object);

// `controller=vcjob-controller object=jobs.batch.volcano.sh/default/a phase=Running before=Pending`
std::string phase_line(std::string_view controller, const ObjectKey& key, std::string_view before,
                       std::string_view now);
std::string event_line(std::string_view controller, const ObjectKey& key, const EventNote& note);

}  // namespace krater::controllers
