// The pods of a Volcano Job, from the templates of its tasks. Pure.
#pragma once

#include "controllers/vcjob/observed.h"

namespace krater::controllers::vcjob {

// Complete, with what the job's plugins put into it.
Json build_pod(const Observed& seen, const VolcanoTask& task, std::int64_t index);

// Appends to spec.<list>[*].<member>, in every container ("containers", "initContainers").
void append_to_containers(Json& pod, std::string_view containers, std::string_view member,
                          const JsonArray& items);

}  // namespace krater::controllers::vcjob
