// Ingresses, network policies, classes of both and of runtimes.
#include <set>

#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

std::string hosts(const Json& ingress) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> out;
  bool more = false;
  if (const JsonArray* rules = array_at(ingress, {"spec", "rules"})) {
    for (const Json& rule : *rules) {
      const std::string host = text_at(rule, {"host"});
      if (host.empty()) continue;
      if (out.size() == kShown) more = true;
      out.push_back(host);
    }
  }
  if (out.empty()) return "*";
  if (!more) return join(out, ",");
  return join({out.begin(), out.begin() + kShown}, ",") + " + " +
         std::to_string(out.size() - kShown) + " more...";
}

std::string addresses(const Json& ingress) {
  std::set<std::string> out;
  if (const JsonArray* points = array_at(ingress, {"status", "loadBalancer", "ingress"})) {
    for (const Json& point : *points) {
      const std::string ip = text_at(point, {"ip"}), host = text_at(point, {"hostname"});
      if (!ip.empty() || !host.empty()) out.insert(ip.empty() ? host : ip);
    }
  }
  return join({out.begin(), out.end()}, ",");
}

}  // namespace

JsonArray ingress(const Json& object, WallTime now) {
  const JsonArray* tls = array_at(object, {"spec", "tls"});
  return {Json(name(object)),
          Json(or_none(text_at(object, {"spec", "ingressClassName"}))),
          Json(hosts(object)),
          Json(addresses(object)),
          Json(tls != nullptr && !tls->empty() ? "80, 443" : "80"),
          Json(age(object, now))};
}

JsonArray ingress_class(const Json& object, WallTime now) {
  std::string parameters = "<none>";
  if (const Json* given = find(object, {"spec", "parameters"})) {
    const std::string group = text_at(*given, {"apiGroup"});
    parameters = text_at(*given, {"kind"}) + (group.empty() ? "" : "." + group) + "/" +
                 text_at(*given, {"name"});
  }
  return {Json(name(object)), Json(text_at(object, {"spec", "controller"})), Json(parameters),
          Json(age(object, now))};
}

JsonArray network_policy(const Json& object, WallTime now) {
  return {Json(name(object)), Json(selector_text(find(object, {"spec", "podSelector"}))),
          Json(age(object, now))};
}

JsonArray runtime_class(const Json& object, WallTime now) {
  return {Json(name(object)), Json(text_at(object, {"handler"})), Json(age(object, now))};
}

}  // namespace krater::api::cells
