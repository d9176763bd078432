#include "controllers/job/tally.h"

#include <algorithm>
#include <set>

#include "controllers/job/failure_policy.h"

namespace krater::controllers {
namespace {

// Uids in one status: bounds its size. What does not fit waits for the next pass.
constexpr std::size_t kMaxUncounted = 500;

// Moves uids of pods without finalizer (or without pod) out of the list; returns how many.
std::int64_t flush(std::vector<std::string>& uids, const std::set<std::string>& tracked) {
  return static_cast<std::int64_t>(
      std::erase_if(uids, [&](const std::string& uid) { return !tracked.contains(uid); }));
}

class Counter {
 public:
  Counter(const JobView& job, const std::vector<PodFact>& pods) : job_(job), pods_(pods) {
    out_.status = JobStatus::of(job);
    ending_ = out_.status.has("FailureTarget") || out_.status.has("SuccessCriteriaMet");
  }

  Tally run() {
    flush_counted();
    if (job_.indexed()) gather_indexes();
    judge_failures();
    if (job_.backoff_limit_per_index() && !ending_) hold_back_for_retry();
    for (const PodFact& pod : pods_) {
      if (pod.tracked) count(pod);
    }
    if (job_.indexed()) store_indexes();
    return std::move(out_);
  }

 private:
  bool failed(const PodFact& pod) const { return pod.failed(job_.replaces_only_failed()); }
  bool in_range(const PodFact& pod) const {
    return pod.index && *pod.index < job_.completions().value_or(0);
  }

  void flush_counted() {
    std::set<std::string> tracked;
    for (const PodFact& pod : pods_) {
      if (pod.tracked) tracked.insert(pod.uid());
    }
    out_.tracked_left = !tracked.empty();
    out_.status.succeeded += flush(out_.status.uncounted_succeeded, tracked);
    out_.status.failed += flush(out_.status.uncounted_failed, tracked);
    out_.succeeded = out_.status.succeeded + std::ssize(out_.status.uncounted_succeeded);
    out_.failed = out_.status.failed + std::ssize(out_.status.uncounted_failed);
  }

  void gather_indexes() {
    const std::int64_t completions = job_.completions().value_or(0);
    out_.completed = IndexSet::parse(out_.status.completed_indexes, completions);
    out_.failed_indexes = IndexSet::parse(out_.status.failed_indexes.value_or(""), completions);
    for (const PodFact& pod : pods_) {
      if (pod.tracked && pod.succeeded() && in_range(pod)) out_.completed.add(*pod.index);
    }
  }

  void judge_failures() {
    const auto limit = job_.backoff_limit_per_index();
    for (const PodFact& pod : pods_) {
      if (!pod.tracked || !failed(pod)) continue;
      const FailureVerdict verdict = judge_failure(job_, PodView(pod.object));
      if (verdict.action == FailureAction::FailJob && out_.fail_job_message.empty()) {
        out_.fail_job_message = verdict.message;
      }
      if (!limit || !in_range(pod) || out_.completed.contains(*pod.index)) continue;
      const bool spent = verdict.counts() && pod.failures >= *limit;
      if (spent || verdict.action == FailureAction::FailIndex) out_.failed_indexes.add(*pod.index);
    }
  }

  void hold_back_for_retry() {
    const auto tries = [](const PodFact& pod) { return pod.failures + pod.ignored_failures; };
    std::map<std::int64_t, const PodFact*> last;
    for (const PodFact& pod : pods_) {
      if (!in_range(pod)) continue;
      const PodFact*& slot = last[*pod.index];
      if (slot == nullptr || tries(pod) > tries(*slot) ||
          (tries(pod) == tries(*slot) && !failed(pod)))
        slot = &pod;
    }
    for (const auto& [index, pod] : last) {
      if (!pod->tracked || !failed(*pod)) continue;
      if (out_.completed.contains(index) || out_.failed_indexes.contains(index)) continue;
      out_.awaiting_retry.emplace(index, *pod);
    }
  }

  void count(const PodFact& pod) {
    const bool leaving = job_.object()->deletion().has_value();
    if (!pod.succeeded() && !failed(pod)) {
      // Nobody will come to count the pods of a Job that is being deleted.
      if (leaving) out_.release.push_back(pod);
      return;
    }
    const auto held = pod.index ? out_.awaiting_retry.find(*pod.index) : out_.awaiting_retry.end();
    if (!leaving && held != out_.awaiting_retry.end() && held->second.uid() == pod.uid()) return;
    if (pod.succeeded()) {
      if (job_.indexed() || list(out_.status.uncounted_succeeded, out_.succeeded, pod))
        out_.release.push_back(pod);
      return;
    }
    const bool counts =
        judge_failure(job_, PodView(pod.object)).counts() && (!job_.indexed() || in_range(pod));
    if (!counts || list(out_.status.uncounted_failed, out_.failed, pod))
      out_.release.push_back(pod);
  }

  // True when the uid is listed and the pod may go.
  bool list(std::vector<std::string>& uids, std::int64_t& total, const PodFact& pod) {
    if (std::ranges::count(uids, pod.uid()) > 0) return true;
    ++total;
    if (out_.status.uncounted_succeeded.size() + out_.status.uncounted_failed.size() >=
        kMaxUncounted)
      return false;
    uids.push_back(pod.uid());
    return true;
  }

  void store_indexes() {
    out_.succeeded = out_.completed.count();
    out_.status.succeeded = out_.succeeded;
    out_.status.completed_indexes = out_.completed.text();
    if (job_.backoff_limit_per_index()) out_.status.failed_indexes = out_.failed_indexes.text();
  }

  const JobView& job_;
  const std::vector<PodFact>& pods_;
  Tally out_;
  bool ending_ = false;
};

}  // namespace

Tally tally(const JobView& job, const std::vector<PodFact>& pods) {
  return Counter(job, pods).run();
}

}  // namespace krater::controllers
