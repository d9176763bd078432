#include "agent/net/service_rules.h"

#include <fmt/format.h>

#include <vector>

#include "agent/net/endpoint_slices.h"
#include "base/strings.h"

namespace krater::agent {
namespace {

struct Target {
  std::string address;
  std::uint16_t port;
};

// A service's port and what stands behind it.
struct Route {
  std::string address;
  std::string protocol;  // tcp, udp, sctp
  std::uint16_t port = 0, node_port = 0;
  std::vector<Target> targets;
  // On this machine's loopback: from a pod's network that leads to the pod itself, so only the
  // machine's own programs are sent there.
  std::vector<Target> local;
};

bool is_address(const std::string& text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4) return false;
  for (std::string_view part : parts) {
    const auto number = parse_int(part);
    if (!number || *number < 0 || *number > 255) return false;
  }
  return true;
}

bool is_api(const Object& service) {
  return service.name_space() == "default" && service.name() == "kubernetes";
}

std::vector<Route> routes_of(const client::Cache& cache, const ObjectPtr& service,
                             const std::optional<ApiTarget>& api) {
  std::vector<Route> out;
  const ServiceView view(service);
  if (view.headless() || view.type() == "ExternalName" || !is_address(view.cluster_ip()))
    return out;
  const std::vector<SliceEndpoint> endpoints = endpoints_of(cache, *service);
  for (const ServicePort& port : view.ports()) {
    Route route{view.cluster_ip(), to_lower(port.protocol), port.port, port.node_port, {}, {}};
    if (route.port == 0 ||
        (route.protocol != "tcp" && route.protocol != "udp" && route.protocol != "sctp"))
      continue;
    for (const SliceEndpoint& endpoint : endpoints) {
      if (!endpoint.ready || !is_address(endpoint.address)) continue;
      for (const SlicePort& behind : endpoint.ports) {
        if (behind.name == port.name && behind.protocol == port.protocol && behind.port != 0) {
          const bool loopback = endpoint.address.starts_with("127.");
          if (loopback && !is_api(*service)) continue;
          (loopback ? route.local : route.targets).push_back({endpoint.address, behind.port});
        }
      }
    }
    if (route.targets.empty() && api && is_api(*service))
      route.targets.push_back({api->address, api->port});
    out.push_back(std::move(route));
  }
  return out;
}

// `numgen` over a map: an even spread without a chain per endpoint.
std::string destination(const std::vector<Target>& targets) {
  if (targets.size() == 1) return fmt::format("dnat to {}:{}", targets[0].address, targets[0].port);
  std::string out = fmt::format("dnat to numgen random mod {} map {{ ", targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    out +=
        fmt::format("{}{} : {} . {}", i == 0 ? "" : ", ", i, targets[i].address, targets[i].port);
  }
  return out + " }";
}

}  // namespace

std::string service_rules(const client::Cache& cache, const RuleSettings& settings) {
  std::string nat, node_ports, reject, local;
  for (const ObjectPtr& service : cache.list(kinds::kService)) {
    for (const Route& route : routes_of(cache, service, settings.api)) {
      const std::string match =
          fmt::format("ip daddr {} {} dport {}", route.address, route.protocol, route.port);
      if (!route.local.empty())
        local += fmt::format("    {} {}\n", match, destination(route.local));
      if (route.targets.empty()) {
        reject += fmt::format("    {} reject\n", match);
        continue;
      }
      nat += fmt::format("    {} {}\n", match, destination(route.targets));
      if (route.node_port != 0) {
        node_ports += fmt::format("    fib daddr type local {} dport {} {}\n", route.protocol,
                                  route.node_port, destination(route.targets));
      }
    }
  }
  return fmt::format(
      "add table ip {0}\ndelete table ip {0}\n"
      "table ip {0} {{\n"
      "  chain services {{\n{1}{2}  }}\n"
      "  chain prerouting {{\n    type nat hook prerouting priority dstnat; policy accept;\n    "
      "jump services\n  }}\n"
      "  chain output {{\n    type nat hook output priority -100; policy accept;\n{5}    jump "
      "services\n  }}\n"
      // A pod that reaches itself or a neighbour through a service must see the answer come back
      // the same way.
      "  chain postrouting {{\n    type nat hook postrouting priority srcnat; policy accept;\n"
      "    ct status dnat ip daddr {3} masquerade\n"
      // The way out of the pod network.
      "    ip saddr {3} ip daddr != {3} masquerade\n  }}\n"
      "  chain dead {{\n{4}  }}\n"
      "  chain forward {{\n    type filter hook forward priority filter; policy accept;\n    jump "
      "dead\n  }}\n"
      "  chain local {{\n    type filter hook output priority filter; policy accept;\n    jump "
      "dead\n  }}\n"
      "}}\n",
      settings.table, nat, node_ports, settings.pod_network, reject, local);
}

std::string no_service_rules(const RuleSettings& settings) {
  return fmt::format("add table ip {0}\ndelete table ip {0}\n", settings.table);
}

}  // namespace krater::agent
