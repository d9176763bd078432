// Tolerations, node selectors, taints and priorities.
#include <set>

#include "api/machinery/names.h"
#include "api/machinery/rules/rules.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace krater::api::rules {

void toleration(const RuleInput& in, FieldErrors& errors) {
  const std::string key = text_at(in.value, {"key"}), op = text_at(in.value, {"operator"});
  const std::string value = text_at(in.value, {"value"});
  if (!key.empty()) {
    if (const std::string problem = check_qualified_name(key); !problem.empty()) {
      errors.invalid(in.path.field("key"), Json(key), problem);
    }
  } else if (op != "Exists") {
    errors.invalid(in.path.field("operator"), Json(op),
                   "operator must be Exists when `key` is empty, which means \"match all values "
                   "and all keys\"");
  }
  if (op == "Exists" && !value.empty()) {
    errors.invalid(in.path.field("operator"), in.value,
                   "value must be empty when `operator` is 'Exists'");
  }
  if (find(in.value, {"tolerationSeconds"}) != nullptr &&
      text_at(in.value, {"effect"}) != "NoExecute") {
    errors.invalid(in.path.field("effect"), Json(text_at(in.value, {"effect"})),
                   "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
}

void node_selector_requirement(const RuleInput& in, FieldErrors& errors) {
  const std::string op = text_at(in.value, {"operator"});
  const JsonArray* values = array_at(in.value, {"values"});
  const std::size_t count = values == nullptr ? 0 : values->size();
  if ((op == "In" || op == "NotIn") && count == 0) {
    errors.required(in.path.field("values"),
                    "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((op == "Exists" || op == "DoesNotExist") && count > 0) {
    errors.forbidden(in.path.field("values"),
                     "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  if ((op == "Gt" || op == "Lt") && count != 1) {
    errors.required(in.path.field("values"),
                    "must be specified single value when `operator` is 'Lt' or 'Gt'");
  }
}

namespace {

// What a node was given when it came stays.
void check_node_identity(const RuleInput& in, FieldErrors& errors) {
  const auto changed = [&](std::string_view field) {
    const Json* was = find(*in.old, {field});
    const Json* now = find(in.value, {field});
    return was != nullptr && (now == nullptr || *now != *was);
  };
  if (changed("podCIDRs")) {
    errors.forbidden(in.path.field("podCIDRs"),
                     "node updates may not change podCIDR except from \"\" to valid");
  }
  if (changed("providerID")) {
    errors.forbidden(in.path.field("providerID"),
                     "node updates may not change providerID except from \"\" to valid");
  }
}

}  // namespace

// One is the first of the others.
void default_node_spec(JsonObject& spec) {
  const Json* one = spec.if_contains("podCIDR");
  const Json* list = spec.if_contains("podCIDRs");
  if (list != nullptr && list->is_array() && !list->get_array().empty()) {
    const Json first = list->get_array()[0];
    if (first.is_string() && !first.get_string().empty()) spec["podCIDR"] = first;
  } else if (one != nullptr && one->is_string() && !one->get_string().empty()) {
    spec["podCIDRs"] = JsonArray{Json(*one)};
  }
}

void node_spec(const RuleInput& in, FieldErrors& errors) {
  if (in.old != nullptr) check_node_identity(in, errors);
  const JsonArray* taints = array_at(in.value, {"taints"});
  if (taints == nullptr) return;
  std::set<std::string> seen;
  const FieldPath list = in.path.field("taints");
  for (std::size_t i = 0; i < taints->size(); ++i) {
    const std::string key = text_at((*taints)[i], {"key"});
    if (const std::string problem = check_qualified_name(key); !problem.empty()) {
      errors.invalid(list.index(i).field("key"), Json(key), problem);
    }
    if (!seen.insert(key + ":" + text_at((*taints)[i], {"effect"})).second) {
      errors.duplicate(list.index(i), (*taints)[i]);
    }
  }
}

void priority_class(const RuleInput& in, FieldErrors& errors) {
  constexpr std::int64_t kHighestUserPriority = 1'000'000'000;
  const FieldPath root;
  const std::string name = text_at(in.value, {"metadata", "name"});
  const auto value = int_at(in.value, {"value"}).value_or(0);
  const bool system = name == "system-cluster-critical" || name == "system-node-critical";
  if (!system && name.substr(0, 7) == "system-") {
    errors.forbidden(
        root.field("metadata").field("name"),
        "priority class names with 'system-' prefix are reserved for system use only. error: " +
            name + " is not a known system priority class");
  }
  if (!system && value > kHighestUserPriority) {
    errors.forbidden(root.field("value"),
                     "maximum allowed value of a user defined priority is 1000000000");
  }
}

void runtime_class_overhead(const RuleInput& in, FieldErrors& errors) {
  const JsonObject* amounts = object_at(in.value, {"podFixed"});
  if (amounts == nullptr) return;
  const FieldPath path = in.path.field("podFixed");
  for (const auto& entry : *amounts) {
    const std::string_view name = entry.key();
    if (const std::string problem = check_qualified_name(name); !problem.empty())
      errors.invalid(path.key(name), Json(name), problem);
    const auto text = string_at(in.value, {"podFixed", name});
    const Result<Quantity> amount = text ? Quantity::parse(*text) : Quantity();
    if (amount && amount->sign() < 0)
      errors.invalid(path.key(name), Json(*text), "must be greater than or equal to 0");
  }
}

void runtime_class_scheduling(const RuleInput& in, FieldErrors& errors) {
  if (const Json* selector = find(in.value, {"nodeSelector"}))
    check_labels(*selector, in.path.field("nodeSelector"), errors);
  const JsonArray* tolerations = array_at(in.value, {"tolerations"});
  const FieldPath list = in.path.field("tolerations");
  std::set<std::string> seen;
  for (std::size_t i = 0; tolerations != nullptr && i < tolerations->size(); ++i) {
    if (!seen.insert(to_json((*tolerations)[i])).second)
      errors.duplicate(list.index(i), (*tolerations)[i]);
  }
}

}  // namespace krater::api::rules
