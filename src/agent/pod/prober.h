// The probes of one run of one container: startup first, then readiness and liveness, each on its
// own beat. Dropped when the container stops or ends. On the agent's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/context.h"
#include "agent/pod/action_runner.h"
#include "agent/pod/probe.h"
#include "agent/pod/spec.h"

namespace krater::agent {

struct ProberHandlers {
  std::function<void()> on_started;          // the startup probe passed
  std::function<void(bool ready)> on_ready;  // readiness changed
  // A single failed attempt: probe is "Liveness", "Readiness" or "Startup".
  std::function<void(std::string_view probe, const std::string& output)> on_unhealthy;
  // The container has to be restarted: probe is "liveness" or "startup".
  std::function<void(std::string_view probe, std::optional<std::int64_t> grace_seconds)> on_kill;
};

class Prober {
 public:
  Prober(Context& context, const PodSpec& pod, const ContainerSpec& container, std::string pod_ip,
         bool started, ProberHandlers handlers);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

 private:
  enum class Which { Startup, Readiness, Liveness };
  struct Beat {
    const ProbeSpec* spec = nullptr;
    std::optional<ProbeMachine> machine;
    Loop::TimerId timer = 0;
    std::optional<bool> verdict;
  };

  Beat& beat(Which which);
  void arm(Which which, const std::optional<ProbeSpec>& spec, Duration delay);
  void fire(Which which);
  void result(Which which, const ActionOutcome& outcome);

  Context& context_;
  const PodSpec& pod_;
  const ContainerSpec& container_;
  std::string pod_ip_;
  ProberHandlers handlers_;
  SteadyTime begun_;
  Beat startup_, readiness_, liveness_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
