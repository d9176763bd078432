// How finely a value can be owned: field by field, item by item, or only as a whole. Follows the
// list and map types of the schema; where the schema says nothing, maps are split and lists are
// not. A null node stands for "the schema says nothing". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema_node.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

enum class Grain {
  Leaf,   // owned as a whole
  Map,    // by its members
  Items,  // a list whose items are told apart by what they are or by their keys
};

Grain grain_of(const SchemaNode* node, const Json& value);

struct Member {
  const SchemaNode* node = nullptr;
  bool named = false;  // the schema knows it by name, so its parent cannot be without it
};
Member member_of(const SchemaNode* node, std::string_view name);

std::string field_element(std::string_view name);  // "f:name"
// "k:{…}" or "v:…" of an item. Code::BadRequest when a key is missing and has no default, or is no
// scalar.
Result<std::string> item_element(const SchemaNode& list, const Json& item);
// Of all items; nullopt when one has none: such a list is owned as a whole.
std::optional<std::vector<std::string>> item_elements(const SchemaNode& list,
                                                      const JsonArray& items);

// Nothing is in it: null, an empty map, an empty list.
bool holds_nothing(const Json& value);

}  // namespace krater::api
