#include "api/machinery/rules/pod_details.h"

#include <set>

#include "api/machinery/names.h"
#include "api/machinery/rules/container_details.h"
#include "base/strings.h"

namespace krater::api::rules {
namespace {

constexpr std::string_view kBadIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
constexpr std::int64_t kMaxId = 2147483647;

std::string text_of(const Json& value) {
  return value.is_string() ? std::string(view(value.get_string())) : std::string();
}

// Calls `visit(item, path)` for each item of a list.
template <typename Visit>
void for_each(const Json& holder, JsonPath where, const FieldPath& list, Visit visit) {
  const JsonArray* items = array_at(holder, where);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i)
    visit((*items)[i], list.index(i));
}

void check_names(const RuleInput& in, FieldErrors& errors) {
  const Json& spec = in.value;
  const FieldPath aliases = in.path.field("hostAliases");
  for_each(spec, {"hostAliases"}, aliases, [&](const Json& alias, const FieldPath& here) {
    const FieldPath names = here.field("hostnames");
    for_each(alias, {"hostnames"}, names, [&](const Json& name, const FieldPath& at) {
      if (const std::string problem = check_dns1123_subdomain(text_of(name)); !problem.empty())
        errors.invalid(at, name, problem);
    });
  });
  const FieldPath readiness = in.path.field("readinessGates");
  for_each(spec, {"readinessGates"}, readiness, [&](const Json& gate, const FieldPath& here) {
    const std::string type = text_at(gate, {"conditionType"});
    if (type.empty()) return;
    if (const std::string problem = check_qualified_name(type); !problem.empty())
      errors.invalid(here.field("conditionType"), Json(type), problem);
  });
  const FieldPath gates = in.path.field("schedulingGates");
  for_each(spec, {"schedulingGates"}, gates, [&](const Json& gate, const FieldPath& here) {
    const std::string name = text_at(gate, {"name"});
    if (name.empty()) return;
    if (const std::string problem = check_qualified_name(name); !problem.empty())
      errors.invalid(here, Json(name), problem);
  });
}

void check_dns(const RuleInput& in, FieldErrors& errors) {
  const Json* config = find(in.value, {"dnsConfig"});
  const FieldPath path = in.path.field("dnsConfig");
  const bool alone = text_at(in.value, {"dnsPolicy"}) == "None";
  if (config == nullptr) {
    if (alone) errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    return;
  }
  const FieldPath servers_path = path.field("nameservers");
  const JsonArray* servers = array_at(*config, {"nameservers"});
  if (alone && (servers == nullptr || servers->empty())) {
    errors.required(servers_path,
                    "must provide at least one DNS nameserver when `dnsPolicy` is None");
  }
  for_each(*config, {"nameservers"}, servers_path, [&](const Json& ip, const FieldPath& here) {
    if (!check_ip(text_of(ip)).empty()) errors.invalid(here, ip, kBadIp);
  });
  const FieldPath options = path.field("options");
  for_each(*config, {"options"}, options, [&](const Json& option, const FieldPath& here) {
    if (text_at(option, {"name"}).empty()) errors.required(here, "must not be empty");
  });
}

void check_ids(const RuleInput& in, FieldErrors& errors) {
  const FieldPath context = in.path.field("securityContext");
  const FieldPath groups = context.field("supplementalGroups");
  for_each(in.value, {"securityContext", "supplementalGroups"}, groups,
           [&](const Json& group, const FieldPath& here) {
             const auto id = as_int(group);
             if (id && (*id < 0 || *id > kMaxId))
               errors.invalid(here, group, "must be between 0 and 2147483647, inclusive");
           });
}

// Segments of small letters, digits, "-" and "_", which neither begin nor end with those two; a dot
// or a slash between any two.
bool is_sysctl(std::string_view name) {
  constexpr std::size_t kMaxLength = 253;
  const auto plain = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  if (name.empty() || name.size() > kMaxLength || !plain(name.front()) || !plain(name.back()))
    return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (plain(c) || c == '-' || c == '_') continue;
    if ((c != '.' && c != '/') || !plain(name[i - 1]) || !plain(name[i + 1])) return false;
  }
  return true;
}

void check_sysctls(const RuleInput& in, FieldErrors& errors) {
  const FieldPath context = in.path.field("securityContext");
  const FieldPath list = context.field("sysctls");
  std::set<std::string> seen;
  for_each(
      in.value, {"securityContext", "sysctls"}, list, [&](const Json& one, const FieldPath& at) {
        const std::string name = text_at(one, {"name"});
        if (name.empty()) return;
        if (!is_sysctl(name)) {
          errors.invalid(at.field("name"), Json(name),
                         "must have at most 253 characters and match regex "
                         "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
        } else if (!seen.insert(name).second) {
          errors.duplicate(at.field("name"), Json(name));
        }
      });
}

void check_profile(const Json& holder, const FieldPath& path, FieldErrors& errors) {
  const Json* profile = find(holder, {"securityContext", "seccompProfile"});
  if (profile == nullptr) return;
  const FieldPath context = path.field("securityContext");
  const FieldPath seccomp = context.field("seccompProfile");
  const FieldPath here = seccomp.field("localhostProfile");
  const bool local = text_at(*profile, {"type"}) == "Localhost";
  const std::string name = text_at(*profile, {"localhostProfile"});
  if (local && name.empty()) {
    errors.required(here, "must be set when seccomp type is Localhost");
  } else if (!local && find(*profile, {"localhostProfile"}) != nullptr) {
    errors.invalid(here, Json(name), "can only be set when seccomp type is Localhost");
  }
}

void check_lifecycle(const Json& container, std::int64_t grace, const FieldPath& path,
                     FieldErrors& errors) {
  const FieldPath lifecycle = path.field("lifecycle");
  for (const std::string_view moment : {"postStart", "preStop"}) {
    const auto seconds = int_at(container, {"lifecycle", moment, "sleep", "seconds"});
    if (!seconds || (*seconds >= 0 && *seconds <= grace)) continue;
    const FieldPath hook = lifecycle.field(moment);
    errors.invalid(hook.field("sleep"), Json(*seconds),
                   "must be non-negative and less than terminationGracePeriodSeconds (" +
                       std::to_string(grace) + ")");
  }
}

void check_container(const Json& container, std::int64_t grace, const FieldPath& path,
                     FieldErrors& errors) {
  const std::string image = text_at(container, {"image"});
  if (!image.empty() && (image.find_first_not_of(" \t\r\n") != 0 ||
                         image.find_last_not_of(" \t\r\n") + 1 != image.size())) {
    errors.invalid(path.field("image"), Json(image),
                   "must not have leading or trailing whitespace");
  }
  const FieldPath readiness = path.field("readinessProbe");
  if (const auto own = int_at(container, {"readinessProbe", "terminationGracePeriodSeconds"})) {
    errors.invalid(readiness.field("terminationGracePeriodSeconds"), Json(*own),
                   "must not be set for readinessProbes");
  }
  check_lifecycle(container, grace, path, errors);
  check_profile(container, path, errors);
  check_container_details(container, path, errors);
}

// No two containers that run at the same time have the same port of the node.
void check_host_ports(const RuleInput& in, FieldErrors& errors) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    std::set<std::string> taken;
    const FieldPath path = in.path.field(list);
    for_each(in.value, {list}, path, [&](const Json& container, const FieldPath& here) {
      if (list == "initContainers") taken.clear();
      const FieldPath ports = here.field("ports");
      for_each(container, {"ports"}, ports, [&](const Json& port, const FieldPath& at) {
        const std::int64_t number = int_at(port, {"hostPort"}).value_or(0);
        if (number == 0) return;
        const std::string place = text_at(port, {"protocol"}) + "/" + text_at(port, {"hostIP"}) +
                                  "/" + std::to_string(number);
        if (!taken.insert(place).second) errors.duplicate(at.field("hostPort"), Json(place));
      });
    });
  }
}

void check_spread(const RuleInput& in, FieldErrors& errors) {
  const FieldPath list = in.path.field("topologySpreadConstraints");
  for_each(in.value, {"topologySpreadConstraints"}, list,
           [&](const Json& one, const FieldPath& at) {
             const auto domains = int_at(one, {"minDomains"});
             const std::string otherwise = text_at(one, {"whenUnsatisfiable"});
             if (!domains || otherwise == "DoNotSchedule") return;
             errors.invalid(
                 at.field("minDomains"), Json(*domains),
                 "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + otherwise);
           });
}

// Claims that containers name are those of the pod.
void check_claim_names(const RuleInput& in, FieldErrors& errors) {
  std::set<std::string> known;
  const FieldPath claims = in.path.field("resourceClaims");
  for_each(in.value, {"resourceClaims"}, claims,
           [&](const Json& claim, const FieldPath&) { known.insert(text_at(claim, {"name"})); });
  const std::string all =
      ": must be one of the names in pod.spec.resourceClaims" +
      (known.empty() ? std::string(" which is empty")
                     : ": " + join(std::vector<std::string>(known.begin(), known.end()), ", "));
  for (const std::string_view list : {"initContainers", "containers"}) {
    const FieldPath path = in.path.field(list);
    for_each(in.value, {list}, path, [&](const Json& container, const FieldPath& here) {
      const FieldPath resources = here.field("resources");
      const FieldPath used = resources.field("claims");
      for_each(container, {"resources", "claims"}, used, [&](const Json& one, const FieldPath& at) {
        const std::string name = text_at(one, {"name"});
        if (name.empty() || known.contains(name)) return;
        errors.append(
            {{"FieldValueNotFound", "Not found: " + to_json(Json(name)) + all, at.text()}});
      });
    });
  }
}

void check_claims(const RuleInput& in, FieldErrors& errors) {
  const FieldPath list = in.path.field("resourceClaims");
  for_each(in.value, {"resourceClaims"}, list, [&](const Json& claim, const FieldPath& here) {
    const bool by_name = find(claim, {"resourceClaimName"}) != nullptr;
    const bool by_template = find(claim, {"resourceClaimTemplateName"}) != nullptr;
    if (by_name && by_template) {
      errors.invalid(here, claim,
                     "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                     "specified");
    } else if (!by_name && !by_template) {
      errors.invalid(here, claim,
                     "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
  });
}

}  // namespace

void check_pod_details(const RuleInput& in, FieldErrors& errors) {
  if (in.old != nullptr && *in.old == in.value) return;
  const std::int64_t grace = int_at(in.value, {"terminationGracePeriodSeconds"}).value_or(30);
  for (const std::string_view list : {"initContainers", "containers"}) {
    const FieldPath path = in.path.field(list);
    for_each(in.value, {list}, path, [&](const Json& container, const FieldPath& here) {
      check_container(container, grace, here, errors);
    });
  }
  check_host_ports(in, errors);
  check_names(in, errors);
  check_dns(in, errors);
  check_ids(in, errors);
  check_sysctls(in, errors);
  check_profile(in.value, in.path, errors);
  check_spread(in, errors);
  check_claims(in, errors);
  check_claim_names(in, errors);
}

}  // namespace krater::api::rules
