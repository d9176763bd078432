#include <set>

#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

std::string status(const Json& node) {
  const std::string ready = condition_status(node, "Ready");
  std::string out = ready.empty() ? "Unknown" : ready == "True" ? "Ready" : "NotReady";
  if (bool_at(node, {"spec", "unschedulable"}).value_or(false)) out += ",SchedulingDisabled";
  return out;
}

std::string roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  if (const JsonObject* labels = object_at(node, {"metadata", "labels"})) {
    for (const auto& label : *labels) {
      const std::string_view key = label.key();
      if (key.substr(0, kPrefix.size()) == kPrefix && key.size() > kPrefix.size()) {
        roles.emplace(key.substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && label.value().is_string() &&
                 !label.value().get_string().empty()) {
        roles.emplace(view(label.value().get_string()));
      }
    }
  }
  return or_none(join({roles.begin(), roles.end()}, ","));
}

std::string address(const Json& node, std::string_view type) {
  if (const JsonArray* addresses = array_at(node, {"status", "addresses"})) {
    for (const Json& entry : *addresses) {
      if (text_at(entry, {"type"}) == type) return text_at(entry, {"address"});
    }
  }
  return "<none>";
}

std::string info(const Json& node, std::string_view field) {
  const std::string text = text_at(node, {"status", "nodeInfo", field});
  return text.empty() ? "<unknown>" : text;
}

}  // namespace

JsonArray node(const Json& object, WallTime now) {
  return {Json(name(object)),
          Json(status(object)),
          Json(roles(object)),
          Json(age(object, now)),
          Json(text_at(object, {"status", "nodeInfo", "kubeletVersion"})),
          Json(address(object, "InternalIP")),
          Json(address(object, "ExternalIP")),
          Json(info(object, "osImage")),
          Json(info(object, "kernelVersion")),
          Json(info(object, "containerRuntimeVersion"))};
}

}  // namespace krater::api::cells
