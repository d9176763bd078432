// Endpoints and EndpointSlices: addresses that can be an endpoint's, and ports that can be told
// apart.
#include <arpa/inet.h>

#include <set>

#include "api/machinery/names.h"
#include "api/machinery/rules/address_block.h"
#include "api/machinery/rules/rules.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::string_view kBadIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

bool in_block(const std::string& address, const char* block) {
  const auto one = read_block(address + (address.find(':') == std::string::npos ? "/32" : "/128"));
  return one && within(*one, *read_block(block));
}

// Addresses at which nothing is reached. The loopback ones are some: a cluster on one machine may
// have no others.
void check_reachable(const std::string& ip, const FieldPath& path, FieldErrors& errors) {
  if (ip == "0.0.0.0" || ip == "::")
    errors.invalid(path, Json(ip), "may not be unspecified (" + ip + ")");
  if (in_block(ip, "169.254.0.0/16") || in_block(ip, "fe80::/10"))
    errors.invalid(path, Json(ip),
                   "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (in_block(ip, "224.0.0.0/24") || in_block(ip, "ff02::/16"))
    errors.invalid(path, Json(ip),
                   "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

void check_slice_address(const std::string& type, const std::string& address, const FieldPath& path,
                         FieldErrors& errors) {
  if (type == "FQDN") {
    if (const std::string problem = check_dns1123_subdomain(address); !problem.empty())
      errors.invalid(path, Json(address), problem);
    return;
  }
  if (!check_ip(address).empty()) return errors.invalid(path, Json(address), kBadIp);
  const bool six = address.find(':') != std::string::npos;
  if (six != (type == "IPv6")) {
    errors.invalid(path, Json(address),
                   std::string("must be an ") + (six ? "IPv4" : "IPv6") + " address");
    return;
  }
  check_reachable(address, path, errors);
}

void check_endpoint(const Json& endpoint, const std::string& type, const FieldPath& path,
                    FieldErrors& errors) {
  const FieldPath list = path.field("addresses");
  const JsonArray* addresses = array_at(endpoint, {"addresses"});
  for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
    if (!(*addresses)[i].is_string()) continue;
    check_slice_address(type, std::string(view((*addresses)[i].get_string())), list.index(i),
                        errors);
  }
  if (const auto node = string_at(endpoint, {"nodeName"})) {
    if (const std::string problem = check_dns1123_subdomain(*node); !problem.empty())
      errors.invalid(path.field("nodeName"), Json(*node), problem);
  }
  if (const auto host = string_at(endpoint, {"hostname"})) {
    if (const std::string problem = check_dns1123_label(*host); !problem.empty())
      errors.invalid(path.field("hostname"), Json(*host), problem);
  }
}

}  // namespace

void endpoint_slice(const RuleInput& in, FieldErrors& errors) {
  const FieldPath root;
  const std::string type = text_at(in.value, {"addressType"});
  if (in.old != nullptr && text_at(*in.old, {"addressType"}) != type)
    errors.invalid(root.field("addressType"), Json(type), "field is immutable");
  const FieldPath list = root.field("endpoints");
  const JsonArray* endpoints = array_at(in.value, {"endpoints"});
  for (std::size_t i = 0; endpoints != nullptr && i < endpoints->size(); ++i)
    check_endpoint((*endpoints)[i], type, list.index(i), errors);
  std::set<std::string> names;
  const FieldPath ports_path = root.field("ports");
  const JsonArray* ports = array_at(in.value, {"ports"});
  for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const std::string name = text_at((*ports)[i], {"name"});
    if (!names.insert(name).second) errors.duplicate(ports_path.index(i).field("name"), Json(name));
  }
}

void endpoint_subset(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* ready = array_at(in.value, {"addresses"});
  const JsonArray* waiting = array_at(in.value, {"notReadyAddresses"});
  const bool none =
      (ready == nullptr || ready->empty()) && (waiting == nullptr || waiting->empty());
  if (none) errors.required(in.path, "must specify `addresses` or `notReadyAddresses`");
  for (const std::string_view field : {"addresses", "notReadyAddresses"}) {
    const JsonArray* addresses = array_at(in.value, {field});
    const FieldPath list = in.path.field(field);
    for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
      const std::string ip = text_at((*addresses)[i], {"ip"});
      if (check_ip(ip).empty()) check_reachable(ip, list.index(i).field("ip"), errors);
    }
  }
  const JsonArray* ports = array_at(in.value, {"ports"});
  const FieldPath list = in.path.field("ports");
  for (std::size_t i = 0; ports != nullptr && ports->size() > 1 && i < ports->size(); ++i) {
    if (text_at((*ports)[i], {"name"}).empty()) errors.required(list.index(i).field("name"));
  }
}

}  // namespace krater::api::rules
