// What an administrator may choose about admission.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace krater::api {

class ResourceGroupBook;

struct AdmissionSettings {
  std::string service_network = "10.96.0.0";  // IPv4; the first address is the API's own
  int service_prefix_bits = 16;
  std::int64_t first_node_port = 30000, last_node_port = 32767;
  // Volcano's, the first also of Volcano jobs that name none.
  std::vector<std::string> scheduler_names{"volcano"};
  std::string default_queue = "default";  // of jobs and groups that name none
  int max_queue_depth = 5;                // root is not counted
  bool protects_root_queue = true;        // its amounts stay as they are
  bool keeps_queues_with_pods = false;    // they are not deleted
  bool joins_gangs = true;  // our PodGroup controller runs, so pods may name the group it will make
  std::shared_ptr<ResourceGroupBook> resource_groups{};  // null: pods are in none
  // Told of what Volcano's webhooks would have refused, a line each; null: nobody is. Any thread.
  std::function<void(WallTime now, std::string line)> refused{};

  bool is_volcano(std::string_view scheduler) const {
    return std::find(scheduler_names.begin(), scheduler_names.end(), scheduler) !=
           scheduler_names.end();
  }
};

}  // namespace krater::api
