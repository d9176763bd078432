#include "scheduler/evictor.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "scheduler/eviction_writes.h"

namespace krater::scheduler {

void Evictor::evict(const GangEviction& eviction) {
  for (const GangEviction::Victim& victim : eviction.victims) {
    const TaskSpec& task = *victim.task;
    const bool assumed = world_.cache.assume_evicted(task.job, task.name(), task.pod->uid());
    CHECK(assumed);
    if (eviction.action != "shuffle") leaving_for_[eviction.claimant].push_back(victim.task);
    log::info("scheduler.evict", {{"action", eviction.action},
                                  {"pod", task.name_space() + "/" + task.name()},
                                  {"job", task.job.text()},
                                  {"for", eviction.claimant.text()},
                                  {"queue", eviction.queue}});
    world_.decide({eviction.action, "evicted", eviction.queue.text(), task.job.text(),
                   task.name_space() + "/" + task.name(), eviction.claimant.text(),
                   eviction_text(eviction)});
  }
  world_.client.transact(
      eviction_writes(eviction, world_.clock.now()),
      [this, alive = alive_, eviction](const Result<std::vector<ObjectPtr>>& done) {
        if (!*alive) return;
        if (done) {
          evicted(eviction);
        } else {
          not_evicted(eviction, done.error());
        }
        world_.answered();
      });
}

void Evictor::evicted(const GangEviction& eviction) {
  world_.metrics.evictions += eviction.victims.size();
  world_.volcano.evicted(eviction.action);
  const std::string text = eviction_text(eviction);
  for (const GangEviction::Victim& victim : eviction.victims) {
    world_.events.warning(*victim.task->pod, "Evict", text);
    if (victim.group != nullptr) world_.events.normal(*victim.group, "Evict", text);
  }
}

void Evictor::not_evicted(const GangEviction& eviction, const Error& why) {
  ++world_.metrics.eviction_failures;
  log::warn("scheduler.evict.failed", {{"for", eviction.claimant.text()}, {"why", why.message}});
  world_.decide({eviction.action, "failed", eviction.queue.text(), "",
                 std::to_string(eviction.victims.size()), eviction.claimant.text(), why.message});
  for (const GangEviction::Victim& victim : eviction.victims) {
    const TaskSpec& task = *victim.task;
    world_.cache.forget_eviction(task.job, task.name(), task.pod->uid());
  }
  retry_later(world_, eviction.claimant);
}

std::vector<TaskSpecPtr> Evictor::leaving_for(const JobKey& job) const {
  const auto known = leaving_for_.find(job);
  return known == leaving_for_.end() ? std::vector<TaskSpecPtr>() : known->second;
}

void Evictor::forget_those_who_left() {
  for (auto& [job, victims] : leaving_for_)
    std::erase_if(victims, [this](const TaskSpecPtr& one) { return !world_.cache.leaving(*one); });
  std::erase_if(leaving_for_, [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace krater::scheduler
