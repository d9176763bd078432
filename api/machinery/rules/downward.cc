// What a pod may be told of itself: in environments and in volumes.
#include <algorithm>
#include <array>

#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

constexpr std::array<std::string_view, 11> kFields{
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
    "metadata.uid",         "spec.nodeName",   "status.hostIP", "spec.serviceAccountName",
    "status.hostIPs",       "status.podIP",    "status.podIPs"};
constexpr std::array<std::string_view, 2> kCpuDivisors{"1m", "1"};
constexpr std::array<std::string_view, 13> kByteDivisors{
    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};

// "metadata.labels['a/b']" names one entry of a map.
bool is_entry(std::string_view path) {
  for (const std::string_view map : {"metadata.annotations['", "metadata.labels['"}) {
    if (path.starts_with(map) && path.ends_with("']") && path.size() > map.size() + 2) return true;
  }
  return false;
}

template <std::size_t N>
void check_divisor(const RuleInput& in, std::string_view resource,
                   const std::array<std::string_view, N>& allowed, std::string_view words,
                   FieldErrors& errors) {
  const Json* divisor = find(in.value, {"divisor"});
  if (divisor == nullptr) return;
  const std::string text =
      divisor->is_string() ? std::string(view(divisor->get_string())) : to_json(*divisor);
  if (text == "0" || std::ranges::find(allowed, text) != allowed.end()) return;
  errors.invalid(in.path.field("divisor"), *divisor,
                 "only divisor's values " + std::string(words) + " are supported with the " +
                     std::string(resource) + " resource");
}

}  // namespace

void downward_field(const RuleInput& in, FieldErrors& errors) {
  const std::string path = text_at(in.value, {"fieldPath"});
  if (path.empty() || is_entry(path) || std::ranges::find(kFields, path) != kFields.end()) return;
  errors.invalid(in.path.field("fieldPath"), Json(path),
                 "error converting fieldPath: field label not supported: " + path);
}

void env_downward(const RuleInput& in, FieldErrors& errors) {
  static const std::vector<std::string> kEnvFields{"metadata.name",
                                                   "metadata.namespace",
                                                   "metadata.uid",
                                                   "spec.nodeName",
                                                   "spec.serviceAccountName",
                                                   "status.hostIP",
                                                   "status.hostIPs",
                                                   "status.podIP",
                                                   "status.podIPs"};
  static const std::vector<std::string> kEnvResources{
      "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
      "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  const std::string field = text_at(in.value, {"fieldRef", "fieldPath"});
  // Whole maps are for volumes.
  if (field == "metadata.labels" || field == "metadata.annotations")
    errors.unsupported(in.path.field("fieldRef").field("fieldPath"), field, kEnvFields);
  const std::string resource = text_at(in.value, {"resourceFieldRef", "resource"});
  const bool pages =
      resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
  if (!resource.empty() && !pages &&
      std::ranges::find(kEnvResources, resource) == kEnvResources.end())
    errors.unsupported(in.path.field("resourceFieldRef").field("resource"), resource,
                       kEnvResources);
}

void downward_file(const RuleInput& in, FieldErrors& errors) {
  const bool field = find(in.value, {"fieldRef"}) != nullptr;
  const bool resource = find(in.value, {"resourceFieldRef"}) != nullptr;
  if (!field && !resource)
    errors.required(in.path, "one of fieldRef and resourceFieldRef is required");
  if (field && resource)
    errors.invalid(in.path, Json("resource"),
                   "fieldRef and resourceFieldRef can not be specified simultaneously");
}

void downward_resource(const RuleInput& in, FieldErrors& errors) {
  const std::string resource = text_at(in.value, {"resource"});
  if (resource == "limits.cpu" || resource == "requests.cpu")
    return check_divisor(in, "cpu", kCpuDivisors, "1m and 1", errors);
  for (const std::string_view kind : {"memory", "ephemeral-storage"}) {
    if (resource != "limits." + std::string(kind) && resource != "requests." + std::string(kind))
      continue;
    return check_divisor(in, kind, kByteDivisors,
                         "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei", errors);
  }
}

}  // namespace krater::api::rules
