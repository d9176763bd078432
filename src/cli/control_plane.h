// Controllers and scheduler, composed over a registry. Each runs on a loop of its own under its own
// name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/machinery/custom/custom_schemas.h"
#include "api/registry/registry.h"
#include "base/env.h"
#include "base/http.h"
#include "cli/certificate_duties.h"
#include "cli/controller_selection.h"

namespace krater::controllers {
struct ControllerCounters;
struct VolcanoControllerFigures;
}  // namespace krater::controllers
namespace krater::scheduler {
struct Metrics;
struct VolcanoFigures;
}  // namespace krater::scheduler

namespace krater::cli {

struct ControlPlaneParts {
  api::Registry& registry;
  const WallClock& clock;
  Rng& rng;
  Loop& control;     // all controllers
  HttpClient& http;  // on `control`: Ray dashboards
  Loop& scheduler;
  ControllerSelection controllers{};
  bool with_scheduler = true;
  // Null: users' definitions are stored, and nothing comes of them.
  api::CustomSchemas* custom = nullptr;
  std::string scheduler_conf{};                    // text; empty: from the ConfigMap
  std::vector<std::string> scheduler_configmap{};  // namespace, name, key; empty: the usual one
  Duration schedule_period{};                      // scheduler::Options
  std::vector<std::string> scheduler_names{"volcano"};  // Volcano's
  bool takes_default_scheduler = true;                  // its pods are placed too
  std::string default_queue = "default";
  std::vector<std::pair<std::string, std::string>> node_selector{};  // scheduler::Options
  // On the scheduler's loop, after each cycle.
  std::function<void(const scheduler::Metrics&)> scheduler_measured{};
  // On the scheduler's loop, a line a decision.
  std::function<void(WallTime now, std::string line)> scheduler_decided{};
  // On the control loop, likewise, of Volcano's controllers.
  std::function<void(WallTime now, std::string line)> controllers_decided{};
  std::string ca_pem{};  // for ConfigMap kube-root-ca.crt
  // Of certificate requests; empty: they are left to others.
  CertificateDuties certificates{};
  // What stands behind the Service default/kubernetes; port 0: not published.
  std::string api_host{};
  std::uint16_t api_port = 0;
};

class ControlPlane {
 public:
  explicit ControlPlane(ControlPlaneParts parts);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  // On the control loop's thread. Code::Invalid for a selection of controllers that there are not;
  // none runs then.
  Result<void> start_controllers();
  void stop_controllers();
  // Empty while they do not run.
  std::vector<controllers::ControllerCounters> counters() const;
  controllers::VolcanoControllerFigures controller_figures() const;
  // On the scheduler loop's thread.
  // Code::Invalid for a scheduler_conf that is no good.
  Result<void> start_scheduler();
  // None while it does not run.
  std::optional<scheduler::VolcanoFigures> scheduler_figures() const;
  void stop_scheduler();
  // Instead of parts.scheduler_conf, from now on.
  void use_scheduler_conf(const std::string& text);

 private:
  struct Controllers;
  struct Scheduling;
  ControlPlaneParts parts_;
  std::unique_ptr<Controllers> controllers_;
  std::unique_ptr<Scheduling> scheduling_;
};

}  // namespace krater::cli
