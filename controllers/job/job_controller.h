// batch/v1 Jobs: pods until they are complete, counted exactly once, retried with back-off, removed
// after their ttl.
#pragma once

#include <memory>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_job_controller();

}  // namespace krater::controllers
