#include "api/machinery/autoscaler_conversion.h"

namespace krater::api {
namespace {

constexpr std::string_view kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr std::string_view kCurrent = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";

// Takes the annotation away; null when there is none, or it is no JSON.
Json take_note(Json& object, std::string_view key) {
  const std::string text = text_at(object, {"metadata", "annotations", key});
  erase_path(object, {"metadata", "annotations", key});
  if (const JsonObject* left = object_at(object, {"metadata", "annotations"});
      left != nullptr && left->empty())
    erase_path(object, {"metadata", "annotations"});
  if (text.empty()) return {};
  Result<Json> parsed = parse_json(text);
  return parsed ? *std::move(parsed) : Json();
}

void note(Json& object, std::string_view key, const Json& value) {
  set_path(object, {"metadata", "annotations", key}, Json(to_json(value)));
}

bool is_cpu(const Json& metric) {
  return text_at(metric, {"type"}) == "Resource" && text_at(metric, {"resource", "name"}) == "cpu";
}

// Out of a list of v2: the processors' share under `path`, the others as a list.
std::optional<std::int64_t> take_cpu(const Json* list, std::string_view part, JsonArray& others) {
  std::optional<std::int64_t> out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& metric : list->get_array()) {
    const auto share = int_at(metric, {"resource", part, "averageUtilization"});
    if (!out && is_cpu(metric) && share) {
      out = share;
    } else {
      others.push_back(metric);
    }
  }
  return out;
}

Json cpu_metric(std::string_view part, JsonObject value) {
  return JsonObject{{"type", "Resource"},
                    {"resource", JsonObject{{"name", "cpu"}, {part, std::move(value)}}}};
}

JsonArray with_others(JsonArray list, const Json& others) {
  if (others.is_array()) {
    for (const Json& metric : others.get_array()) list.push_back(metric);
  }
  return list;
}

}  // namespace

void autoscaler_to_v2(Json& object) {
  JsonArray metrics, current;
  if (const auto share = int_at(object, {"spec", "targetCPUUtilizationPercentage"})) {
    metrics.push_back(
        cpu_metric("target", {{"type", "Utilization"}, {"averageUtilization", *share}}));
  }
  if (const auto share = int_at(object, {"status", "currentCPUUtilizationPercentage"}))
    current.push_back(cpu_metric("current", {{"averageUtilization", *share}}));
  erase_path(object, {"spec", "targetCPUUtilizationPercentage"});
  erase_path(object, {"status", "currentCPUUtilizationPercentage"});
  metrics = with_others(std::move(metrics), take_note(object, kMetrics));
  current = with_others(std::move(current), take_note(object, kCurrent));
  if (!metrics.empty()) set_path(object, {"spec", "metrics"}, std::move(metrics));
  if (!current.empty()) set_path(object, {"status", "currentMetrics"}, std::move(current));
  if (Json behavior = take_note(object, kBehavior); behavior.is_object())
    set_path(object, {"spec", "behavior"}, std::move(behavior));
  if (Json conditions = take_note(object, kConditions); conditions.is_array())
    set_path(object, {"status", "conditions"}, std::move(conditions));
}

void autoscaler_from_v2(Json& object) {
  JsonArray metrics, current;
  const auto wanted = take_cpu(find(object, {"spec", "metrics"}), "target", metrics);
  const auto measured = take_cpu(find(object, {"status", "currentMetrics"}), "current", current);
  erase_path(object, {"spec", "metrics"});
  erase_path(object, {"status", "currentMetrics"});
  if (wanted) set_path(object, {"spec", "targetCPUUtilizationPercentage"}, *wanted);
  if (measured) set_path(object, {"status", "currentCPUUtilizationPercentage"}, *measured);
  if (!metrics.empty()) note(object, kMetrics, metrics);
  if (!current.empty()) note(object, kCurrent, current);
  if (const Json* behavior = find(object, {"spec", "behavior"})) {
    const Json kept = *behavior;
    erase_path(object, {"spec", "behavior"});
    note(object, kBehavior, kept);
  }
  if (const JsonArray* conditions = array_at(object, {"status", "conditions"})) {
    const JsonArray kept = *conditions;
    erase_path(object, {"status", "conditions"});
    if (!kept.empty()) note(object, kConditions, kept);
  }
}

}  // namespace krater::api
