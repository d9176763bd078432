// Service addresses to pod addresses: the nftables rules of one node. Pure: services and endpoints
// in, the text of one `nft -f` transaction out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cache.h"

namespace krater::agent {

// Where the API server can be reached from the pod network when it says of itself that it listens
// on this machine's loopback.
struct ApiTarget {
  std::string address;
  std::uint16_t port = 0;
};

struct RuleSettings {
  std::string table = "krater";  // of family ip; wholly ours
  std::string pod_network = "10.88.0.0/16";
  std::optional<ApiTarget> api{};
};

// Replaces the table in one transaction. Services without endpoints are rejected at once instead of
// timing out.
std::string service_rules(const client::Cache& cache, const RuleSettings& settings);
// Removes the table, whether it is there or not.
std::string no_service_rules(const RuleSettings& settings);

}  // namespace krater::agent
