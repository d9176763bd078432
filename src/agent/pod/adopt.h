// What is known of a pod that the agent did not start itself in this life: from what the runtime
// still has, and from the status in the API. A container that is said to have run and is nowhere to
// be found has ended; it never runs a second time behind its restart policy's back. Pure.
#pragma once

#include "agent/pod/spec.h"
#include "agent/pod/state.h"
#include "agent/runtime.h"
#include "model/pod.h"

namespace krater::agent {

// Fills phases, exits, counts and the sandbox of `state`. `adopted` may be null.
void adopt_state(const PodSpec& spec, const PodView& pod, const Sandbox* adopted, WallTime now,
                 PodState& state);

// What the API says runs in the pod; its sandbox is alive. nullopt when nothing does.
struct ToldByApi {
  Sandbox sandbox;
  std::vector<Recalled> running;
};
std::optional<ToldByApi> told_by_api(const PodView& pod);

// A container whose sandbox vanished: ended with 137, ContainerStatusUnknown, unless it was not
// running.
void lose_container(ContainerState& container, WallTime now);

// For a pod that is over, nothing of it running: what waited will never run. Once its init
// containers are through, a container that never ran counts as one whose end nobody saw, as a
// kubelet reports it.
void settle_containers(const PodSpec& spec, PodState& state);

}  // namespace krater::agent
