// JobFlows: a Volcano Job for each flow, as soon as the jobs it depends on are complete; and the
// list of jobs that a JobTemplate has been used for. Live on the control loop.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_job_flow_controller();
std::unique_ptr<Reconciler> make_job_template_controller();

}  // namespace krater::controllers
