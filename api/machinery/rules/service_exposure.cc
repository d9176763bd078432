// What of a Service depends on how it is exposed: fields that belong to one type alone, address
// families, and the ways traffic is spread.
#include "api/machinery/rules/service_exposure.h"

#include <algorithm>

#include "api/machinery/names.h"
#include "api/machinery/rules/address_block.h"

namespace krater::api::rules {
namespace {

constexpr std::string_view kBalancerOnly = "may only be used when `type` is 'LoadBalancer'";
constexpr std::int64_t kMaxAffinitySeconds = 86400;

std::string type_of(const Json& spec) {
  return text_at(spec, {"type"});
}

bool is_balancer(const Json& spec) {
  return type_of(spec) == "LoadBalancer";
}

bool reached_from_outside(const Json& spec) {
  const std::string type = type_of(spec);
  const JsonArray* addresses = array_at(spec, {"externalIPs"});
  return type == "LoadBalancer" || type == "NodePort" ||
         (type == "ClusterIP" && addresses != nullptr && !addresses->empty());
}

void check_traffic_policy(const RuleInput& in, FieldErrors& errors) {
  const std::string policy = text_at(in.value, {"externalTrafficPolicy"});
  if (!policy.empty() && !reached_from_outside(in.value)) {
    errors.invalid(in.path.field("externalTrafficPolicy"), Json(policy),
                   "may only be set for externally-accessible services");
  }
  const auto port = int_at(in.value, {"healthCheckNodePort"});
  if (port.value_or(0) != 0 && !(is_balancer(in.value) && policy == "Local")) {
    errors.invalid(
        in.path.field("healthCheckNodePort"), Json(*port),
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  }
}

void check_balancer_fields(const RuleInput& in, FieldErrors& errors) {
  const bool balancer = is_balancer(in.value);
  const FieldPath class_path = in.path.field("loadBalancerClass");
  const auto name = string_at(in.value, {"loadBalancerClass"});
  if (in.old != nullptr && balancer && is_balancer(*in.old) &&
      name != string_at(*in.old, {"loadBalancerClass"})) {
    errors.invalid(class_path, name ? Json(*name) : Json(), "may not change once set");
  }
  if (name && !balancer) {
    errors.forbidden(class_path, kBalancerOnly);
  } else if (name) {
    if (const std::string problem = check_qualified_name(*name); !problem.empty())
      errors.invalid(class_path, Json(*name), problem);
  }
  if (!balancer && find(in.value, {"allocateLoadBalancerNodePorts"}) != nullptr)
    errors.forbidden(in.path.field("allocateLoadBalancerNodePorts"), kBalancerOnly);
  const JsonArray* ranges = array_at(in.value, {"loadBalancerSourceRanges"});
  if (ranges == nullptr || ranges->empty()) return;
  // The original says this field with a capital letter.
  const FieldPath ranges_path = in.path.field("LoadBalancerSourceRanges");
  if (!balancer) errors.forbidden(ranges_path, kBalancerOnly);
  for (std::size_t i = 0; i < ranges->size(); ++i) {
    const std::string text((*ranges)[i].is_string() ? view((*ranges)[i].get_string()) : "");
    const auto block = read_block(text);
    if (!block) {
      errors.invalid(ranges_path.index(i), Json(text), kNoBlock);
    } else if (block->bits_beyond_prefix()) {
      errors.invalid(ranges_path.index(i), Json(text),
                     "must not have bits set beyond the prefix length");
    }
  }
}

// There is one family of addresses here.
void check_families(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* families = array_at(in.value, {"ipFamilies"});
  const FieldPath list = in.path.field("ipFamilies");
  for (std::size_t i = 0; families != nullptr && i < families->size(); ++i) {
    const std::string family((*families)[i].is_string() ? view((*families)[i].get_string()) : "");
    if (family == "IPv6") {
      errors.invalid(list.index(i), Json(family), "not configured on this cluster");
    } else if (family != "IPv4") {
      errors.unsupported(list.index(i), family, {"IPv4", "IPv6"});
    }
  }
  if (text_at(in.value, {"ipFamilyPolicy"}) == "RequireDualStack") {
    errors.invalid(in.path.field("ipFamilyPolicy"), Json("RequireDualStack"),
                   "this cluster is not configured for dual-stack services");
  }
}

void check_affinity(const RuleInput& in, FieldErrors& errors) {
  const auto seconds = int_at(in.value, {"sessionAffinityConfig", "clientIP", "timeoutSeconds"});
  if (!seconds || (*seconds > 0 && *seconds <= kMaxAffinitySeconds)) return;
  const FieldPath config = in.path.field("sessionAffinityConfig");
  const FieldPath client = config.field("clientIP");
  errors.invalid(client.field("timeoutSeconds"), Json(*seconds),
                 "must be greater than 0 and less than 86400");
}

void check_distribution(const RuleInput& in, FieldErrors& errors) {
  static const std::vector<std::string> kKnown{"PreferClose", "PreferSameZone", "PreferSameNode"};
  const auto how = string_at(in.value, {"trafficDistribution"});
  if (!how || std::find(kKnown.begin(), kKnown.end(), *how) != kKnown.end()) return;
  errors.unsupported(in.path.field("trafficDistribution"), *how, kKnown);
}

}  // namespace

void check_service_exposure(const RuleInput& in, FieldErrors& errors) {
  check_traffic_policy(in, errors);
  check_balancer_fields(in, errors);
  check_families(in, errors);
  check_affinity(in, errors);
  check_distribution(in, errors);
}

}  // namespace krater::api::rules
