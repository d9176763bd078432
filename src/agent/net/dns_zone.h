// The names of the cluster: services and their endpoints as DNS records (Kubernetes' DNS
// specification 1.1). Reads an informer cache; decides nothing else. On the agent's loop.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/net/dns_message.h"
#include "client/cache.h"

namespace krater::agent::dns {

class Zone {
 public:
  // `cache` watches services and endpoint slices. `domain`: "cluster.local".
  Zone(const client::Cache& cache, std::string domain)
      : cache_(cache), domain_(std::move(domain)) {}

  // Nothing when the name is not ours to answer (forward it).
  std::optional<Answer> answer(const Question& question) const;

 private:
  struct Endpoint {
    std::string address, hostname;
  };
  struct Port {
    std::string name, protocol;
    std::uint16_t port = 0;
  };
  Answer service_name(const Question& question, const std::vector<std::string_view>& labels) const;
  Answer pod_name(const Question& question, const std::vector<std::string_view>& labels) const;
  Answer reverse(const Question& question) const;
  Answer addresses(const Question& question, const ObjectPtr& service) const;
  Answer srv(const Question& question, const ObjectPtr& service, std::string_view port,
             std::string_view protocol) const;
  Answer member(const Question& question, const ObjectPtr& service, std::string_view host) const;
  std::vector<Endpoint> endpoints(const Object& service) const;
  std::vector<Port> endpoint_ports(const Object& service) const;
  Answer empty(Rcode rcode) const;

  const client::Cache& cache_;
  std::string domain_;
};

}  // namespace krater::agent::dns
