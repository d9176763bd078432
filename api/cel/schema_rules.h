// x-kubernetes-validations: the rules in a structural schema, compiled once and asked of each
// write.
//
//   const SchemaRulesPtr rules = SchemaRules::compile(schema);   // openAPIV3Schema as JSON;
//   nullptr: none const RuleFindings found = rules->check(object, old);        // old nullptr on
//   create found.causes -> 422; found.warnings -> Warning headers
//
// When a definition is written: check_rules(schema, "spec.versions[0].schema.openAPIV3Schema"),
// after the schema is known to be structural and each rule's own fields are checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace krater::cel {

struct RuleFindings {
  std::vector<Cause> causes;
  // What breaks a rule but was so before (ratcheting): `spec.a: Invalid value: …`.
  std::vector<std::string> warnings;
};

// Immutable; any thread.
class SchemaRules {
 public:
  virtual ~SchemaRules() = default;
  virtual RuleFindings check(const Json& object, const Json* old) const = 0;

  // nullptr when the schema has no rules. A rule that does not compile (the definition was stored
  // before it was checked) fails every write, saying so.
  static std::shared_ptr<const SchemaRules> compile(const Json& schema);
};
using SchemaRulesPtr = std::shared_ptr<const SchemaRules>;

// Everything wrong with the rules of a schema: what does not compile or is not a truth value, what
// may cost too much, oldSelf where no old value can be found.
std::vector<Cause> check_rules(const Json& schema, const std::string& path);

}  // namespace krater::cel
