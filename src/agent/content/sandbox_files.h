// What a pod's sandbox is called and how it finds others: hostname, /etc/hosts additions,
// /etc/resolv.conf by the pod's DNS policy, published ports. Pure.
#pragma once

#include <string>

#include "agent/context.h"
#include "agent/pod/spec.h"
#include "agent/runtime.h"

namespace krater::agent {

struct DnsSettings {
  std::string server;  // the agent's own resolver; empty: there is none
  std::string domain = "cluster.local";
  std::string host_resolv_conf;  // the node's, as text
};

std::string resolv_conf(const PodSpec& pod, const DnsSettings& dns);
SandboxSpec sandbox_spec(const PodSpec& pod, const DnsSettings& dns, const NodeFacts& node,
                         const std::string& directory);

}  // namespace krater::agent
