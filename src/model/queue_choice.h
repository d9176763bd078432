// Which queue a group, or a pod without one, goes to. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace krater {

// `named`: by whoever made it; "default" is what everybody names who names none. `preferred`: by
// its namespace (annotation scheduling.volcano.sh/queue-name), "" by none. `otherwise`: the queue
// of all others.
QueueName queue_for(std::string_view named, std::string_view preferred, std::string_view otherwise);

}  // namespace krater
