// Builds nodes from schema documents. A type is built once, when it is first asked for, and shared
// by all that refer to it. Loading happens on one thread; afterwards the table only owns the nodes.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/machinery/schema_node.h"

namespace krater::api {

class TypeTable {
 public:
  // `document` is one schema file and must outlive the table's use of `find`.
  void add_document(const Json& document);
  // By full name, "core/v1.Pod"; nullptr when there is no such type. Not for use after loading: may
  // build.
  const SchemaNode* find(std::string_view full_name);
  // Drops what refers to the documents, once everything is built.
  void forget_documents() { sources_.clear(); }

 private:
  struct Source {
    const Json* schema;
    bool native;
  };

  const SchemaNode* build(const Json& schema, bool native);
  const SchemaNode* scalar(NodeType type, ValueFormat format);
  void fill(SchemaNode& node, const Json& schema, bool native);
  void fill_object(SchemaNode& node, const Json& schema, bool native);
  Property make_property(std::string_view name, const Json& schema, bool native);
  void inline_message(SchemaNode& node, const Json& inlined);

  std::deque<SchemaNode> nodes_;
  std::map<std::string, Source, std::less<>> sources_;
  std::map<std::string, const SchemaNode*, std::less<>> built_;
  std::map<std::pair<NodeType, ValueFormat>, const SchemaNode*> scalars_;
};

}  // namespace krater::api
