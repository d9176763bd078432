// One pass over a CronJob: what is seen, and what shall be done. Pure.
//
// A Job's name derives from the moment it stands for, so that a pass that is repeated asks for the
// same Job. It is made before the moment is noted in the status: a crash between the two costs a
// create that finds its Job there, never a Job that is missing.
#pragma once

#include <vector>

#include "controllers/loop/plan.h"
#include "model/cron_job.h"
#include "model/job.h"

namespace krater::controllers {

struct CronJobSeen {
  CronJobView cron;
  std::vector<JobView> jobs;  // those it controls
};

Plan cron_job_step(const CronJobSeen& seen, WallTime now);

}  // namespace krater::controllers
