// Deployments, ReplicaSets, StatefulSets and DaemonSets: selectors that fit their templates, and
// strategies.
#include <array>

#include "api/machinery/rules/rules.h"
#include "base/int_or_percent.h"
#include "base/strings.h"
#include "model/selector.h"

namespace krater::api::rules {
namespace {

void check_selector(const RuleInput& in, std::string_view what, FieldErrors& errors) {
  const FieldPath path = in.path.field("selector");
  const Json* selector = find(in.value, {"selector"});
  if (selector == nullptr) return;  // a missing one is a matter of `required`
  const Result<LabelSelector> parsed = LabelSelector::from_object(*selector);
  if (!parsed) return;  // the selector's own rules say why
  if (parsed->empty()) {
    errors.invalid(path, *selector, "empty selector is invalid for " + std::string(what));
    return;
  }
  const Json* labels = find(in.value, {"template", "metadata", "labels"});
  if (parsed->matches(string_map(labels))) return;
  const FieldPath pod_template = in.path.field("template");
  const FieldPath metadata = pod_template.field("metadata");
  errors.invalid(metadata.field("labels"), labels == nullptr ? Json(JsonObject()) : *labels,
                 "`selector` does not match template `labels`");
}

// Pods that a controller replaces for ever must not end by themselves.
void check_lasting(const RuleInput& in, std::string_view what, FieldErrors& errors) {
  const FieldPath pod_template = in.path.field("template");
  const FieldPath spec = pod_template.field("spec");
  const std::string policy = text_at(in.value, {"template", "spec", "restartPolicy"});
  if (!policy.empty() && policy != "Always")
    errors.unsupported(spec.field("restartPolicy"), policy, {"Always"});
  if (find(in.value, {"template", "spec", "activeDeadlineSeconds"}) != nullptr) {
    errors.forbidden(spec.field("activeDeadlineSeconds"),
                     "activeDeadlineSeconds in " + std::string(what) + " is not Supported");
  }
}

bool is_zero(const Json* value) {
  return int_or_percent(value, 100, Rounding::Up) == 0;
}

// A count or a percentage; `at_most_all`: more than 100% makes no sense.
void check_share(const Json* value, const FieldPath& path, bool at_most_all, FieldErrors& errors) {
  if (value == nullptr) return;
  if (value->is_string() && !is_percent(view(value->get_string()))) {
    errors.invalid(path, *value,
                   "a valid percent string must be a numeric string followed by an ending '%' "
                   "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  } else if (value->is_number() && as_int(*value).value_or(0) < 0) {
    errors.invalid(path, *value, "must be greater than or equal to 0");
  } else if (at_most_all && value->is_string() &&
             int_or_percent(value, 100, Rounding::Up).value_or(0) > 100) {
    errors.invalid(path, *value, "must not be greater than 100%");
  }
}

void check_deployment_strategy(const RuleInput& in, FieldErrors& errors) {
  const FieldPath strategy = in.path.field("strategy");
  const FieldPath rolling = strategy.field("rollingUpdate");
  const Json* update = find(in.value, {"strategy", "rollingUpdate"});
  const std::string type = text_at(in.value, {"strategy", "type"});
  if (type == "Recreate" && update != nullptr) {
    errors.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'");
  }
  if (type != "RollingUpdate" || update == nullptr) return;
  const Json* unavailable = find(*update, {"maxUnavailable"});
  const Json* surge = find(*update, {"maxSurge"});
  check_share(unavailable, rolling.field("maxUnavailable"), true, errors);
  check_share(surge, rolling.field("maxSurge"), false, errors);
  if (is_zero(unavailable) && is_zero(surge)) {
    errors.invalid(rolling.field("maxUnavailable"), *unavailable,
                   "may not be 0 when `maxSurge` is 0");
  }
}

void check_daemon_strategy(const RuleInput& in, FieldErrors& errors) {
  const FieldPath strategy = in.path.field("updateStrategy");
  const FieldPath rolling = strategy.field("rollingUpdate");
  const Json* update = find(in.value, {"updateStrategy", "rollingUpdate"});
  if (text_at(in.value, {"updateStrategy", "type"}) != "RollingUpdate" || update == nullptr) return;
  const Json* unavailable = find(*update, {"maxUnavailable"});
  const Json* surge = find(*update, {"maxSurge"});
  check_share(unavailable, rolling.field("maxUnavailable"), true, errors);
  check_share(surge, rolling.field("maxSurge"), true, errors);
  const bool none_missing = is_zero(unavailable), none_surged = is_zero(surge);
  if (none_missing && none_surged) {
    errors.required(rolling.field("maxUnavailable"), "cannot be 0 when maxSurge is 0");
  } else if (!none_missing && !none_surged) {
    errors.invalid(rolling.field("maxSurge"), *surge,
                   "may not be set when maxUnavailable is non-zero");
  }
}

// All of a StatefulSet that may change after it was made.
constexpr std::array<std::string_view, 7> kStatefulSetMayChange{
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "minReadySeconds",
    "persistentVolumeClaimRetentionPolicy"};

void check_stateful_update(const RuleInput& in, FieldErrors& errors) {
  Json now = in.value, before = *in.old;
  for (const std::string_view field : kStatefulSetMayChange) {
    erase_path(now, {field});
    erase_path(before, {field});
  }
  if (now == before) return;
  errors.forbidden(in.path,
                   "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                   "'template', 'updateStrategy', 'revisionHistoryLimit', "
                   "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

// Mounts of the template may name the claims that each pod gets.
void forgive_claims(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* templates = array_at(in.value, {"volumeClaimTemplates"});
  if (templates == nullptr) return;
  const FieldPath pod_template = in.path.field("template");
  const std::string below = pod_template.field("spec").text() + ".";
  for (const Json& claim : *templates) {
    const std::string missing = "Not found: " + to_json(Json(text_at(claim, {"metadata", "name"})));
    errors.forgive([&](const Cause& cause) {
      return cause.field.starts_with(below) && cause.field.ends_with(".name") &&
             cause.message == missing;
    });
  }
}

// What a rolling update of that kind does unless it is told otherwise.
void fill_rolling_update(JsonObject& strategy, const JsonObject& defaults) {
  const Json* type = strategy.if_contains("type");
  if (type == nullptr || !type->is_string() || view(type->get_string()) != "RollingUpdate") return;
  Json& update = strategy["rollingUpdate"];
  if (!update.is_object()) update = JsonObject();
  for (const auto& field : defaults) {
    if (update.get_object().if_contains(field.key()) == nullptr)
      update.get_object().emplace(field.key(), field.value());
  }
}

}  // namespace

void replica_set_spec(const RuleInput& in, FieldErrors& errors) {
  check_selector(in, "ReplicaSet", errors);
  check_lasting(in, "ReplicaSet", errors);
}

void deployment_spec(const RuleInput& in, FieldErrors& errors) {
  check_selector(in, "deployment", errors);
  check_lasting(in, "ReplicaSet", errors);
  check_deployment_strategy(in, errors);
  const auto deadline = int_at(in.value, {"progressDeadlineSeconds"});
  if (deadline && *deadline <= int_at(in.value, {"minReadySeconds"}).value_or(0)) {
    errors.invalid(in.path.field("progressDeadlineSeconds"), Json(*deadline),
                   "must be greater than minReadySeconds");
  }
}

void stateful_set_spec(const RuleInput& in, FieldErrors& errors) {
  check_selector(in, "statefulset", errors);
  check_lasting(in, "StatefulSet", errors);
  forgive_claims(in, errors);
  if (find(in.value, {"updateStrategy", "rollingUpdate"}) != nullptr &&
      text_at(in.value, {"updateStrategy", "type"}) == "OnDelete") {
    const FieldPath strategy = in.path.field("updateStrategy");
    errors.invalid(strategy.field("rollingUpdate"),
                   *find(in.value, {"updateStrategy", "rollingUpdate"}),
                   "only allowed for updateStrategy 'RollingUpdate'");
  }
  if (in.old != nullptr) return check_stateful_update(in, errors);
  const std::string service = text_at(in.value, {"serviceName"});
  if (const std::string problem = check_dns1123_label(service);
      !service.empty() && !problem.empty())
    errors.invalid(in.path.field("serviceName"), Json(service), problem);
}

void daemon_set_spec(const RuleInput& in, FieldErrors& errors) {
  check_selector(in, "daemonset", errors);
  check_lasting(in, "DaemonSet", errors);
  check_daemon_strategy(in, errors);
}

void controller_revision(const RuleInput& in, FieldErrors& errors) {
  const auto revision = int_at(in.value, {"revision"});
  if (revision && *revision < 0) {
    errors.invalid(in.path.field("revision"), Json(*revision),
                   "must be greater than or equal to 0");
  }
  if (find(in.value, {"data"}) == nullptr)
    errors.required(in.path.field("data"), "data is mandatory");
}

void replication_controller_spec(const RuleInput& in, FieldErrors& errors) {
  const JsonObject* selector = object_at(in.value, {"selector"});
  if (selector == nullptr || selector->empty()) errors.required(in.path.field("selector"));
  const FieldPath pod_template = in.path.field("template");
  if (find(in.value, {"template"}) == nullptr) {
    errors.required(pod_template);
    return;
  }
  const Labels labels = string_map(find(in.value, {"template", "metadata", "labels"}));
  if (selector != nullptr && !selector->empty() &&
      !LabelSelector::equals(string_map(find(in.value, {"selector"}))).matches(labels)) {
    const FieldPath metadata = pod_template.field("metadata");
    errors.invalid(metadata.field("labels"), Json(to_json_object(labels)),
                   "`selector` does not match template `labels`");
  }
  check_lasting(in, "ReplicationController", errors);
}

// Without words of its own it selects, and is called, what its pods are.
void default_replication_controller(JsonObject& controller) {
  const Json* spec = controller.if_contains("spec");
  if (spec == nullptr) return;
  const JsonObject* found = object_at(*spec, {"template", "metadata", "labels"});
  if (found == nullptr || found->empty()) return;
  const JsonObject labels = *found;
  if (const JsonObject* selector = object_at(*spec, {"selector"});
      selector == nullptr || selector->empty())
    controller["spec"].get_object()["selector"] = labels;
  Json& metadata = controller["metadata"];
  if (!metadata.is_object()) metadata = JsonObject();
  if (const JsonObject* own = object_at(metadata, {"labels"}); own == nullptr || own->empty())
    metadata.get_object()["labels"] = labels;
}

void default_deployment_strategy(JsonObject& strategy) {
  fill_rolling_update(strategy, {{"maxUnavailable", "25%"}, {"maxSurge", "25%"}});
}

void default_stateful_set_strategy(JsonObject& strategy) {
  fill_rolling_update(strategy, {{"partition", 0}});
}

void default_daemon_set_strategy(JsonObject& strategy) {
  fill_rolling_update(strategy, {{"maxUnavailable", 1}, {"maxSurge", 0}});
}

}  // namespace krater::api::rules
