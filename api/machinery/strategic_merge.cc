#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "api/machinery/element_order.h"
#include "api/machinery/patch.h"
#include "base/json_members.h"

namespace krater::api {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

Error bad(std::string message) {
  return make_error(Code::BadRequest, std::move(message));
}

bool is_directive(std::string_view key) {
  return key == kDirective || key == kRetainKeys || starts_with(key, kElementOrder) ||
         starts_with(key, kDeleteFromList);
}

// The items of a list with a merge key, found by it: lists have tens of thousands of them. Removed
// items keep their place until sweep().
class KeyedItems {
 public:
  KeyedItems(const SchemaNode& node, JsonArray& items) : node_(node), items_(items) {
    for (std::size_t i = 0; i < items.size(); ++i) enter(i);
    gone_.resize(items.size(), false);
  }

  Json* find(const JsonObject& patch) {
    for (const std::size_t i : places_of(patch)) {
      if (!gone_[i] && matches(items_[i], patch)) return &items_[i];
    }
    return nullptr;
  }
  void remove(const JsonObject& patch) {
    for (const std::size_t i : places_of(patch)) gone_[i] = gone_[i] || matches(items_[i], patch);
  }
  void add(JsonObject item) {
    items_.push_back(std::move(item));
    gone_.push_back(false);
    enter(items_.size() - 1);
  }
  void sweep() {
    if (std::find(gone_.begin(), gone_.end(), true) == gone_.end()) return;
    JsonArray kept;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!gone_[i]) kept.push_back(std::move(items_[i]));
    }
    items_ = std::move(kept);
  }

 private:
  void enter(std::size_t i) {
    const JsonObject* fields = items_[i].if_object();
    const Json* key = fields == nullptr ? nullptr : fields->if_contains(node_.merge_key);
    if (key != nullptr) places_[to_json(*key)].push_back(i);
  }
  const std::vector<std::size_t>& places_of(const JsonObject& patch) const {
    static const std::vector<std::size_t> kNone;
    const auto found = places_.find(to_json(patch.at(node_.merge_key)));
    return found == places_.end() ? kNone : found->second;
  }
  // Of equal merge keys: equal further keys of the list as far as both sides have them.
  bool matches(const Json& held, const JsonObject& patch) const {
    return std::all_of(node_.map_keys.begin(), node_.map_keys.end(), [&](const std::string& key) {
      const Json* left = held.get_object().if_contains(key);
      const Json* right = patch.if_contains(key);
      return left == nullptr || right == nullptr || *left == *right;
    });
  }

  const SchemaNode& node_;
  JsonArray& items_;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;
  std::vector<bool> gone_;
};

class StrategicMerge {
 public:
  // Merges a patch map into a target map. nullptr `node`: no schema, so lists are replaced.
  Result<void> object(const SchemaNode* node, JsonObject& target, const JsonObject& patch) {
    if (const Json* directive = patch.if_contains(kDirective)) {
      const std::string_view word =
          directive->is_string() ? view(directive->get_string()) : std::string_view();
      if (word == "replace") {
        target = without_directives(patch);
        return {};
      }
      if (word == "delete") {
        target.clear();
        return {};
      }
      if (word != "merge") return bad("unknown patch type: " + std::string(word));
    }
    const auto stood = server_orders(node, target, patch);
    TRY(retain_keys(target, patch));
    TRY(delete_from_lists(target, patch));
    for (const auto& entry : patch) {
      const std::string_view name = entry.key();
      if (is_directive(name)) continue;
      if (entry.value().is_null()) {
        target.stable_erase(name);
        continue;
      }
      TRY(value(child_node(node, name), target, name, entry.value()));
    }
    return order_lists(node, target, patch, stood);
  }

 private:
  static const SchemaNode* child_node(const SchemaNode* node, std::string_view name) {
    if (node == nullptr || node->type != NodeType::Object) return nullptr;
    if (node->is_map()) return node->values;
    const Property* property = node->property(name);
    return property == nullptr ? nullptr : property->node;
  }

  // A copy for the target: directives never reach it, and null has nothing to delete there.
  static JsonObject without_directives(const JsonObject& patch) {
    JsonObject out;
    for (const auto& entry : patch) {
      if (is_directive(entry.key()) || entry.value().is_null()) continue;
      out.emplace(entry.key(), clean(entry.value()));
    }
    return out;
  }
  static Json clean(const Json& patch) {
    if (const JsonObject* map = patch.if_object()) return without_directives(*map);
    const JsonArray* list = patch.if_array();
    if (list == nullptr) return patch;
    JsonArray out;
    for (const Json& item : *list) {
      const JsonObject* map = item.if_object();
      if (map != nullptr && map->if_contains(kDirective) != nullptr) continue;
      out.push_back(clean(item));
    }
    return out;
  }

  static Result<void> retain_keys(JsonObject& target, const JsonObject& patch) {
    const Json* retained = patch.if_contains(kRetainKeys);
    if (retained == nullptr) return {};
    if (!retained->is_array()) return bad("$retainKeys is not a list");
    const JsonArray& keys = retained->get_array();
    const auto is_retained = [&keys](std::string_view name) {
      return std::any_of(keys.begin(), keys.end(), [name](const Json& key) {
        return key.is_string() && view(key.get_string()) == name;
      });
    };
    for (const auto& entry : patch) {
      if (is_directive(entry.key()) || entry.value().is_null() || is_retained(entry.key()))
        continue;
      return bad("the patch has the key \"" + std::string(entry.key()) +
                 "\", which its $retainKeys list does not have");
    }
    std::vector<std::string> gone;
    for (const auto& entry : target) {
      if (!is_retained(entry.key())) gone.emplace_back(entry.key());
    }
    erase_members(target, gone);
    return {};
  }

  static Result<void> delete_from_lists(JsonObject& target, const JsonObject& patch) {
    for (const auto& entry : patch) {
      const std::string_view key = entry.key();
      if (!starts_with(key, kDeleteFromList)) continue;
      if (!entry.value().is_array()) return bad(std::string(key) + " is not a list");
      Json* list = target.if_contains(key.substr(kDeleteFromList.size()));
      if (list == nullptr || !list->is_array()) continue;
      JsonArray kept;
      const std::unordered_set<std::string> removed = texts_of(entry.value().get_array());
      for (const Json& item : list->get_array()) {
        if (!removed.contains(to_json(item))) kept.push_back(item);
      }
      *list = std::move(kept);
    }
    return {};
  }

  Result<void> value(const SchemaNode* node, JsonObject& target, std::string_view name,
                     const Json& patch) {
    Json* present = target.if_contains(name);
    if (const JsonObject* map = patch.if_object()) {
      if (present == nullptr || !present->is_object()) {
        const Json* directive = map->if_contains(kDirective);
        if (directive != nullptr && directive->is_string() &&
            view(directive->get_string()) == "delete")
          return {};
        present = &(target[name] = JsonObject());
      } else if (const Json* directive = map->if_contains(kDirective);
                 directive != nullptr && directive->is_string() &&
                 view(directive->get_string()) == "delete") {
        target.stable_erase(name);
        return {};
      }
      return object(node, present->get_object(), *map);
    }
    if (!patch.is_array()) {
      target[name] = patch;
      return {};
    }
    if (node == nullptr || !node->patch_merge) {
      target[name] = clean(patch);
      return {};
    }
    if (present == nullptr || !present->is_array()) present = &(target[name] = JsonArray());
    return list(*node, present->get_array(), patch.get_array());
  }

  Result<void> list(const SchemaNode& node, JsonArray& target, const JsonArray& patch) {
    if (node.merge_key.empty()) {
      const ElementPlaces server(target, "");
      std::unordered_set<std::string> held = texts_of(target);
      for (const Json& item : patch) {
        if (item.is_object() || item.is_array()) return bad("cannot merge lists without merge key");
        if (held.insert(to_json(item)).second) target.push_back(item);
      }
      set_element_order(target, ElementPlaces(patch, ""), server);
      return {};
    }
    for (const Json& item : patch) {
      const std::string directive = text_at(item, {kDirective});
      if (directive == "replace") {
        target = clean(patch).as_array();
        return {};
      }
    }
    const ElementPlaces server(target, node.merge_key);
    KeyedItems held(node, target);
    for (const Json& item : patch) TRY(list_item(node, held, item));
    held.sweep();
    set_element_order(target, ElementPlaces(patch, node.merge_key), server);
    return {};
  }

  Result<void> list_item(const SchemaNode& node, KeyedItems& held, const Json& item) {
    const JsonObject* fields = item.if_object();
    if (fields == nullptr || fields->if_contains(node.merge_key) == nullptr) {
      return bad("map: " + to_json(item) +
                 " does not contain declared merge key: " + node.merge_key);
    }
    const std::string directive = text_at(item, {kDirective});
    if (directive == "delete") {
      held.remove(*fields);
      return {};
    }
    if (!directive.empty() && directive != "merge") return bad("unknown patch type: " + directive);
    if (Json* there = held.find(*fields)) return object(node.items, there->get_object(), *fields);
    JsonObject added;
    TRY(object(node.items, added, *fields));
    held.add(std::move(added));
    return {};
  }

  static std::unordered_set<std::string> texts_of(const JsonArray& list) {
    std::unordered_set<std::string> out;
    for (const Json& item : list) out.insert(to_json(item));
    return out;
  }

  // How the lists stand that the patch gives an order, before it is applied.
  using Orders = std::map<std::string, ElementPlaces, std::less<>>;
  static Orders server_orders(const SchemaNode* node, const JsonObject& target,
                              const JsonObject& patch) {
    Orders out;
    for (const auto& entry : patch) {
      const std::string_view key = entry.key();
      if (!starts_with(key, kElementOrder)) continue;
      const std::string_view name = key.substr(kElementOrder.size());
      const Json* list = target.if_contains(name);
      if (list != nullptr && list->is_array())
        out.emplace(name, ElementPlaces(list->get_array(), merge_key_of(child_node(node, name))));
    }
    return out;
  }

  static std::string merge_key_of(const SchemaNode* list) {
    return list == nullptr ? std::string() : list->merge_key;
  }

  static Result<void> order_lists(const SchemaNode* node, JsonObject& target,
                                  const JsonObject& patch, const Orders& stood) {
    for (const auto& entry : patch) {
      const std::string_view key = entry.key();
      if (!starts_with(key, kElementOrder)) continue;
      if (!entry.value().is_array()) return bad(std::string(key) + " is not a list");
      const JsonArray& order = entry.value().get_array();
      const std::string_view name = key.substr(kElementOrder.size());
      const std::string merge_key = merge_key_of(child_node(node, name));
      if (const Json* items = patch.if_contains(name); items != nullptr && items->is_array())
        TRY(check_element_order(items->get_array(), order, merge_key));
      Json* list = target.if_contains(name);
      if (list == nullptr || !list->is_array()) continue;
      const auto before = stood.find(name);
      set_element_order(list->get_array(), ElementPlaces(order, merge_key),
                        before == stood.end() ? ElementPlaces() : before->second);
    }
    return {};
  }
};

}  // namespace

Result<void> strategic_merge_patch(const SchemaNode& node, Json& target, const Json& patch) {
  if (!patch.is_object()) return bad("a strategic merge patch is a JSON object");
  if (!target.is_object()) target = JsonObject();
  return StrategicMerge().object(&node, target.get_object(), patch.get_object());
}

}  // namespace krater::api
