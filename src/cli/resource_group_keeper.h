// Tells what has become of the ConfigMap of resource groups: a warning event on it when it cannot
// be read, a line in the log of Volcano's admission. The groups themselves are read where pods are
// admitted (api/admission/resource_groups.h). Lives on one loop, as its client does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/admission/resource_groups.h"
#include "base/env.h"
#include "client/event_recorder.h"
#include "client/object_client.h"

namespace krater::cli {

class ResourceGroupKeeper {
 public:
  using Told = std::function<void(WallTime now, std::string line)>;
  ResourceGroupKeeper(client::ObjectClient& client, Loop& loop, const WallClock& clock,
                      std::shared_ptr<api::ResourceGroupBook> book, Told told)
      : client_(client),
        clock_(clock),
        events_(client, loop, clock, "volcano-admission"),
        book_(std::move(book)),
        told_(std::move(told)) {}

  void start();

 private:
  void look(const ObjectPtr& config_map);

  client::ObjectClient& client_;
  const WallClock& clock_;
  client::EventRecorder events_;
  std::shared_ptr<api::ResourceGroupBook> book_;
  Told told_;
  std::string said_;  // last
  std::unique_ptr<client::Subscription> subscription_;
};

}  // namespace krater::cli
