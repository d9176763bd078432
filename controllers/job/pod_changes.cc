#include "controllers/job/pod_changes.h"

#include <algorithm>
#include <set>

#include "controllers/job/backoff.h"
#include "controllers/job/failure_policy.h"

namespace krater::controllers {
namespace {

constexpr std::int64_t kMaxChanges = 500;  // of one pass

std::int64_t wanted_active(const JobView& job, std::int64_t active, const Tally& tally) {
  if (job.suspended()) return 0;
  // A work queue: after the first success nothing is replaced.
  if (!job.completions()) return tally.succeeded > 0 ? active : job.parallelism();
  const std::int64_t missing = *job.completions() - tally.succeeded - tally.failed_indexes.count();
  return std::clamp<std::int64_t>(missing, 0, job.parallelism());
}

// Too many of the same index, or of an index that is not (or no longer) wanted.
std::vector<PodFact> surplus_of_indexes(const JobView& job, std::vector<PodFact>& active,
                                        const Tally& tally) {
  std::vector<PodFact> surplus, kept;
  std::set<std::int64_t> seen;
  for (auto pod = active.rbegin(); pod != active.rend(); ++pod) {  // the most valuable first
    const bool wanted = pod->index && *pod->index < job.completions().value_or(0) &&
                        !tally.completed.contains(*pod->index) &&
                        !tally.failed_indexes.contains(*pod->index);
    (wanted && seen.insert(*pod->index).second ? kept : surplus).push_back(*pod);
  }
  std::ranges::reverse(kept);
  active = std::move(kept);
  return surplus;
}

class Planner {
 public:
  Planner(const JobView& job, const Tally& tally, const PodNames& names, WallTime now)
      : job_(job), tally_(tally), names_(names), now_(now) {}

  void add_indexes(const std::vector<PodFact>& active, std::int64_t count) {
    IndexSet busy = tally_.completed;
    busy.add(tally_.failed_indexes);
    for (const PodFact& pod : active) {
      if (pod.index) busy.add(*pod.index);
    }
    // Indexes that wait for their back-off leave their turn to others.
    for (const auto& [index, failed] : tally_.awaiting_retry) {
      const Duration left = backoff_left(failed, now_);
      if (left <= Duration(0)) continue;
      out.come_back = std::min(out.come_back.value_or(left), left);
      busy.add(index);
    }
    for (const std::int64_t index : busy.missing(count, job_.completions().value_or(0))) add(index);
  }

  void add_plain(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) add(std::nullopt);
  }

  PodChanges out;

 private:
  void add(std::optional<std::int64_t> index) {
    NewPod pod;
    pod.index = index;
    const auto taken = [&](const std::string& name) {
      return chosen_.contains(name) || names_.taken(name);
    };
    pod.name = pod_name(job_, index, tally_.succeeded + tally_.failed, {names_.last_gone, taken});
    chosen_.insert(pod.name);
    if (index && job_.backoff_limit_per_index()) carry_failures(pod);
    out.create.push_back(std::move(pod));
  }

  void carry_failures(NewPod& pod) {
    pod.failures = 0;
    const auto failed = tally_.awaiting_retry.find(*pod.index);
    if (failed == tally_.awaiting_retry.end()) return;
    const bool counts = judge_failure(job_, PodView(failed->second.object)).counts();
    pod.failures = failed->second.failures + (counts ? 1 : 0);
    pod.ignored_failures = failed->second.ignored_failures + (counts ? 0 : 1);
  }

  const JobView& job_;
  const Tally& tally_;
  const PodNames& names_;
  WallTime now_;
  std::set<std::string> chosen_;
};

}  // namespace

PodChanges wanted_changes(const JobView& job, const std::vector<PodFact>& pods, const Tally& tally,
                          const PodNames& names, WallTime now) {
  std::vector<PodFact> active;
  std::int64_t terminating = 0;
  for (const PodFact& pod : pods) {
    if (pod.active()) active.push_back(pod);
    terminating += pod.terminating() ? 1 : 0;
  }
  std::ranges::sort(active, goes_before);

  PodChanges out;
  if (job.indexed()) out.remove = surplus_of_indexes(job, active, tally);
  const std::int64_t wanted = wanted_active(job, std::ssize(active), tally);
  const std::int64_t too_many = std::ssize(active) - wanted;
  if (too_many > 0) out.remove.insert(out.remove.end(), active.begin(), active.begin() + too_many);
  if (std::ssize(out.remove) > kMaxChanges)
    out.remove.resize(static_cast<std::size_t>(kMaxChanges));
  if (!out.remove.empty()) return out;

  const std::int64_t held = job.replaces_only_failed() ? terminating : 0;
  const std::int64_t lacking = std::min(wanted - std::ssize(active) - held, kMaxChanges);
  if (lacking <= 0) return out;
  Planner planner(job, tally, names, now);
  if (job.indexed() && job.backoff_limit_per_index()) {
    planner.add_indexes(active, lacking);
    return std::move(planner.out);
  }
  if (const Duration left = backoff_left(pods, now); left > Duration(0)) {
    out.come_back = left;
    return out;
  }
  if (job.indexed()) {
    planner.add_indexes(active, lacking);
  } else {
    planner.add_plain(lacking);
  }
  return std::move(planner.out);
}

}  // namespace krater::controllers
