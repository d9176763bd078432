// The status of a JobFlow, from the jobs it has made. Pure.
#pragma once

#include "model/job_flow.h"
#include "model/volcano_job.h"

namespace krater::controllers::jobflow {

// Whether the flow has seen its job of this name completed; the job itself may be gone.
bool has_completed(const JobFlowView& flow, const std::string& job);

// Succeed and Failed are final.
Json flow_status(const JobFlowView& flow, const std::vector<VolcanoJobView>& jobs, WallTime now);

}  // namespace krater::controllers::jobflow
