#include "scheduler/plugins/capacity_book.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

Bounds effective_deserved(const QueueInfo& queue, const Resource& guarantee, const Resource* cap) {
  Bounds out;
  for (Dim d = 0; d < queue.deserved.dims(); ++d) {
    if (!queue.deserved.has(d)) continue;
    out.set(d, cap == nullptr ? queue.deserved.at(d) : std::min(queue.deserved.at(d), cap->at(d)));
  }
  for (Dim d = 0; d < guarantee.dims(); ++d) {
    const std::int64_t floor = guarantee.at(d);
    if (floor > 0) out.set(d, out.has(d) ? std::max(out.at(d), floor) : floor);
  }
  return out;
}

// A root with a capability: its nodes, within that. What it does not name is not limited by it.
Resource within_capability(Resource amounts, const Bounds& capability) {
  for (Dim d = 0; d < capability.dims(); ++d) {
    if (capability.has(d)) amounts.set(d, std::min(amounts.at(d), capability.at(d)));
  }
  return amounts;
}

// Of everything more than anybody asks for.
Resource boundless(const ResourceNames& names) {
  Resource out;
  for (Dim d = 0; d < names.count(); ++d) out.set(d, kMostAmount);
  return out;
}

}  // namespace

Share share_of(const Resource& allocated, const Bounds& deserved) {
  if (deserved.empty()) return Share(1, 1);
  Share top;
  for (Dim d = 0; d < deserved.dims(); ++d) {
    if (!deserved.has(d)) continue;
    const Share one(allocated.at(d), deserved.at(d));
    if (top < one) top = one;
  }
  return top;
}

void CapacityBook::open(const Session& session, QueueTree tree) {
  tree_ = std::move(tree);
  entries_.assign(tree_.size(), {});
  for (QueueId q = 0; q < session.queue_count(); ++q) {
    const QueueSums& sums = session.sums(q);
    for (const QueueId above : path(q)) {
      QueueAccount& account = entries_[above].account;
      account.has_jobs = account.has_jobs || sums.jobs > 0;
      account.allocated += sums.allocated;
      account.request += sums.request;
      account.inqueue += sums.inqueue;
      account.elastic += sums.elastic;
    }
  }
  const bool as_large_as_its_nodes =
      !tree_.is_hierarchy() || session.behaviors().sibling_guarantees_reserved;
  const Resource all = as_large_as_its_nodes ? session.total() : boundless(session.names());
  for (const QueueId q : tree_.top_down()) open_entry(session, q, all);
  for (QueueId q = 0; q < tree_.size(); ++q) refresh_share(q);
}

// Parents come first, so that a child finds its parent's limits in force.
void CapacityBook::open_entry(const Session& session, QueueId queue, const Resource& total) {
  CapacityEntry& entry = entries_[queue];
  if (queue == tree_.root()) {
    entry.account.real_capability = total;
    entry.bounded = false;
    if (queue < session.queue_count()) {
      const Bounds& capability = session.queue(queue).capability;
      entry.bounded = !capability.empty();
      entry.account.real_capability = within_capability(total, capability);
    }
    return;
  }
  const QueueInfo& info = session.queue(queue);
  const QueueId parent = path(queue)[1];
  Resource guarantees;
  for (const QueueId sibling : tree_.children(parent)) guarantees += session.guarantee(sibling);
  entry.account.real_capability =
      real_capability(entries_[parent].account.real_capability, guarantees,
                      session.guarantee(queue), info.capability);
  entry.guarantee = session.guarantee(queue);
  entry.deserved = effective_deserved(
      info, entry.guarantee, tree_.is_hierarchy() ? nullptr : &entry.account.real_capability);
}

void CapacityBook::refresh_share(QueueId queue) {
  entries_[queue].share = share_of(entries_[queue].account.allocated, entries_[queue].deserved);
}

Resource CapacityBook::beyond_due(QueueId queue) const {
  const CapacityEntry& entry = of(queue);
  Resource out;
  for (Dim d = 0; d < entry.account.allocated.dims(); ++d) {
    const std::int64_t due =
        std::max(entry.deserved.has(d) ? entry.deserved.at(d) : 0, entry.guarantee.at(d));
    out.set(d, std::max<std::int64_t>(entry.account.allocated.at(d) - due, 0));
  }
  return out;
}

bool CapacityBook::within_deserved(QueueId queue, const Resource& wanted) const {
  const CapacityEntry& entry = of(queue);
  bool named = false;
  for (Dim d = 0; d < wanted.dims(); ++d) {
    if (d == kPods || wanted.at(d) <= 0 || !entry.deserved.has(d)) continue;
    named = true;
    const std::int64_t after = entry.account.allocated.at(d) + entry.account.inqueue.at(d) -
                               entry.account.elastic.at(d) + wanted.at(d);
    if (after > entry.deserved.at(d)) return false;
  }
  return named;
}

void CapacityBook::move(QueueId queue, const Resource& request, int sign) {
  for (const QueueId above : path(queue)) {
    Resource& allocated = entries_[above].account.allocated;
    sign > 0 ? allocated += request : allocated -= request;
    refresh_share(above);
  }
}

void CapacityBook::reserve(QueueId queue, const Resource& request, int sign) {
  for (const QueueId above : path(queue)) {
    Resource& reserved = entries_[above].reserved;
    sign > 0 ? reserved += request : reserved -= request;
  }
}

// In a tree what a queue does not limit itself is limited by those above it.
Bounds CapacityBook::capability_of(const Session& session, QueueId queue) const {
  Bounds out;
  for (const QueueId at : path(queue)) {
    if (at >= session.queue_count()) break;
    const Bounds& own = session.queue(at).capability;
    for (Dim d = 0; d < own.dims(); ++d) {
      const bool said = own.has(d) && (own.at(d) > 0 || (d != kCpu && d != kMemory));
      if (said && !out.has(d)) out.set(d, own.at(d));
    }
    if (!tree_.is_hierarchy()) break;
  }
  return out;
}

std::vector<QueueFigures> CapacityBook::figures(const Session& session) const {
  std::vector<QueueFigures> out(session.queue_count());
  for (QueueId q = 0; q < session.queue_count(); ++q) {
    const CapacityEntry& entry = of(q);
    QueueFigures& one = out[q];
    one.allocated = entry.account.allocated;
    one.request = entry.account.request;
    one.inqueue = entry.account.inqueue;
    one.real_capability = entry.account.real_capability;
    for (Dim d = 0; d < entry.deserved.dims(); ++d) {
      if (entry.deserved.has(d)) one.deserved.set(d, entry.deserved.at(d));
    }
    if (tree_.is_hierarchy() || !session.queue(q).capability.empty())
      one.capability = capability_of(session, q);
    one.share = entry.share;
    one.overused = Share(1, 1) < entry.share;
  }
  return out;
}

void CapacityBook::admit(QueueId queue, const Resource& wanted) {
  for (const QueueId above : path(queue)) entries_[above].account.inqueue += wanted;
}

}  // namespace krater::scheduler
