// Services and endpoints.
#include <algorithm>
#include <set>

#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

constexpr std::size_t kShownEndpoints = 3;

std::vector<std::string> strings(const JsonArray* list) {
  std::vector<std::string> out;
  if (list == nullptr) return out;
  for (const Json& item : *list) {
    if (item.is_string()) out.emplace_back(view(item.get_string()));
  }
  return out;
}

std::string external_ip(const Json& service) {
  const std::string type = text_at(service, {"spec", "type"});
  if (type == "ExternalName") return text_at(service, {"spec", "externalName"});
  const std::vector<std::string> external = strings(array_at(service, {"spec", "externalIPs"}));
  if (type != "LoadBalancer") return or_none(join(external, ","));
  std::set<std::string> ingress;
  if (const JsonArray* points = array_at(service, {"status", "loadBalancer", "ingress"})) {
    for (const Json& point : *points) {
      const std::string ip = text_at(point, {"ip"});
      const std::string host = text_at(point, {"hostname"});
      if (!ip.empty() || !host.empty()) ingress.insert(ip.empty() ? host : ip);
    }
  }
  std::vector<std::string> all(ingress.begin(), ingress.end());
  all.insert(all.end(), external.begin(), external.end());
  return all.empty() ? "<pending>" : join(all, ",");
}

std::string service_ports(const Json& service) {
  std::vector<std::string> out;
  if (const JsonArray* ports = array_at(service, {"spec", "ports"})) {
    for (const Json& port : *ports) {
      std::string text = std::to_string(int_at(port, {"port"}).value_or(0));
      if (const auto node_port = int_at(port, {"nodePort"}); node_port && *node_port > 0) {
        text += ":" + std::to_string(*node_port);
      }
      out.push_back(text + "/" + text_at(port, {"protocol"}));
    }
  }
  return or_none(join(out, ","));
}

std::string shortened(const std::vector<std::string>& all) {
  if (all.size() <= kShownEndpoints) return join(all, ",");
  return join({all.begin(), all.begin() + kShownEndpoints}, ",") + " + " +
         std::to_string(all.size() - kShownEndpoints) + " more...";
}

std::vector<std::string> subset_addresses(const Json& subset) {
  std::vector<std::string> out;
  const JsonArray* addresses = array_at(subset, {"addresses"});
  const JsonArray* ports = array_at(subset, {"ports"});
  if (addresses == nullptr) return out;
  if (ports == nullptr || ports->empty()) {
    for (const Json& address : *addresses) out.push_back(text_at(address, {"ip"}));
    return out;
  }
  for (const Json& port : *ports) {
    for (const Json& address : *addresses) {
      out.push_back(text_at(address, {"ip"}) + ":" +
                    std::to_string(int_at(port, {"port"}).value_or(0)));
    }
  }
  return out;
}

}  // namespace

JsonArray service(const Json& object, WallTime now) {
  const JsonArray* ips = array_at(object, {"spec", "clusterIPs"});
  std::string ip = ips == nullptr || ips->empty() ? text_at(object, {"spec", "clusterIP"})
                                                  : std::string(view((*ips)[0].as_string()));
  return {Json(name(object)),
          Json(text_at(object, {"spec", "type"})),
          Json(or_none(std::move(ip))),
          Json(external_ip(object)),
          Json(service_ports(object)),
          Json(age(object, now)),
          Json(label_list(find(object, {"spec", "selector"})))};
}

JsonArray endpoints(const Json& object, WallTime now) {
  std::vector<std::string> all;
  if (const JsonArray* subsets = array_at(object, {"subsets"})) {
    for (const Json& subset : *subsets) {
      const std::vector<std::string> more = subset_addresses(subset);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  return {Json(name(object)), Json(or_none(shortened(all))), Json(age(object, now))};
}

JsonArray endpoint_slice(const Json& object, WallTime now) {
  std::vector<std::string> ports, addresses;
  if (const JsonArray* list = array_at(object, {"ports"})) {
    for (const Json& port : *list) {
      const auto number = int_at(port, {"port"});
      ports.push_back(number ? std::to_string(*number) : "*");
    }
  }
  if (const JsonArray* list = array_at(object, {"endpoints"})) {
    for (const Json& endpoint : *list) {
      for (std::string& address : strings(array_at(endpoint, {"addresses"})))
        addresses.push_back(std::move(address));
    }
  }
  const auto or_unset = [](std::string text) { return text.empty() ? "<unset>" : text; };
  return {Json(name(object)), Json(text_at(object, {"addressType"})),
          Json(or_unset(shortened(ports))), Json(or_unset(shortened(addresses))),
          Json(age(object, now))};
}

}  // namespace krater::api::cells
