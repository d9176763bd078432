// A structural schema as the type nodes that server-side apply walks along.
#pragma once

#include <deque>

#include "api/machinery/custom/structural.h"
#include "api/machinery/schema_node.h"

namespace krater::api {

// Owns its nodes; immutable once made, any thread.
class OwnershipTree {
 public:
  // `metadata`: the type of ObjectMeta; must outlive the tree.
  OwnershipTree(const Structural& schema, const SchemaNode& metadata);
  OwnershipTree(const OwnershipTree&) = delete;
  OwnershipTree& operator=(const OwnershipTree&) = delete;

  const SchemaNode& root() const { return *root_; }

 private:
  const SchemaNode* build(const Structural& schema, bool whole);
  void fill_object(SchemaNode& node, const Structural& schema, bool whole);

  const SchemaNode& metadata_;
  std::deque<SchemaNode> nodes_;
  const SchemaNode* root_;
};

}  // namespace krater::api
