// The built-in kinds as values: what a controller or the agent names when it reads or writes.
// Kinds that users add (CRDs) are Kind values made at run time from discovery.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace krater {

struct Kind {
  std::string group;    // "" for the core group
  std::string version;  // "v1"
  std::string kind;     // "Pod"
  std::string plural;   // "pods"
  bool namespaced = true;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // Identity in keys and indexes: "pods", "rayjobs.ray.io". One storage place whatever the served
  // version.
  std::string resource() const { return group.empty() ? plural : plural + "." + group; }
  friend bool operator==(const Kind&, const Kind&) = default;
};

namespace kinds {
extern const Kind kNamespace, kNode, kPod, kService, kEndpoints, kConfigMap, kSecret,
    kServiceAccount, kEvent;
extern const Kind kEndpointSlice, kLease, kPriorityClass, kJob;
extern const Kind kRayCluster, kRayJob;
extern const Kind kPodGroup, kQueue, kVolcanoJob;
}  // namespace kinds

// Built-in kind by apiVersion and kind, as owner references name it; nullptr when it is not built
// in.
const Kind* find_kind(std::string_view api_version, std::string_view kind);

}  // namespace krater
