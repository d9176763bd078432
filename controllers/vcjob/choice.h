// What is to be done now: the first thing that happened and that a policy (or an order) answers
// with an action that means something in the job's phase. Pure.
#pragma once

#include <optional>
#include <vector>

#include "controllers/vcjob/machine.h"
#include "controllers/vcjob/occurrence.h"

namespace krater::controllers::vcjob {

struct Chosen {
  VolcanoAction action;
  Reaction reaction;
  Occurrence why;
};

struct Delayed {
  Occurrence why;
  Answer answer;
};

struct Choice {
  std::optional<Chosen> chosen{};
  std::vector<Delayed> delayed{};       // policies that wait for their timeout
  std::optional<Duration> come_back{};  // when the first of them is due
  // Which of `kept` need no further thought.
  std::vector<std::size_t> settled{};
  std::optional<std::size_t> chosen_of_kept{};
};

// `kept`: occurrences that leave no trace, oldest first; orders stand before all others.
Choice choose(const Observed& seen, const std::vector<Occurrence>& kept, WallTime now);

// Whether it uses up a try: what the scheduler takes away, and what its user resumes, is not the
// job's failure; unless it is to count.
bool costs_retry(const Chosen& chosen, const Observed& seen);

// Pods that have ended stay: always, or because this was the last try, so that their logs can be
// read. Volcano keeps them for RestartJob alone.
bool keeps_finished(const Chosen& chosen, const Observed& seen);

// The pods that an action takes away.
std::vector<const PodFact*> targets_of(const Chosen& chosen, const Observed& seen);

}  // namespace krater::controllers::vcjob
