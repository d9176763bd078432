#include "sim/server.h"

#include "base/check.h"

namespace krater::sim {
namespace {

constexpr Duration kRetry = 100ms;
// Shorter than in a real server, so that watchers that were away meet a compacted history.
constexpr Duration kMaintenancePeriod = 10s, kHistory = 20s;

}  // namespace

Server::Server(ServerParts parts)
    : parts_(parts),
      control_(parts.loop, "control"),
      scheduler_(parts.loop, "scheduler"),
      chores_(parts.loop, "chores"),
      store_(parts.store),
      http_(parts.dashboards.client(control_)) {
  api::RegistryDeps deps{store_, parts_.schemas, parts_.loop.wall(), parts_.rng};
  deps.offload = [this](std::function<void()> work) { chores_.post(std::move(work)); };
  registry_ = api::make_registry(std::move(deps));
}

Server::~Server() {
  store_.die();
  parts_.network.disconnect();
  if (!plane_) return;
  plane_->stop_scheduler();
  plane_->stop_controllers();
}

void Server::start() {
  chores_.post([this] { create_defaults(); });
}

void Server::create_defaults() {
  registry_->create_defaults([this](const Result<void>& done) {
    // On the writer's turn: go on from the lane.
    if (done) return chores_.post([this] { serve(); });
    chores_.post([this] { chores_.after(kRetry, [this] { create_defaults(); }); });
  });
}

void Server::serve() {
  parts_.network.connect(*registry_);
  plane_ = std::make_unique<cli::ControlPlane>(cli::ControlPlaneParts{
      *registry_, parts_.loop.wall(), parts_.rng, control_, *http_, scheduler_});
  CHECK(plane_->start_controllers().has_value());
  CHECK(plane_->start_scheduler().has_value());
  maintain();
}

void Server::maintain() {
  registry_->expire_events();
  marks_.emplace_back(parts_.loop.now(), store_.revision());
  while (marks_.front().first + kHistory <= parts_.loop.now()) {
    const Revision until = marks_.front().second;
    marks_.pop_front();
    if (until > store_.compacted()) CHECK(store_.compact(until).has_value());
  }
  chores_.after(kMaintenancePeriod, [this] { maintain(); });
}

}  // namespace krater::sim
