#include "agent/net/endpoint_slices.h"

#include <algorithm>

namespace krater::agent {
namespace {

constexpr std::string_view kServiceNameLabel = "kubernetes.io/service-name";

std::uint16_t port_at(const Json& json, JsonPath path) {
  const std::int64_t value = int_at(json, path).value_or(0);
  return value > 0 && value < 65536 ? static_cast<std::uint16_t>(value) : 0;
}

std::string protocol_of(const Json& json) {
  const std::string protocol = text_at(json, {"protocol"});
  return protocol.empty() ? "TCP" : protocol;
}

std::vector<SlicePort> slice_ports(const Json& slice) {
  std::vector<SlicePort> out;
  if (const JsonArray* ports = array_at(slice, {"ports"})) {
    for (const Json& port : *ports)
      out.push_back({text_at(port, {"name"}), protocol_of(port), port_at(port, {"port"})});
  }
  return out;
}

template <typename Visit>
void for_each_slice(const client::Cache& cache, const Object& service, const Visit& visit) {
  for (const ObjectPtr& slice : cache.list(kinds::kEndpointSlice, service.name_space())) {
    if (slice->label(kServiceNameLabel) == service.name()) visit(*slice->document());
  }
}

}  // namespace

std::vector<ServicePort> ServiceView::ports() const {
  std::vector<ServicePort> out;
  if (const JsonArray* ports = array_at(document(), {"spec", "ports"})) {
    for (const Json& port : *ports) {
      out.push_back({text_at(port, {"name"}), protocol_of(port), port_at(port, {"port"}),
                     port_at(port, {"nodePort"})});
    }
  }
  return out;
}

std::vector<SliceEndpoint> endpoints_of(const client::Cache& cache, const Object& service) {
  std::vector<SliceEndpoint> out;
  for_each_slice(cache, service, [&](const Json& slice) {
    const JsonArray* endpoints = array_at(slice, {"endpoints"});
    if (endpoints == nullptr || text_at(slice, {"addressType"}) == "IPv6") return;
    const std::vector<SlicePort> ports = slice_ports(slice);
    for (const Json& endpoint : *endpoints) {
      const JsonArray* addresses = array_at(endpoint, {"addresses"});
      if (addresses == nullptr || addresses->empty() || !addresses->front().is_string()) continue;
      out.push_back({std::string(view(addresses->front().get_string())),
                     text_at(endpoint, {"hostname"}),
                     bool_at(endpoint, {"conditions", "ready"}).value_or(true), ports});
    }
  });
  return out;
}

std::vector<SlicePort> ports_of(const client::Cache& cache, const Object& service) {
  std::vector<SlicePort> out;
  for_each_slice(cache, service, [&](const Json& slice) {
    for (const SlicePort& port : slice_ports(slice)) {
      const bool known = std::any_of(out.begin(), out.end(), [&](const SlicePort& other) {
        return other.name == port.name && other.protocol == port.protocol &&
               other.port == port.port;
      });
      if (!known) out.push_back(port);
    }
  });
  return out;
}

}  // namespace krater::agent
