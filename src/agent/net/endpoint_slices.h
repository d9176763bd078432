// Services and their endpoint slices, read. Pure over an informer cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cache.h"

namespace krater::agent {

struct ServicePort {
  std::string name, protocol;  // "TCP"
  std::uint16_t port = 0, node_port = 0;
};

class ServiceView : public ObjectView {
 public:
  using ObjectView::ObjectView;
  std::string type() const { return text({"spec", "type"}); }
  std::string cluster_ip() const { return text({"spec", "clusterIP"}); }
  std::string external_name() const { return text({"spec", "externalName"}); }
  // No address of its own: "None", or not given one yet.
  bool headless() const { return cluster_ip() == "None" || cluster_ip().empty(); }
  std::vector<ServicePort> ports() const;
};

struct SlicePort {
  std::string name, protocol;
  std::uint16_t port = 0;
};

struct SliceEndpoint {
  std::string address, hostname;
  bool ready = true;
  std::vector<SlicePort> ports;
};

// IPv4 endpoints of all slices of the service, in slice order.
std::vector<SliceEndpoint> endpoints_of(const client::Cache& cache, const Object& service);
// The distinct ports of its slices.
std::vector<SlicePort> ports_of(const client::Cache& cache, const Object& service);

}  // namespace krater::agent
