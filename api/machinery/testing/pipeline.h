// For tests: takes an object through the whole pipeline of a write.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/machinery/schema.h"

namespace krater::api::testing {

inline const SchemaSet& schemas() {
  static const std::unique_ptr<SchemaSet> set = make_builtin_schemas();
  return *set;
}

inline Json parse(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *std::move(parsed) : Json();
}

struct Outcome {
  Json object;
  std::vector<std::string> unknown;
  std::string type_error;
  std::vector<std::string> errors;  // "field: message"
};

// `old` makes it an update.
inline Outcome run(std::string_view text, const Json* old = nullptr) {
  Outcome out;
  out.object = parse(text);
  const KindSchemaPtr schema =
      schemas().find_kind(text_at(out.object, {"apiVersion"}), text_at(out.object, {"kind"}));
  EXPECT_NE(schema, nullptr);
  for (const FieldProblem& problem : schema->prune(out.object))
    out.unknown.push_back(problem.message);
  if (auto checked = schema->check_types(out.object); !checked) {
    out.type_error = checked.error().message;
    return out;
  }
  schema->apply_defaults(out.object);
  schema->canonicalize(out.object);
  for (const Cause& cause : schema->validate(out.object, old))
    out.errors.push_back(cause.field + ": " + cause.message);
  return out;
}

}  // namespace krater::api::testing
