// What the agent reads out of a Pod's spec, once, when the pod is seen first: containers in start
// order with their probes and hooks, and what decides about the pod as a whole. Everything needed
// only while a container is being built (env, mounts, resources) stays in the document. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace krater::agent {

enum class RestartPolicy { Always, OnFailure, Never };

// Init containers run one after the other; a sidecar is an init container with restartPolicy
// Always.
enum class Role { Init, Sidecar, Main };

// What a probe or a lifecycle hook does.
struct ActionSpec {
  enum class Kind { Exec, Http, Tcp, Grpc, Sleep, Unsupported };
  Kind kind = Kind::Unsupported;
  std::vector<std::string> command;  // Exec
  std::string scheme = "http";       // Http, lower case
  std::string host;                  // Http, Tcp; empty: the pod's address
  int port = 0;                      // Http, Tcp, Grpc; names are resolved; 0: no such port
  std::string path = "/";            // Http
  std::string service;               // Grpc; empty: the server as a whole
  bool hook = false;                 // of a hook: an answer will do, whatever it says
  std::vector<std::pair<std::string, std::string>> headers;  // Http
  int seconds = 0;                                           // Sleep
};

struct ProbeSpec {
  ActionSpec action;
  int initial_delay_seconds = 0;
  int period_seconds = 10;
  int timeout_seconds = 1;
  int success_threshold = 1;
  int failure_threshold = 3;
  std::optional<std::int64_t> grace_seconds;  // the probe's own terminationGracePeriodSeconds
};

struct ContainerSpec {
  std::string name, image, working_dir;
  Role role = Role::Main;
  std::vector<std::string> command, args;
  std::string termination_path = "/dev/termination-log";
  bool log_as_message_on_error = false;  // terminationMessagePolicy: FallbackToLogsOnError
  std::optional<ProbeSpec> startup, readiness, liveness;
  std::optional<ActionSpec> post_start, pre_stop;
  Json document;  // the container as written

  // As written, references to variables included; empty: the image's own.
  std::vector<std::string> command_line() const;
};

struct PodSpec {
  std::string uid, name, name_space, node;
  std::string hostname, subdomain, service_account, dns_policy = "ClusterFirst";
  bool host_network = false, host_pid = false, share_processes = false, service_links = true,
       set_fqdn = false;
  RestartPolicy restart_policy = RestartPolicy::Always;
  std::int64_t grace_seconds = 30;
  std::optional<std::int64_t> active_deadline_seconds;
  std::vector<ContainerSpec> containers;  // init containers and sidecars first, as written
  Json document;                          // the pod as first seen

  const ContainerSpec* container(std::string_view wanted) const;
};

// Missing fields take the API's defaults. `document` is a Pod as served.
PodSpec read_pod_spec(const Json& document);

}  // namespace krater::agent
