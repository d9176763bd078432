#include "scheduler/plugins/capacity_words.h"

#include <algorithm>
#include <map>

#include "scheduler/explain.h"
#include "scheduler/plugins/capacity_limits.h"
#include "scheduler/plugins/capacity_rules.h"
#include "scheduler/plugins/holder_words.h"
#include "scheduler/remedies.h"
#include "scheduler/why.h"

namespace krater::scheduler {
// A limit of the own queue is not moved by what others hold, unless it is guaranteed to them; one
// of a queue above, or too little on nodes, is.
void CapacityWords::say(Circumstances& out) const {
  const Refusal* refusal = refusal_of(session_, job_);
  if (refusal == nullptr || refusal->code != codes::kQueueLimit)
    return say_holders(book_.tree().root(), out);
  const std::string of =
      refusal->shortfalls.empty() ? std::string() : refusal->shortfalls.front().of;
  for (const QueueId at : book_.path(queue())) {
    if (at >= session_.queue_count() || of != "queue " + session_.queue(at).name.text()) continue;
    say_guarantees(at, out);
    if (at != queue()) say_holders(at, out);
    return;
  }
}

// From the limited queue up to the one whose limit it is: what is kept for those beside.
void CapacityWords::say_guarantees(QueueId limited, Circumstances& out) const {
  std::map<QueueId, Resource> kept;
  const std::vector<QueueId>& path = book_.path(limited);
  for (Dim d = 0; d < lacking_.dims(); ++d) {
    if (lacking_.at(d) <= 0) continue;
    const QueueId source = source_of_limit(session_, book_, limited, d).queue;
    for (std::size_t i = 0; i + 1 < path.size() && path[i] != source; ++i) {
      for (const QueueId sibling : book_.tree().children(path[i + 1])) {
        const std::int64_t amount = session_.guarantee(sibling).at(d);
        if (sibling != path[i] && amount > 0) kept[sibling].set(d, amount);
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [sibling, amounts] : kept) {
    out.holdings.push_back(
        {session_.queue(sibling).name.text(), amounts, Holding::Title::Guaranteed, false});
    lines.push_back(amounts_text(session_.names(), amounts) + " is guaranteed to " +
                    quoted_queue(session_, sibling));
  }
  add_named(std::move(lines), out);
}

// Before admission its share counts with what was admitted; afterwards what is allocated counts, in
// any amount that lacks.
bool CapacityWords::may_take() const {
  if (session_.note(job_).refused_admission) return book_.within_deserved(queue(), lacking_);
  return std::any_of(asked_.begin(), asked_.end(), [this](QueueId at) {
    const CapacityEntry& entry = book_.of(at);
    for (Dim d = 0; d < lacking_.dims(); ++d) {
      if (lacking_.at(d) > 0 && entry.deserved.has(d) &&
          entry.account.allocated.at(d) + lacking_.at(d) <= entry.deserved.at(d))
        return true;
    }
    return false;
  });
}

void CapacityWords::say_holders(QueueId above, Circumstances& out) const {
  if (session_.reclaims() && !may_take()) return say_due(out);
  std::vector<Held> held;
  for (QueueId q = 0; q < session_.queue_count(); ++q) {
    const std::vector<QueueId>& path = book_.path(q);
    if (q == queue() || !book_.tree().leaf(q) ||
        std::find(path.begin(), path.end(), above) == path.end())
      continue;
    const Resource beyond = only(book_.beyond_due(q), lacking_);
    if (!beyond.is_zero()) held.push_back({q, beyond});
  }
  say_beyond(session_, held, out);
}

void CapacityWords::say_due(Circumstances& out) const {
  std::vector<Held> held;
  for (QueueId q = 0; q < session_.queue_count(); ++q) {
    if (q == queue() || !book_.tree().leaf(q)) continue;
    const CapacityEntry& entry = book_.of(q);
    Held one{q, only(entry.account.allocated, lacking_).clamped()};
    for (Dim d = 0; d < one.amounts.dims(); ++d) {
      if (one.amounts.at(d) > 0 && entry.deserved.has(d)) one.deserved.set(d, entry.deserved.at(d));
    }
    if (!one.amounts.is_zero()) held.push_back(std::move(one));
  }
  const CapacityEntry& mine = book_.of(queue());
  Shortage shortage(session_.names());
  for (Dim d = 0; d < lacking_.dims(); ++d) {
    if (lacking_.at(d) <= 0) continue;
    shortage.add(d, {{"requested", lacking_.at(d)},
                     {"allocated", mine.account.allocated.at(d)},
                     {"deserved", mine.deserved.has(d) ? mine.deserved.at(d) : 0}});
  }
  say_deserves_no_more(session_, job_, shortage, held, out);
}

}  // namespace krater::scheduler
