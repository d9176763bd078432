#include "controllers/node/health.h"

#include <algorithm>
#include <array>

namespace krater::controllers {
namespace {

constexpr std::array<std::string_view, 4> kPosted{"Ready", "MemoryPressure", "DiskPressure",
                                                  "PIDPressure"};

struct ConditionTaint {
  std::string_view condition, key;
};
constexpr std::array<ConditionTaint, 4> kConditionTaints{
    {{"MemoryPressure", keys::kTaintMemoryPressure},
     {"DiskPressure", keys::kTaintDiskPressure},
     {"PIDPressure", keys::kTaintPidPressure},
     {"NetworkUnavailable", keys::kTaintNetworkUnavailable}}};

struct Wanted {
  std::string_view key, effect;
  bool present;
};

std::vector<Wanted> wanted_of(const NodeView& node) {
  std::vector<Wanted> out;
  const auto ready = node.condition("Ready");
  if (ready) {  // a node that has not yet said anything keeps what it registered with
    const bool not_ready = ready->status == "False", unknown = ready->status == "Unknown";
    for (const std::string_view effect : {"NoSchedule", "NoExecute"}) {
      out.push_back({keys::kTaintNotReady, effect, not_ready});
      out.push_back({keys::kTaintUnreachable, effect, unknown});
    }
  }
  for (const auto& [condition, key] : kConditionTaints) {
    const auto found = node.condition(condition);
    out.push_back({key, "NoSchedule", found && found->is_true()});
  }
  out.push_back({keys::kTaintUnschedulable, "NoSchedule", node.unschedulable()});
  return out;
}

}  // namespace

std::optional<Json> silenced_status(const NodeView& node, WallTime now) {
  const Json* present = find(node.document(), {"status"});
  Json status =
      present != nullptr && present->is_object() ? *present : Json(boost::json::object_kind);
  Json& list = status.get_object()["conditions"];
  if (!list.is_array()) list.emplace_array();
  bool changed = false;
  for (const std::string_view type : kPosted) {
    auto place = std::ranges::find_if(
        list.get_array(), [type](const Json& c) { return string_at(c, {"type"}) == type; });
    const bool never = place == list.get_array().end();
    if (never) {
      list.get_array().push_back(JsonObject{{"type", type}});
      place = std::prev(list.get_array().end());
    }
    JsonObject& condition = place->as_object();
    if (!never && text_at(*place, {"status"}) == "Unknown") continue;
    condition["status"] = "Unknown";
    condition["reason"] = never ? "NodeStatusNeverUpdated" : "NodeStatusUnknown";
    condition["message"] =
        never ? "Kubelet never posted node status." : "Kubelet stopped posting node status.";
    condition["lastTransitionTime"] = to_rfc3339(now);
    changed = true;
  }
  return changed ? std::optional<Json>(std::move(status)) : std::nullopt;
}

std::optional<JsonArray> wanted_taints(const NodeView& node, WallTime now) {
  const JsonArray* present = array_at(node.document(), {"spec", "taints"});
  const JsonArray before = present == nullptr ? JsonArray() : *present;
  JsonArray out = before;
  for (const Wanted& wanted : wanted_of(node)) {
    const auto place = std::ranges::find_if(out, [&](const Json& taint) {
      return string_at(taint, {"key"}) == wanted.key &&
             string_at(taint, {"effect"}) == wanted.effect;
    });
    if (wanted.present && place == out.end())
      out.push_back(JsonObject{{"key", wanted.key}, {"effect", wanted.effect}});
    if (!wanted.present && place != out.end()) out.erase(place);
  }
  for (Json& taint : out) {
    if (string_at(taint, {"effect"}) != "NoExecute" || string_at(taint, {"timeAdded"})) continue;
    if (taint.is_object()) taint.get_object()["timeAdded"] = to_rfc3339(now);
  }
  return out == before ? std::nullopt : std::optional<JsonArray>(std::move(out));
}

}  // namespace krater::controllers
