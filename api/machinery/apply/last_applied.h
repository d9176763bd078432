// The annotation client-side apply remembers itself by, seen from server-side apply. Pure.
#pragma once

#include "api/machinery/apply/field_set.h"
#include "api/machinery/schema_node.h"
#include "base/json.h"

namespace krater::api {

// The fields of the last client-side apply that still have the value it gave them. Empty without
// the annotation.
FieldSet applied_by_client(const SchemaNode& root, const Json& live);

// Brings the annotation of `object` up to what was applied now. Objects without it stay without.
void renew_last_applied(Json& object, const Json& config);

}  // namespace krater::api
