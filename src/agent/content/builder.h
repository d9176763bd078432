// Turns what a pod asks for into what the runtime needs: the sandbox's files, and for each
// container its expanded command, environment, volumes and mounts. Fetches what the pod refers to.
// On the agent's loop; no answer comes from inside the call.
#pragma once

#include <functional>

#include "agent/pod/spec.h"
#include "agent/pod/state.h"
#include "agent/runtime.h"
#include "model/pod.h"

namespace krater::agent {

class ContentBuilder {
 public:
  virtual ~ContentBuilder() = default;
  virtual SandboxSpec sandbox(const PodSpec& pod) = 0;
  // Code::Invalid: something it refers to is missing or cannot be (CreateContainerConfigError).
  virtual void build(const PodSpec& pod, const PodView& view, const ContainerSpec& container,
                     const PodState& state, std::function<void(Result<ContainerRun>)> done) = 0;
  // Brings the files of a running pod's volumes up to date.
  virtual void refresh(const PodSpec& pod, const PodView& view, const PodState& state) = 0;
  // Why the pod has to go: an emptyDir on disk that has outgrown its sizeLimit. Empty: nothing.
  virtual std::string over_limit(const PodSpec& pod) = 0;
  // The pod is gone: forget what was kept for it.
  virtual void forget(const std::string& uid) = 0;
};

}  // namespace krater::agent
