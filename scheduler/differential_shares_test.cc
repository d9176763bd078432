// What the real scheduler thinks queues and jobs are due, and where it puts them, against the naive
// one: session by session, on random clusters.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "scheduler/plugins/capacity_book.h"
#include "scheduler/testing/arena.h"
#include "scheduler/testing/naive.h"
#include "scheduler/testing/seeds.h"

namespace krater::scheduler {
namespace {

constexpr naive::Rules kFlat{};
constexpr naive::Rules kTree{.tree = true};
constexpr naive::Rules kProportion{.proportion = true};
constexpr naive::Rules kTreeDrf{.tree = true, .drf = true};
constexpr naive::Rules kProportionDrf{.proportion = true, .drf = true};

struct Situation {
  Situation(std::uint64_t seed, const naive::Rules& rules, std::string_view actions)
      : rng(seed),
        world(random_world(rng, {}, rules)),
        state(random_state(rng, world)),
        poured(pour_out(world)),
        arena(world, state, actions) {}

  SeededRng rng;
  naive::World world;
  naive::State state;
  naive::Poured poured;
  Arena arena;
};

// --- Shares.

void compare_capacity(Situation& one) {
  Session& session = one.arena.session();
  CapacityBook book;
  book.open(session,
            one.world.rules.tree ? QueueTree::hierarchy(session) : QueueTree::flat(session));
  for (const naive::Queue& queue : one.world.queues) {
    const CapacityEntry& entry = book.of(one.arena.queue(queue.name));
    const naive::Amounts limit = limit_of(one.world, queue);
    const naive::Wishes due = due_of(one.world, one.poured, queue);
    for (const Dim d : {kCpu, kMemory}) {
      EXPECT_EQ(entry.account.real_capability.at(d), limit[d]) << queue.name;
      EXPECT_EQ(entry.deserved.has(d) ? std::optional(entry.deserved.at(d)) : std::nullopt, due[d])
          << queue.name;
    }
    const naive::Fraction share = share_of(one.world, one.poured, one.state.placed, queue);
    EXPECT_EQ(Share::compare(entry.share, Share(share.part, share.whole)), 0) << queue.name;
  }
}

// How much more the queue may take of this kind until it has all it deserves: asked for one amount
// after another.
std::int64_t until_deserved(const Session& session, QueueId queue, Dim kind) {
  std::int64_t least = 0, most = session.total().at(kind) + 1;
  while (most - least > 1) {
    const std::int64_t middle = least + (most - least) / 2;
    PodShape shape;
    shape.request.set(kind, middle);
    TaskSpec task;
    task.shape = std::make_shared<const PodShape>(std::move(shape));
    Refusal why;
    (session.preemptive(queue, task, why) ? least : most) = middle;
  }
  return least;
}

void compare_proportion(Situation& one) {
  for (const naive::Queue& queue : one.world.queues) {
    if (!has_jobs(one.world, queue)) continue;
    const naive::Amounts all = naive::held(one.world, one.state.placed, queue);
    for (const Dim d : {kCpu, kMemory}) {
      EXPECT_EQ(until_deserved(one.arena.session(), one.arena.queue(queue.name), d),
                std::max<std::int64_t>(one.poured.at(queue.name)[d] - all[d], 0))
          << queue.name << " " << d;
    }
  }
}

void compare_orders(Situation& one) {
  const Session& session = one.arena.session();
  for (const naive::Job& a : one.world.jobs) {
    for (const naive::Job& b : one.world.jobs) {
      if (&a == &b) continue;
      const int order = job_order(one.world, one.state.placed, a, b);
      EXPECT_EQ(session.job_before(one.arena.job(a.name), one.arena.job(b.name)),
                order != 0 ? order < 0 : a.name < b.name)
          << a.name << " " << b.name;
      if (a.queue == b.queue) continue;
      EXPECT_EQ(session.queue_before(one.arena.queue(a.queue), one.arena.queue(b.queue)),
                queue_before(one.world, one.poured, one.state.placed,
                             queue_named(one.world, a.queue), queue_named(one.world, b.queue)))
          << a.queue << " " << b.queue;
    }
  }
}

void compare_shares(std::uint64_t seed, const naive::Rules& rules) {
  Situation one(seed, rules, "allocate");
  one.world.rules.proportion ? compare_proportion(one) : compare_capacity(one);
  compare_orders(one);
  if (::testing::Test::HasFailure()) ADD_FAILURE() << shown(one.world) << shown(one.state);
}

// Weighted max-min fairness by its definition, without a word of how it is come by: nobody gets
// more than he asks for and may hold, or is guaranteed; and who lacks something has, for his
// weight, no less than anybody to whom nothing is guaranteed (who is guaranteed something begins
// with that, as in Volcano). Rounding costs a unit a round.
void expect_fair(const naive::World& world) {
  constexpr std::int64_t kRounding = 100;
  const naive::Poured poured = pour_out(world);
  for (const auto& [name, has] : poured) {
    const naive::Queue& queue = queue_named(world, name);
    const naive::Amounts limit = limit_of(world, queue), asked = asked_for(world, queue);
    for (const Dim d : {kCpu, kMemory}) {
      const std::int64_t floor = guarantee_of(world, queue)[d], cap = std::min(limit[d], asked[d]);
      EXPECT_GE(has[d], floor) << name;
      EXPECT_LE(has[d], std::max(floor, cap)) << name;
      if (has[d] >= cap) continue;
      for (const auto& [other_name, theirs] : poured) {
        const naive::Queue& other = queue_named(world, other_name);
        if (guarantee_of(world, other)[d] > 0) continue;
        EXPECT_GE((has[d] + kRounding) * other.weight, theirs[d] * queue.weight)
            << name << " lacks what " << other_name << " has" << shown(world);
      }
    }
  }
}

// --- Placements.

void compare_placements(std::uint64_t seed, const naive::Rules& rules) {
  SeededRng rng(seed);
  const naive::World world = random_world(rng, {}, rules);
  Arena arena(world, {}, "allocate");
  arena.run();
  const naive::Placement placement = arena.bound();
  EXPECT_EQ(placement, naive::schedule(world)) << shown(world);
  EXPECT_EQ(join(naive::violations(world, placement), "; "), "") << shown(world);
  EXPECT_EQ(join(naive::lost_guarantees(world, placement), "; "), "") << shown(world);
  EXPECT_EQ(join(naive::idle_for_no_reason(world, placement), "; "), "") << shown(world);
}

TEST(DifferentialShares, OfCapacity) {
  each_seed(2, [](std::uint64_t seed) { compare_shares(seed, kFlat); });
}
TEST(DifferentialShares, OfCapacityInATree) {
  each_seed(2, [](std::uint64_t seed) { compare_shares(seed, kTreeDrf); });
}
TEST(DifferentialShares, OfProportion) {
  each_seed(2, [](std::uint64_t seed) { compare_shares(seed, kProportionDrf); });
}
TEST(DifferentialShares, WhatIsPouredOutIsFair) {
  each_seed(1, [](std::uint64_t seed) {
    SeededRng rng(seed);
    expect_fair(random_world(rng, {}, kProportion));
  });
}

TEST(DifferentialPlacements, WithCapacity) {
  each_seed(1, [](std::uint64_t seed) { compare_placements(seed, kFlat); });
}
TEST(DifferentialPlacements, WithQueuesInATree) {
  each_seed(1, [](std::uint64_t seed) { compare_placements(seed, kTree); });
}
TEST(DifferentialPlacements, WithProportion) {
  each_seed(1, [](std::uint64_t seed) { compare_placements(seed, kProportion); });
}
TEST(DifferentialPlacements, WithDominantShares) {
  each_seed(3, [](std::uint64_t seed) { compare_placements(seed, kTreeDrf); });
  each_seed(3, [](std::uint64_t seed) { compare_placements(seed, kProportionDrf); });
}

}  // namespace
}  // namespace krater::scheduler
