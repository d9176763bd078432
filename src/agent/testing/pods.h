// Builders for the agent's tests.
#pragma once

#include <string>

#include "agent/pod/spec.h"
#include "agent/pod/state.h"
#include "base/check.h"
#include "base/json.h"

namespace krater::agent::testing {

inline WallTime at(std::int64_t seconds) {
  return WallTime::from_unix_seconds(seconds);
}

// A pod "p" in "ns" on node "n1" with this spec.
inline Json pod_json(const std::string& spec, const std::string& name = "p") {
  Result<Json> parsed = parse_json(spec);
  CHECK_MSG(parsed.has_value(), spec);
  Json out{{"apiVersion", "v1"},
           {"kind", "Pod"},
           {"metadata", {{"name", name}, {"namespace", "ns"}, {"uid", "u-" + name}}}};
  out.get_object()["spec"] = *parsed;
  set_path(out, {"spec", "nodeName"}, Json("n1"));
  return out;
}

inline PodSpec pod_spec(const std::string& spec) {
  return read_pod_spec(pod_json(spec));
}

inline ContainerState run() {
  ContainerState out;
  out.phase = ContainerState::Phase::Running;
  out.ever_started = out.started = out.ready = true;
  out.started_at = at(950);
  return out;
}

inline ContainerState ended(int code, WallTime when = at(990)) {
  ContainerState out;
  out.phase = ContainerState::Phase::Exited;
  out.ever_started = true;
  out.exit = ExitInfo{};
  out.exit->code = code;
  out.exit->reason = code == 0 ? "Completed" : "Error";
  out.exit->finished = when;
  return out;
}

}  // namespace krater::agent::testing
