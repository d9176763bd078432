// Disruption budgets, quotas and limit ranges.
#include <algorithm>
#include <array>
#include <set>

#include "api/machinery/rules/rules.h"
#include "base/int_or_percent.h"
#include "base/quantity.h"

namespace krater::api::rules {
namespace {

void check_budget_share(const Json* value, const FieldPath& path, FieldErrors& errors) {
  if (value == nullptr) return;
  if (value->is_string() && !is_percent(view(value->get_string()))) {
    errors.invalid(path, *value,
                   "a valid percent string must be a numeric string followed by an ending '%' "
                   "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  } else if (value->is_number() && as_int(*value).value_or(0) < 0) {
    errors.invalid(path, *value, "must be greater than or equal to 0");
  } else if (value->is_string() && int_or_percent(value, 100, Rounding::Up).value_or(0) > 100) {
    errors.invalid(path, *value, "must not be greater than 100%");
  }
}

constexpr std::array<std::string_view, 6> kScopes{"BestEffort",    "NotBestEffort",
                                                  "Terminating",   "NotTerminating",
                                                  "PriorityClass", "CrossNamespacePodAffinity"};

void check_scopes(const std::set<std::string>& scopes, const Json& shown, const FieldPath& path,
                  FieldErrors& errors) {
  for (const std::string& scope : scopes) {
    if (std::ranges::find(kScopes, scope) == kScopes.end())
      errors.invalid(path, shown, "unsupported scope");
  }
  const auto both = [&](const std::string& a, const std::string& b) {
    if (scopes.contains(a) && scopes.contains(b)) errors.invalid(path, shown, "conflicting scopes");
  };
  both("BestEffort", "NotBestEffort");
  both("Terminating", "NotTerminating");
}

std::optional<Quantity> quantity(const Json& amounts, std::string_view name) {
  const Json* value = find(amounts, {name});
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const Result<Quantity> parsed = Quantity::parse(view(value->get_string()));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// "min value 2 is greater than max value 1", of each resource that both lists name.
void check_order(const Json& item, const FieldPath& path, std::string_view low,
                 std::string_view low_name, std::string_view high, std::string_view high_name,
                 std::string_view blamed, FieldErrors& errors) {
  const Json* lows = find(item, {low});
  const Json* highs = find(item, {high});
  if (lows == nullptr || highs == nullptr || !lows->is_object()) return;
  for (const auto& entry : lows->get_object()) {
    const std::string_view name = entry.key();
    const auto lower = quantity(*lows, name), upper = quantity(*highs, name);
    if (!lower || !upper || *lower <= *upper) continue;
    const FieldPath list = path.field(blamed);
    errors.invalid(list.key(name), Json((blamed == low ? *lower : *upper).text()),
                   std::string(low_name) + " value " + lower->text() + " is greater than " +
                       std::string(high_name) + " value " + upper->text());
  }
}

void fill_missing(JsonObject& item, std::string_view target, std::string_view source) {
  const Json* from = item.if_contains(source);
  if (from == nullptr || !from->is_object()) return;
  const JsonObject amounts = from->get_object();
  if (amounts.empty()) return;
  Json& to = item[target];
  if (!to.is_object()) to = JsonObject();
  for (const auto& entry : amounts) {
    if (to.get_object().if_contains(entry.key()) == nullptr)
      to.get_object().emplace(entry.key(), entry.value());
  }
}

}  // namespace

void disruption_budget_spec(const RuleInput& in, FieldErrors& errors) {
  const Json* least = find(in.value, {"minAvailable"});
  const Json* missing = find(in.value, {"maxUnavailable"});
  if (least != nullptr && missing != nullptr)
    errors.invalid(in.path, in.value, "minAvailable and maxUnavailable cannot be both set");
  check_budget_share(least, in.path.field("minAvailable"), errors);
  check_budget_share(missing, in.path.field("maxUnavailable"), errors);
}

void resource_quota_spec(const RuleInput& in, FieldErrors& errors) {
  if (const Json* hard = find(in.value, {"hard"}); hard != nullptr && hard->is_object()) {
    const FieldPath path = in.path.field("hard");
    for (const auto& entry : hard->get_object()) {
      const auto amount = quantity(*hard, entry.key());
      if (amount && amount->sign() < 0) {
        errors.invalid(path.key(entry.key()), entry.value(), "must be greater than or equal to 0");
      }
    }
  }
  std::set<std::string> scopes;
  if (const JsonArray* list = array_at(in.value, {"scopes"})) {
    for (const Json& scope : *list) {
      if (scope.is_string()) scopes.emplace(view(scope.get_string()));
    }
    check_scopes(scopes, *find(in.value, {"scopes"}), in.path.field("scopes"), errors);
  }
  const JsonArray* expressions = array_at(in.value, {"scopeSelector", "matchExpressions"});
  if (expressions == nullptr) return;
  const FieldPath selector = in.path.field("scopeSelector");
  const FieldPath list = selector.field("matchExpressions");
  for (std::size_t i = 0; i < expressions->size(); ++i) {
    const Json& one = (*expressions)[i];
    const FieldPath here = list.index(i);
    const std::string scope = text_at(one, {"scopeName"}), op = text_at(one, {"operator"});
    check_scopes({scope}, Json(scope), here.field("scopeName"), errors);
    if (scope != "PriorityClass" && op != "Exists" && !op.empty()) {
      errors.invalid(here.field("operator"), Json(op),
                     "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, "
                     "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                     "ResourceQuotaScopeNotBestEffort or "
                     "ResourceQuotaScopeCrossNamespacePodAffinity");
    }
    const JsonArray* values = array_at(one, {"values"});
    const bool given = values != nullptr && !values->empty();
    if ((op == "In" || op == "NotIn") && !given) {
      errors.required(here.field("values"),
                      "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                      "selector");
    } else if ((op == "Exists" || op == "DoesNotExist") && given) {
      errors.invalid(here.field("values"), *find(one, {"values"}),
                     "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                     "selector");
    }
  }
}

void limit_range_spec(const RuleInput& in, FieldErrors& errors) {
  const JsonArray* limits = array_at(in.value, {"limits"});
  if (limits == nullptr) return;
  const FieldPath list = in.path.field("limits");
  std::set<std::string> types;
  for (std::size_t i = 0; i < limits->size(); ++i) {
    const Json& item = (*limits)[i];
    const FieldPath path = list.index(i);
    const std::string type = text_at(item, {"type"});
    if (!type.empty() && !types.insert(type).second)
      errors.duplicate(path.field("type"), Json(type));
    if (type == "Pod") {
      for (const std::string_view field : {"default", "defaultRequest"}) {
        if (find(item, {field}) != nullptr)
          errors.forbidden(path.field(field), "may not be specified when `type` is 'Pod'");
      }
    }
    check_order(item, path, "min", "min", "max", "max", "min", errors);
    check_order(item, path, "min", "min", "defaultRequest", "default request", "defaultRequest",
                errors);
    check_order(item, path, "defaultRequest", "default request", "max", "max", "defaultRequest",
                errors);
    check_order(item, path, "defaultRequest", "default request", "default", "default",
                "defaultRequest", errors);
    check_order(item, path, "min", "min", "default", "default", "default", errors);
    check_order(item, path, "default", "default", "max", "max", "default", errors);
  }
}

void default_limit_range_item(JsonObject& item) {
  const Json* type = item.if_contains("type");
  if (type == nullptr || !type->is_string() || view(type->get_string()) != "Container") return;
  fill_missing(item, "default", "max");
  fill_missing(item, "defaultRequest", "default");
  fill_missing(item, "defaultRequest", "min");
}

}  // namespace krater::api::rules
