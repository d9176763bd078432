#include "api/webhook/service_endpoints.h"

#include "base/go_quote.h"

namespace krater::api {
namespace {

// The service's port as it lists it.
const Json* port_of(const Json& service, int number) {
  const JsonArray* ports = array_at(service, {"spec", "ports"});
  if (ports == nullptr) return nullptr;
  for (const Json& port : *ports) {
    if (int_at(port, {"port"}) == number) return &port;
  }
  return nullptr;
}

void add(std::vector<HostPort>& out, const Json& address, std::int64_t port) {
  HostPort place{std::string(view(address.get_string())), static_cast<std::uint16_t>(port)};
  for (const HostPort& known : out) {
    if (known == place) return;
  }
  out.push_back(std::move(place));
}

// The number behind the port of this name, among an endpoint object's ports.
std::optional<std::int64_t> number_behind(const Json& endpoints, const std::string& name) {
  const JsonArray* ports = array_at(endpoints, {"ports"});
  if (ports == nullptr) return std::nullopt;
  for (const Json& port : *ports) {
    if (text_at(port, {"name"}) == name) return int_at(port, {"port"});
  }
  return std::nullopt;
}

void add_slice(const Json& slice, const std::string& port, std::vector<HostPort>& out) {
  const std::optional<std::int64_t> number = number_behind(slice, port);
  const JsonArray* endpoints = array_at(slice, {"endpoints"});
  if (!number || endpoints == nullptr) return;
  for (const Json& endpoint : *endpoints) {
    if (!bool_at(endpoint, {"conditions", "ready"}).value_or(true)) continue;
    const JsonArray* addresses = array_at(endpoint, {"addresses"});
    if (addresses == nullptr || addresses->empty() || !addresses->front().is_string()) continue;
    add(out, addresses->front(), *number);
  }
}

void add_endpoints(const Json& endpoints, const std::string& port, std::vector<HostPort>& out) {
  const JsonArray* subsets = array_at(endpoints, {"subsets"});
  for (std::size_t i = 0; subsets != nullptr && i < subsets->size(); ++i) {
    const std::optional<std::int64_t> number = number_behind((*subsets)[i], port);
    const JsonArray* addresses = array_at((*subsets)[i], {"addresses"});
    if (!number || addresses == nullptr) continue;
    for (const Json& address : *addresses) {
      const Json* ip = find(address, {"ip"});
      if (ip != nullptr && ip->is_string()) add(out, *ip, *number);
    }
  }
}

}  // namespace

Result<std::vector<HostPort>> service_endpoints(const HookService& service,
                                                const ObjectReader& reader) {
  TRY_ASSIGN(const ObjectPtr object, reader.get(kinds::kService, service.name_space, service.name));
  if (object == nullptr) {
    return make_error(Code::NotFound, "service " + go_quoted(service.name) + " not found");
  }
  const auto document = object->document();
  std::vector<HostPort> out;
  if (text_at(*document, {"spec", "type"}) == "ExternalName") {
    out.push_back(
        {text_at(*document, {"spec", "externalName"}), static_cast<std::uint16_t>(service.port)});
    return out;
  }
  const Json* port = port_of(*document, service.port);
  if (port == nullptr) {
    return make_error(Code::Unavailable, "no service port " + std::to_string(service.port) +
                                             " found for service " + go_quoted(service.name));
  }
  const std::string port_name = text_at(*port, {"name"});
  TRY_ASSIGN(const std::vector<ObjectPtr> slices,
             reader.list(kinds::kEndpointSlice, service.name_space));
  for (const ObjectPtr& slice : slices) {
    const auto label = slice->labels().find("kubernetes.io/service-name");
    if (label == slice->labels().end() || label->second != service.name) continue;
    add_slice(*slice->document(), port_name, out);
  }
  TRY_ASSIGN(const ObjectPtr endpoints,
             reader.get(kinds::kEndpoints, service.name_space, service.name));
  if (endpoints != nullptr) add_endpoints(*endpoints->document(), port_name, out);
  const std::string own = text_at(*document, {"spec", "clusterIP"});
  const bool selects = find(*document, {"spec", "selector"}) != nullptr;
  // What nobody lists may be known to whoever serves the service's address.
  if (out.empty() && !selects && endpoints == nullptr && !own.empty() && own != "None")
    out.push_back({own, static_cast<std::uint16_t>(service.port)});
  if (out.empty()) {
    return make_error(Code::Unavailable,
                      "no endpoints available for service " + go_quoted(service.name));
  }
  return out;
}

}  // namespace krater::api
