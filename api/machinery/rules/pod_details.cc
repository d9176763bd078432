#include "api/machinery/rules/pod_details.h"

#include "api/machinery/names.h"
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
  check_names(in, errors);
  check_dns(in, errors);
  check_ids(in, errors);
  check_profile(in.value, in.path, errors);
  check_spread(in, errors);
  check_claims(in, errors);
}

}  // namespace krater::api::rules
