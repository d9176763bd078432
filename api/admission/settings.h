// What an administrator may choose about admission. A value.
#pragma once

#include <cstdint>
#include <string>

namespace krater::api {

struct AdmissionSettings {
  std::string service_network = "10.96.0.0";  // IPv4; the first address is the API's own
  int service_prefix_bits = 16;
  std::int64_t first_node_port = 30000, last_node_port = 32767;
  std::string scheduler_name = "volcano";  // of Volcano jobs that name none
  bool joins_gangs = true;  // our PodGroup controller runs, so pods may name the group it will make
};

}  // namespace krater::api
