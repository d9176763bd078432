#include "api/machinery/rules/container_details.h"

#include <algorithm>

namespace krater::api::rules {
namespace {

void check_mount(const Json& mount, bool privileged, const FieldPath& path, FieldErrors& errors) {
  const std::string propagation = text_at(mount, {"mountPropagation"});
  if (propagation == "Bidirectional" && !privileged) {
    errors.forbidden(path.field("mountPropagation"),
                     "Bidirectional mount propagation is available only to privileged containers");
  }
  const auto recursive = string_at(mount, {"recursiveReadOnly"});
  if (!recursive || *recursive == "Disabled") return;
  const FieldPath here = path.field("recursiveReadOnly");
  if (*recursive != "Enabled" && *recursive != "IfPossible")
    return errors.unsupported(here, *recursive, {"Disabled", "Enabled", "IfPossible"});
  if (!bool_at(mount, {"readOnly"}).value_or(false))
    errors.forbidden(here, "may only be specified when readOnly is true");
  if (!propagation.empty() && propagation != "None") {
    errors.forbidden(here, "may only be specified when mountPropagation is None or not specified");
  }
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return c == '-' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

// `action`: a probe or a hook.
void check_headers(const Json* action, const FieldPath& path, FieldErrors& errors) {
  const JsonArray* headers = action ? array_at(*action, {"httpGet", "httpHeaders"}) : nullptr;
  if (headers == nullptr) return;
  const FieldPath get = path.field("httpGet");
  for (const Json& header : *headers) {
    const std::string name = text_at(header, {"name"});
    if (name.empty() || is_header_name(name)) continue;
    errors.invalid(get.field("httpHeaders"), Json(name),
                   "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
                   "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
  }
}

}  // namespace

void check_container_details(const Json& container, const FieldPath& path, FieldErrors& errors) {
  const bool privileged = bool_at(container, {"securityContext", "privileged"}).value_or(false);
  const FieldPath list = path.field("volumeMounts");
  const JsonArray* mounts = array_at(container, {"volumeMounts"});
  for (std::size_t i = 0; mounts != nullptr && i < mounts->size(); ++i)
    check_mount((*mounts)[i], privileged, list.index(i), errors);
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"})
    check_headers(find(container, {probe}), path.field(probe), errors);
  const FieldPath lifecycle = path.field("lifecycle");
  for (const std::string_view hook : {"postStart", "preStop"})
    check_headers(find(container, {"lifecycle", hook}), lifecycle.field(hook), errors);
}

}  // namespace krater::api::rules
