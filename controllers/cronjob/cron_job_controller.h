// batch/v1 CronJobs: Jobs by the clock.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_cron_job_controller();
// The same for Volcano's CronJobs, which start Volcano Jobs.
std::unique_ptr<Reconciler> make_volcano_cron_job_controller();

}  // namespace krater::controllers
