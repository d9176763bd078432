#include "api/admission/service_type.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace krater::api {
namespace {

bool same(const Json& service, const Json& old, std::string_view field) {
  const Json* now = find(service, {"spec", field});
  const Json* was = find(old, {"spec", field});
  return now != nullptr && was != nullptr && *now == *was;
}

}  // namespace

void leave_type_fields(Json& service, const Json& old) {
  const std::string type = text_at(service, {"spec", "type"});
  const auto leave = [&](std::initializer_list<std::string_view> fields) {
    for (const std::string_view field : fields) {
      if (same(service, old, field)) erase_path(service, {"spec", field});
    }
  };
  const bool balancer = type == "LoadBalancer";
  const JsonArray* outside = array_at(service, {"spec", "externalIPs"});
  const bool reached_from_outside =
      balancer || type == "NodePort" ||
      (type == "ClusterIP" && outside != nullptr && !outside->empty());
  if (type == "ExternalName") {
    leave({"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"});
  }
  if (!reached_from_outside) leave({"externalTrafficPolicy"});
  if (!balancer) leave({"allocateLoadBalancerNodePorts", "loadBalancerClass"});
  if (!balancer || text_at(service, {"spec", "externalTrafficPolicy"}) != "Local")
    leave({"healthCheckNodePort"});
}

}  // namespace krater::api
