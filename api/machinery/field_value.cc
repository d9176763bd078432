#include "api/machinery/field_value.h"

#include "base/strings.h"

namespace krater::api {
namespace {

std::string text_of(const Json& value) {
  if (value.is_string()) return std::string(view(value.get_string()));
  return value.is_null() ? std::string() : to_json(value);
}

const Json* at_path(const Json& object, std::string_view path) {
  const Json* at = &object;
  for (std::string_view step : split(path, '.')) {
    const JsonObject* fields = at->if_object();
    at = fields == nullptr ? nullptr : fields->if_contains(step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// Labels that are not simply the path of a field.
std::string named_value(const Json& object, std::string_view label) {
  if (label == "name") return text_at(object, {"metadata", "name"});
  if (label == "source") {
    const std::string component = text_at(object, {"source", "component"});
    return component.empty() ? text_at(object, {"reportingComponent"}) : component;
  }
  // Addresses of a pod are comma-joined.
  std::string out;
  if (const JsonArray* addresses = array_at(object, {"status", "podIPs"})) {
    for (const Json& address : *addresses)
      out += (out.empty() ? "" : ",") + text_at(address, {"ip"});
  }
  return out;
}

bool is_named(std::string_view label) {
  return label == "name" || label == "source" || label == "status.podIPs";
}

// Counters and switches that are not written when zero.
std::string_view absent_value(std::string_view label) {
  if (label == "spec.unschedulable" || label == "spec.hostNetwork") return "false";
  return label == "status.successful" || label == "status.replicas" ? "0" : "";
}

}  // namespace

std::string field_label_value(const Json& object, std::string_view label) {
  if (is_named(label)) return named_value(object, label);
  const Json* value = at_path(object, label == "status.successful" ? "status.succeeded" : label);
  return value == nullptr ? std::string(absent_value(label)) : text_of(*value);
}

}  // namespace krater::api
