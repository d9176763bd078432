#include "agent/pod/prober.h"

#include <algorithm>

namespace krater::agent {
namespace {

std::string_view title(bool startup, bool readiness) {
  return startup ? "Startup" : readiness ? "Readiness" : "Liveness";
}

}  // namespace

Prober::Prober(Context& context, const PodSpec& pod, const ContainerSpec& container,
               std::string pod_ip, bool started, ProberHandlers handlers)
    : context_(context),
      pod_(pod),
      container_(container),
      pod_ip_(std::move(pod_ip)),
      handlers_(std::move(handlers)),
      begun_(context.loop.now()) {
  const auto initial = [](const std::optional<ProbeSpec>& spec) {
    return std::chrono::seconds(spec ? spec->initial_delay_seconds : 0);
  };
  if (!started && container.startup) {
    arm(Which::Startup, container.startup, initial(container.startup));
    return;
  }
  arm(Which::Readiness, container.readiness, initial(container.readiness));
  arm(Which::Liveness, container.liveness, initial(container.liveness));
}

Prober::~Prober() {
  for (Beat* beat : {&startup_, &readiness_, &liveness_}) context_.loop.cancel(beat->timer);
}

Prober::Beat& Prober::beat(Which which) {
  switch (which) {
    case Which::Startup:
      return startup_;
    case Which::Readiness:
      return readiness_;
    case Which::Liveness:
      break;
  }
  return liveness_;
}

void Prober::arm(Which which, const std::optional<ProbeSpec>& spec, Duration delay) {
  if (!spec) return;
  Beat& mine = beat(which);
  mine.spec = &*spec;
  mine.machine.emplace(*spec);
  mine.timer = context_.loop.after(delay, [this, which] { fire(which); });
}

void Prober::fire(Which which) {
  Beat& mine = beat(which);
  // The beat goes on by the period, whatever one attempt takes; it is never tried twice at a time.
  mine.timer = 0;
  const SteadyTime begun = context_.loop.now();
  run_action(
      context_, pod_, container_.name, mine.spec->action, pod_ip_, mine.spec->timeout_seconds,
      [this, which, begun, alive = std::weak_ptr<bool>(alive_)](const ActionOutcome& outcome) {
        if (alive.expired()) return;
        const Duration period = std::chrono::seconds(beat(which).spec->period_seconds);
        const Duration used = context_.loop.now() - begun;
        beat(which).timer = context_.loop.after(std::max<Duration>(period - used, Duration(0)),
                                                [this, which] { fire(which); });
        result(which, outcome);
      });
}

// May end in this prober being dropped: nothing of it is touched after a handler that can do so.
void Prober::result(Which which, const ActionOutcome& outcome) {
  Beat& mine = beat(which);
  const ProberHandlers handlers = handlers_;
  if (!outcome.success)
    handlers.on_unhealthy(title(which == Which::Startup, which == Which::Readiness),
                          outcome.message);
  const std::optional<bool> verdict = mine.machine->record(outcome.success);
  if (!verdict) return;
  const bool changed = mine.verdict != verdict;
  mine.verdict = verdict;
  const std::optional<std::int64_t> grace = mine.spec->grace_seconds;
  switch (which) {
    case Which::Startup:
      if (!*verdict) return handlers.on_kill("startup", grace);
      context_.loop.cancel(startup_.timer);
      {
        // Their initial delays count from the start of the container.
        const Duration since = context_.loop.now() - begun_;
        const auto left = [since](const std::optional<ProbeSpec>& spec) {
          return spec ? std::max<Duration>(
                            std::chrono::seconds(spec->initial_delay_seconds) - since, Duration(0))
                      : Duration(0);
        };
        arm(Which::Readiness, container_.readiness, left(container_.readiness));
        arm(Which::Liveness, container_.liveness, left(container_.liveness));
      }
      return handlers.on_started();
    case Which::Readiness:
      if (changed) handlers.on_ready(*verdict);
      return;
    case Which::Liveness:
      if (!*verdict) handlers.on_kill("liveness", grace);
      return;
  }
}

}  // namespace krater::agent
