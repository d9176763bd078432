// A whole cluster in one thread, from one seed: the real store (on RocksDB's in-memory
// environment), registry, controllers, scheduler and node agents; simulated time, network,
// containers and Ray dashboards. Runs a scenario, breaks things as it says, and judges.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/machinery/schema.h"
#include "sim/judge.h"
#include "sim/network.h"
#include "sim/node.h"
#include "sim/ray_dashboards.h"
#include "sim/scenario.h"
#include "sim/server.h"
#include "sim/sim_loop.h"
#include "sim/user.h"
#include "sim/witness.h"
#include "storage/faulty_store.h"

namespace krater::sim {

struct Report {
  std::uint64_t seed = 0;
  // Of every event of the store, and one more random number: the same seed gives the same.
  std::uint64_t fingerprint = 0;
  std::vector<std::string> violations;
  std::uint64_t events = 0, binds = 0, tasks = 0, submissions = 0;
  Duration lasted{};  // simulated
  std::string text() const;
};

class World {
 public:
  World(const Scenario& scenario, std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Once.
  Report run();

 private:
  void begin();
  void submit_load();
  void bring_faults();
  void calm();
  // Lives on until nothing is missing or the scenario's patience is over; notes what still is.
  template <typename Missing>
  void settle(Missing look);
  std::vector<std::string> unsettled();
  // What the program of a container on one of the nodes does. False: not yet.
  bool run_program(const std::string& name_space, const std::string& pod);
  // False: time does not go on; that is a problem noted, once.
  bool live(Duration time);
  void kill_a_node(const Fault& fault);
  void restart_an_agent(Duration down);
  void restart_server(Duration down);
  void start_server();
  // About `every`, while faults happen.
  void repeat(Duration every, std::function<void()> what);

  const Scenario& scenario_;
  const std::uint64_t seed_;
  const std::uint64_t errors_before_, soft_checks_before_;
  SimLoop loop_;
  SeededRng server_rng_, node_rng_, fault_rng_, ray_rng_;
  std::unique_ptr<api::SchemaSet> schemas_;
  Judge judge_;
  Lane disk_, script_;
  std::unique_ptr<storage::FaultyStore> store_;
  Network network_;
  RayDashboards dashboards_;
  std::vector<std::unique_ptr<Node>> nodes_;
  User user_;
  Witness witness_;
  std::unique_ptr<Server> server_;
  SteadyTime faults_until_{};
  bool stuck_ = false;
  std::vector<std::string> problems_;
};

}  // namespace krater::sim
