#include "api/machinery/keep_spelling.h"

#include <map>
#include <string>

#include "api/machinery/apply/grain.h"
#include "base/quantity.h"

namespace krater::api {
namespace {

std::string written(const Json& value) {
  return value.is_string() ? std::string(view(value.get_string())) : to_json(value);
}

void keep_amount(Json& value, const Json& old) {
  if (value == old || value.is_null() || old.is_null()) return;
  const Result<Quantity> now = Quantity::parse(written(value));
  const Result<Quantity> before = Quantity::parse(written(old));
  if (now && before && *now == *before) value = old;
}

void keep_items(const SchemaNode& list, JsonArray& items, const JsonArray& old) {
  if (list.items == nullptr) return;
  if (!list.list_is_map) {
    for (std::size_t i = 0; i < items.size() && i < old.size(); ++i)
      keep_spelling(*list.items, items[i], old[i]);
    return;
  }
  std::map<std::string, const Json*> places;
  for (const Json& item : old) {
    if (Result<std::string> element = item_element(list, item))
      places.emplace(*std::move(element), &item);
  }
  for (Json& item : items) {
    const Result<std::string> element = item_element(list, item);
    const auto place = element ? places.find(*element) : places.end();
    if (place != places.end()) keep_spelling(*list.items, item, *place->second);
  }
}

bool may_hold_amounts(const SchemaNode& node) {
  return node.type == NodeType::Quantity || node.type == NodeType::Object ||
         node.type == NodeType::Array;
}

}  // namespace

void keep_spelling(const SchemaNode& node, Json& value, const Json& old) {
  if (node.type == NodeType::Quantity) return keep_amount(value, old);
  if (JsonObject* members = value.if_object(); members != nullptr && old.is_object()) {
    for (auto& member : *members) {
      const std::string_view name(member.key().data(), member.key().size());
      const SchemaNode* child = member_of(&node, name).node;
      if (child == nullptr || !may_hold_amounts(*child)) continue;
      if (const Json* before = old.get_object().if_contains(name))
        keep_spelling(*child, member.value(), *before);
    }
  } else if (JsonArray* items = value.if_array(); items != nullptr && old.is_array()) {
    keep_items(node, *items, old.get_array());
  }
}

}  // namespace krater::api
