// PodGroups for a Volcano that goes by another name.
#pragma once

#include <memory>
#include <string>

#include "controllers/batchscheduler/batch_scheduler.h"

namespace krater::controllers {

// `scheduler`: of the pods; `queue`: of whoever names none, or `default`.
std::unique_ptr<BatchScheduler> make_volcano_batch_scheduler(std::string scheduler,
                                                             std::string queue);

}  // namespace krater::controllers
