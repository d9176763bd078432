// Fields of a document, and what became of them between two documents. Pure.
#pragma once

#include "api/machinery/apply/field_set.h"
#include "api/machinery/schema_node.h"
#include "base/json.h"

namespace krater::api {

// What applying `value` claims: its leaves, the items of its lists, the members of its free maps.
FieldSet fields_of(const SchemaNode& root, const Json& value);

struct Comparison {
  FieldSet added, modified, removed;
  bool empty() const { return added.empty() && modified.empty() && removed.empty(); }
};
Comparison compare_fields(const SchemaNode& root, const Json& before, const Json& after);

// The set with every field the schema knows by name owned along with what lies below it.
FieldSet with_named_fields(const FieldSet& set, const SchemaNode* node);

// The object before its creation: native kinds always have their plain structs.
Json empty_object(const SchemaNode& root, bool native);

}  // namespace krater::api
