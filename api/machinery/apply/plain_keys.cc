#include "api/machinery/apply/plain_keys.h"

#include "api/machinery/apply/grain.h"
#include "api/machinery/prune.h"

namespace krater::api {
namespace {

void walk(const SchemaNode* node, Json& value);

void walk_items(const SchemaNode& list, JsonArray& items) {
  for (Json& item : items) {
    if (JsonObject* fields = item.if_object(); fields != nullptr && list.items != nullptr) {
      for (const std::string& key : list.map_keys) {
        const Property* property = list.items->property(key);
        const Json* there = fields->if_contains(key);
        if (property != nullptr && property->default_value != nullptr && there != nullptr &&
            is_omitted_zero(*property, *there))
          fields->erase(key);
      }
    }
    walk(list.items, item);
  }
}

void walk(const SchemaNode* node, Json& value) {
  if (node == nullptr) return;
  if (JsonObject* members = value.if_object()) {
    for (auto& member : *members)
      walk(member_of(node, std::string_view(member.key().data(), member.key().size())).node,
           member.value());
  } else if (JsonArray* items = value.if_array(); items && node->type == NodeType::Array) {
    walk_items(*node, *items);
  }
}

}  // namespace

void drop_zero_keys(const SchemaNode& root, Json& config) {
  walk(&root, config);
}

}  // namespace krater::api
