#include "api/machinery/apply/compare.h"

#include <algorithm>
#include <map>

#include "api/machinery/apply/grain.h"
#include "base/json_same.h"

namespace krater::api {
namespace {

enum class Fate { Same, Added, Modified, Removed };

void attach(Comparison& to, std::string element, Fate fate, Comparison below) {
  if (fate == Fate::Same && below.empty()) return;
  to.added.add(element, fate == Fate::Added, std::move(below.added));
  to.modified.add(element, fate == Fate::Modified, std::move(below.modified));
  to.removed.add(std::move(element), fate == Fate::Removed, std::move(below.removed));
}

Fate leaf_fate(const Json* before, const Json* after) {
  if (before == nullptr) return Fate::Added;
  if (after == nullptr) return Fate::Removed;
  return same_json(*before, *after) ? Fate::Same : Fate::Modified;
}

Fate compare(const SchemaNode* node, const Json* before, const Json* after, Comparison& below);

// `as_wholes`: mostly few of them change, and that the others are equal is seen sooner so.
void compare_members(const SchemaNode* node, const Json* before, const Json* after, Comparison& out,
                     bool as_wholes = false) {
  const auto one = [&](std::string_view name, const Json* old_value, const Json* new_value) {
    if (as_wholes && old_value != nullptr && new_value != nullptr &&
        same_json(*old_value, *new_value))
      return;
    Comparison below;
    const Fate fate = compare(member_of(node, name).node, old_value, new_value, below);
    if (fate != Fate::Same || !below.empty())
      attach(out, field_element(name), fate, std::move(below));
  };
  if (before != nullptr) {
    for (const auto& member : before->get_object()) {
      const std::string_view name(member.key().data(), member.key().size());
      one(name, &member.value(),
          after == nullptr ? nullptr : after->get_object().if_contains(name));
    }
  }
  if (after != nullptr) {
    for (const auto& member : after->get_object()) {
      const std::string_view name(member.key().data(), member.key().size());
      if (before == nullptr || !before->get_object().contains(name))
        one(name, nullptr, &member.value());
    }
  }
}

using Items = std::map<std::string, std::vector<const Json*>>;

bool index_items(const SchemaNode& list, const Json* value, Items& out) {
  if (value == nullptr) return true;
  auto elements = item_elements(list, value->get_array());
  if (!elements) return false;
  for (std::size_t i = 0; i < elements->size(); ++i)
    out[std::move((*elements)[i])].push_back(&value->get_array()[i]);
  return true;
}

bool same_items(const std::vector<const Json*>& a, const std::vector<const Json*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Json* x, const Json* y) { return same_json(*x, *y); });
}

// False: the items cannot be told apart.
bool compare_items(const SchemaNode& list, const Json* before, const Json* after, Comparison& out) {
  Items old_items, new_items;
  if (!index_items(list, before, old_items) || !index_items(list, after, new_items)) return false;
  for (const auto& [element, values] : old_items) {
    const auto found = new_items.find(element);
    Comparison below;
    Fate fate = Fate::Same;
    if (found == new_items.end()) {
      for (const Json* value : values) fate = compare(list.items, value, nullptr, below);
    } else if (values.size() == 1 && found->second.size() == 1) {
      fate = compare(list.items, values.front(), found->second.front(), below);
    } else if (!same_items(values, found->second)) {
      fate = Fate::Modified;  // several with the same keys: only told as a whole
    }
    attach(out, element, fate, std::move(below));
  }
  for (const auto& [element, values] : new_items) {
    if (old_items.contains(element)) continue;
    Comparison below;
    for (const Json* value : values) compare(list.items, nullptr, value, below);
    attach(out, element, Fate::Added, std::move(below));
  }
  return true;
}

// One of them may be absent, not both.
Fate compare(const SchemaNode* node, const Json* before, const Json* after, Comparison& below) {
  const Json* old_value = before != nullptr && !before->is_null() ? before : nullptr;
  const Json* new_value = after != nullptr && !after->is_null() ? after : nullptr;
  const auto nothing = [](const Json* value) { return value == nullptr || holds_nothing(*value); };
  if (nothing(old_value) && nothing(new_value)) return leaf_fate(before, after);
  const Grain grain = grain_of(node, new_value != nullptr ? *new_value : *old_value);
  if (grain == Grain::Leaf ||
      (old_value != nullptr && new_value != nullptr && grain_of(node, *old_value) != grain)) {
    return leaf_fate(before, after);
  }
  if (grain == Grain::Map) {
    compare_members(node, old_value, new_value, below);
  } else if (!compare_items(*node, old_value, new_value, below)) {
    return leaf_fate(before, after);
  }
  below.added.seal();
  below.modified.seal();
  below.removed.seal();
  if (before == nullptr) return Fate::Added;
  return after == nullptr ? Fate::Removed : Fate::Same;
}

// Whether the value itself is claimed, and what of it.
bool claim(const SchemaNode* node, const Json& value, FieldSet& below) {
  switch (grain_of(node, value)) {
    case Grain::Leaf:
      return true;
    case Grain::Map:
      for (const auto& entry : value.get_object()) {
        const std::string_view name(entry.key().data(), entry.key().size());
        const Member member = member_of(node, name);
        FieldSet inside;
        const bool whole = claim(member.node, entry.value(), inside);
        below.add(field_element(name), whole || !member.named, std::move(inside));
      }
      below.seal();
      return value.get_object().empty();
    case Grain::Items: {
      auto elements = item_elements(*node, value.get_array());
      if (!elements) return true;
      for (std::size_t i = 0; i < elements->size(); ++i) {
        FieldSet inside;
        claim(node->items, value.get_array()[i], inside);
        below.add(std::move((*elements)[i]), true, std::move(inside));
      }
      below.seal();
      return false;
    }
  }
  return true;
}

bool is_plain_struct(const Property& property) {
  return property.node->type == NodeType::Object && !property.node->is_map() &&
         !property.node->map_is_atomic && property.default_value != nullptr &&
         holds_nothing(*property.default_value);
}

JsonObject empty_struct(const SchemaNode& node) {
  JsonObject out;
  for (const Property& property : node.properties) {
    if (is_plain_struct(property)) out.emplace(property.name, empty_struct(*property.node));
  }
  for (const auto* required : {&node.required, &node.native_required}) {
    for (const std::string& name : *required) {
      const Property* property = node.property(name);
      if (property != nullptr && property->node->type == NodeType::Array)
        out.emplace(name, nullptr);
    }
  }
  return out;
}

}  // namespace

FieldSet fields_of(const SchemaNode& root, const Json& value) {
  FieldSet out;
  claim(&root, value, out);
  return out;
}

Comparison compare_fields(const SchemaNode& root, const Json& before, const Json& after) {
  Comparison out;
  if (grain_of(&root, before) != Grain::Map || grain_of(&root, after) != Grain::Map) {
    compare(&root, &before, &after, out);
    return out;
  }
  compare_members(&root, &before, &after, out, true);
  for (FieldSet* set : {&out.added, &out.modified, &out.removed}) set->seal();
  return out;
}

FieldSet with_named_fields(const FieldSet& set, const SchemaNode* node) {
  FieldSet out;
  for (const FieldSet::Entry& entry : set.entries()) {
    if (entry.element.starts_with("f:")) {
      const Member member = member_of(node, std::string_view(entry.element).substr(2));
      out.add(entry.element, entry.owned || member.named,
              with_named_fields(entry.below, member.node));
    } else {
      out.add(entry.element, entry.owned,
              with_named_fields(entry.below, node == nullptr ? nullptr : node->items));
    }
  }
  return out;
}

Json empty_object(const SchemaNode& root, bool native) {
  JsonObject out = native ? empty_struct(root) : JsonObject();
  out.emplace("metadata", JsonObject());
  return out;
}

}  // namespace krater::api
