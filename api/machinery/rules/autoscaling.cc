// Autoscalers.
#include <array>
#include <utility>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

void check_bounds(const RuleInput& in, FieldErrors& errors) {
  const auto least = int_at(in.value, {"minReplicas"});
  const std::int64_t most = int_at(in.value, {"maxReplicas"}).value_or(0);
  const FieldPath most_path = in.path.field("maxReplicas");
  if (least && *least < 1) {
    errors.invalid(in.path.field("minReplicas"), Json(*least),
                   "must be greater than or equal to 1");
  }
  if (most < 1) errors.invalid(most_path, Json(most), "must be greater than 0");
  if (least && most < *least)
    errors.invalid(most_path, Json(most), "must be greater than or equal to `minReplicas`");
}

void check_reference(const Json& reference, const FieldPath& path, FieldErrors& errors) {
  const NameRule segment = find_name_rule("path-segment");
  for (const std::string_view field : {"kind", "name"}) {
    const std::string text = text_at(reference, {field});
    if (text.empty()) {
      errors.required(path.field(field));
    } else if (const std::string problem = segment(text); !problem.empty()) {
      errors.invalid(path.field(field), Json(text), problem);
    }
  }
}

void check_target(const RuleInput& in, FieldErrors& errors) {
  const Json* target = find(in.value, {"scaleTargetRef"});
  check_reference(target == nullptr ? Json(JsonObject()) : *target, in.path.field("scaleTargetRef"),
                  errors);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSources{
    std::pair<std::string_view, std::string_view>{"Object", "object"},
    {"Pods", "pods"},
    {"Resource", "resource"},
    {"ContainerResource", "containerResource"},
    {"External", "external"}};

void check_metric(const Json& metric, const FieldPath& path, FieldErrors& errors) {
  const std::string type = text_at(metric, {"type"});
  if (type.empty()) {
    errors.required(path.field("type"), "must specify a metric source type");
    return;
  }
  std::string_view wanted;
  for (const auto& [name, field] : kSources) {
    if (name == type) wanted = field;
  }
  if (wanted.empty()) {
    errors.unsupported(path.field("type"), type,
                       {"ContainerResource", "External", "Object", "Pods", "Resource"});
    return;
  }
  const Json* source = find(metric, {wanted});
  if (source == nullptr) {
    errors.required(path.field(wanted), "must populate information for the given metric source");
    return;
  }
  for (const auto& [name, field] : kSources) {
    if (field != wanted && find(metric, {field}) != nullptr) {
      errors.forbidden(path.field(field), "must populate the given metric source only");
    }
  }
  const FieldPath here = path.field(wanted);
  const bool resource = wanted == "resource" || wanted == "containerResource";
  if (resource && text_at(*source, {"name"}).empty())
    errors.required(here.field("name"), "must specify a resource name");
  if (wanted == "containerResource" && text_at(*source, {"container"}).empty())
    errors.required(here.field("container"), "must specify a container name");
  if (!resource && text_at(*source, {"metric", "name"}).empty()) {
    const FieldPath metric_path = here.field("metric");
    errors.required(metric_path.field("name"), "must specify a metric name");
  }
  if (wanted == "object") {
    const Json* object = find(*source, {"describedObject"});
    check_reference(object == nullptr ? Json(JsonObject()) : *object, here.field("describedObject"),
                    errors);
  }
  const FieldPath target = here.field("target");
  const std::string kind = text_at(*source, {"target", "type"});
  if (kind.empty()) {
    errors.required(target.field("type"), "must specify a metric target type");
  } else if (kind != "Utilization" && kind != "Value" && kind != "AverageValue") {
    errors.unsupported(target.field("type"), kind, {"AverageValue", "Utilization", "Value"});
  }
  const auto share = int_at(*source, {"target", "averageUtilization"});
  if (share && *share < 1)
    errors.invalid(target.field("averageUtilization"), Json(*share), "must be greater than 0");
}

JsonObject policy(std::string_view type, std::int64_t value) {
  return {{"type", type}, {"value", value}, {"periodSeconds", 15}};
}

void fill_scaling(Json& rules, bool up) {
  if (!rules.is_object()) return;
  JsonObject& fields = rules.get_object();
  const auto fill = [&](std::string_view name, Json value) {
    if (!fields.contains(name)) fields[name] = std::move(value);
  };
  if (up) fill("stabilizationWindowSeconds", 0);
  fill("selectPolicy", "Max");
  JsonArray policies;
  if (up) policies.push_back(policy("Pods", 4));
  policies.push_back(policy("Percent", 100));
  fill("policies", std::move(policies));
}

}  // namespace

void autoscaler_spec(const RuleInput& in, FieldErrors& errors) {
  check_bounds(in, errors);
  check_target(in, errors);
  const JsonArray* metrics = array_at(in.value, {"metrics"});
  const FieldPath list = in.path.field("metrics");
  for (std::size_t i = 0; metrics != nullptr && i < metrics->size(); ++i)
    check_metric((*metrics)[i], list.index(i), errors);
}

void autoscaler_v1_spec(const RuleInput& in, FieldErrors& errors) {
  check_bounds(in, errors);
  check_target(in, errors);
}

void default_autoscaler_spec(JsonObject& spec) {
  const Json* metrics = spec.if_contains("metrics");
  if (metrics == nullptr || !metrics->is_array() || metrics->get_array().empty()) {
    spec["metrics"] = JsonArray{JsonObject{
        {"type", "Resource"},
        {"resource",
         JsonObject{{"name", "cpu"},
                    {"target", JsonObject{{"type", "Utilization"}, {"averageUtilization", 80}}}}}}};
  }
  Json* behavior = spec.if_contains("behavior");
  if (behavior == nullptr || !behavior->is_object()) return;
  if (Json* up = find(*behavior, {"scaleUp"})) fill_scaling(*up, true);
  if (Json* down = find(*behavior, {"scaleDown"})) fill_scaling(*down, false);
}

}  // namespace krater::api::rules
