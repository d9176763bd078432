// Autoscalers.
#include "api/machinery/cells/cells.h"

namespace krater::api::cells {
namespace {

constexpr std::size_t kShown = 2;
constexpr std::string_view kUnknown = "<unknown>";

std::string share(const Json* value, std::string_view field) {
  const auto number = value == nullptr ? std::nullopt : int_at(*value, {field});
  return number ? std::to_string(*number) + "%" : std::string(kUnknown);
}

std::string amount(const Json* value, std::string_view field) {
  const auto text = value == nullptr ? std::nullopt : string_at(*value, {field});
  return std::string(text.value_or(kUnknown));
}

// "cpu: 10%/80%", "50/100 (avg)": what is measured and what is wanted.
std::string metric(const Json& wanted, const Json* measured) {
  const std::string type = text_at(wanted, {"type"});
  std::string_view source;
  if (type == "Resource") source = "resource";
  if (type == "ContainerResource") source = "containerResource";
  if (type == "Pods") source = "pods";
  if (type == "Object") source = "object";
  if (type == "External") source = "external";
  if (source.empty()) return "<unknown type>";
  const Json* target = find(wanted, {source, "target"});
  const Json* current = measured == nullptr ? nullptr : find(*measured, {source, "current"});
  if (target == nullptr) return std::string(kUnknown);
  const bool resource = source == "resource" || source == "containerResource";
  const std::string prefix = resource ? text_at(wanted, {source, "name"}) + ": " : "";
  if (resource && find(*target, {"averageValue"}) == nullptr)
    return prefix + share(current, "averageUtilization") + "/" +
           share(target, "averageUtilization");
  if (find(*target, {"averageValue"}) != nullptr) {
    const bool average = source == "object" || source == "external";
    return prefix + amount(current, "averageValue") + "/" + amount(target, "averageValue") +
           (average ? " (avg)" : "");
  }
  return amount(current, "value") + "/" + amount(target, "value");
}

std::string targets(const Json& object) {
  const JsonArray* wanted = array_at(object, {"spec", "metrics"});
  const JsonArray* measured = array_at(object, {"status", "currentMetrics"});
  if (wanted == nullptr || wanted->empty()) return "<none>";
  std::string out;
  for (std::size_t i = 0; i < wanted->size() && i < kShown; ++i) {
    const Json* now =
        measured != nullptr && i < measured->size() && text_at((*measured)[i], {"type"}) != ""
            ? &(*measured)[i]
            : nullptr;
    out += (i == 0 ? "" : ", ") + metric((*wanted)[i], now);
  }
  if (wanted->size() > kShown) out += " + " + std::to_string(wanted->size() - kShown) + " more...";
  return out;
}

}  // namespace

JsonArray horizontal_pod_autoscaler(const Json& object, WallTime now) {
  const auto least = int_at(object, {"spec", "minReplicas"});
  return {Json(name(object)),
          Json(text_at(object, {"spec", "scaleTargetRef", "kind"}) + "/" +
               text_at(object, {"spec", "scaleTargetRef", "name"})),
          Json(targets(object)),
          Json(least ? std::to_string(*least) : std::string("<unset>")),
          Json(int_at(object, {"spec", "maxReplicas"}).value_or(0)),
          Json(int_at(object, {"status", "currentReplicas"}).value_or(0)),
          Json(age(object, now))};
}

}  // namespace krater::api::cells
