// Who may be made to leave for whom, by preempt (within a queue) and reclaim (across queues):
// judged from the state before alone. Plugins priority, gang, conformance, drf and capacity or
// proportion stand in one tier, so that all that have a say must agree; nobody is evicted whom the
// others would not miss (docs/compatibility.md, "Scheduling"). Pure.
#pragma once

#include "scheduler/testing/naive_shares.h"

namespace krater::scheduler::naive {

struct State {
  Placement placed{};                // with those below
  std::set<std::string> bound{};     // of these, who does not run yet
  std::set<std::string> promised{};  // and who only waits for others to leave
};

// What was done for one job.
struct Claim {
  bool across_queues = false;
  std::string job;
  std::vector<std::string> victims{};
  std::vector<std::pair<std::string, std::string>> promised{};  // pod and node, in order
};
State after(const State& before, const Claim& claim);

// What is wrong with it; nothing: it was lawful.
std::vector<std::string> flaws(const World& world, const Poured& poured, const State& before,
                               const Claim& claim);

// Whether room could be made lawfully, on some node, for a job that lacks one pod and finds no free
// room for it.
bool could_be_served(const World& world, const Poured& poured, const State& state, const Job& job,
                     bool across_queues);

}  // namespace krater::scheduler::naive
