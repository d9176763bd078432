// What the verbs are told on the command line. Plain values; nothing is checked beyond its form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/node/pressure.h"
#include "cli/guard_options.h"
#include "cli/volcano_options.h"

namespace krater::cli {

inline constexpr const char* kVersion = "0.1.0";

enum class SchedulerKind { Volcano, Off };

struct ServerOptions {
  std::string data_dir;
  std::string listen = "127.0.0.1:6443";
  int threads = 2;  // HTTP; a thread each for the store's writer, the controllers and the scheduler
                    // comes on top
  SchedulerKind scheduler = SchedulerKind::Volcano;  // Off: somebody else's binds the pods
  std::string controllers{};                         // see ControllerSelection
  std::string signing_duration = "8760h";            // of certificates, at most
  VolcanoOptions volcano{};
  GuardOptions guards{};
};

enum class RuntimeKind { Process, Simulated };

struct AgentOptions {
  std::string server_url{};
  std::string token{};                  // join token; unused once the node has its certificate
  std::string certificate_authority{};  // a file; empty: the token holds the authority's hash
  std::string data_dir{};               // certificates, pods, logs
  std::string node_name{};  // empty: the host's name; with several simulated nodes a prefix
  RuntimeKind runtime = RuntimeKind::Process;
  int nodes = 1;                // simulated only
  std::string cpu{}, memory{};  // quantities; empty: what the machine has
  std::string images{};         // YAML file: which directory stands for which image
  std::string programs{};       // YAML file: how programs end on simulated nodes
  std::string pod_cidr = "10.88.0.0/16";
  std::string log_max_size = "10Mi";  // a quantity; a container's log is rotated beyond it
  int log_max_files = 5;              // of a container, with the current one
  std::string eviction_hard{agent::kDefaultThresholds};  // of the node's pressure conditions
  bool stop_pods = false;                                // on SIGTERM, end the pods too
};

struct DevOptions {
  ServerOptions server;
  AgentOptions agent;
};

struct TokenOptions {
  std::string data_dir;
  int hours = 24;
};

struct KubeconfigOptions {
  std::string data_dir;
  std::string server_url{};  // empty: what the server wrote at its last start
};

struct SimulateOptions {
  std::string path;             // a file, or a directory of them
  std::string format = "auto";  // replay::format_names()
  std::string config{};         // a file; empty: what the directory has, else the default
  std::uint64_t seed = 1;
  std::string until = "720h";  // a time, at the latest
  std::int64_t nodes = 10;     // of a trace
  bool nodes_given = false;
  std::string cpu = "8", memory = "32Gi", pod_cpu = "1";
  bool json = false, decisions = false;
};

int run_simulate(const SimulateOptions& options);
int run_dev(const DevOptions& options);
int run_server(const ServerOptions& options);
int run_agent(const AgentOptions& options);
int run_token_create(const TokenOptions& options);
int run_kubeconfig(const KubeconfigOptions& options);
int run_version();

}  // namespace krater::cli
