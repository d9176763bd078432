#include "controllers/endpoints/targets.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::controllers {
namespace {

std::string protocol_of(const Json& port) {
  const std::string text = text_at(port, {"protocol"});
  return text.empty() ? "TCP" : text;
}

std::optional<std::int64_t> container_port(const PodView& pod, std::string_view name,
                                           std::string_view protocol) {
  for (const JsonArray* containers : {&pod.containers(), &pod.init_containers()}) {
    for (const Json& container : *containers) {
      const JsonArray* ports = array_at(container, {"ports"});
      if (ports == nullptr) continue;
      for (const Json& port : *ports) {
        if (string_at(port, {"name"}) == name && protocol_of(port) == protocol)
          return int_at(port, {"containerPort"});
      }
    }
  }
  return std::nullopt;
}

// targetPort is a number, a container port's name, or absent (then it is the port).
std::optional<std::int64_t> port_number(const Json& port, const PodView& pod) {
  if (const auto name = string_at(port, {"targetPort"}); name && !name->empty()) {
    if (const auto number = parse_int(*name)) return number;
    return container_port(pod, *name, protocol_of(port));
  }
  const auto number = int_at(port, {"targetPort"});
  return number && *number > 0 ? number : int_at(port, {"port"});
}

}  // namespace

std::optional<Target> target_of(const ServiceView& service, const PodView& pod) {
  Target out;
  out.ip = pod.pod_ip();
  if (out.ip.empty() || pod.finished()) return std::nullopt;
  out.node = pod.node_name().text();
  out.pod = pod->name();
  out.pod_uid = pod->uid();
  if (text_at(pod.spec(), {"subdomain"}) == service->name())
    out.hostname = text_at(pod.spec(), {"hostname"});
  out.serving = pod.ready();
  out.terminating = pod.deleting();
  out.ready = service.publishes_not_ready() || (out.serving && !out.terminating);
  if (const JsonArray* ports = service.ports()) {
    for (const Json& port : *ports) {
      const auto number = port_number(port, pod);
      if (!number) continue;  // this pod does not have it
      out.ports.push_back(
          {text_at(port, {"name"}), protocol_of(port), text_at(port, {"appProtocol"}), *number});
    }
  }
  return out;
}

}  // namespace krater::controllers
