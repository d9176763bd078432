#include "api/cel/schema_rules.h"

#include <algorithm>
#include <map>

#include "api/cel/rule_compile.h"
#include "api/cel/schema_type.h"
#include "base/go_quote.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

constexpr std::size_t kLongestMessage = 5 * 1024;

// Rules of one schema and of those below it; nodes without any do not exist.
struct Node {
  TypePtr type;
  std::string json_type;  // "object", …
  bool type_failed = false;
  std::vector<CompiledRule> rules;
  std::unique_ptr<Node> items, values;
  std::map<std::string, std::unique_ptr<Node>> properties;
  std::vector<std::unique_ptr<Node>> all_of;
  bool list_is_map = false;
  std::vector<std::string> map_keys;

  bool empty() const {
    return rules.empty() && !type_failed && items == nullptr && values == nullptr &&
           properties.empty() && all_of.empty();
  }
};

// `rules_of`: where the rules are written; `schema`: what the data is (they differ in an allOf).
std::unique_ptr<Node> build(const Json& rules_of, const Json& schema, bool root) {
  if (!rules_of.is_object() || !schema.is_object()) return nullptr;
  auto out = std::make_unique<Node>();
  out->json_type = text_at(schema, {"type"});
  out->list_is_map = text_at(schema, {"x-kubernetes-list-type"}) == "map";
  if (const JsonArray* keys = array_at(schema, {"x-kubernetes-list-map-keys"})) {
    for (const Json& key : *keys) {
      if (key.is_string()) out->map_keys.emplace_back(view(key.get_string()));
    }
  }
  const JsonArray* rules = array_at(rules_of, {"x-kubernetes-validations"});
  if (rules != nullptr && !rules->empty()) {
    out->type = schema_type(schema, root);
    out->type_failed = out->type == nullptr;
    for (const Json& rule : *rules) {
      if (out->type_failed || !rule.is_object()) continue;
      out->rules.push_back(compile_rule(rule, schema, out->type));
    }
  }
  const auto below = [](const Json* of, const Json* data) -> std::unique_ptr<Node> {
    if (of == nullptr || data == nullptr) return nullptr;
    return build(*of, *data, bool_at(*data, {"x-kubernetes-embedded-resource"}).value_or(false));
  };
  out->items = below(find(rules_of, {"items"}), find(schema, {"items"}));
  out->values =
      below(find(rules_of, {"additionalProperties"}), find(schema, {"additionalProperties"}));
  if (const JsonObject* properties = object_at(rules_of, {"properties"})) {
    for (const auto& entry : *properties) {
      const std::string name(entry.key());
      auto node = below(&entry.value(), find(schema, {"properties", name}));
      if (node != nullptr) out->properties.emplace(name, std::move(node));
    }
  }
  if (const JsonArray* all_of = array_at(rules_of, {"allOf"})) {
    for (const Json& part : *all_of) {
      auto node = build(part, schema, root);
      if (node != nullptr) out->all_of.push_back(std::move(node));
    }
  }
  return out->empty() ? nullptr : std::move(out);
}

// The pair of values that decides whether a finding was there before.
struct Ratchet {
  const Json* now = nullptr;
  const Json* old = nullptr;
  bool current = false;  // they are the node's own values
  const Json *parent_now = nullptr, *parent_old = nullptr;

  bool unchanged() const {
    if (current) return *now == *old;
    return parent_now != nullptr && *parent_now == *parent_old;
  }
};

struct Place {
  const Json& value;
  const Json* old;
  std::string path;  // "" at the root
  Ratchet ratchet;
};

const Json* member(const Json* object, std::string_view name) {
  return object == nullptr || !object->is_object() ? nullptr
                                                   : object->get_object().if_contains(name);
}

// The item of a list that has the same keys.
const Json* same_item(const Json* old_list, const Json& item,
                      const std::vector<std::string>& keys) {
  if (old_list == nullptr || !old_list->is_array() || !item.is_object()) return nullptr;
  for (const Json& old : old_list->get_array()) {
    if (!old.is_object()) continue;
    const bool same = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
      const Json* a = member(&item, key);
      const Json* b = member(&old, key);
      return (a == nullptr) == (b == nullptr) && (a == nullptr || *a == *b);
    });
    if (same) return &old;
  }
  return nullptr;
}

class Run {
 public:
  RuleFindings take() { return std::move(findings_); }

  void visit(const Node& node, const Place& place) {
    if (place.value.is_null() || over_) return;
    rules(node, place);
    for (const auto& part : node.all_of) {
      Place same = place;
      same.ratchet.current = false;
      visit(*part, same);
    }
    if (over_) return;
    if (place.value.is_array() && node.items != nullptr) items(node, place);
    if (!place.value.is_object()) return;
    for (const auto& entry : place.value.get_object()) {
      const std::string name(entry.key());
      if (node.values != nullptr) {
        visit(*node.values, below(place, entry.value(), member(place.old, name),
                                  place.path + "[" + name + "]", name));
      }
      const auto property = node.properties.find(name);
      if (property == node.properties.end()) continue;
      visit(*property->second, below(place, entry.value(), member(place.old, name),
                                     place.path.empty() ? name : place.path + "." + name, name));
    }
  }

 private:
  static Place below(const Place& parent, const Json& value, const Json* old, std::string path,
                     const std::string& name) {
    Place out{value, old, std::move(path), parent.ratchet};
    if (!parent.ratchet.current) return out;
    if (parent.path.empty() && (name == "apiVersion" || name == "kind")) {
      out.ratchet = Ratchet();
      return out;
    }
    out.ratchet = Ratchet{&value, old, old != nullptr, parent.ratchet.now, parent.ratchet.old};
    return out;
  }

  void items(const Node& node, const Place& place) {
    const JsonArray& array = place.value.get_array();
    for (std::size_t i = 0; i < array.size() && !over_; ++i) {
      const Json* old = node.list_is_map ? same_item(place.old, array[i], node.map_keys) : nullptr;
      visit(*node.items,
            below(place, array[i], old, place.path + "[" + std::to_string(i) + "]", ""));
    }
  }

  static std::string shown_path(const std::string& path) { return path.empty() ? "<nil>" : path; }

  void add(Cause cause) { findings_.causes.push_back(std::move(cause)); }

  void about_type(const Node& node, const Place& place, const std::string& detail) {
    add(Cause{"FieldValueInvalid", "Invalid value: " + go_quoted(node.json_type) + ": " + detail,
              shown_path(place.path)});
  }

  void rules(const Node& node, const Place& place) {
    if (node.type_failed) {
      return about_type(node, place,
                        "rule compiler initialization error: failed to convert to declType for CEL "
                        "validation rules");
    }
    if (node.rules.empty()) return;
    if (budget_ <= 0) return out_of_budget(node, place);
    const Value self = Value::from_json(place.value, node.type.get());
    std::optional<Value> old;
    if (place.old != nullptr && !place.old->is_null()) {
      old = Value::from_json(*place.old, node.type.get());
    }
    for (const CompiledRule& rule : node.rules) {
      if (over_) return;
      if (!rule.error.empty()) {
        about_type(node, place, "rule compile error: " + rule.error);
      } else if (rule.program && !(rule.uses_old && !old && !rule.optional_old)) {
        one_rule(node, place, rule, self, old);
      }
    }
  }

  void out_of_budget(const Node& node, const Place& place) {
    about_type(node, place,
               "validation failed due to running out of cost budget, no further validation rules "
               "will be run");
    over_ = true;
  }

  bool spend(std::uint64_t cost) {
    if (cost > static_cast<std::uint64_t>(budget_)) return false;
    budget_ -= static_cast<std::int64_t>(cost);
    return true;
  }

  void one_rule(const Node& node, const Place& place, const CompiledRule& rule, const Value& self,
                const std::optional<Value>& old) {
    std::optional<Value> bound_old = old;
    if (rule.optional_old) bound_old = old ? Value::some(*old) : Value::none();
    const std::vector<std::optional<Value>> bound{self, std::move(bound_old)};
    const Outcome outcome = rule.program->evaluate(bound);
    if (!spend(outcome.cost)) return out_of_budget(node, place);
    if (outcome.value.is_error()) return failed(node, place, rule, outcome.value.text());
    if (outcome.value.is(true)) return;

    std::string detail = rule.message.empty() ? "failed rule: " + rule.rule : rule.message;
    if (rule.message_program) message(node, place, rule, bound, detail);
    if (over_) return;
    report(node, place, rule, detail);
  }

  void failed(const Node& node, const Place& place, const CompiledRule& rule,
              std::string_view text) {
    const std::string error(text);
    if (error.starts_with("no such overload")) {
      about_type(node, place,
                 "'" + error +
                     "': call arguments did not match a supported operator, function or "
                     "macro signature for rule: " +
                     rule.shown());
    } else if (error.starts_with("operation cancelled: actual cost limit exceeded")) {
      about_type(node, place,
                 "'" + error +
                     "': no further validation rules will be run due to call cost "
                     "exceeds limit for rule: " +
                     rule.shown());
      over_ = true;
    } else {
      about_type(node, place, error + " evaluating rule: " + rule.shown());
    }
  }

  // Replaces `detail` when the expression gives a usable text.
  void message(const Node& node, const Place& place, const CompiledRule& rule,
               const std::vector<std::optional<Value>>& bound, std::string& detail) {
    const Outcome outcome = rule.message_program->evaluate(bound);
    if (!spend(outcome.cost)) {
      about_type(node, place,
                 "messageExpression evaluation failed due to running out of cost budget, no "
                 "further validation rules will be run");
      over_ = true;
      return;
    }
    if (outcome.value.is_error()) {
      if (outcome.value.text().starts_with("operation cancelled: actual cost limit exceeded")) {
        about_type(node, place,
                   "no further validation rules will be run due to call cost exceeds limit for "
                   "messageExpression: " +
                       go_quoted(rule.message_expression));
        over_ = true;
      }
      return;
    }
    const std::string_view text = trim(outcome.value.text());
    if (text.empty() || text.size() > kLongestMessage ||
        text.find('\n') != std::string_view::npos) {
      return;
    }
    detail = text;
  }

  void report(const Node& node, const Place& place, const CompiledRule& rule,
              const std::string& detail) {
    std::string path = place.path;
    if (!rule.field_path.empty()) {
      path += (path.empty() ? "" : ".") + rule.field_path;
    }
    const std::string value = go_quoted(node.json_type);
    Cause cause{rule.reason.empty() ? "FieldValueInvalid" : rule.reason, "", shown_path(path)};
    if (rule.reason == "FieldValueForbidden") {
      cause.message = "Forbidden: " + detail;
    } else if (rule.reason == "FieldValueRequired") {
      cause.message = "Required value: " + detail;
    } else if (rule.reason == "FieldValueDuplicate") {
      cause.message = "Duplicate value: " + value;
    } else {
      cause.message = "Invalid value: " + value + ": " + detail;
    }
    if (!rule.uses_old && place.ratchet.unchanged()) {
      findings_.warnings.push_back(cause.field + ": " + cause.message);
    } else {
      add(std::move(cause));
    }
  }

  RuleFindings findings_;
  std::int64_t budget_ = kRequestCostBudget;
  bool over_ = false;
};

class Compiled final : public SchemaRules {
 public:
  explicit Compiled(std::unique_ptr<Node> root) : root_(std::move(root)) {}

  RuleFindings check(const Json& object, const Json* old) const override {
    Run run;
    run.visit(*root_, Place{object, old, "", Ratchet{&object, old, old != nullptr}});
    return run.take();
  }

 private:
  const std::unique_ptr<const Node> root_;
};

}  // namespace

SchemaRulesPtr SchemaRules::compile(const Json& schema) {
  std::unique_ptr<Node> root = build(schema, schema, true);
  if (root == nullptr) return nullptr;
  return std::make_shared<Compiled>(std::move(root));
}

}  // namespace krater::cel
