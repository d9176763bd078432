// List items are told apart by what will be stored: a key that a built-in type leaves out because
// it is zero (`protocol: ""`) counts as absent, so its default stands in for it. Taken as written
// it would name an item that no stored list can have, and each apply would add one more. Pure.
#pragma once

#include "api/machinery/schema_node.h"
#include "base/json.h"

namespace krater::api {

// Of a built-in kind. Takes such keys out of the items of `config`.
void drop_zero_keys(const SchemaNode& root, Json& config);

}  // namespace krater::api
