// The submitter's shell command: wait for the dashboard, submit once, follow the log. Pure.
#pragma once

#include <string>

#include "model/rayjob.h"

namespace krater::controllers {

// `dashboard_url`: "host:port". The submission is guarded by the job id, so that a second run of
// the command follows the job instead of submitting it again. Code::Invalid when runtimeEnvYAML is
// no YAML mapping.
Result<std::string> submit_command(const RayJobView& job, const std::string& dashboard_url,
                                   const std::string& job_id);

// spec.runtimeEnvYAML as JSON with sorted keys; "" when absent. Code::Invalid when it is no
// mapping.
Result<std::string> runtime_env_json(const RayJobView& job);

}  // namespace krater::controllers
