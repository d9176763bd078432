// One rule of x-kubernetes-validations, compiled; shared by the check of definitions and of writes.
#pragma once

#include <string>

#include "api/cel/program.h"
#include "api/cel/type.h"
#include "base/json.h"

namespace krater::cel {

struct CompiledRule {
  std::string rule, message, message_expression, reason;
  std::string field_path;  // normalized: "spec.a"; "" none
  bool optional_old = false;
  bool uses_old = false;
  ProgramPtr program;          // nullptr: does not compile, or empty
  ProgramPtr message_program;  // nullptr: none, or does not compile
  std::string error, message_error;
  // What errors call the rule.
  const std::string& shown() const { return message.empty() ? rule : message; }
};

// `self`: the type of the value that the rule is about. `schema`: its schema, for the field path.
CompiledRule compile_rule(const Json& rule, const Json& schema, const TypePtr& self);

// ".spec.a", ".labels['x']" as a path below the schema; false when it leads nowhere.
bool normalize_field_path(std::string_view text, const Json& schema, std::string& out);

}  // namespace krater::cel
