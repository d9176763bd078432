#include "scheduler/queue_pitfalls.h"

namespace krater::scheduler {
namespace {

// Who admits no more to a queue than so many times what it deserves reads that as well.
bool deserved_is_read(const Config& config, const QueueInfo& queue) {
  return config.plugin("capacity") != nullptr ||
         (queue.overcommit_per_mille && config.plugin("overcommit") != nullptr);
}

}  // namespace

std::vector<std::string_view> pitfalls(const Config& config, const QueueInfo& queue) {
  std::vector<std::string_view> out;
  if (queue.capability.has(kPods)) {
    out.emplace_back(
        "spec.capability names \"pods\", which bounds nothing: no plugin counts the pods of a "
        "queue; a ResourceQuota bounds those of a namespace");
  }
  if (!queue.deserved.empty() && config.plugin("proportion") != nullptr &&
      !deserved_is_read(config, queue)) {
    out.emplace_back(
        "spec.deserved has no effect: plugin \"proportion\" goes by the weights of queues; it is "
        "read by plugin \"capacity\"");
  }
  return out;
}

}  // namespace krater::scheduler
