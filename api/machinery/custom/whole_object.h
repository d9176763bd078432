// What every object has whatever its kind: metadata, of a known type. Stands over the schemas of
// users' kinds, at the root and wherever a whole object is embedded. Immutable, any thread.
#pragma once

#include <vector>

#include "api/machinery/custom/structural.h"
#include "api/machinery/schema.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

class WholeObject {
 public:
  // `known`: any built-in kind; its ObjectMeta is the one.
  explicit WholeObject(KindSchemaPtr known);

  const SchemaNode& metadata() const { return *head_.properties.front().node; }

  // Of the root and of all that is embedded.
  void prune(const Structural& schema, Json& object, std::vector<FieldProblem>& problems) const;
  Result<void> check_types(const Json& object) const;
  std::vector<Cause> validate(const Structural& schema, const Json& object, const Json* old) const;

 private:
  KindSchemaPtr known_;  // keeps the type alive
  SchemaNode head_;
};

}  // namespace krater::api
