// Bringing a user's object into the shape of its schema: what is unknown goes, nulls that mean
// nothing go, defaults come. Mirrors apiextensions-apiserver. Pure.
#pragma once

#include <vector>

#include "api/machinery/custom/structural.h"
#include "api/machinery/schema.h"
#include "base/json.h"

namespace krater::api {

// `whole`: a whole object, whose apiVersion, kind and metadata are not the schema's business.
// Problems are sorted by path. Metadata of embedded objects is not looked at.
void prune_custom(const Structural& schema, bool whole, Json& value,
                  std::vector<FieldProblem>& problems);

// Drops nulls that are neither nullable nor replaced by a default, then fills in defaults.
void default_custom(const Structural& schema, Json& value);

}  // namespace krater::api
