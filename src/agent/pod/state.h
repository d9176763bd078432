// What is known about a pod that runs (or ran) here: the facts that decide.h and status.h judge.
// Written by the pod's worker as events come in; plain data. Lives on the agent's loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/pod/backoff.h"
#include "agent/pod/spec.h"
#include "base/time.h"

namespace krater::agent {

struct ExitInfo {
  int code = 0;        // 128 + signal when a signal ended it
  int signal = 0;      // 0: exited by itself
  std::string reason;  // Completed, Error, OOMKilled, StartError, ContainerCannotRun,
                       // ContainerStatusUnknown
  std::string message;
  WallTime started, finished;
  std::string container_id;
};

struct ContainerState {
  enum class Phase { Waiting, Starting, Running, Stopping, Exited };
  Phase phase = Phase::Waiting;
  int restarts = 0;
  bool ever_started = false;
  std::string container_id;
  WallTime started_at;                // Running, Stopping
  std::optional<ExitInfo> exit;       // of the newest run; set in Exited
  std::optional<ExitInfo> last_exit;  // of the run before
  std::string waiting_reason,
      waiting_message;  // why it does not run yet: ErrImagePull, CreateContainerConfigError, …
  std::optional<WallTime> retry_at;  // after a failed attempt to start
  int failed_starts = 0;             // in a row; doubles the wait
  bool hook_runs = false;            // running, but its postStart hook has not ended
  bool started = false;              // startup probe passed (or none), postStart done
  bool ready = false;                // readiness probe says so (or none)
  Backoff backoff;
};

struct PodState {
  enum class Sandbox { None, Creating, Ready, Removing, Removed };
  Sandbox sandbox = Sandbox::None;
  std::string sandbox_message;  // why it could not be made
  std::optional<WallTime> sandbox_retry_at;
  std::string pod_ip, host_ip;
  std::optional<WallTime> started_at;  // status.startTime: when the agent took the pod over
  std::map<std::string, ContainerState> containers;  // one for each of the spec's

  bool deleting = false;            // deletionTimestamp is set, or the object is gone
  std::int64_t grace_seconds = 30;  // for the stop that is due to deletion
  // Ends the pod as Failed whatever its containers say: DeadlineExceeded, Evicted, InitFailure's
  // Never …
  std::string failed_reason, failed_message;
  std::optional<std::int64_t> failed_grace_seconds;  // to stop with; unset: the pod's own grace
  bool terminal_in_api =
      false;  // the object already says Succeeded or Failed: nothing is started any more
};

}  // namespace krater::agent
