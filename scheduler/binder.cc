#include "scheduler/binder.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/check.h"
#include "base/log.h"

namespace krater::scheduler {
namespace {

constexpr std::size_t kBindsATurn = 500;  // pods, in one turn of the loop, or one gang

// "cpu=4,memory=8Gi"; places for pods are counted as pods.
std::string asks_text(const ResourceList& sum) {
  std::string out;
  for (const auto& [name, amount] : sum.amounts()) {
    if (name == resources::kPods) continue;
    out += (out.empty() ? "" : ",") + name + "=" + resource_text(name, amount);
  }
  return out;
}

}  // namespace

void Binder::bind(GangBind gang) {
  for (const GangBind::Member& member : gang.members) {
    const bool assumed =
        world_.cache.assume(gang.job, member.task->name(), member.task->pod->uid(), member.slot);
    CHECK(assumed);
  }
  reached(gang, VolcanoMetrics::PodStage::Assumed);
  if (const JobInfo* job = world_.cache.job(gang.job); job != nullptr && job->group != nullptr)
    world_.volcano.job_placed(gang.job, job->created, world_.clock.now());
  waiting_.push_back(std::move(gang));
  write_later();
}

// A hundred large gangs at once take seconds to prepare: meanwhile the loop has other work, and may
// be stopped.
void Binder::write_later() {
  if (waiting_.empty() || std::exchange(posted_, true)) return;
  world_.loop.post([this, alive = alive_] {
    if (!*alive) return;
    posted_ = false;
    for (std::size_t pods = 0; pods < kBindsATurn && !waiting_.empty();) {
      const GangBind gang = std::move(waiting_.front());
      waiting_.pop_front();
      pods += gang.members.size();
      write(gang);
    }
    write_later();
  });
}

Result<VolumeBook::Choices> Binder::volume_choices(const GangBind& gang) const {
  VolumeBook::Choices out;
  for (const GangBind::Member& member : gang.members) {
    const auto& claims = member.task->shape->claims;
    const NodeInfo* node = world_.cache.node(member.slot);
    if (claims.empty() || node == nullptr || node->spec == nullptr) continue;
    TRY(world_.cache.volumes().choose_for(claims, {node->name, node->spec->labels}, out));
  }
  return out;
}

void Binder::write(const GangBind& gang) {
  const SteadyTime begin = world_.loop.now();
  Result<VolumeBook::Choices> volumes = volume_choices(gang);
  if (!volumes) {
    settle(gang.job);
    return not_bound(gang, volumes.error());
  }
  if (volumes->awaited.empty()) {
    world_.volcano.work_took(VolcanoMetrics::Work::PreBind, world_.loop.now() - begin,
                             gang.members.size());
    return commit(gang, std::move(volumes->writes));
  }
  prepare(gang, *std::move(volumes));
}

// All of its volumes are asked for at once; what was asked for before is only waited for.
void Binder::prepare(const GangBind& gang, VolumeBook::Choices volumes) {
  std::vector<client::Write> writes = std::move(volumes.writes);
  if (writes.empty())
    return volumes_.add(gang, std::move(volumes.awaited), Revision(), world_.loop.now());
  world_.decide({gang.action, "waits", gang.queue.text(), gang.job.text(),
                 std::to_string(gang.members.size()), "",
                 std::to_string(volumes.awaited.size()) + " volumes are made for it first"});
  world_.client.transact(
      std::move(writes), [this, alive = alive_, gang, awaited = std::move(volumes.awaited)](
                             const Result<std::vector<ObjectPtr>>& done) {
        if (!*alive) return;
        if (done) return volumes_.add(gang, awaited, done->back()->revision(), world_.loop.now());
        settle(gang.job);
        not_bound(gang, done.error());
        world_.answered();
      });
}

void Binder::look_at_volumes() {
  if (volumes_.empty()) return;
  for (auto& [gang, ready] : volumes_.take_settled(world_.cache, world_.loop.now())) {
    if (ready) {
      waiting_.push_back(std::move(gang));
    } else {
      settle(gang.job);
      not_bound(gang, ready.error());
    }
  }
  write_later();
}

// The volumes of all are settled with their nodes, or nobody starts.
void Binder::commit(const GangBind& gang, std::vector<client::Write> volume_writes) {
  std::vector<client::Write> writes;
  for (const GangBind::Member& member : gang.members) {
    writes.emplace_back(client::BindWrite{member.task->name_space(), member.task->name(),
                                          member.task->pod->uid(), NodeName(member.node),
                                          member.annotations});
  }
  std::move(volume_writes.begin(), volume_writes.end(), std::back_inserter(writes));
  const SteadyTime ready = world_.loop.now();
  reached(gang, VolcanoMetrics::PodStage::PreBound);
  log::info("scheduler.bind", {{"job", gang.job.text()}, {"pods", gang.members.size()}});
  world_.client.transact(std::move(writes), [this, alive = alive_, gang,
                                             ready](const Result<std::vector<ObjectPtr>>& done) {
    if (!*alive) return;
    settle(gang.job);
    if (done) {
      world_.volcano.work_took(VolcanoMetrics::Work::Bind, world_.loop.now() - ready,
                               gang.members.size());
      bound(gang, *done);
    } else {
      not_bound(gang, done.error());
    }
    world_.answered();
  });
}

void Binder::reached(const GangBind& gang, VolcanoMetrics::PodStage stage) {
  const WallTime now = world_.clock.now();
  for (const GangBind::Member& member : gang.members)
    world_.volcano.pods_reached(stage, now - member.task->created);
}

void Binder::settle(const JobKey& job) {
  const auto place = in_flight_.find(job);
  CHECK(place != in_flight_.end());
  if (--place->second == 0) in_flight_.erase(place);
}

void Binder::bound(const GangBind& gang, const std::vector<ObjectPtr>& written) {
  world_.backoffs.forget(gang.job);
  world_.metrics.binds += gang.members.size();
  reached(gang, VolcanoMetrics::PodStage::Bound);
  std::set<std::string_view> nodes;
  Resource sum;
  for (const GangBind::Member& member : gang.members) {
    nodes.insert(member.node);
    sum += member.task->shape->request;
  }
  world_.decide({gang.action, "bound", gang.queue.text(), gang.job.text(),
                 std::to_string(gang.members.size()), "",
                 "to " + std::to_string(nodes.size()) +
                     (nodes.size() == 1 ? " node: " : " nodes, the first: ") +
                     std::string(*nodes.begin()),
                 asks_text(sum.to_list(world_.cache.names()))});
  listeners_.bound(gang.job);
  // The answer may be ahead of the watch.
  for (std::size_t i = 0; i < gang.members.size(); ++i) world_.cache.set_pod(written[i]);
  for (const GangBind::Member& member : gang.members) {
    world_.events.normal(*member.task->pod, "Scheduled",
                         "Successfully assigned " + member.task->name_space() + "/" +
                             member.task->name() + " to " + member.node);
  }
}

void Binder::not_bound(const GangBind& gang, const Error& why) {
  ++world_.metrics.bind_failures;
  log::warn("scheduler.bind.failed", {{"job", gang.job.text()}, {"why", why.message}});
  world_.decide({gang.action, "failed", gang.queue.text(), gang.job.text(),
                 std::to_string(gang.members.size()), "", why.message});
  for (const GangBind::Member& member : gang.members)
    world_.cache.forget(gang.job, member.task->name(), member.task->pod->uid());
  retry_later(world_, gang.job);
  // One failure is a race with somebody else's change; more of them are worth a word.
  if (world_.backoffs.failures(gang.job) > 1) {
    for (const GangBind::Member& member : gang.members) listeners_.failed(member.task, why.message);
  }
}

}  // namespace krater::scheduler
