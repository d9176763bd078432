// KindSchema over a node of the type table: one file of api/schemas/ with a `kind` head.
#pragma once

#include <memory>
#include <string>

#include "api/machinery/schema.h"
#include "api/machinery/type_table.h"

namespace krater::api {

// What turns an object into the cells of its row; chosen by the schema.
using CellFunction = JsonArray (*)(const Json& object, WallTime now);

struct KindHead {
  Kind kind;
  std::string singular, list_kind, type_name;
  std::vector<std::string> short_names, categories, verbs, selectable_fields;
  Subresources subresources;
  bool native = false;
  bool counts_generation = false;
  NameRule name_rule = nullptr;
  std::string stored_as;  // type name of the kind that is stored instead of this one; "" for itself
  std::vector<TableColumn> columns;
  std::vector<std::string>
      column_paths;  // JSONPath a column; empty where `cells` computes them all
  CellFunction cells = nullptr;
};

// The `kind` head of a schema document, if it has one.
std::optional<KindHead> read_kind_head(const Json& document);

// `table` keeps the nodes alive.
KindSchemaPtr make_kind_schema(KindHead head, const SchemaNode& root,
                               std::shared_ptr<const TypeTable> table);

}  // namespace krater::api
