// What is wrong with a policy or a binding itself, in kube-apiserver's words.
#include <algorithm>
#include <array>
#include <set>

#include "api/policy/compiled_policy.h"
#include "api/policy/policies.h"
#include "base/strings.h"

namespace krater::api {
namespace {

std::string at(std::string_view list, std::size_t i, std::string_view field) {
  return "spec." + std::string(list) + "[" + std::to_string(i) + "]." + std::string(field);
}

void check_expression(const PolicyExpression& expression, const std::string& path, Causes& out) {
  if (trim(expression.text).empty()) {
    out.push_back(required_value(path));
  } else if (!expression.problem.empty()) {
    out.push_back(invalid_value(path, quoted(expression.text), expression.problem));
  }
}

// matchConstraints of a policy, matchResources of a binding.
void check_rules(const Json& constraints, const std::string& path, Causes& out) {
  for (const std::string_view list : {"resourceRules", "excludeResourceRules"}) {
    const JsonArray* rules = array_at(constraints, {list});
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
      const std::string here = path + "." + std::string(list) + "[" + std::to_string(i) + "].";
      for (const std::string_view field : {"operations", "apiGroups", "apiVersions", "resources"}) {
        const JsonArray* values = array_at((*rules)[i], {field});
        if (values == nullptr || values->empty()) {
          out.push_back(required_value(here + std::string(field)));
        } else if (field != "resources" && values->size() > 1 &&
                   std::find(values->begin(), values->end(), Json("*")) != values->end()) {
          out.push_back(invalid_value(here + std::string(field), to_json(Json(*values)),
                                      "if '*' is present, must not specify other " +
                                          std::string(field == "apiGroups"    ? "API groups"
                                                      : field == "operations" ? "operations"
                                                                              : "API versions")));
        }
      }
    }
  }
}

}  // namespace

Causes check_policy(const Json& policy) {
  Causes out;
  const Json* constraints = find(policy, {"spec", "matchConstraints"});
  if (constraints == nullptr) {
    out.push_back(required_value("spec.matchConstraints"));
  } else {
    const JsonArray* rules = array_at(*constraints, {"resourceRules"});
    if (rules == nullptr || rules->empty()) {
      out.push_back(required_value("spec.matchConstraints.resourceRules"));
    }
    check_rules(*constraints, "spec.matchConstraints", out);
  }
  if (const Json* kind = find(policy, {"spec", "paramKind"})) {
    for (const std::string_view field : {"apiVersion", "kind"}) {
      if (text_at(*kind, {field}).empty()) {
        out.push_back(required_value("spec.paramKind." + std::string(field)));
      }
    }
  }
  const auto compiled = compile_policy(policy);
  if (compiled->validations.empty() && compiled->audit_annotations.empty()) {
    out.push_back(required_value("spec.validations",
                                 "validations or auditAnnotations must contain at least one item"));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < compiled->variables.size(); ++i) {
    const PolicyExpression& variable = compiled->variables[i];
    if (variable.name.empty()) {
      out.push_back(required_value(at("variables", i, "name"), "name is not specified"));
    } else if (!names.insert(variable.name).second) {
      out.push_back(duplicate_value(at("variables", i, "name"), quoted(variable.name)));
    }
    check_expression(variable, at("variables", i, "expression"), out);
  }
  for (std::size_t i = 0; i < compiled->conditions.size(); ++i) {
    if (compiled->conditions[i].name.empty()) {
      out.push_back(required_value(at("matchConditions", i, "name")));
    }
    check_expression(compiled->conditions[i], at("matchConditions", i, "expression"), out);
  }
  static const std::vector<std::string> reasons{"Forbidden", "Invalid", "RequestEntityTooLarge",
                                                "Unauthorized"};
  for (std::size_t i = 0; i < compiled->validations.size(); ++i) {
    const PolicyValidation& validation = compiled->validations[i];
    if (trim(validation.expression.text).empty()) {
      out.push_back(
          required_value(at("validations", i, "expression"), "expression is not specified"));
    } else {
      check_expression(validation.expression, at("validations", i, "expression"), out);
    }
    if (!validation.message_expression.text.empty()) {
      check_expression(validation.message_expression, at("validations", i, "messageExpression"),
                       out);
    }
    if (!validation.message.empty() && trim(validation.message).empty()) {
      out.push_back(invalid_value(at("validations", i, "message"), quoted(validation.message),
                                  "message must be non-empty if specified"));
    } else if (trim(validation.message).find('\n') != std::string_view::npos) {
      out.push_back(invalid_value(at("validations", i, "message"), quoted(validation.message),
                                  "message must not contain line breaks"));
    } else if (trim(validation.expression.text).find('\n') != std::string_view::npos &&
               validation.message.empty()) {
      out.push_back(required_value(at("validations", i, "message"),
                                   "message must be specified if expression contains line breaks"));
    }
    if (!validation.reason.empty() &&
        std::find(reasons.begin(), reasons.end(), validation.reason) == reasons.end()) {
      out.push_back(
          unsupported_value(at("validations", i, "reason"), quoted(validation.reason), reasons));
    }
  }
  for (std::size_t i = 0; i < compiled->audit_annotations.size(); ++i) {
    check_expression(compiled->audit_annotations[i], at("auditAnnotations", i, "valueExpression"),
                     out);
  }
  return out;
}

Causes check_policy_binding(const Json& binding) {
  Causes out;
  if (text_at(binding, {"spec", "policyName"}).empty()) {
    out.push_back(required_value("spec.policyName"));
  }
  if (const Json* ref = find(binding, {"spec", "paramRef"})) {
    const bool named = !text_at(*ref, {"name"}).empty();
    const bool selected = find(*ref, {"selector"}) != nullptr;
    if (named && selected) {
      out.push_back(
          forbidden_value("spec.paramRef.name", "name and selector are mutually exclusive"));
    } else if (!named && !selected) {
      out.push_back(required_value("spec.paramRef", "one of name or selector must be specified"));
    }
    const std::string action = text_at(*ref, {"parameterNotFoundAction"});
    if (action.empty()) out.push_back(required_value("spec.paramRef.parameterNotFoundAction"));
  }
  if (const Json* resources = find(binding, {"spec", "matchResources"})) {
    check_rules(*resources, "spec.matchResources", out);
  }
  const JsonArray* actions = array_at(binding, {"spec", "validationActions"});
  if (actions == nullptr || actions->empty()) {
    out.push_back(required_value("spec.validationActions"));
    return out;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < actions->size(); ++i) {
    if (!(*actions)[i].is_string()) continue;
    const std::string action((*actions)[i].get_string());
    const std::string path = "spec.validationActions[" + std::to_string(i) + "]";
    if (!seen.insert(action).second) out.push_back(duplicate_value(path, quoted(action)));
  }
  if (seen.count("Deny") > 0 && seen.count("Warn") > 0) {
    out.push_back(invalid_value(
        "spec.validationActions", to_json(Json(*actions)),
        "must not contain both Deny and Warn (repeating the same validation failure information in "
        "the API response and headers serves no purpose)"));
  }
  return out;
}

}  // namespace krater::api
