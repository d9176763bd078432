// Structured merge: an applied configuration into a live object, and taking fields out of one.
// Pure.
#pragma once

#include "api/machinery/apply/field_set.h"
#include "api/machinery/schema_node.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// What makes a document no configuration: fields the schema does not know, items without their
// keys, items given twice. Code::BadRequest; `subject` names the object in the message.
Result<void> check_configuration(const SchemaNode& root, const Json& config,
                                 const std::string& subject);

// Values of the configuration win; items of lists are matched by what tells them apart. Items that
// are in both come in the order of the configuration, the others keep their neighbours.
Json merge_configuration(const SchemaNode& root, const Json& live, const Json& config);

// `value` without what is owned in `set`. A map or list that loses all it held becomes null.
Json without_fields(const SchemaNode* node, const Json& value, const FieldSet& set);

}  // namespace krater::api
