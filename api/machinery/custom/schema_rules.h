// The seam to x-kubernetes-validations: rules of a schema, compiled once and asked of each write.
#pragma once

#include <memory>
#include <vector>

#include "api/machinery/custom/structural.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// Immutable; any thread.
class SchemaRules {
 public:
  virtual ~SchemaRules() = default;
  // What breaks a rule. `old`: the object before, null on create.
  virtual std::vector<Cause> check(const Json& object, const Json* old) const = 0;
};
using SchemaRulesPtr = std::shared_ptr<const SchemaRules>;

// Null when the schema has no rules. `root` outlives what is made of it.
using RuleCompiler = SchemaRulesPtr (*)(const Structural& root);

}  // namespace krater::api
