// Random clusters for the comparison with the naive scheduler, by seed, and their words for people
// and for the harness.
#pragma once

#include "base/env.h"
#include "base/json.h"
#include "scheduler/testing/naive_victims.h"

namespace krater::scheduler {

struct WorldSize {
  std::int64_t nodes = 4, queues = 4, jobs = 8;  // up to so many; with a tree two queues more
  std::int64_t least_jobs = 1;
};

std::int64_t random_number(Rng& rng, std::int64_t least, std::int64_t most);
naive::World random_world(Rng& rng, const WorldSize& size, const naive::Rules& rules);
// Some jobs run, with all or a part of what they have beyond their minimum; a few have lost a
// member. Nodes are not over-committed; queues may hold more than their limits.
naive::State random_state(Rng& rng, const naive::World& world);

std::string shown(const naive::World& world);
std::string shown(const naive::State& state);
std::string shown(const naive::Claim& claim);

// The configuration of these rules. Of those with a say in who leaves, all are in one tier, and all
// must agree.
std::string config_of(const naive::Rules& rules, std::string_view actions);
// Nodes, queues and classes, as Harness::add takes them.
JsonObject frame_of(const naive::World& world);
// A group and its pods; those in the state have their nodes.
JsonObject things_of(const naive::Job& job, const naive::State& state);

}  // namespace krater::scheduler
