#include "api/machinery/testing/laws.h"

#include <algorithm>

#include "api/machinery/apply/grain.h"
#include "api/machinery/apply/merge.h"
#include "api/machinery/apply/ownership.h"
#include "api/machinery/patch.h"
#include "api/machinery/protobuf_encode.h"
#include "base/yaml.h"
#include "model/kinds.h"

namespace krater::api::testing {
namespace {

const WallTime kNow = WallTime::from_unix_seconds(1'767'225'600);

std::string broken(std::string_view law, const Json& before, const Json& after) {
  std::string out(law);
  if (before.is_object() && after.is_object()) {
    out += "\n  was: " + to_json(merge_difference(after, before)) +
           "\n  is:  " + to_json(merge_difference(before, after));
  }
  return out + "\n  before: " + to_json(before) + "\n  after:  " + to_json(after);
}

// Numbers may change their kind (1.0 is 1 when it is read again), nothing else.
bool reads_the_same(const Result<Json>& read, const Json& object) {
  return read && to_json(with_sorted_keys(*read)) == to_json(with_sorted_keys(object));
}

std::string broken_text_law(const Json& object) {
  const Result<Json> json = parse_json(to_json(object));
  if (!reads_the_same(json, object))
    return broken("JSON text says the same", object, json ? *json : Json());
  const Result<Json> yaml = parse_yaml(to_yaml(object));
  if (!reads_the_same(yaml, object))
    return broken("YAML text says the same", object, yaml ? *yaml : Json());
  return "";
}

std::string broken_protobuf_law(const KindSchema& schema, const Json& object) {
  const auto encoded = [&](const Json& value) {
    return protobuf_envelope(schema.kind().api_version(), schema.kind().kind,
                             encode_protobuf_message(schema.root(), value.get_object()));
  };
  const std::string bytes = encoded(object);
  const Result<Json> read = schema.decode_protobuf(bytes);
  if (!read)
    return broken("what is encoded can be decoded: " + read.error().message, object, Json());
  if (encoded(*read) != bytes) return broken("encoded twice it is the same", object, *read);
  Json once = *read;
  schema.prune(once);
  if (once != *read) return broken("decoding leaves nothing to prune", *read, once);
  return "";
}

std::string broken_owner_law(const KindSchema& schema, const Json& object) {
  FieldManagers managers;
  record_update(owned_kind(schema), nullptr, object, {"m", "", kNow}, managers);
  const Json list = to_managed_fields(managers);
  const Result<FieldManagers> read = parse_managed_fields(*parse_json(to_json(list)));
  if (!read || !same_but_times(*read, managers))
    return broken("owners are read as written", object, list);
  FieldManagers again = managers;
  if (record_update(owned_kind(schema), &object, object, {"n", "", kNow}, again))
    return broken("what changes nothing owns nothing", object, Json(to_managed_fields(again)));
  return "";
}

// Without what says nothing: nulls and empty things are kept by few kinds, and then owned by whom
// they were written last.
void tidy(Json& value) {
  if (JsonArray* items = value.if_array()) std::for_each(items->begin(), items->end(), tidy);
  JsonObject* object = value.if_object();
  if (object == nullptr) return;
  std::vector<std::string> nothing;
  for (auto& member : *object) {
    tidy(member.value());
    if (holds_nothing(member.value())) nothing.emplace_back(member.key());
  }
  for (const std::string& name : nothing) object->stable_erase(name);
}

bool fits(const SchemaNode& node, const Json& value) {
  if (node.type == NodeType::Array) {
    const JsonArray* items = value.if_array();
    return items != nullptr && (node.items == nullptr ||
                                std::all_of(items->begin(), items->end(), [&](const Json& item) {
                                  return fits(*node.items, item);
                                }));
  }
  if (node.type != NodeType::Object) return !value.is_null();
  const JsonObject* object = value.if_object();
  return object != nullptr && std::all_of(object->begin(), object->end(), [&](const auto& member) {
           const Property* property = node.property(std::string_view(member.key()));
           if (node.is_map()) return fits(*node.values, member.value());
           return property == nullptr || fits(*property->node, member.value());
         });
}

// A configuration as the registry would take it; false when it would not.
bool accepted(const KindSchema& schema, Json& config) {
  if (schema.subresources().status) config.get_object().erase("status");
  tidy(config);
  if (!fits(schema.root(), config)) return false;
  Json typed = config;
  schema.prune(typed);
  if (!check_configuration(schema.root(), config, "x") || !schema.check_types(typed)) return false;
  schema.canonicalize(config);
  return true;
}

struct State {
  Json object;
  FieldManagers owners;
};

class Appliers {
 public:
  explicit Appliers(const KindSchema& schema) : schema_(schema), kind_(owned_kind(schema)) {}

  Result<State> apply(const State& state, const Json& config, const std::string& manager,
                      bool force) const {
    TRY_ASSIGN(Applied applied, apply_configuration(kind_, state.object, config,
                                                    {manager, "", kNow}, force, state.owners));
    State out{std::move(applied.object),
              stored_managed_fields(to_managed_fields(std::move(applied.managers)))};
    schema_.prune(out.object);
    return out;
  }

  std::string broken_alone(const State& live, const Json& config, const std::string& who) const {
    const Result<State> first = apply(live, config, who, true);
    if (!first)
      return broken("force leaves no conflict: " + first.error().message, live.object, config);
    const Result<State> second = apply(*first, config, who, false);
    if (!second)
      return broken("nobody conflicts with himself: " + second.error().message, first->object,
                    config);
    if (second->object != first->object) {
      return broken("applied twice is applied once", first->object, second->object);
    }
    if (!same_but_times(first->owners, second->owners)) {
      return broken("applied twice has the owners of once", Json(to_managed_fields(first->owners)),
                    Json(to_managed_fields(second->owners)));
    }
    return "";
  }

  std::string broken_together(const State& live, const Json& one, const Json& two) const {
    const Result<State> a = apply(live, one, "a", true);
    const Result<State> b = apply(live, two, "b", true);
    if (!a || !b) return "";
    const Result<State> b_after_a = apply(*a, two, "b", false);
    const Result<State> a_after_b = apply(*b, one, "a", false);
    if (b_after_a.has_value() != a_after_b.has_value()) {
      return broken("conflicts do not depend on who comes first: " +
                        (b_after_a ? a_after_b : b_after_a).error().message +
                        (b_after_a ? " (a second)" : " (b second)") +
                        "\n  live: " + to_json(live.object),
                    one, two);
    }
    const Result<State> forced = apply(*a, two, "b", true);
    if (!forced) return broken("force leaves no conflict: " + forced.error().message, one, two);
    return broken_alone(*a, two, "b");
  }

  // Whoever applied alone to nothing and gives all up leaves nothing.
  std::string broken_end(const Json& nothing, const Json& config) const {
    const Result<State> made = apply({nothing, {}}, config, "a", false);
    if (!made)
      return broken("an apply to nothing has no conflict: " + made.error().message, config, Json());
    const Result<State> left = apply(*made, nothing, "a", false);
    if (!left) return broken("giving up is no conflict: " + left.error().message, config, Json());
    if (!left->owners.empty())
      return broken("giving up leaves no owner", config, Json(to_managed_fields(left->owners)));
    if (text_at(left->object, {"metadata", "name"}) != text_at(nothing, {"metadata", "name"}))
      return broken("giving up leaves the name", config, left->object);
    return "";
  }

 private:
  const KindSchema& schema_;
  OwnedKind kind_;
};

}  // namespace

std::string broken_law(const KindSchema& schema, Json object) {
  schema.prune(object);
  Json again = object;
  if (const auto problems = schema.prune(again); !problems.empty() || again != object)
    return broken("pruned twice is pruned once", object, again);
  if (!schema.check_types(object)) return "";

  schema.apply_defaults(object);
  schema.canonicalize(object);
  again = object;
  schema.apply_defaults(again);
  if (again != object) return broken("defaulted twice is defaulted once", object, again);
  schema.canonicalize(again);
  if (again != object) return broken("canonical twice is canonical once", object, again);
  if (const auto problems = schema.prune(again); !problems.empty() || again != object)
    return broken("what is defaulted has nothing to prune", object, again);
  if (!schema.check_types(object)) return broken("defaults are of the right type", object, Json());

  const bool valid = schema.validate(object, nullptr).empty();
  if (const auto causes = schema.validate(object, &object); valid && !causes.empty())
    return broken("what is valid may stay: " + causes[0].field + ": " + causes[0].message, object,
                  Json());
  if (std::string law = broken_text_law(object); !law.empty()) return law;
  if (schema.cells(object, kNow).size() != schema.columns().size())
    return broken("a cell for each column", object, Json());
  (void)schema.field_value(object, "metadata.name");
  if (schema.built_in()) {
    again = object;
    if (!schema.strategic_merge(again, JsonObject()) || again != object)
      return broken("an empty patch changes nothing", object, again);
    if (std::string law = broken_protobuf_law(schema, object); !law.empty()) return law;
  }
  return broken_owner_law(schema, object);
}

std::string broken_apply_law(const KindSchema& schema, Json live, Json one, Json two) {
  schema.prune(live);
  if (!schema.check_types(live)) return "";
  schema.apply_defaults(live);
  schema.canonicalize(live);
  if (!accepted(schema, one) || !accepted(schema, two)) return "";
  // Between the two alone: what a third owns is in dispute only with whoever comes first.
  State state{std::move(live), {}};
  const Appliers appliers(schema);
  if (std::string law = appliers.broken_together(state, one, two); !law.empty()) return law;
  adopt_untracked(owned_kind(schema), state.object, kNow, state.owners);
  if (std::string law = appliers.broken_alone(state, one, "a"); !law.empty()) return law;
  return appliers.broken_end(JsonObject{{"apiVersion", schema.kind().api_version()},
                                        {"kind", schema.kind().kind},
                                        {"metadata", {{"name", "x"}}}},
                             one);
}

}  // namespace krater::api::testing
