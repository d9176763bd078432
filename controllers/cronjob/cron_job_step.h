// One pass over a CronJob, of Kubernetes or of Volcano: what is seen, and what shall be done. Pure.
//
// A Job's name derives from the moment it stands for, so that a pass that is repeated asks for the
// same Job. It is made before the moment is noted in the status: a crash between the two costs a
// create that finds its Job there, never a Job that is missing.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "controllers/cronjob/cron_words.h"
#include "controllers/loop/plan.h"
#include "model/cron_job.h"

namespace krater::controllers {

// Which of the two: what it is called, and what it starts.
struct CronKinds {
  const Kind& cron;
  const Kind& job;
  std::string_view scheduled_time;  // annotation of a job: the moment it stands for
  const CronWords& words;
};

// A job that it controls.
struct CronRun {
  ObjectView job;
  bool complete = false, failed = false;
  std::optional<WallTime> completed{};

  bool finished() const { return complete || failed; }
  const Object* operator->() const { return job.object().get(); }
};

struct CronJobSeen {
  const CronKinds& kinds;
  CronJobView cron;
  std::vector<CronRun> jobs;
  // A job of this name in its namespace, whosever it is; null when there is none.
  std::function<ObjectPtr(const std::string& name)> named;
};

Plan cron_job_step(const CronJobSeen& seen, WallTime now);

}  // namespace krater::controllers
