// Walks a defaulted document along its schema and collects what is wrong with it.
#pragma once

#include <initializer_list>
#include <string_view>

#include "api/machinery/field_errors.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

// `old`: the stored object on update, nullptr on create. `native` as in prune.h.
void validate_object(const SchemaNode& node, bool native, const Json& object, const Json* old,
                     FieldErrors& errors);

// The same of an object of which only these members have changed.
void validate_members(const SchemaNode& node, bool native, const Json& object, const Json& old,
                      std::initializer_list<std::string_view> changed, FieldErrors& errors);

}  // namespace krater::api
