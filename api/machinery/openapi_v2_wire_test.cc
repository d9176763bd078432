#include "api/machinery/openapi_v2_wire.h"

#include <gtest/gtest.h>

#include <vector>

#include "api/machinery/schema.h"
#include "api/machinery/wire.h"

namespace krater::api {
namespace {

// The values of field `number`, in order.
std::vector<std::string> values_of(std::string_view bytes, int number) {
  std::vector<std::string> out;
  for (WireReader reader(bytes); !reader.done();) {
    auto field = reader.next();
    EXPECT_TRUE(field.has_value());
    if (!field) break;
    if (field->number == number)
      out.push_back(field->type == WireType::Bytes ? std::string(field->bytes)
                                                   : std::to_string(field->value));
  }
  return out;
}

std::string only(std::string_view bytes, std::initializer_list<int> path) {
  std::string at(bytes);
  for (const int number : path) {
    std::vector<std::string> found = values_of(at, number);
    if (found.size() != 1) return "<" + std::to_string(found.size()) + " values>";
    at = found.front();
  }
  return at;
}

std::string wire(std::string_view text) {
  return openapi_v2_wire(*parse_json(text));
}

TEST(OpenApiV2Wire, WritesASchemaWithEveryFormOfField) {
  const std::string out = wire(R"({"swagger": "2.0", "info": {"title": "t", "version": "v1"},
    "definitions": {"io.T": {"type": "object", "description": "d", "required": ["a", "b"],
      "properties": {"a": {"type": "array", "items": {"$ref": "#/definitions/io.T"}, "maxItems": 300},
                     "b": {"additionalProperties": {"type": "string", "enum": ["x", "y"]}},
                     "c": {"additionalProperties": true, "minimum": 1.5, "default": {"k": 1}}},
      "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "T"}]}}})");
  EXPECT_EQ(only(out, {1}), "2.0");
  EXPECT_EQ(only(out, {2, 1}), "t");
  const std::string schema = only(out, {9, 1, 2});
  EXPECT_EQ(only(out, {9, 1, 1}), "io.T");
  EXPECT_EQ(only(schema, {22, 1}), "object");
  EXPECT_EQ(values_of(schema, 19), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(only(schema, {31, 1}), "x-kubernetes-group-version-kind");
  EXPECT_EQ(only(schema, {31, 2, 2}), R"([{"group":"","version":"v1","kind":"T"}])");
  const std::vector<std::string> properties = values_of(only(schema, {25}), 1);
  ASSERT_EQ(properties.size(), 3u);
  EXPECT_EQ(only(properties[0], {2, 23, 1, 1}), "#/definitions/io.T");
  EXPECT_EQ(only(properties[0], {2, 14}), "300");
  EXPECT_EQ(values_of(only(properties[1], {2, 21, 1}), 20).size(), 2u);
  EXPECT_EQ(only(properties[2], {2, 21, 2}), "1");
  EXPECT_EQ(only(properties[2], {2, 9}), std::to_string(0x3FF8000000000000));
  EXPECT_EQ(only(properties[2], {2, 5, 2}), R"({"k":1})");
}

TEST(OpenApiV2Wire, WritesOperationsWithTheirParameters) {
  const std::string out = wire(R"({"swagger": "2.0", "paths": {"/api/v1/pods/{name}": {
      "parameters": [{"name": "name", "in": "path", "required": true, "type": "string"}],
      "patch": {"consumes": ["a/b", "c/d"],
        "parameters": [{"name": "dryRun", "in": "query", "type": "string", "uniqueItems": true}],
        "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/P"}}}}}}})");
  EXPECT_EQ(only(out, {8, 2, 1}), "/api/v1/pods/{name}");
  const std::string item = only(out, {8, 2, 2});
  EXPECT_EQ(only(item, {9, 1, 2, 4, 4}), "name");
  EXPECT_EQ(only(item, {9, 1, 2, 4, 1}), "1");
  EXPECT_EQ(values_of(only(item, {8}), 7), (std::vector<std::string>{"a/b", "c/d"}));
  EXPECT_EQ(only(item, {8, 8, 1, 2, 3, 4}), "dryRun");
  EXPECT_EQ(only(item, {8, 9, 1, 1}), "200");
  EXPECT_EQ(only(item, {8, 9, 1, 2, 1, 2, 1, 1}), "#/definitions/P");
}

TEST(OpenApiV2Wire, HoldsEveryDefinitionOfTheServer) {
  const auto document = parse_json(make_builtin_schemas()->openapi_v2());
  ASSERT_TRUE(document.has_value());
  const std::string out = openapi_v2_wire(*document);
  EXPECT_EQ(values_of(only(out, {9}), 1).size(), object_at(*document, {"definitions"})->size());
}

}  // namespace
}  // namespace krater::api
