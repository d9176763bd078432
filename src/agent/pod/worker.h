// Runs one pod: keeps its PodState current from the watch, the runtime and the probes, asks
// decide() what is due, carries it out, and tells the API. One worker a pod, on the agent's loop;
// every step is asynchronous and every answer leads to another pass.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/context.h"
#include "agent/pod/decide.h"
#include "agent/pod/spec.h"
#include "agent/pod/state.h"
#include "agent/pod/status_writer.h"
#include "agent/runtime.h"
#include "model/pod.h"

namespace krater::agent {

class Prober;
struct ActionOutcome;
struct ProberHandlers;

class PodWorker {
 public:
  // `adopted`: what the runtime still has of this pod, if anything.
  PodWorker(Context& context, ObjectPtr pod, const Sandbox* adopted);
  ~PodWorker();
  PodWorker(const PodWorker&) = delete;
  PodWorker& operator=(const PodWorker&) = delete;

  // First step. Once, after construction.
  void start();
  // A newer state of the object.
  void update(ObjectPtr pod);
  // The object is gone from the API: end what runs, soon.
  void removed();
  void container_exited(const std::string& container, int attempt, const ExitInfo& exit);
  void sandbox_lost();
  // The file contents of its volumes may have changed.
  void refresh_content();
  // Evicts the pod when a volume has outgrown its limit.
  void check_limits();

  // Nothing of the pod is left, here or in the API.
  bool over() const { return object_gone_ && finished_; }
  const PodSpec& spec() const { return spec_; }
  const PodState& state() const { return state_; }
  const ObjectPtr& object() const { return view_.object(); }

 private:
  void pass();
  void carry_out(const Action& action);
  void create_sandbox();
  void start_container(const ContainerSpec& container);
  void container_run_ready(const std::string& container, Result<ContainerRun> run);
  void content_missing(const std::string& container, const Error& why);
  void container_started(const std::string& container, const Started& started);
  void start_failed(const std::string& container, const Error& why);
  void cannot_run(const std::string& container, const std::string& why);
  void postpone(const std::string& container, std::string reason, std::string message);
  void become_started(const std::string& container);
  void hook_failed(std::string_view hook, const std::string& container,
                   const ActionOutcome& outcome);
  ProberHandlers prober_handlers(const std::string& container);
  void stop_container(const std::string& container, std::int64_t grace_seconds);
  void remove_sandbox();
  void finish();
  void wake_at(std::optional<WallTime> when);
  void note(client::EventType type, std::string_view reason, std::string_view message,
            std::string_view container = {});
  // Wraps a callback so that it does nothing once the worker is gone.
  template <typename F>
  auto guarded(F body) {
    return [alive = std::weak_ptr<bool>(alive_), body = std::move(body)](auto&&... args) {
      if (!alive.expired()) body(std::forward<decltype(args)>(args)...);
    };
  }

  Context& context_;
  PodView view_;
  PodSpec spec_;
  PodState state_;
  StatusWriter status_;
  std::map<std::string, std::unique_ptr<Prober>> probers_;
  Loop::TimerId timer_ = 0;
  bool finished_ = false, object_gone_ = false, deleting_object_ = false, lost_before_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::agent
