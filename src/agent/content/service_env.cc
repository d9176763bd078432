#include "agent/content/service_env.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::agent {
namespace {

std::string variable_name(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '-' || c == '.') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

void add(const ObjectPtr& service, Environment& out) {
  const std::shared_ptr<const Json> document = service->document();
  const std::string host = text_at(*document, {"spec", "clusterIP"});
  const JsonArray* ports = array_at(*document, {"spec", "ports"});
  if (host.empty() || host == "None" || ports == nullptr || ports->empty()) return;
  const std::string prefix = variable_name(service->name());
  const auto number = [](const Json& port) {
    return std::to_string(int_at(port, {"port"}).value_or(0));
  };
  const auto protocol = [](const Json& port) {
    return std::string(string_at(port, {"protocol"}).value_or("TCP"));
  };
  out.emplace_back(prefix + "_SERVICE_HOST", host);
  out.emplace_back(prefix + "_SERVICE_PORT", number(ports->front()));
  for (const Json& port : *ports) {
    if (const std::string name = text_at(port, {"name"}); !name.empty()) {
      out.emplace_back(prefix + "_SERVICE_PORT_" + variable_name(name), number(port));
    }
  }
  const auto address = [&](const Json& port) {
    return to_lower(protocol(port)) + "://" + host + ":" + number(port);
  };
  out.emplace_back(prefix + "_PORT", address(ports->front()));
  for (const Json& port : *ports) {
    const std::string one = prefix + "_PORT_" + number(port) + "_" + variable_name(protocol(port));
    out.emplace_back(one, address(port));
    out.emplace_back(one + "_PROTO", to_lower(protocol(port)));
    out.emplace_back(one + "_PORT", number(port));
    out.emplace_back(one + "_ADDR", host);
  }
}

}  // namespace

Environment api_environment(const std::string& host, std::uint16_t port) {
  const std::string number = std::to_string(port);
  return {{"KUBERNETES_SERVICE_HOST", host},
          {"KUBERNETES_SERVICE_PORT", number},
          {"KUBERNETES_SERVICE_PORT_HTTPS", number}};
}

Environment service_environment(const std::vector<ObjectPtr>& services,
                                const std::string& name_space, bool links) {
  Environment out;
  for (const ObjectPtr& service : services) {
    const bool master = service->name_space() == "default" && service->name() == "kubernetes";
    if (master || (links && service->name_space() == name_space)) add(service, out);
  }
  // One of the pod's namespace hides the master service of the same name.
  Environment unique;
  for (auto& [name, value] : out) {
    const auto place = std::ranges::find(unique, name, &Environment::value_type::first);
    if (place == unique.end()) {
      unique.emplace_back(name, value);
    } else {
      place->second = value;
    }
  }
  return unique;
}

}  // namespace krater::agent
