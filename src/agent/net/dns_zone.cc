#include "agent/net/dns_zone.h"

#include <algorithm>
#include <set>

#include "agent/net/endpoint_slices.h"
#include "base/strings.h"

namespace krater::agent::dns {
namespace {

bool wants(const Question& question, Type type) {
  return question.type == static_cast<std::uint16_t>(type) ||
         question.type == static_cast<std::uint16_t>(Type::Any);
}

std::string dashed(std::string address) {
  std::replace(address.begin(), address.end(), '.', '-');
  return address;
}

}  // namespace

Answer Zone::empty(Rcode rcode) const {
  Answer out;
  out.rcode = rcode;
  out.authority = domain_;
  return out;
}

std::optional<Answer> Zone::answer(const Question& question) const {
  if (question.name.ends_with(".in-addr.arpa") && wants(question, Type::Ptr)) {
    Answer found = reverse(question);
    if (found.records.empty()) return std::nullopt;
    return found;
  }
  std::string_view name = question.name;
  if (name == domain_) return empty(Rcode::NoError);
  if (!name.ends_with("." + domain_)) return std::nullopt;
  name.remove_suffix(domain_.size() + 1);
  std::vector<std::string_view> labels = split(name, '.');
  const std::string_view last = labels.back();
  labels.pop_back();
  if (last == "svc") return service_name(question, labels);
  if (last == "pod") return pod_name(question, labels);
  return empty(Rcode::NxDomain);
}

// [_port._protocol.][host.]service.namespace
Answer Zone::service_name(const Question& question,
                          const std::vector<std::string_view>& labels) const {
  if (labels.size() < 2) return empty(labels.empty() ? Rcode::NoError : Rcode::NxDomain);
  const std::string_view name_space = labels[labels.size() - 1], name = labels[labels.size() - 2];
  const ObjectPtr service = cache_.get(kinds::kService, name_space, name);
  if (!service) return empty(Rcode::NxDomain);
  switch (labels.size()) {
    case 2:
      return addresses(question, service);
    case 3:
      return member(question, service, labels[0]);
    case 4:
      if (labels[0].starts_with('_') && labels[1].starts_with('_')) {
        return srv(question, service, labels[0].substr(1), labels[1].substr(1));
      }
      break;
    default:
      break;
  }
  return empty(Rcode::NxDomain);
}

Answer Zone::pod_name(const Question& question, const std::vector<std::string_view>& labels) const {
  if (labels.size() != 2) return empty(Rcode::NxDomain);
  std::string address(labels[0]);
  std::replace(address.begin(), address.end(), '-', '.');
  const std::vector<std::string_view> parts = split(address, '.');
  const bool valid =
      parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
        const auto number = parse_int(part);
        return number && *number >= 0 && *number <= 255;
      });
  if (!valid) return empty(Rcode::NxDomain);
  Answer out = empty(Rcode::NoError);
  if (wants(question, Type::A)) out.records.push_back({.name = question.name, .data = address});
  return out;
}

Answer Zone::addresses(const Question& question, const ObjectPtr& service) const {
  const ServiceView view(service);
  if (view.type() == "ExternalName") {
    Answer out;
    out.records.push_back(
        {.name = question.name, .type = Type::Cname, .data = view.external_name()});
    return out;
  }
  Answer out = empty(Rcode::NoError);
  if (!view.headless()) {
    if (wants(question, Type::A))
      out.records.push_back({.name = question.name, .data = view.cluster_ip()});
    return out;
  }
  const std::vector<Endpoint> found = endpoints(*service);
  if (found.empty()) return empty(Rcode::NxDomain);
  if (wants(question, Type::A)) {
    for (const Endpoint& endpoint : found)
      out.records.push_back({.name = question.name, .data = endpoint.address});
  }
  return out;
}

Answer Zone::member(const Question& question, const ObjectPtr& service,
                    std::string_view host) const {
  for (const Endpoint& endpoint : endpoints(*service)) {
    if (endpoint.hostname != host && dashed(endpoint.address) != host) continue;
    Answer out = empty(Rcode::NoError);
    if (wants(question, Type::A))
      out.records.push_back({.name = question.name, .data = endpoint.address});
    return out;
  }
  return empty(Rcode::NxDomain);
}

Answer Zone::srv(const Question& question, const ObjectPtr& service, std::string_view port,
                 std::string_view protocol) const {
  const ServiceView view(service);
  const std::string base = service->name() + "." + service->name_space() + ".svc." + domain_;
  Answer out = empty(Rcode::NoError);
  bool known = false;
  if (!view.headless()) {
    for (const ServicePort& one : view.ports()) {
      if (one.name != port || to_lower(one.protocol) != protocol) continue;
      known = true;
      if (wants(question, Type::Srv)) {
        out.records.push_back({.name = question.name,
                               .type = Type::Srv,
                               .data = base,
                               .port = one.port,
                               .weight = 100});
      }
    }
    return known ? out : empty(Rcode::NxDomain);
  }
  for (const Port& one : endpoint_ports(*service)) {
    if (one.name != port || to_lower(one.protocol) != protocol) continue;
    known = true;
    if (!wants(question, Type::Srv)) continue;
    for (const Endpoint& endpoint : endpoints(*service)) {
      const std::string host =
          endpoint.hostname.empty() ? dashed(endpoint.address) : endpoint.hostname;
      out.records.push_back({.name = question.name,
                             .type = Type::Srv,
                             .data = host + "." + base,
                             .port = one.port,
                             .weight = 100});
    }
  }
  return known ? out : empty(Rcode::NxDomain);
}

Answer Zone::reverse(const Question& question) const {
  std::vector<std::string_view> labels =
      split(std::string_view(question.name).substr(0, question.name.size() - 13), '.');
  std::reverse(labels.begin(), labels.end());
  std::string address;
  for (std::string_view label : labels)
    address += (address.empty() ? "" : ".") + std::string(label);
  Answer out;
  for (const ObjectPtr& service : cache_.list(kinds::kService)) {
    const ServiceView view(service);
    const std::string base = service->name() + "." + service->name_space() + ".svc." + domain_;
    if (!view.headless()) {
      if (view.cluster_ip() == address)
        out.records.push_back({.name = question.name, .type = Type::Ptr, .data = base});
      continue;
    }
    for (const Endpoint& endpoint : endpoints(*service)) {
      if (endpoint.address != address || endpoint.hostname.empty()) continue;
      out.records.push_back(
          {.name = question.name, .type = Type::Ptr, .data = endpoint.hostname + "." + base});
    }
  }
  return out;
}

std::vector<Zone::Endpoint> Zone::endpoints(const Object& service) const {
  std::vector<Endpoint> out;
  std::set<std::string> seen;
  for (const SliceEndpoint& one : endpoints_of(cache_, service)) {
    if (one.ready && seen.insert(one.address).second) out.push_back({one.address, one.hostname});
  }
  return out;
}

std::vector<Zone::Port> Zone::endpoint_ports(const Object& service) const {
  std::vector<Port> out;
  for (const SlicePort& one : ports_of(cache_, service))
    out.push_back({one.name, one.protocol, one.port});
  return out;
}

}  // namespace krater::agent::dns
