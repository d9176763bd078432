// The check of rules when their definition is written.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "api/cel/field_names.h"
#include "api/cel/rule_compile.h"
#include "api/cel/schema_rules.h"
#include "api/cel/schema_type.h"
#include "base/go_quote.h"

namespace krater::cel {
namespace {

constexpr std::uint64_t kRuleLimit = 10'000'000;
constexpr std::uint64_t kTotalLimit = 100'000'000;
constexpr std::size_t kMostExpensive = 4;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

std::string too_costly(const std::string& what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  char text[64] = "more than 100x";
  if (factor <= 100.0) {
    std::snprintf(text, sizeof text, factor < 1.5 ? "%fx" : "%.1fx", factor);
  }
  return what + " exceeds budget by factor of " + text +
         " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
         "arrays, maps, and strings are declared)";
}

// A rule as Go prints the struct.
std::string shown(const Json& rule) {
  const auto text = [&rule](std::string_view name) { return go_quoted(text_at(rule, {name})); };
  const bool has_reason = !text_at(rule, {"reason"}).empty();
  const bool has_optional = bool_at(rule, {"optionalOldSelf"}).has_value();
  return "apiextensions.ValidationRule{Rule:" + text("rule") + ", Message:" + text("message") +
         ", MessageExpression:" + text("messageExpression") +
         ", Reason:(*apiextensions.FieldValueErrorReason)(" +
         (has_reason ? text("reason") : "nil") + "), FieldPath:" + text("fieldPath") +
         ", OptionalOldSelf:(*bool)(" +
         (has_optional ? (*bool_at(rule, {"optionalOldSelf"}) ? "true" : "false") : "nil") + ")}";
}

// How often a value of this schema can be there, and whether an old value can be found for it.
struct Context {
  std::optional<std::uint64_t> cardinality = 1;  // nullopt: nothing bounds it
  std::string uncorrelatable;                    // where oldSelf is lost; "" nowhere
};

std::optional<std::uint64_t> most_children(const Json& schema) {
  const std::string type = text_at(schema, {"type"});
  const bool is_map = type == "object" && find(schema, {"additionalProperties"}) != nullptr;
  if (!is_map && type != "array") return 1;
  const std::optional<std::int64_t> limit = int_at(schema, {is_map ? "maxProperties" : "maxItems"});
  if (!limit) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(*limit, 0));
}

struct Expensive {
  std::string path;
  std::uint64_t cost = 0;
};

class DefinitionCheck {
 public:
  std::vector<Cause> run(const Json& schema, const std::string& path) {
    node(schema, path, true, Context());
    if (total_ > kTotalLimit) {
      std::stable_sort(expensive_.begin(), expensive_.end(),
                       [](const Expensive& a, const Expensive& b) { return a.cost > b.cost; });
      if (expensive_.size() > kMostExpensive) expensive_.resize(kMostExpensive);
      for (const Expensive& rule : expensive_) {
        forbidden(rule.path,
                  "contributed to estimated rule cost total exceeding cost limit for entire "
                  "OpenAPIv3 schema");
      }
      forbidden(path, too_costly("x-kubernetes-validations estimated rule cost total for entire "
                                 "OpenAPIv3 schema",
                                 total_, kTotalLimit));
    }
    return std::move(causes_);
  }

 private:
  void forbidden(const std::string& path, const std::string& detail) {
    causes_.push_back(Cause{"FieldValueForbidden", "Forbidden: " + detail, path});
  }
  void invalid(const std::string& path, const std::string& value, const std::string& detail) {
    causes_.push_back(Cause{"FieldValueInvalid", "Invalid value: " + value + ": " + detail, path});
  }

  static Context child(const Context& parent, const Json& schema) {
    Context out = parent;
    const std::optional<std::uint64_t> children = most_children(schema);
    out.cardinality = parent.cardinality && children
                          ? std::optional<std::uint64_t>(times(*parent.cardinality, *children))
                          : std::nullopt;
    return out;
  }

  void node(const Json& schema, const std::string& path, bool root, const Context& context) {
    if (!schema.is_object()) return;
    if (const Json* items = find(schema, {"items"}); items != nullptr && items->is_object()) {
      Context below = child(context, schema);
      if (below.uncorrelatable.empty() && text_at(schema, {"x-kubernetes-list-type"}) != "map") {
        below.uncorrelatable = path + ".items";
      }
      node(*items, path + ".items", embedded(*items), below);
    }
    if (const JsonObject* properties = object_at(schema, {"properties"})) {
      std::vector<std::string> names;
      for (const auto& entry : *properties) names.emplace_back(entry.key());
      std::sort(names.begin(), names.end());
      for (const std::string& name : names) {
        const Json& property = properties->at(name);
        node(property, path + ".properties[" + name + "]", embedded(property),
             child(context, schema));
      }
    }
    if (const Json* values = find(schema, {"additionalProperties"});
        values != nullptr && values->is_object()) {
      node(*values, path + ".additionalProperties", embedded(*values), child(context, schema));
    }
    rules(schema, path, root, context);
  }

  static bool embedded(const Json& schema) {
    return bool_at(schema, {"x-kubernetes-embedded-resource"}).value_or(false);
  }

  void rules(const Json& schema, const std::string& path, bool root, const Context& context) {
    const JsonArray* rules = array_at(schema, {"x-kubernetes-validations"});
    if (rules == nullptr || rules->empty()) return;
    const std::string all = path + ".x-kubernetes-validations";
    const TypePtr type = schema_type(schema, root);
    if (type == nullptr) {
      causes_.push_back(Cause{"InternalError",
                              "Internal error: internal error: failed to construct type "
                              "information for x-kubernetes-validations rules: unable to convert "
                              "structural schema to CEL declarations",
                              all});
      return;
    }
    for (std::size_t i = 0; i < rules->size(); ++i) {
      rule((*rules)[i], schema, type, all + "[" + std::to_string(i) + "]", context);
    }
  }

  void rule(const Json& rule, const Json& schema, const TypePtr& type, const std::string& path,
            const Context& context) {
    if (!rule.is_object()) return;
    const CompiledRule compiled = compile_rule(rule, schema, type);
    const std::string at = path + ".rule";
    const std::uint64_t fitting =
        static_cast<std::uint64_t>(kMostRequestBytes / (type->min_serialized_size + 1));
    if (compiled.program) {
      const std::uint64_t cost =
          times(compiled.program->estimated_cost(), context.cardinality.value_or(fitting));
      if (cost > kRuleLimit) forbidden(at, too_costly("estimated rule cost", cost, kRuleLimit));
      observe(at, cost);
    }
    if (!compiled.error.empty()) invalid(at, shown(rule), compiled.error);
    const std::string message_at = path + ".messageExpression";
    if (!compiled.message_error.empty()) {
      invalid(message_at, shown(rule), compiled.message_error);
    } else if (compiled.message_program) {
      const std::uint64_t cost = compiled.message_program->estimated_cost();
      if (cost > kRuleLimit) {
        forbidden(message_at, too_costly("estimated messageExpression cost", cost, kRuleLimit));
      }
      observe(message_at, cost);
    }
    if (const std::string field = text_at(rule, {"fieldPath"}); !field.empty()) {
      std::string ignored;
      if (!normalize_field_path(field, schema, ignored)) {
        invalid(path + ".fieldPath", go_quoted(field), "must be a valid path");
      }
    }
    if (compiled.uses_old) {
      if (!context.uncorrelatable.empty()) {
        invalid(at, go_quoted(text_at(rule, {"rule"})),
                "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
                    context.uncorrelatable);
      }
    } else if (const auto optional = bool_at(rule, {"optionalOldSelf"});
               optional && compiled.program) {
      invalid(path + ".optionalOldSelf", *optional ? "true" : "false",
              "may not be set if oldSelf is not used in rule");
    }
  }

  void observe(const std::string& path, std::uint64_t cost) {
    total_ = cost > UINT64_MAX - total_ ? UINT64_MAX : total_ + cost;
    if (cost >= kTotalLimit / 100) expensive_.push_back(Expensive{path, cost});
  }

  std::vector<Cause> causes_;
  std::uint64_t total_ = 0;
  std::vector<Expensive> expensive_;
};

}  // namespace

std::vector<Cause> check_rules(const Json& schema, const std::string& path) {
  return DefinitionCheck().run(schema, path);
}

}  // namespace krater::cel
