// Endpoints and EndpointSlices of services with a selector, and the `kubernetes` service of the API
// server itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "controllers/loop/plan.h"

namespace krater::controllers {

std::unique_ptr<Reconciler> make_endpoints_controller();

// Keeps service, Endpoints and EndpointSlice `kubernetes` in `default` for the address clients in
// the cluster can reach.
struct ApiAddress {
  std::string ip;  // IPv4 or IPv6 text
  std::uint16_t port = 6443;
};
std::unique_ptr<Reconciler> make_api_service_controller(ApiAddress address);

}  // namespace krater::controllers
