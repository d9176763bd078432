// Where the server itself reaches a service of the cluster: at the addresses that stand behind it,
// for nobody may have set up service addresses on the machine it runs on. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/admission/admission.h"
#include "api/webhook/hook.h"

namespace krater::api {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// The ready endpoints of the service's port; its own address when nobody lists endpoints; what
// externalName names. Errors as kube-apiserver words them.
Result<std::vector<HostPort>> service_endpoints(const HookService& service,
                                                const ObjectReader& reader);

}  // namespace krater::api
