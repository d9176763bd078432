// Carries out what a probe or hook asks for: a command in the container, an HTTP request, a TCP
// connection, a pause. On the agent's loop; answers once.
#pragma once

#include <functional>
#include <string>

#include "agent/context.h"
#include "agent/pod/spec.h"

namespace krater::agent {

struct ActionOutcome {
  bool success = false;
  std::string message;  // why not, as a kubelet words it
};

// `pod_ip`: where HTTP and TCP go unless the action names a host. Ends after `timeout_seconds` at
// the latest.
void run_action(Context& context, const PodSpec& pod, const std::string& container,
                const ActionSpec& action, const std::string& pod_ip, int timeout_seconds,
                std::function<void(const ActionOutcome&)> done);

}  // namespace krater::agent
