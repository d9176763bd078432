#include "scheduler/testing/naive_shares.h"

#include <algorithm>

namespace krater::scheduler::naive {
namespace {

__extension__ using Wide = __int128;

bool capped(const Queue& queue, std::size_t kind) {
  return queue.capability[kind].value_or(0) > 0;
}

std::int64_t not_held(const World& world, const Placement& placement, const Queue& queue,
                      std::size_t kind) {
  std::int64_t below = 0;
  for (const Queue* child : children(world, queue))
    below += not_held(world, placement, *child, kind);
  const std::int64_t own = guarantee_of(world, queue)[kind] - held(world, placement, queue)[kind];
  return std::max({own, below, std::int64_t{0}});
}

// Of what others are guaranteed: its siblings, those of its parent, and so on.
std::int64_t kept_for_others(const World& world, const Placement& placement, const Queue& queue,
                             std::size_t kind) {
  std::int64_t out = 0;
  for (const Queue* at : path(world, queue)) {
    for (const Queue* sibling : siblings(world, *at)) {
      if (sibling != at) out += not_held(world, placement, *sibling, kind);
    }
  }
  return out;
}

bool nothing_said(const Wishes& wishes) {
  return std::none_of(wishes.begin(), wishes.end(),
                      [](const auto& one) { return one.has_value(); });
}

// 0 of 0 is nothing, anything else of 0 is all.
Fraction fraction(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Fraction{part, whole} : Fraction{part > 0 ? 1 : 0, 1};
}
void raise(Fraction& top, const Fraction& one) {
  if (compare(top, one) < 0) top = one;
}

// The queue or the one above it that is a sibling of the other, or of one above the other.
const Queue& branch(const World& world, const Queue& queue, const Queue& other) {
  for (const Queue* mine : path(world, queue)) {
    for (const Queue* theirs : path(world, other)) {
      if (mine->parent == theirs->parent || !world.rules.tree) return *mine;
    }
  }
  return queue;
}

// Who takes part in pouring out.
struct Vessel {
  const Queue* queue;
  Amounts content{};
  bool full = false;
};

// One round for one of them.
Amounts after_round(const World& world, const Vessel& vessel, const Amounts& left,
                    std::int64_t weights) {
  const Amounts limit = limit_of(world, *vessel.queue), asked = asked_for(world, *vessel.queue);
  const Amounts floor = guarantee_of(world, *vessel.queue);
  Amounts out{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto part =
        static_cast<std::int64_t>(static_cast<Wide>(left[kind]) * vessel.queue->weight / weights);
    out[kind] = std::min({vessel.content[kind] + part, limit[kind], asked[kind]});
    out[kind] = std::max(out[kind], floor[kind]);
  }
  return out;
}

// It has all that it asks for and may hold, of everything of which something is left.
bool is_full(const World& world, const Vessel& vessel, const Amounts& left) {
  const Amounts limit = limit_of(world, *vessel.queue), asked = asked_for(world, *vessel.queue);
  if (fits_in(asked, vessel.content)) return true;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (left[kind] > 0 && vessel.content[kind] < std::min(limit[kind], asked[kind])) return false;
  }
  return true;
}

}  // namespace

Amounts guarantee_of(const World& world, const Queue& queue) {
  Amounts out = queue.guarantee;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (capped(queue, kind)) out[kind] = std::min(out[kind], *queue.capability[kind]);
    if (out[kind] > all_there_is(world)[kind]) out[kind] = 0;
  }
  return out;
}

Amounts limit_of(const World& world, const Queue& queue) {
  const std::vector<const Queue*> up = path(world, queue);
  Amounts out = up.size() > 1 ? limit_of(world, *up[1]) : all_there_is(world);
  for (const Queue* one : siblings(world, queue)) out = minus(out, guarantee_of(world, *one));
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    out[kind] = std::max<std::int64_t>(out[kind], 0) + guarantee_of(world, queue)[kind];
    if (capped(queue, kind)) out[kind] = std::min(out[kind], *queue.capability[kind]);
  }
  return out;
}

Poured pour_out(const World& world) {
  if (!world.rules.proportion) return {};
  std::vector<Vessel> vessels;
  for (const Queue& queue : world.queues) {
    if (has_jobs(world, queue)) vessels.push_back({&queue});
  }
  Amounts left = all_there_is(world);
  while (true) {
    std::int64_t weights = 0;
    for (const Vessel& one : vessels) weights += one.full ? 0 : one.queue->weight;
    if (weights == 0) break;
    const Amounts before = left;
    for (Vessel& one : vessels) {
      if (one.full) continue;
      const Amounts content = after_round(world, one, before, weights);
      left = minus(left, minus(content, one.content));
      one.content = content;
      one.full = is_full(world, one, before);
    }
    for (std::int64_t& amount : left) amount = std::max<std::int64_t>(amount, 0);
    if (left == before) break;
  }
  Poured out;
  for (const Vessel& one : vessels) out[one.queue->name] = one.content;
  return out;
}

Wishes due_of(const World& world, const Poured& poured, const Queue& queue) {
  Wishes out;
  if (world.rules.proportion) {
    const auto given = poured.find(queue.name);
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      out[kind] = given == poured.end() ? 0 : given->second[kind];
    return out;
  }
  const Amounts limit = limit_of(world, queue), floor = guarantee_of(world, queue);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    out[kind] = queue.deserved[kind];
    if (out[kind] && !world.rules.tree) out[kind] = std::min(*out[kind], limit[kind]);
    if (floor[kind] > 0) out[kind] = std::max(out[kind].value_or(0), floor[kind]);
  }
  return out;
}

bool may_have(const World& world, const Poured& poured, const Placement& placement,
              const Queue& queue, const Amounts& more) {
  for (const std::size_t kind : {kCpu, kMemory}) {
    if (more[kind] <= 0) continue;
    for (const Queue* at : path(world, queue)) {
      const std::int64_t most =
          world.rules.proportion ? *due_of(world, poured, *at)[kind] : limit_of(world, *at)[kind];
      if (held(world, placement, *at)[kind] + more[kind] > most) return false;
    }
    const std::int64_t kept = kept_for_others(world, placement, queue, kind);
    const std::int64_t free = all_there_is(world)[kind] - held_by_all(world, placement)[kind];
    if (kept > 0 && more[kind] > free - kept) return false;
  }
  return true;
}

bool overused(const World& world, const Poured& poured, const Placement& placement,
              const Queue& queue) {
  return world.rules.proportion && fits_in(poured.at(queue.name), held(world, placement, queue));
}

Amounts guaranteed_and_not_held(const World& world, const Placement& placement) {
  Amounts out{};
  for (const Queue& queue : world.queues) {
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      out[kind] += queue.parent.empty() ? not_held(world, placement, queue, kind) : 0;
  }
  return out;
}

int compare(const Fraction& a, const Fraction& b) {
  const Wide left = static_cast<Wide>(a.part) * b.whole,
             right = static_cast<Wide>(b.part) * a.whole;
  return left < right ? -1 : left > right ? 1 : 0;
}

Fraction share_of(const World& world, const Poured& poured, const Placement& placement,
                  const Queue& queue) {
  const Wishes due = due_of(world, poured, queue);
  if (nothing_said(due)) return {1, 1};
  Fraction out;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (due[kind]) raise(out, fraction(held(world, placement, queue)[kind], *due[kind]));
  }
  return out;
}

Fraction dominant_share(const World& world, const Amounts& held) {
  Fraction out;
  for (const std::size_t kind : {kCpu, kMemory})
    raise(out, fraction(held[kind], all_there_is(world)[kind]));
  return out;
}

bool queue_before(const World& world, const Poured& poured, const Placement& placement,
                  const Queue& a, const Queue& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const Queue &mine = branch(world, a, b), &theirs = branch(world, b, a);
  const int order =
      compare(share_of(world, poured, placement, mine), share_of(world, poured, placement, theirs));
  if (order != 0) return order < 0;
  const bool has = !nothing_said(due_of(world, poured, mine));
  const bool other = !nothing_said(due_of(world, poured, theirs));
  if (has != other) return has;
  return mine.name < theirs.name;
}

int job_order(const World& world, const Placement& placement, const Job& a, const Job& b) {
  if (a.priority != b.priority) return a.priority > b.priority ? -1 : 1;
  const bool a_stands = placed(placement, a) >= a.min, b_stands = placed(placement, b) >= b.min;
  if (a_stands != b_stands) return a_stands ? 1 : -1;
  if (!world.rules.drf) return 0;
  return compare(dominant_share(world, times(a.each, placed(placement, a))),
                 dominant_share(world, times(b.each, placed(placement, b))));
}

}  // namespace krater::scheduler::naive
