#include "agent/pod/worker.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/content/builder.h"
#include "agent/pod/action_runner.h"
#include "agent/pod/adopt.h"
#include "agent/pod/prober.h"
#include "agent/pod/status.h"
#include "base/log.h"

namespace krater::agent {
namespace {

using Phase = ContainerState::Phase;
using Type = client::EventType;

// Images are tried again after 10 s, 20 s, ... 5 min, as pulls are; what else is missing may turn
// up soon.
Duration retry_delay(std::string_view reason, int failures) {
  const bool image = reason == "ErrImagePull" || reason == "ImagePullBackOff";
  const Duration first = std::chrono::seconds(image ? 10 : 2);
  return std::min<Duration>(first * (1 << std::min(failures - 1, 5)),
                            image ? std::chrono::minutes(5) : std::chrono::seconds(10));
}

bool terminal(std::string_view phase) {
  return phase == "Succeeded" || phase == "Failed";
}

// Deletion answers and other writes that must succeed are repeated at this pace.
constexpr Duration kPersist = std::chrono::seconds(1);

// A postStart hook may take as long as it likes.
constexpr int kUnlimitedSeconds = 24 * 3600;
// What a pod gets that has broken a limit of its node.
constexpr std::int64_t kEvictionGraceSeconds = 1;

}  // namespace

PodWorker::PodWorker(Context& context, ObjectPtr pod, const Sandbox* adopted)
    : context_(context),
      view_(pod),
      spec_(read_pod_spec(view_.document())),
      status_(context.client, context.loop, [this](const Json& current) {
        return pod_status(spec_, state_, current, context_.clock.now());
      }) {
  status_.seen(pod);
  for (const ContainerSpec& container : spec_.containers) state_.containers[container.name];
  state_.host_ip = context_.node.ip;
  state_.started_at = view_.started().value_or(context_.clock.now());
  adopt_state(spec_, view_, adopted, context_.clock.now(), state_);
  if (adopted != nullptr && !adopted->alive) lost_before_ = true;
  if (adopted != nullptr && adopted->alive) {
    state_.pod_ip = adopted->ip.empty() ? context_.node.ip : adopted->ip;
    for (const auto& [name, container] : state_.containers) {
      if (container.phase == Phase::Running) {
        probers_[name] =
            std::make_unique<Prober>(context_, spec_, *spec_.container(name), state_.pod_ip,
                                     container.started, prober_handlers(name));
      }
    }
  }
  if (pod->deletion()) {
    state_.deleting = true;
    state_.grace_seconds = int_at(view_.document(), {"metadata", "deletionGracePeriodSeconds"})
                               .value_or(spec_.grace_seconds);
  }
}

void PodWorker::start() {
  // Only its remains are there: they are cleared away before anything else.
  if (lost_before_) remove_sandbox();
  pass();
}

PodWorker::~PodWorker() {
  context_.loop.cancel(timer_);
}

void PodWorker::update(ObjectPtr pod) {
  if (object_gone_) return;
  const bool relabelled =
      pod->labels() != view_->labels() || PodView(pod).annotations() != view_.annotations();
  view_ = PodView(pod);
  status_.seen(pod);
  // Somebody else ended the pod (an eviction, a node controller): that stands.
  if (view_.finished() && !terminal(pod_phase(spec_, state_))) state_.terminal_in_api = true;
  if (pod->deletion()) {
    const std::int64_t grace = int_at(view_.document(), {"metadata", "deletionGracePeriodSeconds"})
                                   .value_or(spec_.grace_seconds);
    const bool sooner = state_.deleting && grace < state_.grace_seconds;
    state_.deleting = true;
    state_.grace_seconds = grace;
    if (sooner) {
      for (const auto& [name, container] : state_.containers) {
        if (container.phase == Phase::Stopping)
          context_.runtime.stop_container(spec_.uid, name, grace);
      }
    }
  }
  if (relabelled) refresh_content();
  pass();
}

void PodWorker::removed() {
  object_gone_ = true;
  state_.deleting = true;
  // Nobody waits for it any more; a second is the least a process gets.
  state_.grace_seconds = std::min<std::int64_t>(state_.grace_seconds, 1);
  for (const auto& [name, container] : state_.containers) {
    if (container.phase == Phase::Stopping)
      context_.runtime.stop_container(spec_.uid, name, state_.grace_seconds);
  }
  pass();
}

// One look at everything: act, tell, and set the alarm.
void PodWorker::pass() {
  const WallTime now = context_.clock.now();
  Decision decision = decide(spec_, state_, now);
  if (decision.deadline_exceeded) {
    state_.failed_reason = "DeadlineExceeded";
    state_.failed_message = "Pod was active on the node longer than the specified deadline";
    note(Type::Normal, "DeadlineExceeded", state_.failed_message);
    decision = decide(spec_, state_, now);
  }
  for (const Action& action : decision.actions) carry_out(action);
  wake_at(decision.again_at);
  finished_ = decision.finished;
  if (finished_) return finish();
  if (!object_gone_) status_.flush();
}

void PodWorker::carry_out(const Action& action) {
  switch (action.what) {
    case Action::Do::CreateSandbox:
      return create_sandbox();
    case Action::Do::StartContainer:
      return start_container(*spec_.container(action.container));
    case Action::Do::StopContainer:
      return stop_container(action.container, action.grace_seconds);
    case Action::Do::RemoveSandbox:
      return remove_sandbox();
  }
}

void PodWorker::create_sandbox() {
  state_.sandbox = PodState::Sandbox::Creating;
  state_.sandbox_retry_at.reset();
  SandboxSpec wanted;
  if (context_.content != nullptr) {
    wanted = context_.content->sandbox(spec_);
  } else {
    wanted.uid = spec_.uid;
    wanted.name = spec_.name;
    wanted.name_space = spec_.name_space;
  }
  wanted.annotations = view_.annotations();
  context_.runtime.create_sandbox(
      std::move(wanted), guarded([this](Result<Sandbox> made) {
        if (!made) {
          state_.sandbox = PodState::Sandbox::None;
          state_.sandbox_message = made.error().message;
          state_.sandbox_retry_at = context_.clock.now() + std::chrono::seconds(5);
          note(Type::Warning, "FailedCreatePodSandBox",
               "Failed to create pod sandbox: " + made.error().message);
        } else {
          state_.sandbox = PodState::Sandbox::Ready;
          state_.pod_ip = made->ip.empty() ? context_.node.ip : made->ip;
        }
        pass();
      }));
}

void PodWorker::start_container(const ContainerSpec& container) {
  ContainerState& state = state_.containers[container.name];
  const WallTime now = context_.clock.now();
  if (state.phase == Phase::Exited) {
    state.backoff.step(state.exit->finished, now);
    state.last_exit = std::move(state.exit);
    state.exit.reset();
    ++state.restarts;
  }
  state.phase = Phase::Starting;
  state.started = state.ready = state.hook_runs = false;
  state.retry_at.reset();
  if (context_.content != nullptr) {
    context_.content->build(spec_, view_, container, state_,
                            guarded([this, name = container.name](Result<ContainerRun> run) {
                              container_run_ready(name, std::move(run));
                            }));
    return;
  }
  ContainerRun run;
  run.name = container.name;
  run.image = container.image;
  run.role = container.role;
  run.attempt = state.restarts;
  run.argv = container.command_line();
  container_run_ready(container.name, std::move(run));
}

void PodWorker::container_run_ready(const std::string& container, Result<ContainerRun> run) {
  if (!run) {
    content_missing(container, run.error());
    return pass();
  }
  context_.runtime.start_container(spec_.uid, *std::move(run),
                                   guarded([this, container](Result<Started> started) {
                                     if (started) {
                                       container_started(container, *started);
                                     } else {
                                       start_failed(container, started.error());
                                     }
                                     pass();
                                   }));
}

void PodWorker::container_started(const std::string& container, const Started& started) {
  const ContainerSpec& spec = *spec_.container(container);
  ContainerState& state = state_.containers[container];
  if (state.phase != Phase::Starting) return;  // it has ended already
  state.phase = Phase::Running;
  state.ever_started = true;
  state.failed_starts = 0;
  state.container_id = started.container_id;
  state.started_at = started.at;
  state.waiting_reason.clear();
  state.waiting_message.clear();
  if (context_.runtime.needs_content()) {
    note(Type::Normal, "Pulled",
         "Container image \"" + spec.image + "\" already present on machine", container);
    note(Type::Normal, "Created", "Created container: " + container, container);
    note(Type::Normal, "Started", "Started container " + container, container);
  }
  if (!spec.post_start) return become_started(container);
  state.hook_runs = true;
  run_action(context_, spec_, container, *spec.post_start, state_.pod_ip, kUnlimitedSeconds,
             guarded([this, container, attempt = state.restarts](const ActionOutcome& outcome) {
               ContainerState& now = state_.containers[container];
               if (now.restarts != attempt || now.phase != Phase::Running) return;
               if (outcome.success) {
                 now.hook_runs = false;
                 become_started(container);
               } else {
                 hook_failed("PostStart", container, outcome);
                 note(Type::Normal, "Killing", "FailedPostStartHook", container);
                 stop_container(container, spec_.grace_seconds);
               }
               pass();
             }));
}

// What a hook answered may be a secret: it goes into the log, not into the event.
void PodWorker::hook_failed(std::string_view hook, const std::string& container,
                            const ActionOutcome& outcome) {
  log::info("agent.hook_failed", {{"pod", view_->key().text()},
                                  {"container", container},
                                  {"hook", hook},
                                  {"why", outcome.message}});
  note(Type::Warning, fmt::format("Failed{}Hook", hook), fmt::format("{}Hook failed", hook),
       container);
}

// The container runs and its hook is through: from here on the probes decide.
void PodWorker::become_started(const std::string& container) {
  const ContainerSpec& spec = *spec_.container(container);
  ContainerState& state = state_.containers[container];
  state.started = !spec.startup.has_value();
  state.ready = state.started && !spec.readiness.has_value();
  if (spec.startup || spec.readiness || spec.liveness) {
    if (!context_.runtime.needs_content()) {
      state.started = state.ready = true;
      return;
    }
    probers_[container] = std::make_unique<Prober>(context_, spec_, spec, state_.pod_ip,
                                                   state.started, prober_handlers(container));
  }
}

ProberHandlers PodWorker::prober_handlers(const std::string& container) {
  ProberHandlers out;
  out.on_started = guarded([this, container] {
    ContainerState& state = state_.containers[container];
    state.started = true;
    state.ready = !spec_.container(container)->readiness.has_value();
    pass();
  });
  out.on_ready = guarded([this, container](bool ready) {
    state_.containers[container].ready = ready;
    pass();
  });
  out.on_unhealthy = guarded([this, container](std::string_view probe, const std::string& output) {
    note(Type::Warning, "Unhealthy", fmt::format("{} probe failed: {}", probe, output), container);
  });
  out.on_kill =
      guarded([this, container](std::string_view probe, std::optional<std::int64_t> grace_seconds) {
        note(Type::Normal, "Killing",
             fmt::format("Container {} failed {} probe, will be restarted", container, probe),
             container);
        stop_container(container, grace_seconds.value_or(spec_.grace_seconds));
        pass();
      });
  return out;
}

// What it refers to is not there, or not yet. Nothing has been started.
void PodWorker::content_missing(const std::string& container, const Error& why) {
  const bool volume = why.code != Code::Invalid;
  postpone(container, volume ? "ContainerCreating" : "CreateContainerConfigError",
           volume ? std::string() : why.message);
  note(Type::Warning, volume ? "FailedMount" : "Failed",
       volume ? why.message : "Error: " + why.message, container);
}

void PodWorker::start_failed(const std::string& container, const Error& why) {
  if (why.code == Code::NotFound) {
    const bool again = state_.containers[container].failed_starts > 0;
    postpone(container, again ? "ImagePullBackOff" : "ErrImagePull",
             (again ? "Back-off pulling image: " : "") + why.message);
    return note(Type::Warning, "Failed", "Failed to pull image: " + why.message, container);
  }
  note(Type::Warning, "Failed", "Error: " + why.message, container);
  if (why.code == Code::BadRequest) return cannot_run(container, why.message);
  postpone(container, "CreateContainerError", why.message);
}

// It was made, but its program cannot be run: a run that ended at once, for the restart policy to
// judge.
void PodWorker::cannot_run(const std::string& container, const std::string& why) {
  ContainerState& state = state_.containers[container];
  ++state.failed_starts;
  ExitInfo exit;
  exit.code = 128;
  exit.reason = "StartError";
  exit.message = why;
  exit.started = WallTime::from_unix_seconds(0);
  exit.finished = context_.clock.now();
  exit.container_id =
      "krater://" + spec_.uid + "/" + container + "/" + std::to_string(state.restarts);
  state.container_id = exit.container_id;
  state.exit = std::move(exit);
  state.phase = Phase::Exited;
  state.waiting_reason.clear();
}

// Tried again later; until then the container waits and says why.
void PodWorker::postpone(const std::string& container, std::string reason, std::string message) {
  ContainerState& state = state_.containers[container];
  ++state.failed_starts;
  state.phase = state.last_exit ? Phase::Exited : Phase::Waiting;
  if (state.phase == Phase::Exited) {
    // The restart has not happened: what ended last stays the newest run.
    state.exit = std::move(state.last_exit);
    state.last_exit.reset();
    --state.restarts;
  }
  state.retry_at = context_.clock.now() + retry_delay(reason, state.failed_starts);
  state.waiting_reason = std::move(reason);
  state.waiting_message = std::move(message);
}

void PodWorker::stop_container(const std::string& container, std::int64_t grace_seconds) {
  ContainerState& state = state_.containers[container];
  if (state.phase != Phase::Running) return;
  state.phase = Phase::Stopping;
  probers_.erase(container);
  if (context_.runtime.needs_content() && (state_.deleting || !state_.failed_reason.empty())) {
    note(Type::Normal, "Killing", "Stopping container " + container, container);
  }
  const ContainerSpec& spec = *spec_.container(container);
  if (!spec.pre_stop || grace_seconds <= 0 || !context_.runtime.needs_content()) {
    return context_.runtime.stop_container(spec_.uid, container, grace_seconds);
  }
  // The hook's time is taken out of the grace; two seconds are left to the program in any case.
  const SteadyTime begun = context_.loop.now();
  run_action(context_, spec_, container, *spec.pre_stop, state_.pod_ip,
             static_cast<int>(grace_seconds),
             guarded([this, container, grace_seconds, begun](const ActionOutcome& outcome) {
               if (!outcome.success) hook_failed("PreStop", container, outcome);
               if (state_.containers[container].phase != Phase::Stopping) return;
               const std::int64_t used = (context_.loop.now() - begun) / std::chrono::seconds(1);
               context_.runtime.stop_container(spec_.uid, container,
                                               std::max<std::int64_t>(grace_seconds - used, 2));
             }));
}

void PodWorker::container_exited(const std::string& container, int attempt, const ExitInfo& exit) {
  const auto place = state_.containers.find(container);
  if (place == state_.containers.end()) return;
  ContainerState& state = place->second;
  if (attempt != state.restarts || state.phase == Phase::Exited || state.phase == Phase::Waiting)
    return;
  probers_.erase(container);
  state.phase = Phase::Exited;
  state.ever_started = true;
  state.started = state.ready = state.hook_runs = false;
  state.exit = exit;
  if (!exit.container_id.empty()) state.container_id = exit.container_id;
  const ContainerSpec& spec = *spec_.container(container);
  if (context_.runtime.needs_content() && !state_.deleting &&
      in_backoff(spec_, spec, state, context_.clock.now())) {
    note(Type::Warning, "BackOff",
         fmt::format("Back-off restarting failed container {} in pod {}_{}({})", container,
                     spec_.name, spec_.name_space, spec_.uid),
         container);
  }
  pass();
}

void PodWorker::sandbox_lost() {
  if (state_.sandbox != PodState::Sandbox::Ready) return;
  log::warn("agent.sandbox_lost", {{"pod", view_->key().text()}});
  state_.sandbox = PodState::Sandbox::Removing;
  probers_.clear();
  const WallTime now = context_.clock.now();
  for (auto& [name, container] : state_.containers) lose_container(container, now);
  // Gives back what the sandbox held; a new one is made afterwards if the pod is to go on.
  remove_sandbox();
  pass();
}

void PodWorker::remove_sandbox() {
  state_.sandbox = PodState::Sandbox::Removing;
  probers_.clear();
  context_.runtime.remove_sandbox(
      spec_.uid, guarded([this](Result<bool> removed) {
        if (!removed) {
          log::warn("agent.sandbox_stays",
                    {{"pod", view_->key().text()}, {"why", removed.error().message}});
          context_.loop.after(kPersist, guarded([this] { remove_sandbox(); }));
          return;
        }
        state_.sandbox = PodState::Sandbox::Removed;
        pass();
      }));
}

// Nothing runs. The last status first, then the object, then what is on the node.
void PodWorker::finish() {
  settle_containers(spec_, state_);
  if (object_gone_) {
    context_.runtime.forget(spec_.uid);
    if (context_.pod_over)
      context_.loop.post([over = context_.pod_over, uid = spec_.uid] { over(uid); });
    return;
  }
  if (!state_.deleting) return status_.flush();
  if (deleting_object_) return;
  deleting_object_ = true;
  status_.flush(guarded([this] {
    client::DeleteWrite gone{kinds::kPod, spec_.name_space, spec_.name};
    gone.only_uid = Uid(spec_.uid);
    gone.grace_seconds = 0;
    context_.client.write(
        std::move(gone), guarded([this](Result<ObjectPtr> done) {
          if (done || done.error().code == Code::NotFound || done.error().code == Code::Conflict) {
            // The watch tells when it is gone: finalizers of others may hold it.
            deleting_object_ = done.has_value();
            if (!done) removed();
            return;
          }
          log::warn("agent.delete_failed",
                    {{"pod", view_->key().text()}, {"why", done.error().message}});
          context_.loop.after(kPersist, guarded([this] {
                                deleting_object_ = false;
                                pass();
                              }));
        }));
  }));
}

void PodWorker::refresh_content() {
  if (context_.content != nullptr && state_.sandbox == PodState::Sandbox::Ready &&
      !state_.deleting) {
    context_.content->refresh(spec_, view_, state_);
  }
}

void PodWorker::check_limits() {
  const bool runs = state_.sandbox == PodState::Sandbox::Ready && !state_.deleting &&
                    state_.failed_reason.empty();
  if (context_.content == nullptr || !runs) return;
  const std::string why = context_.content->over_limit(spec_);
  if (why.empty()) return;
  state_.failed_grace_seconds = kEvictionGraceSeconds;
  state_.failed_reason = "Evicted";
  state_.failed_message = why;
  note(Type::Warning, "Evicted", why);
  pass();
}

void PodWorker::wake_at(std::optional<WallTime> when) {
  context_.loop.cancel(timer_);
  timer_ = 0;
  if (!when) return;
  timer_ = context_.loop.after(*when - context_.clock.now(), [this] {
    timer_ = 0;
    pass();
  });
}

void PodWorker::note(Type type, std::string_view reason, std::string_view message,
                     std::string_view container) {
  if (object_gone_) return;
  std::string field;
  if (const ContainerSpec* spec = container.empty() ? nullptr : spec_.container(container)) {
    field = fmt::format("spec.{}{{{}}}", spec->role == Role::Main ? "containers" : "initContainers",
                        container);
  }
  context_.events.record(*view_.object(),
                         {type, std::string(reason), std::string(message), {}, field});
}

}  // namespace krater::agent
