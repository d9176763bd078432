#include "controllers/vcjob/children.h"

#include <algorithm>
#include <set>

namespace krater::controllers::vcjob {
namespace {

// Bounds what one pass holds in memory.
constexpr std::size_t kAtOnce = 1000;

std::int64_t ready_pods(const Observed& seen, const Status& status, const std::string& task) {
  const IndexSet gone = status.succeeded_and_gone(task);
  std::int64_t out = gone.count();
  for (const PodFact& pod : seen.pods) {
    if (pod.task != task || pod.out_of_sync || gone.contains(pod.index)) continue;
    if (pod.succeeded() || (pod.ready && !pod.deleting)) ++out;
  }
  return out;
}

bool left_over(const Observed& seen, const PodFact& pod) {
  if (pod.version >= seen.status.version) return false;
  if (!pod.finished()) return true;
  // Ended pods of the round before are replaced, but stay after the last one.
  return seen.status.phase == VolcanoJobPhase::Restarting &&
         seen.status.reason == to_text(VolcanoAction::RestartJob) &&
         seen.status.retry_count < seen.job.max_retry();
}

}  // namespace

bool may_start(const Observed& seen, const Status& status, const VolcanoTask& task) {
  if (task.depends_on.empty()) return true;
  const auto ready = [&](const std::string& name) {
    const VolcanoTask* other = seen.task(name);
    return other != nullptr && ready_pods(seen, status, name) >= other->min_available.value_or(0);
  };
  // Of a single name, any is all.
  return task.depends_on_any ? std::ranges::any_of(task.depends_on, ready)
                             : std::ranges::all_of(task.depends_on, ready);
}

Missing missing_pods(const Observed& seen, const Status& status) {
  Missing out;
  std::set<std::string, std::less<>> present;
  for (const PodFact& pod : seen.pods) present.insert(pod.name());
  for (const VolcanoTask& task : seen.tasks) {
    const IndexSet gone = status.succeeded_and_gone(task.name);
    bool asked = false;
    for (std::int64_t index = 0; index < task.replicas; ++index) {
      const std::string name = volcano_pod_name(seen.job->name(), task.name, index);
      if (present.contains(name) || gone.contains(index)) continue;
      if (!asked && !may_start(seen, status, task)) break;
      asked = true;
      if (seen.child(kinds::kPod, name) != nullptr) {
        out.taken_by_others = name;
        continue;
      }
      if (out.places.size() == kAtOnce) {
        out.more = true;
        return out;
      }
      out.places.push_back({&task, index});
    }
  }
  return out;
}

std::vector<const PodFact*> unwanted_pods(const Observed& seen) {
  std::vector<const PodFact*> out;
  for (const PodFact& pod : seen.pods) {
    if (pod.deleting) continue;
    if (seen.surplus(pod) || pod.out_of_sync || left_over(seen, pod)) out.push_back(&pod);
  }
  return out;
}

bool clearing(const Observed& seen) {
  if (seen.status.phase != VolcanoJobPhase::Restarting) return false;
  if (seen.status.reason != to_text(VolcanoAction::RestartJob) &&
      seen.status.reason != to_text(VolcanoAction::ResumeJob))
    return false;
  return std::ranges::any_of(seen.pods, [&](const PodFact& pod) {
    return pod.version < seen.status.version && (pod.deleting || left_over(seen, pod));
  });
}

}  // namespace krater::controllers::vcjob
