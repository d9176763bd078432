// Which pods stand behind a service, and on which ports. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/pod.h"

namespace krater::controllers {

namespace keys {
inline constexpr std::string_view kServiceName = "kubernetes.io/service-name";
inline constexpr std::string_view kSliceManagedBy = "endpointslice.kubernetes.io/managed-by";
inline constexpr std::string_view kSliceController = "endpointslice-controller.k8s.io";
inline constexpr std::string_view kSkipMirror = "endpointslice.kubernetes.io/skip-mirror";
inline constexpr std::string_view kHeadless = "service.kubernetes.io/headless";
}  // namespace keys

class ServiceView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  Labels selector() const { return string_map(find(document(), {"spec", "selector"})); }
  bool headless() const { return text({"spec", "clusterIP"}) == "None"; }
  bool external_name() const { return text({"spec", "type"}) == "ExternalName"; }
  bool publishes_not_ready() const {
    return boolean({"spec", "publishNotReadyAddresses"}).value_or(false);
  }
  const JsonArray* ports() const { return array_at(document(), {"spec", "ports"}); }
};

struct TargetPort {
  std::string name, protocol, app_protocol;
  std::int64_t number = 0;
  friend auto operator<=>(const TargetPort&, const TargetPort&) = default;
};

struct Target {
  std::string ip, node, hostname;  // hostname: only when the pod's subdomain is the service
  std::string pod;
  Uid pod_uid;
  bool ready = false;    // may be sent traffic (publishNotReadyAddresses counted in)
  bool serving = false;  // its Ready condition
  bool terminating = false;
  std::vector<TargetPort> ports{};
};

// nullopt when the pod has no address or has ended.
std::optional<Target> target_of(const ServiceView& service, const PodView& pod);

}  // namespace krater::controllers
