// The three patch formats as pure functions on documents. A failed patch leaves the target in an
// undefined state: patch a copy.
#pragma once

#include "api/machinery/schema_node.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// RFC 6902. Code::BadRequest for a malformed patch, Code::TooLarge beyond 10,000 operations,
// Code::Invalid with the cause UnexpectedServerResponse when an operation cannot be applied. As in
// upstream servers, `replace` of an absent member of an object adds it (Ray's autoscaler relies on
// that); in a list it fails.
Result<void> json_patch(Json& target, const Json& patch);

// RFC 7386. Code::BadRequest when the patch is not an object.
Result<void> merge_patch(Json& target, const Json& patch);

// Kubernetes' strategic merge, along the merge keys of `node`. Code::BadRequest for contradictory
// directives. Better than the original in one place: an item that carries more of the list's keys
// than the merge key (a port with its protocol) is matched by all of them, so 53/TCP and 53/UDP
// stay two items.
Result<void> strategic_merge_patch(const SchemaNode& node, Json& target, const Json& patch);

}  // namespace krater::api
