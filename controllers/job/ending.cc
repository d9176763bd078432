#include "controllers/job/ending.h"

#include <algorithm>

namespace krater::controllers {
namespace {

std::optional<Ending> already_decided(const JobStatus& status) {
  for (const bool success : {true, false}) {
    const Condition* target = status.find(Ending{success, "", ""}.target());
    if (target != nullptr && target->is_true())
      return Ending{success, target->reason, target->message};
  }
  return std::nullopt;
}

std::optional<Ending> by_success_policy(const JobView& job, const Tally& tally) {
  const JsonArray* rules = job.success_rules();
  if (rules == nullptr || !job.indexed()) return std::nullopt;
  const std::int64_t completions = job.completions().value_or(0);
  for (std::size_t i = 0; i < rules->size(); ++i) {
    const auto wanted = string_at((*rules)[i], {"succeededIndexes"});
    const auto count = int_at((*rules)[i], {"succeededCount"});
    std::int64_t reached = tally.completed.count();
    std::int64_t needed = count.value_or(completions);
    if (wanted) {
      const IndexSet set = IndexSet::parse(*wanted, completions);
      // |wanted and completed| = |wanted| + |completed| - |wanted or completed|
      IndexSet all = set;
      all.add(tally.completed);
      reached = set.count() + tally.completed.count() - all.count();
      needed = count.value_or(set.count());
    }
    if (reached >= needed)
      return Ending{true, "SuccessPolicy", "Matched rules at index " + std::to_string(i)};
  }
  return std::nullopt;
}

// With restartPolicy OnFailure the kubelet retries inside the pod: its restarts count.
bool restarted_too_often(const JobView& job, const std::vector<PodFact>& pods) {
  if (!job.restarts_in_place()) return false;
  std::int64_t restarts = 0;
  for (const PodFact& pod : pods) {
    if (pod.phase == PodPhase::Running || pod.phase == PodPhase::Pending) restarts += pod.restarts;
  }
  return job.backoff_limit() == 0 ? restarts > 0 : restarts >= job.backoff_limit();
}

std::optional<Ending> by_failed_indexes(const JobView& job, const Tally& tally) {
  if (!job.backoff_limit_per_index()) return std::nullopt;
  const std::int64_t failed = tally.failed_indexes.count();
  if (job.max_failed_indexes() && failed > *job.max_failed_indexes()) {
    return Ending{false, "MaxFailedIndexesExceeded",
                  "Job has exceeded the specified maximal number of failed indexes"};
  }
  if (failed > 0 && failed + tally.completed.count() >= job.completions().value_or(0)) {
    return Ending{false, "FailedIndexes", "Job has failed indexes"};
  }
  return std::nullopt;
}

bool all_done(const JobView& job, const std::vector<PodFact>& pods, const Tally& tally) {
  if (job.completions()) return tally.succeeded >= *job.completions();
  return tally.succeeded > 0 &&
         std::ranges::none_of(pods, [](const PodFact& pod) { return pod.active(); });
}

}  // namespace

std::optional<Duration> until_deadline(const JobView& job, const JobStatus& status, WallTime now) {
  if (!job.active_deadline_s() || !status.start || job.suspended()) return std::nullopt;
  return *status.start + std::chrono::seconds(*job.active_deadline_s()) - now;
}

std::optional<Ending> find_ending(const JobView& job, const std::vector<PodFact>& pods,
                                  const Tally& tally, WallTime now) {
  if (auto ending = already_decided(tally.status)) return ending;
  if (auto ending = by_success_policy(job, tally)) return ending;
  if (!tally.fail_job_message.empty())
    return Ending{false, "PodFailurePolicy", tally.fail_job_message};
  if (tally.failed > job.backoff_limit() || restarted_too_often(job, pods)) {
    return Ending{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  const auto left = until_deadline(job, tally.status, now);
  if (left && *left <= Duration(0)) {
    return Ending{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
  }
  if (auto ending = by_failed_indexes(job, tally)) return ending;
  if (!job.suspended() && all_done(job, pods, tally)) {
    return Ending{true, "CompletionsReached", "Reached expected number of succeeded pods"};
  }
  return std::nullopt;
}

}  // namespace krater::controllers
