#include "controllers/vcjob/occurrence.h"

#include <algorithm>

namespace krater::controllers::vcjob {
namespace {

bool fits(const LifecyclePolicy& policy, const Occurrence& occurrence) {
  const bool named = std::ranges::any_of(policy.events, [&](VolcanoEvent event) {
    return event == occurrence.event || event == VolcanoEvent::Any;
  });
  // Every pod is pending at first: only for too long is something that happened.
  if (named && (occurrence.event != VolcanoEvent::PodPending || policy.timeout)) return true;
  return policy.exit_code && occurrence.event == VolcanoEvent::PodFailed &&
         std::ranges::count(occurrence.exit_codes, *policy.exit_code) > 0;
}

std::optional<Answer> first_fitting(const std::vector<LifecyclePolicy>& policies,
                                    const Occurrence& occurrence) {
  for (const LifecyclePolicy& policy : policies) {
    if (fits(policy, occurrence)) return Answer{policy.action, policy.timeout.value_or(Duration())};
  }
  return std::nullopt;
}

Occurrence about(VolcanoEvent event, const PodFact& pod, const Observed& seen) {
  Occurrence out;
  out.event = event;
  out.task = pod.task;
  out.pod = pod.name();
  out.partition = pod.partition;
  out.pod_uid = pod.object->uid();
  out.job_uid = seen.job->uid();
  out.version = pod.version;
  if (event == VolcanoEvent::PodFailed) out.exit_codes = pod.exit_codes;
  out.since = pod.since;
  return out;
}

// One task's pods of the current version, as far as they matter to TaskCompleted and TaskFailed.
struct TaskSeen {
  const PodFact* last_success = nullptr;
  const PodFact* most_restarted = nullptr;
  std::int64_t restarts = 0;
};

void look_at(const PodFact& pod, TaskSeen& task) {
  if (pod.succeeded()) {
    if (task.last_success == nullptr || task.last_success->since < pod.since)
      task.last_success = &pod;
  } else if (!pod.finished()) {
    task.restarts += pod.restarts;
    if (task.most_restarted == nullptr || task.most_restarted->restarts < pod.restarts)
      task.most_restarted = &pod;
  }
}

std::int64_t succeeded(const Observed& seen, const VolcanoTask& task) {
  std::int64_t out = 0;
  const IndexSet gone = seen.status.succeeded_and_gone(task.name);
  for (const PodFact& pod : seen.pods) {
    if (pod.task == task.name && pod.succeeded() && !pod.out_of_sync && !seen.surplus(pod) &&
        !gone.contains(pod.index))
      ++out;
  }
  return out + gone.count_below(task.replicas);
}

}  // namespace

StatusMark mark_of(const Status& status) {
  return {status.version, status.retry_count, status.phase};
}

std::string Occurrence::text() const {
  std::string out(to_text(event));
  if (!pod.empty()) out += " of pod " + pod;
  for (std::size_t i = 0; i < exit_codes.size(); ++i) {
    out += i > 0 ? " and " : exit_codes.size() > 1 ? ", exit codes " : ", exit code ";
    out += std::to_string(exit_codes[i]);
  }
  return out;
}

std::vector<Occurrence> standing_occurrences(const Observed& seen) {
  std::vector<Occurrence> out;
  const bool anybody_asks =
      !seen.policies.empty() || std::ranges::any_of(seen.tasks, [](const VolcanoTask& task) {
        return !task.policies.empty();
      });
  if (!anybody_asks) return out;
  std::map<std::string, TaskSeen> tasks;
  for (const PodFact& pod : seen.pods) {
    if (pod.out_of_sync || pod.version < seen.status.version || seen.surplus(pod)) continue;
    look_at(pod, tasks[pod.task]);
    // A pod that fails because it is being deleted is evicted; that is told when it is gone.
    if (pod.phase == PodPhase::Failed && !pod.deleting)
      out.push_back(about(VolcanoEvent::PodFailed, pod, seen));
    else if (pod.phase == PodPhase::Pending && !pod.deleting)
      out.push_back(about(VolcanoEvent::PodPending, pod, seen));
  }
  for (const VolcanoTask& task : seen.tasks) {
    const TaskSeen& pods = tasks[task.name];
    if (pods.most_restarted != nullptr && task.max_retry >= 0 && pods.restarts >= task.max_retry)
      out.push_back(about(VolcanoEvent::TaskFailed, *pods.most_restarted, seen));
    if (pods.last_success != nullptr && succeeded(seen, task) >= task.replicas)
      out.push_back(about(VolcanoEvent::TaskCompleted, *pods.last_success, seen));
  }
  return out;
}

Answer answer_to(const Occurrence& occurrence, const Observed& seen) {
  if (occurrence.ordered) return {*occurrence.ordered, {}};
  if (occurrence.job_uid != seen.job->uid()) return {};
  if (occurrence.version < seen.status.version) return {};
  if (const VolcanoTask* task = seen.task(occurrence.task)) {
    if (const auto answer = first_fitting(task->policies, occurrence)) return *answer;
  }
  return first_fitting(seen.policies, occurrence).value_or(Answer());
}

}  // namespace krater::controllers::vcjob
