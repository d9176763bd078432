#include "scheduler/guarantees.h"

#include <algorithm>
#include <map>

#include "scheduler/amounts.h"
#include "scheduler/explain.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// Nothing of what it may not hold, and nothing of what all nodes together do not have, as everybody
// else would wait for that for ever.
Resource kept_for(const QueueInfo& queue, const Resource& total, const Behaviors& behaviors) {
  Resource out = queue.guarantee;
  for (Dim d = 0; d < out.dims(); ++d) {
    const bool capped = queue.capability.has(d) && queue.capability.at(d) > 0;
    if (capped && behaviors.guarantees_within_capability)
      out.set(d, std::min(out.at(d), queue.capability.at(d)));
    if (behaviors.hollow_guarantees_reserve_nothing && out.at(d) > total.at(d)) out.set(d, 0);
  }
  return out;
}

}  // namespace

Guarantees::Guarantees(const Snapshot& world, const Behaviors& behaviors, bool counts)
    : world_(world) {
  for (const QueuePtr& queue : world.queues) {
    kept_.push_back(kept_for(*queue, world.total, behaviors));
    any_ = any_ || (counts && !kept_.back().is_zero());
  }
  if (!any_) return;
  find_paths();
  free_ = world.total;
  for (QueueId q = 0; q < world.queues.size(); ++q) {
    free_ -= world.sums[q].allocated;
    for (const QueueId at : entries_[q].path) entries_[at].held += world.sums[q].allocated;
  }
}

void Guarantees::find_paths() {
  std::map<QueueName, QueueId> ids;
  for (QueueId q = 0; q < world_.queues.size(); ++q) ids.emplace(world_.queues[q]->name, q);
  entries_.resize(world_.queues.size());
  for (QueueId q = 0; q < world_.queues.size(); ++q) {
    std::vector<QueueId>& path = entries_[q].path;
    for (auto at = ids.find(world_.queues[q]->name);
         at != ids.end() && std::ranges::find(path, at->second) == path.end();
         at = ids.find(world_.queues[at->second]->parent)) {
      path.push_back(at->second);
    }
  }
  std::vector<bool> matters(world_.queues.size());
  for (QueueId q = 0; q < world_.queues.size(); ++q) {
    if (kept_[q].is_zero()) continue;
    for (const QueueId at : entries_[q].path) matters[at] = true;
  }
  for (QueueId q = 0; q < world_.queues.size(); ++q) {
    if (!matters[q]) continue;
    const std::vector<QueueId>& path = entries_[q].path;
    (path.size() > 1 ? entries_[path[1]].below : roots_).push_back(q);
  }
}

// Of what it is guaranteed, or those below it are, nobody there holds so much.
std::int64_t Guarantees::lacking(QueueId queue, Dim dim) const {
  std::int64_t below = 0;
  for (const QueueId child : entries_[queue].below) below = sum_of(below, lacking(child, dim));
  return std::max({kept_[queue].at(dim) - entries_[queue].held.at(dim), below, std::int64_t{0}});
}

std::int64_t Guarantees::lacking_elsewhere(QueueId queue, Dim dim) const {
  const std::vector<QueueId>& path = entries_[queue].path;
  std::int64_t out = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    for (const QueueId one : i + 1 < path.size() ? entries_[path[i + 1]].below : roots_) {
      if (one != path[i]) out = sum_of(out, lacking(one, dim));
    }
  }
  return out;
}

bool Guarantees::leave_room(QueueId queue, const Resource& request, Refusal& why) const {
  if (!any_) return true;
  Shortage shortage(world_.names);
  for (Dim d = 0; d < request.dims(); ++d) {
    if (d == kPods || request.at(d) <= 0) continue;
    const std::int64_t others = lacking_elsewhere(queue, d);
    if (others <= 0 || request.at(d) <= free_.at(d) - others) continue;
    shortage.add(d, {{"requested", request.at(d)},
                     {"guaranteed to other queues and not in use", others},
                     {"held by no queue", free_.at(d)}});
  }
  if (shortage.empty()) return true;
  const std::string name = world_.queues[queue]->name.text();
  why = {"", "queue resource quota insufficient: " + shortage.names_after("insufficient"),
         "queue \"" + name + "\": " + shortage.figures(), codes::kQueueLimit,
         shortage.facts("queue " + name)};
  for (Shortfall& one : why.shortfalls) {
    one.set_by = "cluster";
    for (Dim d = 0; d < request.dims(); ++d) {
      if (world_.names.name(d) == one.resource) one.guaranteed = lacking_elsewhere(queue, d);
    }
  }
  return false;
}

void Guarantees::move(QueueId queue, const Resource& request, int sign) {
  if (!any_ || queue >= entries_.size()) return;
  for (const QueueId at : entries_[queue].path) {
    Resource& held = entries_[at].held;
    sign > 0 ? held += request : held -= request;
  }
  sign > 0 ? free_ -= request : free_ += request;
}

}  // namespace krater::scheduler
