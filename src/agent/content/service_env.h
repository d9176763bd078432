// The environment variables that tell a container of services: SVC_SERVICE_HOST, SVC_PORT_80_TCP
// and their like. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/content/env.h"
#include "model/object.h"

namespace krater::agent {

// The variables of the service "kubernetes" for a server at this address, where no service
// addresses lead anywhere.
Environment api_environment(const std::string& host, std::uint16_t port);
// `services`: any; those with an address of their own count. With `links` all of the pod's
// namespace, else only default/kubernetes.
Environment service_environment(const std::vector<ObjectPtr>& services,
                                const std::string& name_space, bool links);

}  // namespace krater::agent
