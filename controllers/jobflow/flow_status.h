// The status of a JobFlow, from the jobs it has made. Pure.
#pragma once

#include "model/job_flow.h"
#include "model/volcano_job.h"

namespace krater::controllers::jobflow {

// Succeed and Failed are final.
Json flow_status(const JobFlowView& flow, const std::vector<VolcanoJobView>& jobs, WallTime now);

}  // namespace krater::controllers::jobflow
