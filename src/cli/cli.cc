#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "agent/shim/shim.h"
#include "base/log.h"
#include "cli/guards.h"
#include "cli/options.h"
#include "replay/formats.h"

namespace krater::cli {
namespace {

void add_server_options(CLI::App& verb, ServerOptions& options) {
  verb.add_option("--data-dir", options.data_dir,
                  "directory of the store, certificates and kubeconfig")
      ->required();
  verb.add_option("--listen", options.listen, "address and port of the API")->capture_default_str();
  verb.add_option("--threads", options.threads, "threads that serve HTTP")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  add_volcano_options(verb, options.volcano);
  static const std::map<std::string, SchedulerKind> kSchedulers{{"volcano", SchedulerKind::Volcano},
                                                                {"off", SchedulerKind::Off}};
  verb.add_option("--scheduler", options.scheduler,
                  "volcano, or off where another scheduler binds the pods (default: volcano)")
      ->transform(CLI::CheckedTransformer(kSchedulers, CLI::ignore_case));
  verb.add_option("--controllers", options.controllers,
                  "controllers to run: name, -name for one that is not to run, * for all others "
                  "(default: all)");
  verb.add_option("--cluster-signing-duration", options.signing_duration,
                  "how long the certificates that the cluster signs are good for, at most")
      ->capture_default_str();
  add_guard_options(verb, options.guards);
}

void add_node_options(CLI::App& verb, AgentOptions& options) {
  static const std::map<std::string, RuntimeKind> kRuntimes{{"process", RuntimeKind::Process},
                                                            {"simulated", RuntimeKind::Simulated}};
  verb.add_option("--runtime", options.runtime, "how pods run: process or simulated")
      ->transform(CLI::CheckedTransformer(kRuntimes, CLI::ignore_case));
  verb.add_option("--nodes", options.nodes, "number of simulated nodes")
      ->check(CLI::Range(1, 100000));
  verb.add_option("--cpu", options.cpu,
                  "CPU of each node, as a quantity (default: what the machine has)");
  verb.add_option("--memory", options.memory,
                  "memory of each node, as a quantity (default: what the machine has)");
  verb.add_option("--node-name", options.node_name, "name of the node (default: the host's name)");
  verb.add_option("--images", options.images,
                  "YAML file that maps image names to directories of this node")
      ->check(CLI::ExistingFile);
  verb.add_option("--programs", options.programs,
                  "YAML file that says how programs end on simulated nodes")
      ->check(CLI::ExistingFile);
  verb.add_option("--pod-cidr", options.pod_cidr, "addresses for pods of this node")
      ->capture_default_str();
  verb.add_option("--container-log-max-size", options.log_max_size,
                  "size at which a container's log is rotated")
      ->capture_default_str();
  verb.add_option("--container-log-max-files", options.log_max_files,
                  "log files kept for a container")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  verb.add_option(
          "--eviction-hard", options.eviction_hard,
          "what the node must have left, or it says it is short of it and takes no more pods")
      ->capture_default_str();
  verb.add_flag("--stop-pods", options.stop_pods, "end this node's pods when the agent is stopped");
}

void add_simulate_options(CLI::App& verb, SimulateOptions& options) {
  verb.add_option("workload", options.path,
                  "a snapshot of a cluster, objects, events or a trace: a file, or a directory")
      ->required()
      ->check(CLI::ExistingPath);
  verb.add_option(
          "--format", options.format,
          "what the workload is written in: auto (found out from what is in it), objects and "
          "events (of Kubernetes, YAML or JSON), csv (our own columns), alibaba (batch_task, "
          "pai_task_table), google-2011 (task_events, job_events, machine_events), "
          "google-2019 (instance_events, collection_events), log (the scheduler's decisions)")
      ->capture_default_str()
      ->check(CLI::IsMember(replay::format_names()));
  verb.add_option("--config", options.config, "scheduler configuration in Volcano's format")
      ->check(CLI::ExistingFile);
  verb.add_option("--seed", options.seed, "the same seed gives the same outcome")
      ->capture_default_str();
  verb.add_option("--until", options.until, "time after which it ends, whoever still waits")
      ->capture_default_str();
  verb.add_option_function<std::int64_t>(
          "--nodes",
          [&options](std::int64_t nodes) {
            options.nodes = nodes;
            options.nodes_given = true;
          },
          "of a trace: number of nodes (default 10, or as many as the trace tells of)")
      ->check(CLI::Range(1, 100000));
  verb.add_option("--cpu", options.cpu, "of a trace: CPU of each node, or of the largest")
      ->capture_default_str();
  verb.add_option("--memory", options.memory, "of a trace: memory of each node, or of the largest")
      ->capture_default_str();
  verb.add_option("--pod-cpu", options.pod_cpu,
                  "of a trace: CPU of each pod of which it does not tell what it asks for")
      ->capture_default_str();
  verb.add_flag("--json", options.json, "print the figures as JSON");
  verb.add_flag("--decisions", options.decisions, "print the scheduler's decisions first");
}

int parse_and_run(CLI::App& app, int argc, char** argv) {
  bool debug = false;
  app.add_flag("--debug", debug, "log every reconcile pass and scheduling cycle");
  app.require_subcommand(1);
  app.fallthrough();

  DevOptions dev;
  CLI::App* dev_verb = app.add_subcommand(
      "dev", "a whole cluster on this machine: server and one agent in one process");
  add_server_options(*dev_verb, dev.server);
  add_node_options(*dev_verb, dev.agent);

  ServerOptions server;
  CLI::App* server_verb = app.add_subcommand("server", "API, store, controllers and scheduler");
  add_server_options(*server_verb, server);

  AgentOptions agent;
  CLI::App* agent_verb =
      app.add_subcommand("agent", "joins this machine to a cluster and runs its pods");
  agent_verb->add_option("--server", agent.server_url, "https://HOST:PORT of the API")->required();
  agent_verb->add_option("--token,--bootstrap-token", agent.token,
                         "join token from `krater token create`, or any bootstrap token");
  agent_verb
      ->add_option(
          "--certificate-authority", agent.certificate_authority,
          "file with the cluster's authority (default: the one whose hash the token holds)")
      ->check(CLI::ExistingFile);
  agent_verb
      ->add_option("--data-dir", agent.data_dir,
                   "directory of this node's certificate, pods and logs")
      ->default_val("/var/lib/krater-agent");
  add_node_options(*agent_verb, agent);

  TokenOptions token;
  CLI::App* token_verb =
      app.add_subcommand("token", "join tokens for agents")->require_subcommand(1);
  CLI::App* token_create = token_verb->add_subcommand("create", "prints a new join token");
  token_create->add_option("--data-dir", token.data_dir, "the server's directory")->required();
  token_create->add_option("--hours", token.hours, "how long it can be used")
      ->capture_default_str()
      ->check(CLI::Range(1, 8760));

  KubeconfigOptions kubeconfig;
  CLI::App* kubeconfig_verb =
      app.add_subcommand("kubeconfig", "prints a kubeconfig with an administrator's certificate");
  kubeconfig_verb->add_option("--data-dir", kubeconfig.data_dir, "the server's directory")
      ->required();
  kubeconfig_verb->add_option("--server", kubeconfig.server_url,
                              "https://HOST:PORT to write into it");

  SimulateOptions simulate;
  CLI::App* simulate_verb = app.add_subcommand(
      "simulate", "what the scheduler would do with a workload, and how long everybody would wait");
  add_simulate_options(*simulate_verb, simulate);

  const CLI::App* version_verb = app.add_subcommand("version", "prints the version");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  log::configure(debug ? log::Level::Debug : log::Level::Info);
  if (dev_verb->parsed()) return run_dev(dev);
  if (server_verb->parsed()) return run_server(server);
  if (agent_verb->parsed()) return run_agent(agent);
  if (token_create->parsed()) return run_token_create(token);
  if (kubeconfig_verb->parsed()) return run_kubeconfig(kubeconfig);
  if (simulate_verb->parsed()) {
    // What the scheduler logs is of no use here; --decisions prints what it decides.
    if (!debug) log::configure(log::Level::Error);
    return run_simulate(simulate);
  }
  if (version_verb->parsed()) return run_version();
  return 2;
}

}  // namespace

int run(int argc, char** argv) {
  // The parent of a pod's containers is this same binary under a verb that people do not see: no
  // option parsing, no threads, before anything else.
  if (argc > 1 && std::string_view(argv[1]) == "shim") return agent::shim_main(argc - 1, argv + 1);
  CLI::App app("Krater: Kubernetes API, Ray jobs and gang scheduling in one binary", "krater");
  try {
    return parse_and_run(app, argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "krater: %s\n", problem.what());
    return 1;
  }
}

int run_version() {
  std::printf("krater %s\n", kVersion);
  return 0;
}

}  // namespace krater::cli
