#include "api/machinery/apply/merge.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/machinery/apply/grain.h"
#include "base/strings.h"

namespace krater::api {
namespace {

Json merge(const SchemaNode* node, const Json& live, const Json& config);

Json merge_members(const SchemaNode* node, const JsonObject& live, const JsonObject& config) {
  JsonObject out = live;
  for (const auto& member : config) {
    const std::string_view name(member.key().data(), member.key().size());
    const Json* there = live.if_contains(name);
    out[name] = there == nullptr ? member.value()
                                 : merge(member_of(node, name).node, *there, member.value());
  }
  return out;
}

// Where the items of a live list stand, and which of them have been merged so far.
class LiveItems {
 public:
  LiveItems(const JsonArray& items, std::vector<std::string> elements)
      : items_(items), elements_(std::move(elements)) {
    for (std::size_t i = 0; i < elements_.size(); ++i) places_[elements_[i]].push_back(i);
  }

  bool contains(const std::string& element) const { return places_.contains(element); }
  // nullptr when there is none, or when several share the keys: those are replaced.
  const Json* only(const std::string& element) const {
    const auto at = places_.find(element);
    return at == places_.end() || at->second.size() > 1 ? nullptr : &items_[at->second.front()];
  }
  // Copies items that only the live list has, up to the next one that must wait for its turn in the
  // order of the configuration. `next` is the shared item whose turn it is; nullptr: none is left.
  void copy_own(const std::set<std::string>& configured, const std::set<std::string>& merged,
                const std::string* next, JsonArray& out) {
    for (; cursor_ < elements_.size(); ++cursor_) {
      const std::string& element = elements_[cursor_];
      if (!configured.contains(element)) {
        out.push_back(items_[cursor_]);
      } else if (!merged.contains(element) && next != nullptr && *next == element) {
        return;
      }
    }
  }

 private:
  const JsonArray& items_;
  std::vector<std::string> elements_;
  std::map<std::string, std::vector<std::size_t>> places_;
  std::size_t cursor_ = 0;
};

Json merge_items(const SchemaNode& list, const JsonArray& live, const JsonArray& config) {
  auto live_elements = item_elements(list, live);
  auto elements = item_elements(list, config);
  if (!live_elements || !elements) return config;
  const std::set<std::string> configured(elements->begin(), elements->end());
  LiveItems items(live, *std::move(live_elements));
  std::vector<const std::string*> shared;
  for (const std::string& element : *elements) {
    if (items.contains(element)) shared.push_back(&element);
  }
  JsonArray out;
  std::set<std::string> merged;
  std::size_t turn = 0;
  for (std::size_t i = 0; i < config.size(); ++i) {
    const std::string& element = (*elements)[i];
    items.copy_own(configured, merged, turn < shared.size() ? shared[turn] : nullptr, out);
    const Json* there = items.only(element);
    out.push_back(there == nullptr ? config[i] : merge(list.items, *there, config[i]));
    merged.insert(element);
    if (turn < shared.size() && *shared[turn] == element) ++turn;
  }
  items.copy_own(configured, merged, nullptr, out);
  return out;
}

Json merge(const SchemaNode* node, const Json& live, const Json& config) {
  const Grain grain = grain_of(node, live);
  // Null takes away a value, but not what others have put into a map or list.
  if (config.is_null()) return grain == Grain::Leaf || holds_nothing(live) ? config : live;
  if (grain == Grain::Leaf || grain_of(node, config) != grain) return config;
  if (grain == Grain::Map) return merge_members(node, live.get_object(), config.get_object());
  return merge_items(*node, live.get_array(), config.get_array());
}

struct Checker {
  std::vector<std::string> problems;

  void walk(const SchemaNode* node, const Json& value, const std::string& path, bool whole) {
    switch (grain_of(node, value)) {
      case Grain::Leaf:
        // What is owned as a whole is no less bound to the schema.
        if (node == nullptr) return;
        if (value.is_object() && node->map_is_atomic) members(*node, value, path, whole);
        if (value.is_array() && node->type == NodeType::Array)
          numbered_items(*node, value.get_array(), path);
        return;
      case Grain::Map:
        if (node != nullptr) members(*node, value, path, whole);
        return;
      case Grain::Items:
        items(*node, value.get_array(), path);
        return;
    }
  }

  void members(const SchemaNode& node, const Json& value, const std::string& path, bool whole) {
    if (node.type != NodeType::Object) return;
    for (const auto& entry : value.get_object()) {
      const std::string_view name(entry.key().data(), entry.key().size());
      const std::string here = path + '.' + std::string(name);
      const Property* property = node.property(name);
      const bool known = property != nullptr || node.is_map() || node.preserve_unknown ||
                         (whole && (name == "apiVersion" || name == "kind"));
      if (!known) {
        problems.push_back(here + ": field not declared in schema");
        continue;
      }
      walk(member_of(&node, name).node, entry.value(), here,
           property != nullptr && property->embedded);
    }
  }

  void numbered_items(const SchemaNode& list, const JsonArray& values, const std::string& path) {
    for (std::size_t i = 0; i < values.size(); ++i)
      walk(list.items, values[i], path + '[' + std::to_string(i) + ']', false);
  }

  void items(const SchemaNode& list, const JsonArray& values, const std::string& path) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      Result<std::string> element = item_element(list, values[i]);
      if (!element) {
        problems.push_back(path + ": element " + std::to_string(i) + ": " +
                           element.error().message);
        continue;
      }
      if (!seen.insert(*element).second) {
        problems.push_back(path + ": duplicate entries for key " + element_text(*element));
      }
      walk(list.items, values[i], path + element_text(*element), false);
    }
  }
};

JsonObject kept_members(const SchemaNode* node, const JsonObject& value, const FieldSet& set) {
  JsonObject out;
  for (const auto& member : value) {
    const std::string_view name(member.key().data(), member.key().size());
    const FieldSet::Entry* entry = set.find(field_element(name));
    if (entry == nullptr) {
      out.emplace(name, member.value());
    } else if (!entry->owned) {
      out.emplace(name, without_fields(member_of(node, name).node, member.value(), entry->below));
    }
  }
  return out;
}

JsonArray kept_items(const SchemaNode& list, const JsonArray& value,
                     const std::vector<std::string>& elements, const FieldSet& set) {
  JsonArray out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const FieldSet::Entry* entry = set.find(elements[i]);
    if (entry == nullptr) {
      out.push_back(value[i]);
    } else if (!entry->owned) {
      out.push_back(without_fields(list.items, value[i], entry->below));
    }
  }
  return out;
}

}  // namespace

Result<void> check_configuration(const SchemaNode& root, const Json& config,
                                 const std::string& subject) {
  Checker checker;
  checker.walk(&root, config, "", true);
  if (checker.problems.empty()) return {};
  const std::string text = checker.problems.size() == 1
                               ? checker.problems.front()
                               : "errors:\n  " + join(checker.problems, "\n  ");
  return make_error(Code::BadRequest,
                    "failed to create typed patch object (" + subject + "): " + text);
}

Json merge_configuration(const SchemaNode& root, const Json& live, const Json& config) {
  return merge(&root, live, config);
}

Json without_fields(const SchemaNode* node, const Json& value, const FieldSet& set) {
  if (set.empty() || holds_nothing(value)) return value;
  switch (grain_of(node, value)) {
    case Grain::Leaf:
      return value;
    case Grain::Map: {
      JsonObject kept = kept_members(node, value.get_object(), set);
      return kept.empty() ? Json(nullptr) : Json(std::move(kept));
    }
    case Grain::Items: {
      const auto elements = item_elements(*node, value.get_array());
      if (!elements) return value;
      JsonArray kept = kept_items(*node, value.get_array(), *elements, set);
      return kept.empty() ? Json(nullptr) : Json(std::move(kept));
    }
  }
  return value;
}

}  // namespace krater::api
