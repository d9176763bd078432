#include "agent/tunnel/log_source.h"

#include "agent/logs/log_reader.h"
#include "agent/pod/status.h"

namespace krater::agent {
namespace {

Error bad(std::string message) {
  return make_error(Code::BadRequest, std::move(message));
}

std::string why_waiting(const PodWorker& worker, const ContainerState& state) {
  if (state.waiting_reason == "ErrImagePull") return "image can't be pulled";
  if (state.waiting_reason == "ImagePullBackOff") return "trying and failing to pull image";
  if (!state.waiting_reason.empty()) return state.waiting_reason;
  return std::string(why_not_started(worker.spec(), worker.state()));
}

Result<LogPlace> find_place(const PodWorker& worker, const Runtime& runtime,
                            const tunnel::LogRequest& request) {
  const auto place = worker.state().containers.find(request.container);
  if (place == worker.state().containers.end()) {
    return bad("container " + request.container + " is not valid for pod " + request.pod);
  }
  using Phase = ContainerState::Phase;
  const ContainerState& state = place->second;
  const bool running = state.phase == Phase::Running || state.phase == Phase::Stopping;
  const std::string pod_directory = runtime.pod_directory(request.uid);
  if (pod_directory.empty()) return LogPlace{};
  LogPlace out{log_directory(pod_directory, request.container), 0, false};
  std::vector<int> attempts = logged_attempts(out.directory);
  if (request.previous) {
    // While the container waits to be started again, the run that ended last is the previous one.
    const bool newest_is_current = running || state.phase == Phase::Exited;
    if (newest_is_current && !attempts.empty()) attempts.pop_back();
    if (attempts.empty()) {
      return bad("previous terminated container \"" + request.container + "\" in pod \"" +
                 request.pod + "\" not found");
    }
    out.attempt = attempts.back();
    return out;
  }
  if (attempts.empty()) {
    if (running || state.phase == Phase::Exited) return LogPlace{};
    return bad("container \"" + request.container + "\" in pod \"" + request.pod +
               "\" is waiting to start: " + why_waiting(worker, state));
  }
  out.attempt = attempts.back();
  out.running = running;
  return out;
}

}  // namespace

std::string log_directory(const std::string& pod_directory, const std::string& container) {
  return pod_directory + "/logs/" + container;
}

LogLookup lookup_in(const Agent& agent, const Runtime& runtime) {
  return [&agent, &runtime](const tunnel::LogRequest& request) -> Result<LogPlace> {
    const PodWorker* worker = agent.worker(request.uid);
    if (worker == nullptr) {
      return bad("container \"" + request.container + "\" in pod \"" + request.pod +
                 "\" is waiting to start: ContainerCreating");
    }
    return find_place(*worker, runtime, request);
  };
}

}  // namespace krater::agent
