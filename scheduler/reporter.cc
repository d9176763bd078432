#include "scheduler/reporter.h"

#include "base/log.h"
#include "scheduler/behaviors.h"

namespace krater::scheduler {
namespace {

constexpr Duration kTimeForAnother = std::chrono::seconds(1);

}  // namespace

void Reporter::forget(const JobKey& job) {
  statuses_.drop(job);
  parking_.forget(job);
  world_.backoffs.forget(job);
  world_.volcano.forget(job);
  told_waiting_.erase(job);
  incomplete_.erase(job);
}

void Reporter::take(const Session& session, const std::set<JobKey>& changed, bool all) {
  for (const JobKey& key : changed) {
    if (world_.cache.job(key) == nullptr) forget(key);
  }
  parking_.begin();
  std::size_t waiting = 0;
  for (JobId id = 0; id < session.job_count(); ++id) {
    const JobInfo& job = session.job(id);
    if (!session.parked(id) || !job.open() || job.is_bare()) continue;
    ++waiting;
    parking_.stays(job.key);
  }
  const WallTime now = world_.clock.now();
  for (JobReport& one : report(
           session, [&](const JobKey& key) { return all || changed.contains(key); },
           [&](const JobKey& key) { return parking_.pods_overdue(key, now); })) {
    if (one.unsatisfied && !one.bare) ++waiting;
    parking_.take(one, session.help(), now);
    take(std::move(one), session);
  }
  parking_.end();
  // Who was not looked at because a write of his failed is looked at when his time has come.
  for (const JobKey& key : changed) {
    if (world_.backoffs.hold(key, world_.loop.now())) world_.cache.look_at(key);
  }
  world_.metrics.waiting_jobs = waiting + parking_.bare();
  world_.metrics.parked_jobs = parking_.size();
}

void Reporter::take(JobReport report, const Session& session) {
  const JobInfo* before = world_.cache.job(report.key);
  if (before != nullptr &&
      gives_time(report, before->phase, session.behaviors().lost_members_may_be_replaced))
    report.status.reset();
  if (report.status) {
    if (before != nullptr) follow_phase(report, *before);
    world_.cache.set_phase(report.key, report.status->phase);
  }
  // What it no longer holds back may admit another job.
  if (world_.cache.set_fragmented(report.key, report.fragmented)) wake_();
  if (!report.refusal.empty()) {
    log::debug("scheduler.refused",
               {{"action", "enqueue"}, {"job", report.key.text()}, {"why", report.refusal}});
  }
  // What is on its way is told when it is there; others of the job do not wait for its volumes.
  const bool runs = before != nullptr && before->count(TaskStatus::Running) > 0;
  const bool held = binder_.busy(report.key) && !(runs && binder_.awaits_volumes(report.key));
  if (!held) tell_waiting(report);
  statuses_.take(std::move(report), held);
}

void Reporter::follow_phase(const JobReport& report, const JobInfo& before) {
  const PodGroupPhase next = report.status->phase;
  if (before.phase == next) return;
  log::info("scheduler.phase", {{"job", report.key.text()},
                                {"from", to_text(before.phase)},
                                {"to", to_text(next)},
                                {"queue", before.queue}});
  if (before.phase == PodGroupPhase::Pending && next == PodGroupPhase::Inqueue)
    world_.decide({"enqueue", "admitted", before.queue.text(), report.key.text()});
  if (next == PodGroupPhase::Completed)
    world_.decide({"close", "completed", before.queue.text(), report.key.text()});
}

// Once as long as the reason is the same; figures change all the time.
void Reporter::tell_waiting(const JobReport& report) {
  if (!report.unsatisfied || report.why_code.empty()) {
    told_waiting_.erase(report.key);
    return;
  }
  std::string& told = told_waiting_[report.key];
  if (told == report.why_code) return;
  told = std::string(report.why_code);
  const bool refused = !report.refusal.empty();
  std::string reason = report.refusal;
  if (!refused) {
    const PodGroupCondition* condition =
        report.status ? report.status->condition("Unschedulable") : nullptr;
    if (condition != nullptr && condition->status == "True") {
      reason = condition->message;
    } else if (!report.waiting.empty()) {
      reason = report.waiting.front().message;
    }
  }
  world_.decide({refused ? "enqueue" : "allocate", refused ? "refused" : "waits",
                 report.queue.text(), report.key.text(), std::to_string(report.waiting.size()), "",
                 std::string(report.why_code) + ": " + reason});
}

// Whoever lost a member is mostly given another at once: only who lacks it for as long as a cycle
// of Volcano's is told to have lost it.
bool Reporter::gives_time(const JobReport& report, PodGroupPhase before, bool allowed) {
  const bool lost = allowed && report.incomplete && before == PodGroupPhase::Running &&
                    report.status && report.status->phase == PodGroupPhase::Unknown;
  if (!lost) {
    incomplete_.erase(report.key);
    return false;
  }
  const auto [since, fresh] = incomplete_.try_emplace(report.key, world_.loop.now());
  if (fresh) {
    world_.loop.after(kTimeForAnother, [this, alive = alive_, key = report.key] {
      if (!*alive || !incomplete_.contains(key)) return;
      world_.cache.look_at(key);
      wake_();
    });
  }
  return world_.loop.now() - since->second < kTimeForAnother;
}

}  // namespace krater::scheduler
