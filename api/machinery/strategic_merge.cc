#include <algorithm>

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
    return order_lists(node, target, patch);
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
      const JsonArray& removed = entry.value().get_array();
      for (const Json& item : list->get_array()) {
        if (std::find(removed.begin(), removed.end(), item) == removed.end()) kept.push_back(item);
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
      for (const Json& item : patch) {
        if (std::find(target.begin(), target.end(), item) == target.end()) target.push_back(item);
      }
      return {};
    }
    for (const Json& item : patch) {
      const std::string directive = text_at(item, {kDirective});
      if (directive == "replace") {
        target = clean(patch).as_array();
        return {};
      }
    }
    for (const Json& item : patch) TRY(list_item(node, target, item));
    return {};
  }

  Result<void> list_item(const SchemaNode& node, JsonArray& target, const Json& item) {
    const JsonObject* fields = item.if_object();
    if (fields == nullptr || fields->if_contains(node.merge_key) == nullptr) {
      return bad("map: " + to_json(item) +
                 " does not contain declared merge key: " + node.merge_key);
    }
    const std::string directive = text_at(item, {kDirective});
    if (directive == "delete") {
      target.erase(std::remove_if(target.begin(), target.end(),
                                  [&](const Json& held) { return matches(node, held, *fields); }),
                   target.end());
      return {};
    }
    if (!directive.empty() && directive != "merge") return bad("unknown patch type: " + directive);
    const auto held = std::find_if(target.begin(), target.end(), [&](const Json& candidate) {
      return matches(node, candidate, *fields);
    });
    if (held != target.end()) return object(node.items, held->get_object(), *fields);
    JsonObject added;
    TRY(object(node.items, added, *fields));
    target.push_back(std::move(added));
    return {};
  }

  // Equal merge keys, and equal further keys of the list as far as both sides have them.
  static bool matches(const SchemaNode& node, const Json& held, const JsonObject& patch) {
    const JsonObject* fields = held.if_object();
    if (fields == nullptr) return false;
    const auto equal = [&](const std::string& key, bool needed) {
      const Json* left = fields->if_contains(key);
      const Json* right = patch.if_contains(key);
      if (left == nullptr || right == nullptr) return !needed;
      return *left == *right;
    };
    if (!equal(node.merge_key, true)) return false;
    return std::all_of(node.map_keys.begin(), node.map_keys.end(),
                       [&](const std::string& key) { return equal(key, false); });
  }

  static Result<void> order_lists(const SchemaNode* node, JsonObject& target,
                                  const JsonObject& patch) {
    for (const auto& entry : patch) {
      const std::string_view key = entry.key();
      if (!starts_with(key, kElementOrder)) continue;
      if (!entry.value().is_array()) return bad(std::string(key) + " is not a list");
      const std::string_view name = key.substr(kElementOrder.size());
      const SchemaNode* list_node = child_node(node, name);
      const std::string merge_key = list_node == nullptr ? std::string() : list_node->merge_key;
      if (const Json* items = patch.if_contains(name); items != nullptr && items->is_array()) {
        TRY(check_element_order(items->get_array(), entry.value().get_array(), merge_key));
      }
      Json* list = target.if_contains(name);
      if (list != nullptr && list->is_array())
        set_element_order(list->get_array(), entry.value().get_array(), merge_key);
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
