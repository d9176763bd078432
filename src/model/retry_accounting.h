// The annotation krater.io/retry-accounting of a Job, of batch/v1 or Volcano's: what uses up its
// tries. Without it, or with "failures": what the job itself got wrong. With "all", as in the
// originals: also that the scheduler evicted a pod, and that the job was suspended and resumed.
#pragma once

#include <string_view>

#include "model/object.h"

namespace krater::keys {
inline constexpr std::string_view kRetryAccounting = "krater.io/retry-accounting";
}  // namespace krater::keys

namespace krater {

inline bool counts_every_restart(const ObjectPtr& job) {
  return ObjectView(job).annotation(keys::kRetryAccounting) == "all";
}

}  // namespace krater
