// Types of structural schemas (openAPIV3Schema as JSON): what expressions may say of such data, how
// the data reads, and how large it can get in one request.
#pragma once

#include "api/cel/type.h"
#include "base/json.h"

namespace krater::cel {

inline constexpr std::int64_t kMostRequestBytes = std::int64_t{3} << 20;

// nullptr: the schema is not exposed to expressions (no type, lists of something without a type).
// `root`: of a whole object, which always has apiVersion, kind, metadata.name and generateName.
TypePtr schema_type(const Json& schema, bool root, const std::string& name = "selfType");

// The schema with those fields, which only roots and embedded objects have.
Json with_object_meta(const Json& schema);

}  // namespace krater::cel
