#include <array>
#include <set>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

int count_fields(const Json& value, std::initializer_list<std::string_view> names) {
  int count = 0;
  for (std::string_view name : names) count += find(value, {name}) != nullptr ? 1 : 0;
  return count;
}

constexpr std::array<std::string_view, 5> kHandlers = {"exec", "httpGet", "tcpSocket", "grpc",
                                                       "sleep"};

void check_handlers(const RuleInput& in, FieldErrors& errors) {
  bool seen = false;
  for (std::string_view name : kHandlers) {
    if (find(in.value, {name}) == nullptr) continue;
    if (seen) errors.forbidden(in.path.field(name), "may not specify more than 1 handler type");
    seen = true;
  }
  if (!seen) errors.required(in.path, "must specify a handler type");
}

void check_probe_success(const Json& container, std::string_view name, const FieldPath& path,
                         FieldErrors& errors) {
  const auto threshold = int_at(container, {name, "successThreshold"});
  if (threshold && *threshold > 1) {
    errors.invalid(path.field(name).field("successThreshold"), Json(*threshold), "must be 1");
  }
}

}  // namespace

void container(const RuleInput& in, FieldErrors& errors) {
  // Once a program counts as alive or started there is no second opinion.
  check_probe_success(in.value, "livenessProbe", in.path, errors);
  check_probe_success(in.value, "startupProbe", in.path, errors);
  if (bool_at(in.value, {"securityContext", "privileged"}).value_or(false) &&
      bool_at(in.value, {"securityContext", "allowPrivilegeEscalation"}) == false) {
    const FieldPath here = in.path.field("securityContext");
    errors.invalid(here, *find(in.value, {"securityContext"}),
                   "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  const JsonArray* ports = array_at(in.value, {"ports"});
  if (ports == nullptr) return;
  std::set<std::string> names;
  const FieldPath list = in.path.field("ports");
  for (std::size_t i = 0; i < ports->size(); ++i) {
    const std::string name = text_at((*ports)[i], {"name"});
    if (!name.empty() && !names.insert(name).second)
      errors.duplicate(list.index(i).field("name"), Json(name));
  }
}

void env_var(const RuleInput& in, FieldErrors& errors) {
  const std::string name = text_at(in.value, {"name"});
  if (!name.empty()) {
    if (const std::string problem = check_env_name(name); !problem.empty()) {
      errors.invalid(in.path.field("name"), Json(name), problem);
    }
  }
  if (find(in.value, {"valueFrom"}) != nullptr && !text_at(in.value, {"value"}).empty()) {
    errors.invalid(in.path.field("valueFrom"), Json(""),
                   "may not be specified when `value` is not empty");
  }
}

void env_var_source(const RuleInput& in, FieldErrors& errors) {
  const int sources = count_fields(
      in.value, {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"});
  if (sources == 0) {
    errors.invalid(
        in.path, Json(""),
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
        "`fileKeyRef`");
  }
  if (sources > 1)
    errors.invalid(in.path, Json(""), "may not have more than one field specified at a time");
  env_downward(in, errors);
}

void env_from(const RuleInput& in, FieldErrors& errors) {
  const std::string prefix = text_at(in.value, {"prefix"});
  if (const std::string problem = check_env_name(prefix); !prefix.empty() && !problem.empty())
    errors.invalid(in.path.field("prefix"), Json(prefix), problem);
  const int sources = count_fields(in.value, {"configMapRef", "secretRef"});
  if (sources == 0)
    errors.invalid(in.path, Json(""), "must specify one of: `configMapRef` or `secretRef`");
  if (sources > 1)
    errors.invalid(in.path, Json(""), "may not have more than one field specified at a time");
  for (std::string_view source : {"configMapRef", "secretRef"}) {
    if (find(in.value, {source}) != nullptr && text_at(in.value, {source, "name"}).empty()) {
      errors.required(in.path.field(source).field("name"));
    }
  }
}

void volume_mount(const RuleInput& in, FieldErrors& errors) {
  const std::string sub_path = text_at(in.value, {"subPath"});
  if (const std::string problem = check_local_path(sub_path); !problem.empty()) {
    errors.invalid(in.path.field("subPath"), Json(sub_path), problem);
  }
  const std::string expression = text_at(in.value, {"subPathExpr"});
  if (!sub_path.empty() && !expression.empty()) {
    errors.invalid(in.path.field("subPathExpr"), Json(expression),
                   "subPathExpr and subPath are mutually exclusive");
  }
}

void probe(const RuleInput& in, FieldErrors& errors) {
  check_handlers(in, errors);
}
void one_handler(const RuleInput& in, FieldErrors& errors) {
  check_handlers(in, errors);
}

}  // namespace krater::api::rules
