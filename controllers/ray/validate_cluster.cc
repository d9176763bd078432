#include "controllers/ray/validate_cluster.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "controllers/ray/versions.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

namespace rk = ray_keys;

constexpr std::int64_t kMostHosts = 10'000;

Error invalid(std::string message) {
  return make_error(Code::Invalid, std::move(message));
}
Error unsupported(const std::string& field) {
  return invalid(field + " is not supported by this version of Krater; remove it from the spec");
}

bool has_env(const Json& container, std::string_view name) {
  const JsonArray* env = array_at(container, {"env"});
  return env != nullptr && std::ranges::any_of(*env, [name](const Json& entry) {
           return string_at(entry, {"name"}) == name;
         });
}

// A label key with an optional DNS prefix, and a value: Kubernetes' rules.
bool label_part_ok(std::string_view text) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > 63 || !letter_or_digit(text.front()) ||
      !letter_or_digit(text.back()))
    return false;
  return std::ranges::all_of(
      text, [&](char c) { return letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}
bool label_key_ok(std::string_view key) {
  const auto slash = key.find('/');
  if (slash == std::string_view::npos) return label_part_ok(key);
  return check_dns1123_subdomain(key.substr(0, slash)).empty() &&
         label_part_ok(key.substr(slash + 1));
}

Result<void> check_labels(const RayGroupSpec& group, const std::string& where) {
  if (group.start_params().contains("labels")) {
    return invalid(where + ".rayStartParams must not contain labels; use " + where +
                   ".labels instead");
  }
  std::vector<std::string> problems;
  for (const auto& [key, value] : group.structured_labels()) {
    if (!label_key_ok(key))
      problems.push_back("invalid label key \"" + key + "\" in " + where + ".labels");
    if (!value.empty() && !label_part_ok(value)) {
      problems.push_back("invalid label value \"" + value + "\" of \"" + key + "\" in " + where +
                         ".labels");
    }
  }
  if (!problems.empty()) return invalid(join(problems, "; "));
  return {};
}

Result<void> check_resources(const RayGroupSpec& group, const std::string& where) {
  if (group.structured_resources().empty()) return {};
  const Labels params = group.start_params();
  for (const std::string_view key : {"num-cpus", "num-gpus", "memory", "resources"}) {
    const auto place = params.find(key);
    if (place != params.end() && !place->second.empty()) {
      return invalid(where + " must not set both resources and rayStartParams." + std::string(key));
    }
  }
  return {};
}

Result<void> check_group(const RayGroupSpec& group, const RayClusterSpec& spec) {
  const std::string where = "workerGroupSpecs[" + group.name() + "]";
  if (group.containers().empty())
    return invalid(where + ".template.spec.containers must have at least one container");
  if (!spec.autoscaling() && (!group.min_replicas() || !group.max_replicas())) {
    return invalid(where + " must set minReplicas and maxReplicas when autoscaling is off");
  }
  const std::int64_t low = group.min_replicas().value_or(0);
  const std::int64_t high = group.max_replicas().value_or(2147483647);
  if (low < 0) return invalid(where + ".minReplicas must not be negative");
  if (high < 0) return invalid(where + ".maxReplicas must not be negative");
  if (low > high) {
    return invalid(where + ".minReplicas " + std::to_string(low) + " is greater than maxReplicas " +
                   std::to_string(high));
  }
  if (group.hosts() < 1) return invalid(where + ".numOfHosts must be at least 1");
  // The pods of a replica are made together.
  if (group.hosts() > kMostHosts)
    return invalid(where + ".numOfHosts must be at most " + std::to_string(kMostHosts));
  TRY(check_resources(group, where));
  TRY(check_labels(group, where));
  if (group.idle_timeout_s()) return invalid(where + ".idleTimeoutSeconds needs autoscaler v2");
  if (group.priority() != 0)
    return invalid(where + ".priority needs autoscaler v2 and Ray 2.56.0 or later");
  return {};
}

Result<void> check_groups(const RayClusterSpec& spec) {
  std::vector<std::string> names;
  for (const RayGroupSpec& group : spec.workers()) {
    TRY(check_group(group, spec));
    if (std::ranges::find(names, group.name()) != names.end()) {
      return invalid("worker group names must be unique, \"" + group.name() + "\" appears twice");
    }
    names.push_back(group.name());
  }
  return {};
}

// What KubeRay does and we do not yet: a spec that asks for it must not start without it.
Result<void> check_supported(const RayClusterSpec& spec, const Labels& annotations) {
  const Json& json = spec.json();
  if (spec.autoscaling()) return unsupported("enableInTreeAutoscaling");
  const auto fault_tolerance = annotations.find(rk::kFaultTolerance);
  const bool by_annotation =
      fault_tolerance != annotations.end() && to_lower(fault_tolerance->second) == "true";
  if (by_annotation) return unsupported("annotation " + std::string(rk::kFaultTolerance));
  for (const std::string_view field :
       {"gcsFaultToleranceOptions", "networkPolicy", "historyServerOptions"}) {
    if (object_at(json, {field}) != nullptr) return unsupported(std::string(field));
  }
  if (text_at(json, {"authOptions", "mode"}) == "token")
    return unsupported("authOptions.mode token");
  if (bool_at(json, {"authOptions", "enableK8sTokenAuth"}).value_or(false)) {
    return invalid("authOptions.enableK8sTokenAuth needs authOptions.mode token");
  }
  if (bool_at(json, {"tlsOptions", "enabled"})
          .value_or(object_at(json, {"tlsOptions"}) != nullptr)) {
    return unsupported("tlsOptions");
  }
  return {};
}

Result<void> check_redis(const RayClusterSpec& spec) {
  const Json& container = spec.head().ray_container();
  if (has_env(container, "RAY_REDIS_ADDRESS")) {
    return invalid("RAY_REDIS_ADDRESS is set on the head, but GCS fault tolerance is off");
  }
  if (spec.head().start_params().contains("redis-username") ||
      has_env(container, "REDIS_USERNAME")) {
    return invalid(
        "the Redis user name belongs into gcsFaultToleranceOptions, not into rayStartParams or "
        "env");
  }
  return {};
}

Result<void> check_autoscaler_env(const RayClusterSpec& spec) {
  const JsonArray* env = array_at(spec.head().ray_container(), {"env"});
  if (env == nullptr) return {};
  for (const Json& entry : *env) {
    const std::string value = text_at(entry, {"value"});
    if (text_at(entry, {"name"}) == "RAY_enable_autoscaler_v2" &&
        (value == "1" || value == "true")) {
      return invalid(
          "RAY_enable_autoscaler_v2 is set on the head, but enableInTreeAutoscaling is off");
    }
  }
  return {};
}

}  // namespace

Result<void> validate_name(std::string_view kind, std::string_view name, std::size_t limit) {
  if (name.size() > limit) {
    return invalid(std::string(kind) + " name should be no more than " + std::to_string(limit) +
                   " characters");
  }
  if (const std::string problem = check_dns1035_label(name); !problem.empty()) {
    return invalid(std::string(kind) + " name should be a valid DNS1035 label: " + problem);
  }
  return {};
}

Result<void> validate_cluster_metadata(const Object& cluster) {
  return validate_name("RayCluster", cluster.name(), 53);
}

Result<void> validate_cluster_spec(const RayClusterSpec& spec, const Labels& annotations) {
  if (spec.head().containers().empty()) {
    return invalid("headGroupSpec.template.spec.containers must have at least one container");
  }
  TRY(check_resources(spec.head(), "headGroupSpec"));
  TRY(check_labels(spec.head(), "headGroupSpec"));
  TRY(check_groups(spec));
  TRY(check_supported(spec, annotations));
  TRY(check_redis(spec));
  return check_autoscaler_env(spec);
}

Result<void> validate_upgrade_strategy(const RayClusterView& cluster) {
  const std::string type = cluster.spec().upgrade_type();
  if (type.empty()) return {};
  if (type != "Recreate" && type != "None")
    return invalid("upgradeStrategy.type must be Recreate or None, got \"" + type + "\"");
  const std::string_view origin = cluster->label(rk::kOriginKind);
  if (origin == "RayJob" || origin == "RayService") {
    return invalid("upgradeStrategy cannot be set on a RayCluster made by a " +
                   std::string(origin));
  }
  return {};
}

Result<void> validate_cluster_status(const RayClusterStatus& status) {
  if (status.is_true("RayClusterSuspending") && status.is_true("RayClusterSuspended")) {
    return invalid("conditions RayClusterSuspending and RayClusterSuspended cannot both be true");
  }
  return {};
}

}  // namespace krater::controllers
