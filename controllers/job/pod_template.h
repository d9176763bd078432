// A Job's pods as they are created. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/job.h"

namespace krater::controllers {

struct NewPod {
  std::string name;
  std::optional<std::int64_t> index{};
  std::optional<std::int64_t> failures{};  // with retries per index: failures of the index so far
  std::int64_t ignored_failures = 0;
};

// What the names of a Job's next pods depend on beside the Job.
struct PodNames {
  Uid last_gone{};  // of its pods; empty: none since the start
  std::function<bool(const std::string&)> taken;
};

// `<job>-<5>` or `<job>-<index>-<5>`. The suffix derives from the Job's uid, the pod of it that
// went last, and a number that starts at `serial` and skips names that are taken: the same state
// gives the same name, so a create that is repeated is refused as existing instead of making a
// second pod; and a pod that takes the place of another, which went since the start, is not named
// like it.
std::string pod_name(const JobView& job, std::optional<std::int64_t> index, std::int64_t serial,
                     const PodNames& names);

Json pod_from_template(const JobView& job, const NewPod& pod);

}  // namespace krater::controllers
