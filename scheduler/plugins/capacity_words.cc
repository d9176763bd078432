#include "scheduler/plugins/capacity_words.h"

#include <algorithm>
#include <map>

#include "scheduler/explain.h"
#include "scheduler/plugins/capacity_limits.h"
#include "scheduler/plugins/capacity_rules.h"
#include "scheduler/remedies.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// Of those who hold something so many are named.
constexpr std::size_t kMostNamed = 5;

void add_named(std::vector<std::string> lines, Circumstances& out) {
  const std::size_t more = lines.size() > kMostNamed ? lines.size() - kMostNamed : 0;
  lines.resize(lines.size() - more);
  if (more > 0) lines.push_back("and so do " + std::to_string(more) + " other queues");
  out.lines.insert(out.lines.end(), lines.begin(), lines.end());
}

}  // namespace

std::string CapacityWords::quoted(QueueId queue) const {
  return "queue \"" + session_.queue(queue).name.text() + "\"";
}

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
                    quoted(sibling));
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
  std::vector<std::string> lines;
  for (QueueId q = 0; q < session_.queue_count(); ++q) {
    const std::vector<QueueId>& path = book_.path(q);
    if (q == queue() || !book_.tree().leaf(q) ||
        std::find(path.begin(), path.end(), above) == path.end())
      continue;
    const Resource beyond = only(book_.beyond_due(q), lacking_);
    if (beyond.is_zero()) continue;
    const bool gives = session_.queue(q).reclaimable;
    out.holdings.push_back(
        {session_.queue(q).name.text(), beyond, Holding::Title::BeyondDeserved, gives});
    lines.push_back(quoted(q) + " holds " + amounts_text(session_.names(), beyond) +
                    " beyond what it deserves" + (gives ? "" : ", and gives nothing back"));
  }
  add_named(std::move(lines), out);
}

// Its queue would have more than it deserves: nothing is taken from others for it, whatever they
// hold. Said where they hold something.
void CapacityWords::say_due(Circumstances& out) const {
  std::vector<std::string> lines;
  for (QueueId q = 0; q < session_.queue_count(); ++q) {
    if (q == queue() || !book_.tree().leaf(q)) continue;
    const CapacityEntry& entry = book_.of(q);
    const Resource held = only(entry.account.allocated, lacking_).clamped();
    if (held.is_zero()) continue;
    Resource due;
    for (Dim d = 0; d < held.dims(); ++d) {
      if (held.at(d) > 0 && entry.deserved.has(d)) due.set(d, entry.deserved.at(d));
    }
    out.holdings.push_back({session_.queue(q).name.text(), held, Holding::Title::Holds,
                            session_.queue(q).reclaimable});
    const std::string deserves = amounts_text(session_.names(), due);
    lines.push_back(quoted(q) + " holds " + amounts_text(session_.names(), held) +
                    (deserves.empty() ? "" : " and deserves " + deserves));
  }
  if (lines.empty()) return;
  const CapacityEntry& mine = book_.of(queue());
  Shortage shortage(session_.names());
  for (Dim d = 0; d < lacking_.dims(); ++d) {
    if (lacking_.at(d) <= 0) continue;
    shortage.add(d, {{"requested", lacking_.at(d)},
                     {"allocated", mine.account.allocated.at(d)},
                     {"deserved", mine.deserved.has(d) ? mine.deserved.at(d) : 0}});
  }
  const std::vector<Shortfall> facts =
      shortage.facts("queue " + session_.queue(queue()).name.text());
  out.deserved.insert(out.deserved.end(), facts.begin(), facts.end());
  // The action may have said so.
  const std::string said = quoted(queue()) + " deserves no more";
  if (session_.note(job_).no_eviction.find(said) == std::string::npos)
    out.lines.push_back(said + " (" + shortage.figures() + "), so nothing is taken from others");
  add_named(std::move(lines), out);
}

}  // namespace krater::scheduler
