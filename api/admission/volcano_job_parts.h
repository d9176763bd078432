// What the files about Volcano's jobs share. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/admission.h"

namespace krater::api {

using Problems = std::vector<std::string>;

// volcano_job_defaults.cc: what is filled in.
const JsonArray& tasks_of(const Json& job);
std::int64_t replicas_of(const Json& task);
std::int64_t minimum_of(const Json& task);  // of a task that says none: all
void complete_task(Json& task, std::size_t index);
void complete_plugins(Json& job);
// What an update leaves out and a new job would have been given is as it was before.
void keep_what_is_left_out(const Json& old, Json& job);

// volcano_job_plugins.cc
void check_job_plugins(const Admission& admission, Problems& problems);
// Those that the svc plugin gives to pods.
void check_host_names(const Admission& admission, Problems& problems);

// volcano_job.cc: what keeps a new job from being one. `at_once`: its queue must be open now.
Result<Problems> problems_of_job(const Admission& admission, bool at_once);

// volcano_job_update.cc
void check_partitions(const Json& task, std::string_view path, Problems& problems);
void check_job_update(const Admission& admission, Problems& problems);

}  // namespace krater::api
