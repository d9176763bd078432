#include "controllers/vcjob/machine.h"

namespace krater::controllers::vcjob {
namespace {

using Phase = VolcanoJobPhase;
using Action = VolcanoAction;

std::int64_t total_replicas(const Observed& seen) {
  std::int64_t out = 0;
  for (const VolcanoTask& task : seen.tasks) out += task.replicas;
  return out;
}

std::int64_t total_minimum(const Observed& seen) {
  std::int64_t out = 0;
  for (const VolcanoTask& task : seen.tasks) out += task.min_available.value_or(task.replicas);
  return out;
}

std::string number(std::int64_t count) {
  return std::to_string(count);
}

std::optional<Change> from_restarting(const Observed& seen, const Counts& counts) {
  const std::int64_t limit = seen.job.max_retry();
  if (seen.status.retry_count >= limit)
    return Change{
        Phase::Failed, "MaxRetryReached",
        "restarted " + number(seen.status.retry_count) + " times, maxRetry is " + number(limit)};
  if (total_replicas(seen) - counts.terminating >= seen.status.min_available)
    return Change{Phase::Pending, {}, {}};
  return std::nullopt;
}

// All pods have ended: was it enough?
Change verdict(const Observed& seen, const Counts& counts) {
  if (seen.job.min_available() >= total_minimum(seen)) {
    for (const VolcanoTask& task : seen.tasks) {
      const std::int64_t done = counts.of(task.name, PodPhase::Succeeded);
      if (!task.min_available || task.replicas == 0 || done >= *task.min_available) continue;
      return {Phase::Failed, "TaskFailed",
              number(done) + " pods of task " + task.name + " succeeded, its minAvailable is " +
                  number(*task.min_available)};
    }
  }
  if (const auto wanted = seen.job.min_success(); wanted && counts.succeeded < *wanted) {
    return {Phase::Failed, "MinSuccessMissed",
            number(counts.succeeded) + " pods succeeded, minSuccess is " + number(*wanted)};
  }
  if (counts.succeeded >= seen.job.min_available()) return {Phase::Completed, {}, {}};
  return {Phase::Failed, "MinAvailableMissed",
          number(counts.succeeded) + " pods succeeded, minAvailable is " +
              number(seen.job.min_available())};
}

std::optional<Change> from_running(const Observed& seen, const Counts& counts) {
  const std::int64_t total = total_replicas(seen);
  if (total == 0) return std::nullopt;  // scaled to nothing: as it is
  if (const auto wanted = seen.job.min_success(); wanted && counts.succeeded >= *wanted)
    return Change{Phase::Completed, {}, {}};
  if (counts.succeeded + counts.failed == total) return verdict(seen, counts);
  if (counts.pending > total - seen.job.min_available()) return Change{Phase::Pending, {}, {}};
  return std::nullopt;
}

std::optional<Change> when_quiet(const Counts& counts, Phase next, const Observed& seen) {
  if (!counts.quiet()) return std::nullopt;
  return Change{next, seen.status.reason, seen.status.message};
}

}  // namespace

bool is_active(Phase phase) {
  return phase == Phase::Pending || phase == Phase::Running || phase == Phase::Restarting;
}

bool is_over(Phase phase) {
  return phase == Phase::Completed || phase == Phase::Failed || phase == Phase::Terminated;
}

std::optional<Reaction> reaction_to(Action action, Phase phase) {
  const bool restarting = phase == Phase::Restarting;
  switch (action) {
    case Action::SyncJob:
      return std::nullopt;
    case Action::ResumeJob:
      if (phase != Phase::Aborting && phase != Phase::Aborted) return std::nullopt;
      return Reaction{Phase::Restarting};
    case Action::RestartJob:
      if (!is_active(phase)) return std::nullopt;
      return Reaction{Phase::Restarting, Scope::Job, false, !restarting};
    case Action::RestartTask:
    case Action::RestartPod:
    case Action::RestartPartition:
      if (!is_active(phase)) return std::nullopt;
      return Reaction{Phase::Restarting, Scope::Target, false, !restarting};
    case Action::AbortJob:
      if (!is_active(phase)) return std::nullopt;
      return Reaction{Phase::Aborting};
    case Action::CompleteJob:
      if (!is_active(phase)) return std::nullopt;
      return Reaction{Phase::Completing};
    case Action::TerminateJob:
      if (!is_active(phase)) return std::nullopt;
      return Reaction{Phase::Terminating};
  }
  return std::nullopt;
}

std::optional<Change> follow_counts(const Observed& seen, const Counts& counts) {
  switch (seen.status.phase.value_or(Phase::Pending)) {
    case Phase::Pending:
      if (seen.job.min_available() > counts.running + counts.succeeded + counts.failed)
        return std::nullopt;
      return Change{Phase::Running, {}, {}};
    case Phase::Running:
      return from_running(seen, counts);
    case Phase::Restarting:
      return from_restarting(seen, counts);
    case Phase::Aborting:
      return when_quiet(counts, Phase::Aborted, seen);
    case Phase::Completing:
      return when_quiet(counts, Phase::Completed, seen);
    case Phase::Terminating:
      return when_quiet(counts, Phase::Terminated, seen);
    case Phase::Aborted:
    case Phase::Completed:
    case Phase::Terminated:
    case Phase::Failed:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace krater::controllers::vcjob
