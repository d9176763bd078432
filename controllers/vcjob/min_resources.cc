#include "controllers/vcjob/min_resources.h"

#include <algorithm>

#include "model/pod_quota.h"

namespace krater::controllers::vcjob {
namespace {

PodQuota quota_of(const VolcanoTask& task, const Observed& seen) {
  const Json* spec = task.pod_template == nullptr ? nullptr : find(*task.pod_template, {"spec"});
  if (spec == nullptr) return PodQuota::of(nullptr);
  const Json made = with_overhead(*spec, seen.runtime_class);
  return PodQuota::of(&made);
}

std::vector<const VolcanoTask*> by_priority(const Observed& seen) {
  std::vector<std::pair<std::int64_t, const VolcanoTask*>> ranked;
  for (const VolcanoTask& task : seen.tasks) {
    std::string name;
    if (task.pod_template != nullptr)
      name = text_at(*task.pod_template, {"spec", "priorityClassName"});
    ranked.emplace_back(name.empty() ? 0 : seen.priority(name), &task);
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const VolcanoTask*> out;
  for (const auto& [priority, task] : ranked) out.push_back(task);
  return out;
}

}  // namespace

Json min_resources(const Observed& seen) {
  const std::vector<const VolcanoTask*> tasks = by_priority(seen);
  std::int64_t left = seen.job.min_available(), minimum = 0;
  for (const VolcanoTask* task : tasks) minimum += task->min_available.value_or(task->replicas);
  PodQuota out;
  const bool first_pods = left < minimum;
  for (const VolcanoTask* task : tasks) {
    const std::int64_t most = first_pods ? task->replicas : task->min_available.value_or(0);
    const std::int64_t pods = std::min(left, most);
    out.add(quota_of(*task, seen), pods);
    left -= pods;
  }
  // More than the tasks' own minima: the rest comes from what they have beyond them.
  for (const VolcanoTask* task : tasks) {
    if (first_pods) break;
    const std::int64_t pods = std::min(left, task->replicas - task->min_available.value_or(0));
    out.add(quota_of(*task, seen), pods);
    left -= std::max<std::int64_t>(pods, 0);
  }
  return out.to_json_object();
}

}  // namespace krater::controllers::vcjob
