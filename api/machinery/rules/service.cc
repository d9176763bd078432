#include <set>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "api/machinery/rules/service_exposure.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

void check_addresses(const RuleInput& in, FieldErrors& errors) {
  const std::string address = text_at(in.value, {"clusterIP"});
  if (!address.empty() && address != "None") {
    if (const std::string problem = check_ip(address); !problem.empty()) {
      errors.invalid(in.path.field("clusterIPs").index(0), Json(address), problem);
    }
  }
  const std::string before = in.old == nullptr ? std::string() : text_at(*in.old, {"clusterIP"});
  const std::string type = text_at(in.value, {"type"});
  const bool was_external = in.old != nullptr && text_at(*in.old, {"type"}) == "ExternalName";
  if (!before.empty() && !was_external && type != "ExternalName" && address != before) {
    errors.invalid(in.path.field("clusterIPs").index(0), Json(address), "may not change once set");
  }
  if (const JsonArray* list = array_at(in.value, {"externalIPs"})) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string ip(view((*list)[i].as_string()));
      if (const std::string problem = check_ip(ip); !problem.empty()) {
        errors.invalid(in.path.field("externalIPs").index(i), Json(ip), problem);
      }
    }
  }
}

void check_ports(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* ports = array_at(in.value, {"ports"});
  const std::string type = text_at(in.value, {"type"});
  const bool headless = text_at(in.value, {"clusterIP"}) == "None";
  if (ports == nullptr || ports->empty()) {
    if (type != "ExternalName" && !headless) errors.required(in.path.field("ports"));
    return;
  }
  std::set<std::string> names;
  const FieldPath list = in.path.field("ports");
  for (std::size_t i = 0; i < ports->size(); ++i) {
    const FieldPath here = list.index(i);
    const std::string name = text_at((*ports)[i], {"name"});
    if (name.empty() && ports->size() > 1) errors.required(here.field("name"));
    if (!name.empty() && !names.insert(name).second)
      errors.duplicate(here.field("name"), Json(name));
    if (type != "NodePort" && type != "LoadBalancer" &&
        int_at((*ports)[i], {"nodePort"}).value_or(0) != 0) {
      errors.forbidden(here.field("nodePort"), "may not be used when `type` is '" + type + "'");
    }
  }
}

}  // namespace

void service_spec(const RuleInput& in, FieldErrors& errors) {
  const std::string type = text_at(in.value, {"type"});
  if (type == "ExternalName") {
    const std::string name = text_at(in.value, {"externalName"});
    if (name.empty()) {
      errors.required(in.path.field("externalName"));
    } else if (const std::string problem = check_dns1123_subdomain(name); !problem.empty()) {
      errors.invalid(in.path.field("externalName"), Json(name), problem);
    }
    if (!text_at(in.value, {"clusterIP"}).empty()) {
      errors.forbidden(in.path.field("clusterIPs"), "may not be set for ExternalName services");
    }
  }
  if ((type == "LoadBalancer" || type == "NodePort") &&
      text_at(in.value, {"clusterIP"}) == "None") {
    errors.invalid(in.path.field("clusterIPs").index(0), Json("None"),
                   "may not be set to 'None' for " + type + " services");
  }
  check_addresses(in, errors);
  check_ports(in, errors);
  check_service_exposure(in, errors);
  if (const Json* selector = find(in.value, {"selector"});
      selector != nullptr && selector->is_object()) {
    check_labels(*selector, in.path.field("selector"), errors);
  }
}

void service_port(const RuleInput& in, FieldErrors& errors) {
  const std::string name = text_at(in.value, {"name"});
  if (!name.empty()) {
    if (const std::string problem = check_dns1123_label(name); !problem.empty()) {
      errors.invalid(in.path.field("name"), Json(name), problem);
    }
  }
  if (const auto protocol = string_at(in.value, {"appProtocol"})) {
    if (const std::string problem = check_qualified_name(*protocol); !problem.empty())
      errors.invalid(in.path.field("appProtocol"), Json(*protocol), problem);
  }
  const Json* target = find(in.value, {"targetPort"});
  if (target == nullptr) return;
  if (target->is_string()) {
    if (const std::string problem = check_port_name(view(target->get_string())); !problem.empty()) {
      errors.invalid(in.path.field("targetPort"), *target, problem);
    }
  } else if (const auto number = as_int(*target); number && (*number < 1 || *number > 65535)) {
    errors.invalid(in.path.field("targetPort"), *target, "must be between 1 and 65535, inclusive");
  }
}

}  // namespace krater::api::rules
