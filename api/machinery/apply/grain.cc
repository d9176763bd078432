#include "api/machinery/apply/grain.h"

#include <algorithm>

namespace krater::api {

Grain grain_of(const SchemaNode* node, const Json& value) {
  if (value.is_object()) {
    const bool split = node == nullptr || node->type == NodeType::Any ||
                       (node->type == NodeType::Object && !node->map_is_atomic);
    return split ? Grain::Map : Grain::Leaf;
  }
  if (value.is_array() && node != nullptr && node->type == NodeType::Array &&
      (node->list_is_map || node->list_is_set)) {
    return Grain::Items;
  }
  return Grain::Leaf;
}

Member member_of(const SchemaNode* node, std::string_view name) {
  if (node == nullptr || node->type != NodeType::Object) return {};
  if (node->is_map()) return {node->values, false};
  const Property* property = node->property(name);
  return property == nullptr ? Member{} : Member{property->node, true};
}

std::string field_element(std::string_view name) {
  std::string out = "f:";
  return out.append(name);
}

Result<std::string> item_element(const SchemaNode& list, const Json& item) {
  if (list.list_is_set) {
    if (item.is_object() || item.is_array() || item.is_null())
      return make_error(Code::BadRequest, "an item of a set must be a scalar");
    return "v:" + to_json(item);
  }
  const JsonObject* fields = item.if_object();
  if (fields == nullptr)
    return make_error(Code::BadRequest, "associative list with keys may not have non-map elements");
  std::vector<std::string_view> keys(list.map_keys.begin(), list.map_keys.end());
  std::sort(keys.begin(), keys.end());
  std::string out = "k:{";
  for (const std::string_view key : keys) {
    const Json* value = fields->if_contains(key);
    if (value == nullptr || value->is_null()) {
      const Property* property = list.items == nullptr ? nullptr : list.items->property(key);
      value = property == nullptr ? nullptr : property->default_value.get();
    }
    if (value == nullptr) {
      return make_error(Code::BadRequest,
                        "associative list with keys has an element that omits key field \"" +
                            std::string(key) + "\" (and doesn't have default value)");
    }
    if (value->is_object() || value->is_array()) {
      return make_error(Code::BadRequest,
                        "associative list with keys has an element whose key field \"" +
                            std::string(key) + "\" is no scalar");
    }
    if (out.back() != '{') out += ',';
    append_json_string(out, key);
    out += ':';
    append_json(out, *value);
  }
  return out + '}';
}

std::optional<std::vector<std::string>> item_elements(const SchemaNode& list,
                                                      const JsonArray& items) {
  std::vector<std::string> out;
  out.reserve(items.size());
  for (const Json& item : items) {
    Result<std::string> element = item_element(list, item);
    if (!element) return std::nullopt;
    out.push_back(*std::move(element));
  }
  return out;
}

bool holds_nothing(const Json& value) {
  return value.is_null() || (value.is_object() && value.get_object().empty()) ||
         (value.is_array() && value.get_array().empty());
}

}  // namespace krater::api
