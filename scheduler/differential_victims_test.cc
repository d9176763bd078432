// Who the real scheduler makes leave, and for whom, against the naive one: every claim is judged
// from the state before it, and where nobody was served, the naive one must find no way either.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "scheduler/testing/arena.h"
#include "scheduler/testing/seeds.h"

namespace krater::scheduler {
namespace {

// Full of jobs.
constexpr WorldSize kSize{.nodes = 3, .queues = 4, .jobs = 8, .least_jobs = 4};

struct Seen {
  std::int64_t seeds = 0, claims = 0, victims = 0, in_vain = 0;
};

void judge(std::uint64_t seed, const naive::Rules& rules, std::string_view action, Seen& seen) {
  SeededRng rng(seed);
  const naive::World world = random_world(rng, kSize, rules);
  naive::State state = random_state(rng, world);
  const naive::Poured poured = pour_out(world);
  Arena arena(world, state, action);
  arena.run();
  ++seen.seeds;
  const std::vector<naive::Claim> claims = arena.claims();
  for (const naive::Claim& claim : claims) {
    ++seen.claims;
    seen.victims += std::ssize(claim.victims);
    EXPECT_EQ(join(naive::flaws(world, poured, state, claim), "; "), "")
        << shown(claim) << shown(world) << shown(state);
    state = naive::after(state, claim);
  }
  // What is lawful for one pod on one node is easily told; for gangs, and after others, the order
  // in which things are tried has its say.
  if (!claims.empty() || action.starts_with("gang")) return;
  for (const naive::Job& job : world.jobs) {
    if (job.min - naive::placed(state.placed, job) != 1) continue;
    ++seen.in_vain;
    EXPECT_FALSE(naive::could_be_served(world, poured, state, job, action == "reclaim"))
        << job.name << " could be served" << shown(world) << shown(state);
  }
}

void judge_all(const naive::Rules& rules, std::string_view action) {
  Seen seen;
  each_seed(2, [&](std::uint64_t seed) { judge(seed, rules, action, seen); });
  // That there was something to judge.
  if (seen.seeds >= 1000) {
    EXPECT_GT(seen.claims, seen.seeds / 100);
    EXPECT_GE(seen.victims, seen.claims);
    EXPECT_GT(seen.in_vain, action.starts_with("gang") ? -1 : seen.seeds / 10);
  }
}

TEST(DifferentialVictims, OfPreempt) {
  judge_all({}, "preempt");
}
TEST(DifferentialVictims, OfPreemptWhereGangsKeepWhatTheyNeed) {
  judge_all({.tree = true, .gangs_keep = true}, "preempt");
}
TEST(DifferentialVictims, OfPreemptWithDominantShares) {
  judge_all({.proportion = true, .drf = true}, "preempt");
}
TEST(DifferentialVictims, OfReclaimWithCapacity) {
  judge_all({.queues_asked = true}, "reclaim");
}
TEST(DifferentialVictims, OfReclaimWithCapacityInATree) {
  judge_all({.tree = true, .queues_asked = true}, "reclaim");
}
TEST(DifferentialVictims, OfReclaimWithProportion) {
  judge_all({.proportion = true, .queues_asked = true}, "reclaim");
}
TEST(DifferentialVictims, OfReclaimWhereGangsKeepWhatTheyNeed) {
  judge_all({.drf = true, .gangs_keep = true, .queues_asked = true}, "reclaim");
}
TEST(DifferentialVictims, OfReclaimWhereQueuesAreNotAsked) {
  judge_all({.tree = true}, "reclaim");
}
TEST(DifferentialVictims, OfGangPreempt) {
  judge_all({.proportion = true}, "gangpreempt");
}
TEST(DifferentialVictims, OfGangReclaim) {
  judge_all({.tree = true, .queues_asked = true}, "gangreclaim");
}

}  // namespace
}  // namespace krater::scheduler
