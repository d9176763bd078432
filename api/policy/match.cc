#include "api/policy/match.h"

#include <algorithm>

#include "model/selector.h"

namespace krater::api {
namespace {

bool has(const Json& rule, std::string_view list, std::string_view value) {
  const JsonArray* items = array_at(rule, {list});
  if (items == nullptr) return false;
  return std::any_of(items->begin(), items->end(), [value](const Json& item) {
    return item.is_string() && (view(item.get_string()) == "*" || view(item.get_string()) == value);
  });
}

// "pods", "pods/status", "*/scale", "pods/*", "*", "*/*".
bool names_resource(std::string_view pattern, const PolicyRequest& request) {
  const std::size_t slash = pattern.find('/');
  const std::string_view resource = pattern.substr(0, slash);
  const std::string_view sub =
      slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  if (resource != "*" && resource != request.kind.plural) return false;
  return sub == "*" || sub == request.subresource;
}

bool rule_matches(const Json& rule, const PolicyRequest& request) {
  if (!has(rule, "operations", name_of(request.operation)) ||
      !has(rule, "apiGroups", request.kind.group) ||
      !has(rule, "apiVersions", request.kind.version)) {
    return false;
  }
  const JsonArray* resources = array_at(rule, {"resources"});
  const bool named =
      resources != nullptr &&
      std::any_of(resources->begin(), resources->end(), [&request](const Json& item) {
        return item.is_string() && names_resource(view(item.get_string()), request);
      });
  if (!named) return false;
  const std::string scope = text_at(rule, {"scope"});
  // A namespace itself is of cluster scope.
  if (scope == "Cluster" && request.kind.namespaced) return false;
  if (scope == "Namespaced" && !request.kind.namespaced) return false;
  const JsonArray* names = array_at(rule, {"resourceNames"});
  return names == nullptr || names->empty() || has(rule, "resourceNames", request.name);
}

bool any_rule(const JsonArray* rules, const PolicyRequest& request) {
  return rules != nullptr && std::any_of(rules->begin(), rules->end(), [&](const Json& rule) {
           return rule_matches(rule, request);
         });
}

Labels labels_of(const Json* object) {
  Labels out;
  const JsonObject* labels =
      object == nullptr ? nullptr : object_at(*object, {"metadata", "labels"});
  if (labels == nullptr) return out;
  for (const auto& entry : *labels) {
    if (entry.value().is_string()) {
      out[std::string(entry.key())] = std::string(view(entry.value().get_string()));
    }
  }
  return out;
}

Result<LabelSelector> selector_at(const Json& constraints, std::string_view name) {
  const Json* selector = find(constraints, {name});
  if (selector == nullptr || !selector->is_object()) return LabelSelector();
  return LabelSelector::from_object(*selector);
}

Result<bool> namespace_matches(const Json& constraints, const PolicyRequest& request,
                               const ObjectReader& reader) {
  TRY_ASSIGN(const LabelSelector selector, selector_at(constraints, "namespaceSelector"));
  if (selector.empty()) return true;
  if (request.kind == kinds::kNamespace) {
    const Json* object = request.object != nullptr ? request.object : request.old;
    return selector.matches(labels_of(object));
  }
  if (!request.kind.namespaced) return true;
  TRY_ASSIGN(const ObjectPtr space, reader.get(kinds::kNamespace, "", request.name_space));
  return space != nullptr && selector.matches(space->labels());
}

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::Create:
      return "CREATE";
    case Operation::Update:
      return "UPDATE";
    case Operation::Delete:
      return "DELETE";
  }
  return "";
}

Result<bool> matches(const Json* constraints, const PolicyRequest& request,
                     const ObjectReader& reader) {
  if (constraints == nullptr || !constraints->is_object()) return true;
  TRY_ASSIGN(const bool in_namespace, namespace_matches(*constraints, request, reader));
  if (!in_namespace) return false;
  TRY_ASSIGN(const LabelSelector selector, selector_at(*constraints, "objectSelector"));
  // An object that is not there (the old one of a CREATE) is not one without labels.
  const auto selected = [&](const Json* object) {
    return object != nullptr && selector.matches(labels_of(object));
  };
  if (!selector.empty() && !selected(request.object) && !selected(request.old)) return false;
  if (any_rule(array_at(*constraints, {"excludeResourceRules"}), request)) return false;
  const JsonArray* rules = array_at(*constraints, {"resourceRules"});
  return rules == nullptr || rules->empty() || any_rule(rules, request);
}

}  // namespace krater::api
