// One life of the server in a simulated world: registry, controllers and scheduler over the world's
// store, each on a lane of its own, as src/cli/server_process composes them. Dropping it is a
// crash: nothing more is written and nobody is told.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "api/machinery/schema.h"
#include "api/registry/registry.h"
#include "cli/control_plane.h"
#include "sim/network.h"
#include "sim/ray_dashboards.h"
#include "sim/sim_loop.h"
#include "sim/store_layers.h"

namespace krater::sim {

struct ServerParts {
  SimLoop& loop;
  storage::Store& store;  // lives on
  const api::SchemaSet& schemas;
  Rng& rng;
  Network& network;
  RayDashboards& dashboards;
};

class Server {
 public:
  explicit Server(ServerParts parts);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Reachable once its defaults are there; tries until they are.
  void start();

 private:
  void create_defaults();
  void serve();
  void maintain();

  ServerParts parts_;
  Lane control_, scheduler_, chores_;
  MortalStore store_;
  std::unique_ptr<api::Registry> registry_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<cli::ControlPlane> plane_;
  std::deque<std::pair<SteadyTime, Revision>> marks_;  // revisions by time, for compaction
};

}  // namespace krater::sim
