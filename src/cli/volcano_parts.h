// What is seen of Volcano's programs, which run inside the server: mirror objects, their logs, and
// what became of the configuration of its admission. Lives on one loop, but for the logs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/settings.h"
#include "api/machinery/schema.h"
#include "api/server/component_log.h"
#include "base/env.h"
#include "cli/mirror_objects.h"
#include "cli/resource_group_keeper.h"
#include "cli/volcano_options.h"
#include "client/object_client.h"

namespace krater::cli {

inline constexpr std::string_view kVolcanoScheduler = "volcano-scheduler";
inline constexpr std::string_view kVolcanoControllers = "volcano-controllers";
inline constexpr std::string_view kVolcanoAdmission = "volcano-admission";

class VolcanoParts {
 public:
  using Sink = std::function<void(WallTime now, std::string line)>;

  // Before anything is admitted: where resource groups are read, and where refusals are told.
  void attach(const api::SchemaSet& schemas, const VolcanoChoices& choices,
              api::AdmissionSettings& settings);
  const api::ComponentLogs& logs() const { return logs_; }
  Sink sink_of(std::string_view part) const;

  struct Running {
    bool scheduler = true, controllers = true;
  };
  // Without either, Volcano's own programs are expected, and no object stands in their way.
  void start(std::unique_ptr<client::ObjectClient> client, Loop& loop, const WallClock& clock,
             Running running);
  void stop();

 private:
  static api::ComponentLogs new_logs();

  api::ComponentLogs logs_ = new_logs();
  std::shared_ptr<api::ResourceGroupBook> groups_;
  std::unique_ptr<client::ObjectClient> client_;
  std::vector<std::unique_ptr<MirrorObjects>> mirrors_;
  std::unique_ptr<ResourceGroupKeeper> keeper_;
};

}  // namespace krater::cli
