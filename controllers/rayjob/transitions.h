// The edges of the RayJob machine as data; machine.h draws them. Checked by the compiler here and
// by the machine on every step.
#pragma once

#include <array>
#include <cstddef>

#include "model/rayjob.h"

namespace krater::controllers {

struct JobEdge {
  JobPhase from, to;
};

inline constexpr std::array kJobEdges{
    JobEdge{JobPhase::New, JobPhase::Initializing},               //  1
    JobEdge{JobPhase::New, JobPhase::ValidationFailed},           //  2
    JobEdge{JobPhase::Initializing, JobPhase::Waiting},           //  3
    JobEdge{JobPhase::Initializing, JobPhase::Running},           //  4
    JobEdge{JobPhase::Initializing, JobPhase::Suspending},        //  5
    JobEdge{JobPhase::Initializing, JobPhase::Failed},            //  6
    JobEdge{JobPhase::Initializing, JobPhase::Retrying},          //  7
    JobEdge{JobPhase::Initializing, JobPhase::ValidationFailed},  //  8
    JobEdge{JobPhase::Waiting, JobPhase::Running},                //  9
    JobEdge{JobPhase::Waiting, JobPhase::Suspending},             // 10
    JobEdge{JobPhase::Waiting, JobPhase::Failed},                 // 11
    JobEdge{JobPhase::Waiting, JobPhase::ValidationFailed},       // 12
    JobEdge{JobPhase::Running, JobPhase::Complete},               // 13
    JobEdge{JobPhase::Running, JobPhase::Failed},                 // 14
    JobEdge{JobPhase::Running, JobPhase::Retrying},               // 15
    JobEdge{JobPhase::Running, JobPhase::Suspending},             // 16
    JobEdge{JobPhase::Running, JobPhase::ValidationFailed},       // 17
    JobEdge{JobPhase::Suspending, JobPhase::Suspended},           // 18
    JobEdge{JobPhase::Retrying, JobPhase::New},                   // 19
    JobEdge{JobPhase::Suspended, JobPhase::New},                  // 20
    JobEdge{JobPhase::Suspended, JobPhase::ValidationFailed},     // 21
    JobEdge{JobPhase::ValidationFailed, JobPhase::New},           // 22
    JobEdge{JobPhase::ValidationFailed, JobPhase::Initializing},  // 23
};

constexpr bool has_edge(JobPhase from, JobPhase to) {
  for (const JobEdge& edge : kJobEdges) {
    if (edge.from == from && edge.to == to) return true;
  }
  return false;
}

constexpr bool has_edge_out_of(JobPhase from) {
  for (const JobEdge& edge : kJobEdges) {
    if (edge.from == from) return true;
  }
  return false;
}

inline constexpr std::size_t kJobPhases = static_cast<std::size_t>(JobPhase::Retrying) + 1;

constexpr bool all_reachable_from(JobPhase start) {
  std::array<bool, kJobPhases> seen{};
  seen[static_cast<std::size_t>(start)] = true;
  for (std::size_t round = 0; round < kJobPhases; ++round) {
    for (const JobEdge& edge : kJobEdges) {
      if (seen[static_cast<std::size_t>(edge.from)]) seen[static_cast<std::size_t>(edge.to)] = true;
    }
  }
  for (const bool reached : seen) {
    if (!reached) return false;
  }
  return true;
}

static_assert(all_reachable_from(JobPhase::New));
static_assert(!has_edge_out_of(JobPhase::Complete) && !has_edge_out_of(JobPhase::Failed));
// Once stopping there is no way back: what runs goes first.
static_assert(!has_edge(JobPhase::Suspending, JobPhase::Running) &&
              !has_edge(JobPhase::Retrying, JobPhase::Running));

}  // namespace krater::controllers
