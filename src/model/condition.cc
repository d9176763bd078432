#include "model/condition.h"

namespace krater {
namespace {

Condition condition_from(const Json& json) {
  Condition out{text_at(json, {"type"}),
                text_at(json, {"status"}),
                text_at(json, {"reason"}),
                text_at(json, {"message"}),
                {}};
  if (const auto time = string_at(json, {"lastTransitionTime"})) {
    out.last_transition = parse_rfc3339(*time);
  }
  return out;
}

}  // namespace

std::vector<Condition> conditions_of(const Json& document) {
  std::vector<Condition> out;
  const JsonArray* list = array_at(document, {"status", "conditions"});
  if (list == nullptr) return out;
  for (const Json& entry : *list) {
    Condition condition = condition_from(entry);
    if (!condition.type.empty()) out.push_back(std::move(condition));
  }
  return out;
}

std::optional<Condition> condition_of(const Json& document, std::string_view type) {
  for (Condition& condition : conditions_of(document)) {
    if (condition.type == type) return std::move(condition);
  }
  return std::nullopt;
}

Json to_json_value(const Condition& condition) {
  JsonObject out;
  out["type"] = condition.type;
  out["status"] = condition.status;
  if (condition.last_transition) out["lastTransitionTime"] = to_rfc3339(*condition.last_transition);
  if (!condition.reason.empty()) out["reason"] = condition.reason;
  if (!condition.message.empty()) out["message"] = condition.message;
  return out;
}

}  // namespace krater
