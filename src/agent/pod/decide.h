// The pod machine: from what a pod asks for and what is known about it to what is to be done next.
// Level-triggered: called after every event, it names every step that is due; steps already under
// way are visible in the state. Mirrors a kubelet's computePodActions. Pure: no I/O, no clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/pod/spec.h"
#include "agent/pod/state.h"
#include "base/time.h"

namespace krater::agent {

struct Action {
  enum class Do { CreateSandbox, StartContainer, StopContainer, RemoveSandbox };
  Do what;
  std::string container{};
  std::int64_t grace_seconds = 0;  // StopContainer
  friend bool operator==(const Action&, const Action&) = default;
};

struct Decision {
  std::vector<Action> actions;
  std::optional<WallTime> again_at;  // nothing else is due before
  bool deadline_exceeded = false;    // the worker records the failure and decides anew
  bool finished = false;             // nothing runs and nothing will: the status is final
};

Decision decide(const PodSpec& spec, const PodState& state, WallTime now);

// Whether a container that ended this way runs again, by the pod's policy. Sidecars always do.
bool restarts(const PodSpec& spec, const ContainerSpec& container, const ExitInfo& exit);
// True while the container waits out its crash-loop delay (status: CrashLoopBackOff).
bool in_backoff(const PodSpec& spec, const ContainerSpec& container, const ContainerState& state,
                WallTime now);

}  // namespace krater::agent
