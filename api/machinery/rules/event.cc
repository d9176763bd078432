#include "api/machinery/rules/rules.h"

namespace krater::api::rules {
namespace {

void check_namespace(const RuleInput& in, std::string_view reference, FieldErrors& errors) {
  const std::string own = text_at(in.value, {"metadata", "namespace"});
  const std::string other = text_at(in.value, {reference, "namespace"});
  const FieldPath root;
  // Events about cluster-scoped objects lie in the default namespace.
  const bool matches =
      other.empty() ? own.empty() || own == "default" || own == "kube-system" : own == other;
  if (!matches) {
    errors.invalid(root.field(reference).field("namespace"), Json(other),
                   "does not match event.namespace");
  }
}

}  // namespace

void event(const RuleInput& in, FieldErrors& errors) {
  check_namespace(in, "involvedObject", errors);
}

void event_v1(const RuleInput& in, FieldErrors& errors) {
  check_namespace(in, "regarding", errors);
  if (in.old != nullptr) return;
  const FieldPath root;
  const auto too_long = [&](std::string_view field, std::size_t most) {
    const std::string text = text_at(in.value, {field});
    if (text.size() > most)
      errors.invalid(root.field(field), Json(text),
                     "can have at most " + std::to_string(most) + " characters");
  };
  for (std::string_view field :
       {"eventTime", "reportingController", "reportingInstance", "action", "reason", "type"}) {
    if (text_at(in.value, {field}).empty()) errors.required(root.field(field));
  }
  too_long("reportingInstance", 128);
  too_long("action", 128);
  too_long("reason", 128);
  too_long("note", 1024);
}

}  // namespace krater::api::rules
