#include "controllers/vcjob/min_resources.h"

#include <algorithm>

#include "controllers/vcjob/needs.h"
#include "model/pod_quota.h"

namespace krater::controllers::vcjob {
namespace {

PodQuota quota_of(const VolcanoTask& task, const Observed& seen) {
  const Json* spec = task.pod_template == nullptr ? nullptr : find(*task.pod_template, {"spec"});
  if (spec == nullptr) return PodQuota::of(nullptr);
  const Json made = with_overhead(*spec, seen.runtime_class);
  return PodQuota::of(&made);
}

std::vector<TaskNeeds> by_priority(const std::vector<TaskNeeds>& tasks, const Observed& seen) {
  std::vector<std::pair<std::int64_t, const TaskNeeds*>> ranked;
  for (const TaskNeeds& needs : tasks) {
    std::string name;
    if (needs.task->pod_template != nullptr)
      name = text_at(*needs.task->pod_template, {"spec", "priorityClassName"});
    ranked.emplace_back(name.empty() ? 0 : seen.priority(name).value_or(0), &needs);
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<TaskNeeds> out;
  for (const auto& [priority, needs] : ranked) out.push_back(*needs);
  return out;
}

}  // namespace

Json min_resources(const Observed& seen) {
  const GangNeeds gang = needs_of(seen);
  const std::vector<TaskNeeds> tasks = by_priority(gang.tasks, seen);
  std::int64_t left = gang.min_member, minimum = 0;
  for (const TaskNeeds& needs : tasks) minimum += needs.min_available.value_or(needs.replicas);
  PodQuota out;
  const bool first_pods = left < minimum;
  for (const TaskNeeds& needs : tasks) {
    const std::int64_t most = first_pods ? needs.replicas : needs.min_available.value_or(0);
    const std::int64_t pods = std::min(left, most);
    out.add(quota_of(*needs.task, seen), pods);
    left -= pods;
  }
  // More than the tasks' own minima: the rest comes from what they have beyond them.
  for (const TaskNeeds& needs : tasks) {
    if (first_pods) break;
    const std::int64_t pods = std::min(left, needs.replicas - needs.min_available.value_or(0));
    out.add(quota_of(*needs.task, seen), pods);
    left -= std::max<std::int64_t>(pods, 0);
  }
  return out.to_json_object();
}

}  // namespace krater::controllers::vcjob
