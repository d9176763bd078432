// Budgets, quotas and limits.
#include "api/machinery/cells/cells.h"
#include "api/machinery/cells/webhook_cells.h"
#include "base/strings.h"
#include "model/object.h"

namespace krater::api::cells {
namespace {

std::string text_or_na(const Json* value) {
  if (value == nullptr) return "N/A";
  return value->is_string() ? std::string(view(value->get_string())) : to_json(*value);
}

}  // namespace

JsonArray pod_disruption_budget(const Json& object, WallTime now) {
  return {Json(name(object)), Json(text_or_na(find(object, {"spec", "minAvailable"}))),
          Json(text_or_na(find(object, {"spec", "maxUnavailable"}))),
          Json(int_at(object, {"status", "disruptionsAllowed"}).value_or(0)),
          Json(age(object, now))};
}

JsonArray resource_quota(const Json& object, WallTime now) {
  std::vector<std::string> requests, limits;
  const Labels used = string_map(find(object, {"status", "used"}));
  for (const auto& [resource, hard] : string_map(find(object, {"status", "hard"}))) {
    const auto place = used.find(resource);
    const std::string amount = place == used.end() ? "0" : place->second;
    (resource.starts_with("limits.") ? limits : requests)
        .push_back(resource + ": " + amount + "/" + hard);
  }
  return {Json(name(object)), Json(join(requests, ", ")), Json(join(limits, ", ")),
          Json(age(object, now))};
}

JsonArray validating_admission_policy(const Json& object, WallTime now) {
  const JsonArray* validations = array_at(object, {"spec", "validations"});
  std::string kind = "<unset>";
  if (const Json* param = find(object, {"spec", "paramKind"})) {
    kind = text_at(*param, {"apiVersion"}) + "/" + text_at(*param, {"kind"});
  }
  return {Json(name(object)), Json(validations == nullptr ? 0 : validations->size()), Json(kind),
          Json(age(object, now))};
}

JsonArray validating_admission_policy_binding(const Json& object, WallTime now) {
  std::string param = "<unset>";
  if (const Json* ref = find(object, {"spec", "paramRef"})) {
    const std::string space = text_at(*ref, {"namespace"});
    const std::string named = text_at(*ref, {"name"});
    if (!named.empty()) param = (space.empty() ? "*" : space) + "/" + named;
  }
  return {Json(name(object)), Json(text_at(object, {"spec", "policyName"})), Json(param),
          Json(age(object, now))};
}

JsonArray webhook_configuration(const Json& object, WallTime now) {
  const JsonArray* webhooks = array_at(object, {"webhooks"});
  return {Json(name(object)), Json(webhooks == nullptr ? 0 : webhooks->size()),
          Json(age(object, now))};
}

JsonArray created_at(const Json& object, WallTime /*now*/) {
  return {Json(name(object)), Json(text_at(object, {"metadata", "creationTimestamp"}))};
}

}  // namespace krater::api::cells
