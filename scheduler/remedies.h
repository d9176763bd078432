// What change would let a job that waits go on: the smallest that are known, in words and as facts
// for programs (docs/why-pending.md). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

struct Remedy {
  std::string_view change;  // "FreeOrRaiseLimit": texts may change, not these
  JsonObject facts{};       // of what, which resource, how much
  std::string words{};      // what follows "It would start with "
  bool once = false;        // or "It would start once "
};

// All of `together`, or `fewer` alone: the members that could start without the others.
struct Remedies {
  std::vector<Remedy> together{};
  std::optional<Remedy> fewer{};
};

Remedies remedies_for(const Session& session, JobId job);
// "It would start with cpu 1 more in queue "research" (more nodes), or with minAvailable 2"; ""
// when nothing is known that would help.
std::string remedy_text(const Session& session, JobId job);

// The refusal that stands for the job: its own, else that of its first task; null: there is none,
// or nodes are the reason.
const Refusal* refusal_of(const Session& session, JobId job);
// Likewise what nodes say; null: they are not asked, or took it.
const FitError* fit_error_of(const Session& session, JobId job);
// Members that no scheduler may place yet.
std::int64_t gated_tasks(const JobInfo& job);
// Everything of its gang that was missing is promised: others are leaving.
bool is_promised(const JobInfo& job);

}  // namespace krater::scheduler
