// What a pod may be told of itself: in environments and in volumes.
#include <algorithm>
#include <array>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/strings.h"

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

// What stands between the brackets is a key of labels or, in small letters, of annotations.
void check_key(const RuleInput& in, std::string_view path, FieldErrors& errors) {
  const std::size_t bracket = path.find('[');
  std::string key(path.substr(bracket + 2, path.size() - bracket - 4));
  if (path.starts_with("metadata.annotations")) key = to_lower(key);
  if (const std::string problem = check_qualified_name(key); !problem.empty())
    errors.invalid(in.path, Json(key), problem);
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

// The resource that `in.value`'s resourceFieldRef names.
void check_resource(const RuleInput& in, FieldErrors& errors) {
  static const std::vector<std::string> kResources{
      "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
      "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  const std::string resource = text_at(in.value, {"resourceFieldRef", "resource"});
  const bool pages =
      resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
  if (!resource.empty() && !pages && std::ranges::find(kResources, resource) == kResources.end())
    errors.unsupported(in.path.field("resourceFieldRef").field("resource"), resource, kResources);
}

}  // namespace

void downward_field(const RuleInput& in, FieldErrors& errors) {
  const std::string path = text_at(in.value, {"fieldPath"});
  if (path.empty()) return;
  if (const std::string version = text_at(in.value, {"apiVersion"});
      !version.empty() && version != "v1") {
    errors.invalid(in.path.field("fieldPath"), Json(path),
                   "error converting fieldPath: unsupported pod version: " + version);
    return;
  }
  if (is_entry(path)) return check_key(in, path, errors);
  if (std::ranges::find(kFields, path) != kFields.end()) return;
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
  const std::string field = text_at(in.value, {"fieldRef", "fieldPath"});
  // Whole maps are for volumes.
  if (field == "metadata.labels" || field == "metadata.annotations")
    errors.unsupported(in.path.field("fieldRef").field("fieldPath"), field, kEnvFields);
  check_resource(in, errors);
}

void downward_file(const RuleInput& in, FieldErrors& errors) {
  const bool field = find(in.value, {"fieldRef"}) != nullptr;
  const bool resource = find(in.value, {"resourceFieldRef"}) != nullptr;
  if (!field && !resource)
    errors.required(in.path, "one of fieldRef and resourceFieldRef is required");
  if (field && resource)
    errors.invalid(in.path, Json("resource"),
                   "fieldRef and resourceFieldRef can not be specified simultaneously");
  if (in.old != nullptr && *in.old == in.value) return;
  static const std::vector<std::string> kFileFields{"metadata.annotations", "metadata.labels",
                                                    "metadata.name", "metadata.namespace",
                                                    "metadata.uid"};
  const std::string path = text_at(in.value, {"fieldRef", "fieldPath"});
  const bool known = std::ranges::find(kFields, path) != kFields.end();
  if (known && std::ranges::find(kFileFields, path) == kFileFields.end())
    errors.unsupported(in.path.field("fieldRef").field("fieldPath"), path, kFileFields);
  if (!resource) return;
  if (text_at(in.value, {"resourceFieldRef", "containerName"}).empty()) {
    errors.required(in.path.field("resourceFieldRef").field("containerName"));
  } else {
    check_resource(in, errors);
  }
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
