#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

bool same(const Json& a, const Json& b, std::string_view field) {
  const Json* left = find(a, {field});
  const Json* right = find(b, {field});
  return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
}

void check_template(const RuleInput& in, FieldErrors& errors) {
  const FieldPath pod_template = in.path.field("template");
  const FieldPath spec = pod_template.field("spec");
  const std::string policy = text_at(in.value, {"template", "spec", "restartPolicy"});
  const bool failure_policy = find(in.value, {"podFailurePolicy"}) != nullptr;
  if (policy == "Always") {
    errors.unsupported(spec.field("restartPolicy"), policy, {"OnFailure", "Never"});
  } else if (failure_policy && policy != "Never") {
    errors.invalid(spec.field("restartPolicy"), Json(policy),
                   "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

void check_indexed(const RuleInput& in, FieldErrors& errors) {
  const bool indexed = text_at(in.value, {"completionMode"}) == "Indexed";
  if (indexed && find(in.value, {"completions"}) == nullptr) {
    errors.required(in.path.field("completions"), "when completion mode is Indexed");
  }
  if (!indexed && find(in.value, {"backoffLimitPerIndex"}) != nullptr) {
    errors.invalid(in.path.field("backoffLimitPerIndex"), *find(in.value, {"backoffLimitPerIndex"}),
                   "requires indexed completion mode");
  }
}

// While a job is suspended and has not started its pods may still be placed otherwise.
bool template_may_change(const Json& old_spec) {
  return bool_at(old_spec, {"suspend"}).value_or(false);
}

void check_update(const RuleInput& in, FieldErrors& errors) {
  const Json& old = *in.old;
  const auto immutable = [&](std::string_view field) {
    if (same(in.value, old, field)) return;
    const Json* now = find(in.value, {field});
    errors.invalid(in.path.field(field), now == nullptr ? Json() : *now, "field is immutable");
  };
  // The selector is made by the server after validation of a create; after that it stays.
  if (find(old, {"selector"}) != nullptr) immutable("selector");
  if (!template_may_change(old)) immutable("template");
  immutable("podFailurePolicy");
  immutable("backoffLimitPerIndex");
  immutable("managedBy");
  immutable("successPolicy");
  // An indexed job may grow or shrink together with its parallelism.
  if (!same(in.value, old, "completions")) {
    const auto completions = int_at(in.value, {"completions"});
    const bool elastic = text_at(in.value, {"completionMode"}) == "Indexed" && completions &&
                         completions == int_at(in.value, {"parallelism"});
    if (!elastic) immutable("completions");
  }
}

}  // namespace

void job_spec(const RuleInput& in, FieldErrors& errors) {
  check_template(in, errors);
  check_indexed(in, errors);
  if (in.old != nullptr) check_update(in, errors);
}

}  // namespace krater::api::rules
