// Users' kinds: from a definition's schema to what becomes of objects.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/machinery/custom/acceptance.h"
#include "api/machinery/custom/correlate.h"
#include "api/machinery/custom/custom_schemas.h"
#include "api/machinery/custom/formats.h"
#include "api/machinery/custom/shape.h"
#include "api/machinery/custom/validate.h"

namespace krater::api {
namespace {

Json parse(std::string_view text) {
  Result<Json> parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *std::move(parsed) : Json();
}

Structural schema_of(std::string_view text) {
  return read_structural(parse(text));
}

std::vector<std::string> texts(const std::vector<Cause>& causes) {
  std::vector<std::string> out;
  for (const Cause& cause : causes) out.push_back(cause.field + ": " + cause.message);
  return out;
}

TEST(CustomShape, KeepsWhatTheSchemaKnowsAndSaysWhatWent) {
  const struct {
    std::string_view schema, before, after;
    std::vector<std::string> unknown;
  } cases[] = {
      {R"({"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}})",
       R"({"apiVersion":"x/v1","kind":"K","metadata":{"name":"n"},"spec":{"a":"1","b":2},"c":3})",
       R"({"apiVersion":"x/v1","kind":"K","metadata":{"name":"n"},"spec":{"a":"1"}})",
       {"c", "spec.b"}},
      {R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}})",
       R"({"x":{"y":1},"spec":{"a":"1","b":2}})",
       R"({"x":{"y":1},"spec":{"a":"1"}})",
       {"spec.b"}},
      {R"({"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}}}})",
       R"({"m":{"k":{"a":"1","b":"2"}}})",
       R"({"m":{"k":{"a":"1"}}})",
       {"m.k.b"}},
      {R"({"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}}})",
       R"({"l":[{"a":"1","b":"2"}]})",
       R"({"l":[{"a":"1"}]})",
       {"l[0].b"}},
      {R"({"type":"object","properties":{"o":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})",
       R"({"o":{"apiVersion":"v1","kind":"P","metadata":{"name":"n"},"spec":{"x":1}}})",
       R"({"o":{"apiVersion":"v1","kind":"P","metadata":{"name":"n"},"spec":{"x":1}}})",
       {}},
      // Maps of anything keep scalars; what is below has no schema.
      {R"({"type":"object","properties":{"m":{"type":"object","additionalProperties":true}}})",
       R"({"m":{"a":1,"b":{"c":2}}})",
       R"({"m":{"a":1,"b":{}}})",
       {"m.b.c"}},
  };
  for (const auto& c : cases) {
    Json value = parse(c.before);
    std::vector<FieldProblem> problems;
    prune_custom(schema_of(c.schema), true, value, problems);
    EXPECT_EQ(value, parse(c.after)) << c.schema << to_json(value);
    std::vector<std::string> paths;
    for (const FieldProblem& problem : problems) paths.push_back(problem.path);
    EXPECT_EQ(paths, c.unknown) << c.schema;
  }
}

TEST(CustomShape, DefaultsFillWhatIsAbsentAndNullsGo) {
  const struct {
    std::string_view schema, before, after;
  } cases[] = {
      {R"({"properties":{"a":{"type":"integer","default":1},"b":{"type":"object","default":{},"properties":{"c":{"type":"string","default":"x"}}}}})",
       R"({})", R"({"a":1,"b":{"c":"x"}})"},
      {R"({"properties":{"a":{"type":"integer","default":1}}})", R"({"a":null})", R"({"a":1})"},
      {R"({"properties":{"a":{"type":"integer","default":1,"nullable":true}}})", R"({"a":null})",
       R"({"a":null})"},
      {R"({"properties":{"a":{"type":"integer"}}})", R"({"a":null})", R"({})"},
      {R"({"properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer","default":2}}}}}})",
       R"({"l":[{},{"a":3}]})", R"({"l":[{"a":2},{"a":3}]})"},
      {R"({"properties":{"m":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"integer","default":2}}}}}})",
       R"({"m":{"k":{}}})", R"({"m":{"k":{"a":2}}})"},
  };
  for (const auto& c : cases) {
    Json value = parse(c.before);
    default_custom(schema_of(c.schema), value);
    EXPECT_EQ(value, parse(c.after)) << c.schema << " " << to_json(value);
  }
}

TEST(CustomValidation, SpeaksAsTheOriginal) {
  const struct {
    std::string_view schema, value;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"type":"string"})", R"("a")", {}},
      {R"({"type":"string"})",
       "5",
       {R"(spec: Invalid value: "integer": spec in body must be of type string: "integer")"}},
      {R"({"type":"integer"})", "5.0", {}},
      {R"({"type":"integer"})",
       "5.5",
       {R"(spec: Invalid value: "number": spec in body must be of type integer: "number")"}},
      {R"({"type":"number"})", "5", {}},
      {R"({"type":"object"})",
       "null",
       {R"(spec: Invalid value: "null": spec in body must be of type object: "null")"}},
      {R"({"type":"object","nullable":true})", "null", {}},
      {R"({"x-kubernetes-int-or-string":true})", R"("10%")", {}},
      {R"({"x-kubernetes-int-or-string":true})", "10", {}},
      {R"({"x-kubernetes-int-or-string":true})",
       "true",
       {R"(spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean")"}},
      {R"({"type":"integer","minimum":1,"maximum":5})",
       "6",
       {"spec: Invalid value: 6: spec in body should be less than or equal to 5"}},
      {R"({"type":"integer","minimum":1})",
       "0",
       {"spec: Invalid value: 0: spec in body should be greater than or equal to 1"}},
      {R"({"type":"number","minimum":0.5,"exclusiveMinimum":true})",
       "0.5",
       {"spec: Invalid value: 0.5: spec in body should be greater than 0.5"}},
      {R"({"type":"integer","multipleOf":3})",
       "7",
       {"spec: Invalid value: 7: spec in body should be a multiple of 3"}},
      {R"({"type":"integer","format":"int32"})",
       "3000000000",
       {R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec)"}},
      {R"({"type":"string","minLength":2})",
       R"("ä")",
       {R"(spec: Invalid value: "ä": spec in body should be at least 2 chars long)"}},
      {R"({"type":"string","maxLength":2})",
       R"("äöü")",
       {"spec: Too long: may not be more than 2 bytes"}},
      {R"({"type":"string","pattern":"^a+$"})",
       R"("b")",
       {R"(spec: Invalid value: "b": spec in body should match '^a+$')"}},
      {R"({"type":"string","enum":["a","b"]})",
       R"("z")",
       {R"(spec: Unsupported value: "z": supported values: "a", "b")"}},
      {R"({"type":"integer","enum":[1,2]})",
       "3",
       {R"(spec: Unsupported value: 3: supported values: "1", "2")"}},
      {R"({"type":"string","format":"date-time"})",
       R"("soon")",
       {R"(spec: Invalid value: "soon": spec in body must be of type date-time: "soon")"}},
      {R"({"type":"string","format":"nonsense"})", R"("soon")", {}},
      {R"({"type":"array","items":{"type":"string"},"maxItems":1})",
       R"(["a","b"])",
       {"spec: Too many: 2: must have at most 1 items"}},
      {R"({"type":"array","items":{"type":"string"},"minItems":1})",
       "[]",
       {"spec: Invalid value: 0: spec in body should have at least 1 items"}},
      {R"({"type":"array","items":{"type":"string"}})",
       "[1]",
       {R"(spec[0]: Invalid value: "integer": spec[0] in body must be of type string: "integer")"}},
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string"}}})",
       "{}",
       {"spec.a: Required value"}},
      {R"({"type":"object","maxProperties":1,"additionalProperties":{"type":"string"}})",
       R"({"a":"1","b":"2"})",
       {"spec: Too many: 2: must have at most 1 items"}},
      {R"({"type":"object","minProperties":1})",
       "{}",
       {"spec: Invalid value: 0: spec in body should have at least 1 properties"}},
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       R"({"a":"1","b":"2"})",
       {R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives)"}},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"required":["a"]}]})",
       "{}",
       {R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid)",
        "spec.a: Required value"}},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]})",
       "{}",
       {R"(<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf))",
        "spec.a: Required value"}},
      {R"({"type":"string","allOf":[{"minLength":2},{"maxLength":3}]})",
       R"("a")",
       {R"(spec: Invalid value: "a": spec in body should be at least 2 chars long)",
        R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf))"}},
      {R"({"type":"string","not":{"enum":["a"]}})",
       R"("a")",
       {R"(<nil>: Invalid value: "": "spec" must not validate the schema (not))"}},
  };
  for (const auto& c : cases) {
    const Json schema(JsonObject{{"type", "object"}, {"properties", {{"spec", parse(c.schema)}}}});
    const Json object(JsonObject{{"spec", parse(c.value)}});
    EXPECT_EQ(texts(validate_custom(read_structural(schema), object, nullptr)), c.errors)
        << c.schema << c.value;
  }
}

TEST(CustomValidation, WhatWasThereMayStay) {
  const Structural schema = schema_of(
      R"({"type":"object","properties":{"a":{"type":"string","maxLength":1},"b":{"type":"integer"},
          "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
               "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","maxLength":1}}}}}})");
  const Json old = parse(R"({"a":"long","b":1,"l":[{"k":"x","v":"long"}]})");
  EXPECT_TRUE(
      validate_custom(schema, parse(R"({"a":"long","b":2,"l":[{"k":"x","v":"long"}]})"), &old)
          .empty());
  EXPECT_EQ(texts(validate_custom(schema, parse(R"({"a":"longer","b":1})"), &old)),
            std::vector<std::string>{"a: Too long: may not be more than 1 bytes"});
  // Moved within its list it is the same item.
  const Json moved = parse(R"({"a":"long","b":1,"l":[{"k":"y","v":"s"},{"k":"x","v":"long"}]})");
  EXPECT_TRUE(validate_custom(schema, moved, &old).empty());
}

TEST(CustomValidation, SetsAndMapsHoldEachItemOnce) {
  const Structural schema = schema_of(
      R"({"type":"object","properties":{"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
          "m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{"type":"object"}}}})");
  EXPECT_EQ(texts(validate_lists(schema, parse(R"({"s":["a","b","a","a"]})"))),
            std::vector<std::string>{R"(s[2]: Duplicate value: "a")"});
  EXPECT_EQ(texts(validate_lists(
                schema, parse(R"({"m":[{"a":1,"b":2},{"a":1,"b":3},{"b":2,"a":1,"c":4}]})"))),
            std::vector<std::string>{R"(m[2]: Duplicate value: {"a":1,"b":2})"});
}

TEST(CustomFormats, AreThoseOfTheOriginal) {
  const struct {
    std::string_view format, good, bad;
  } cases[] = {
      {"date-time", "2026-01-02T03:04:05Z", "2026-01-02"},
      {"date", "2026-02-28", "2026-02-30"},
      {"duration", "1h30m", "soon"},
      {"duration", "3 days", "three days"},
      {"ipv4", "10.0.0.1", "10.0.0"},
      {"ipv6", "fd00::1", "10.0.0.1"},
      {"cidr", "10.0.0.0/8", "10.0.0.0/33"},
      {"mac", "01:23:45:67:89:ab", "01:23"},
      {"uuid", "5e2a6d0e-0b6a-4f6e-9d3a-0123456789ab", "5e2a"},
      {"uuid4", "5e2a6d0e-0b6a-4f6e-9d3a-0123456789ab", "5e2a6d0e-0b6a-1f6e-9d3a-0123456789ab"},
      {"email", "a@example.com", "a.example.com"},
      {"hostname", "a.example.com", "-a"},
      {"uri", "https://example.com/a?b=c", "example com"},
      {"byte", "YWJj", "YWJ"},
      {"hexcolor", "#FFF", "#FG0"},
      {"rgbcolor", "rgb(1,2,255)", "rgb(1,2,256)"},
      {"isbn10", "0321751043", "0321751044"},
      {"isbn", "978-0321751041", "978-0321751042"},
      {"creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"},
      {"ssn", "123-45-6789", "123-456-789"},
      {"bsonobjectid", "507f1f77bcf86cd799439011", "507f"},
  };
  for (const auto& c : cases) {
    EXPECT_TRUE(is_known_format(JsonType::String, c.format)) << c.format;
    EXPECT_TRUE(has_format(c.format, c.good)) << c.format << " " << c.good;
    EXPECT_FALSE(has_format(c.format, c.bad)) << c.format << " " << c.bad;
  }
  EXPECT_FALSE(is_known_format(JsonType::String, "int32"));
  EXPECT_TRUE(is_known_format(JsonType::Integer, "int32"));
  EXPECT_FALSE(is_known_format(JsonType::Object, "date"));
}

TEST(CustomNames, BelongToWhoeverWasFirst) {
  Definition mine;
  mine.names = {"foos", "foo", "Foo", "FooList", {"f", "fo"}, {"all"}};
  Acceptance got = accept_names(mine, {});
  EXPECT_TRUE(got.accepted);
  EXPECT_EQ(got.names, mine.names);
  EXPECT_EQ(got.reason, "NoConflicts");

  TakenNames taken;
  taken.add({"bars", "bar", "Foo", "BarList", {"f"}, {}});
  got = accept_names(mine, taken);
  EXPECT_FALSE(got.accepted);
  EXPECT_EQ(got.reason, "KindConflict");
  EXPECT_EQ(got.message, "\"Foo\" is already in use");
  EXPECT_EQ(got.names.plural, "foos") << "what is free it gets";
  EXPECT_EQ(got.names.kind, "");
  EXPECT_TRUE(got.names.short_names.empty());

  mine.accepted = mine.names;
  EXPECT_TRUE(accept_names(mine, taken).accepted) << "what it has nobody takes away";
}

Definition definition(std::string_view versions, std::string group = "stable.example.com") {
  const std::string text =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
          "metadata":{"name":"crontabs.)" +
      group + R"(","uid":"u","generation":1},"spec":{"group":")" + group +
      R"(","scope":"Namespaced","names":{"plural":"crontabs","singular":"crontab","kind":"CronTab",
          "listKind":"CronTabList","shortNames":["ct"]},"versions":)" +
      std::string(versions) +
      R"(},"status":{"acceptedNames":{"plural":"crontabs","singular":"crontab",
          "kind":"CronTab","listKind":"CronTabList","shortNames":["ct"]}}})";
  const Result<ObjectPtr> object =
      Object::parse({"customresourcedefinitions.apiextensions.k8s.io", "", "crontabs." + group},
                    Revision(1), std::make_shared<const std::string>(text));
  EXPECT_TRUE(object.has_value());
  return read_definition(**object);
}

constexpr std::string_view kTwoVersions = R"([
  {"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
   "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
     "cronSpec":{"type":"string","description":"When."},"replicas":{"type":"integer","default":1}}}}}},
   "additionalPrinterColumns":[{"name":"Spec","type":"string","jsonPath":".spec.cronSpec"}],
   "selectableFields":[{"jsonPath":".spec.cronSpec"}]},
  {"name":"v1beta1","served":true,"storage":false,"deprecated":true,
   "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
  {"name":"v1alpha1","served":false,"storage":false,
   "schema":{"openAPIV3Schema":{"type":"object"}}}])";

TEST(CustomSchemas, ServeWhatIsPublishedAndEndWhatIsNot) {
  const std::unique_ptr<CustomSchemas> schemas = make_schemas();
  const std::size_t built_in = schemas->all().size();
  EXPECT_EQ(schemas->find("stable.example.com", "v1", "crontabs"), nullptr);

  schemas->publish({definition(kTwoVersions)}, Revision(1));
  const KindSchemaPtr v1 = schemas->find("stable.example.com", "v1", "crontabs");
  ASSERT_NE(v1, nullptr);
  EXPECT_EQ(schemas->all().size(), built_in + 2);
  EXPECT_EQ(schemas->find("stable.example.com", "v1alpha1", "crontabs"), nullptr);
  EXPECT_EQ(schemas->find_kind("stable.example.com/v1beta1", "CronTab")->kind().version, "v1beta1");
  EXPECT_EQ(schemas->find_resource("crontabs.stable.example.com"), v1);
  EXPECT_EQ(as_custom(*schemas->find_kind("stable.example.com/v1beta1", "CronTab"))
                ->deprecation_warning(),
            "stable.example.com/v1beta1 CronTab is deprecated");
  EXPECT_TRUE(v1->storage_version());
  EXPECT_TRUE(v1->supports_field("spec.cronSpec"));
  EXPECT_FALSE(v1->supports_field("spec.replicas"));
  ASSERT_EQ(v1->columns().size(), 2U);
  EXPECT_EQ(v1->columns()[1].description,
            "Custom resource definition column (in JSONPath format): .spec.cronSpec");
  EXPECT_EQ(to_json(Json(v1->cells(parse(R"({"metadata":{"name":"n"},"spec":{"cronSpec":"* *"}})"),
                                   WallTime()))),
            R"(["n","* *"])");

  // Another status is the same kind; another schema is not.
  const std::shared_ptr<KindLife> life = as_custom(*v1)->life();
  schemas->publish({definition(kTwoVersions)}, Revision(2));
  EXPECT_EQ(schemas->find("stable.example.com", "v1", "crontabs"), v1);
  Definition changed = definition(kTwoVersions);
  changed.generation = 2;
  int ended = 0;
  const auto waiting = KindLife::wait(life, [&] { ++ended; });
  schemas->publish({changed}, Revision(3));
  EXPECT_TRUE(life->over());
  EXPECT_EQ(ended, 1);
  EXPECT_NE(schemas->find("stable.example.com", "v1", "crontabs"), v1);
  schemas->publish({}, Revision(4));
  EXPECT_EQ(schemas->find("stable.example.com", "v1", "crontabs"), nullptr);
  EXPECT_EQ(schemas->all().size(), built_in);
}

TEST(CustomSchemas, BuiltInKindsStayAsTheyAre) {
  const std::unique_ptr<CustomSchemas> schemas = make_schemas();
  const KindSchemaPtr before = schemas->find("ray.io", "v1", "rayjobs");
  Definition ray = definition(kTwoVersions, "ray.io");
  ray.names.plural = ray.accepted.plural = "rayjobs";
  schemas->publish({ray}, Revision(1));
  EXPECT_EQ(schemas->find("ray.io", "v1", "rayjobs"), before);
  EXPECT_EQ(schemas->find("ray.io", "v1beta1", "rayjobs"), nullptr);
  // Another kind of the same group is served beside them.
  schemas->publish({definition(kTwoVersions, "ray.io")}, Revision(2));
  EXPECT_NE(schemas->find("ray.io", "v1", "crontabs"), nullptr);
  const Json document = parse(*schemas->openapi_v3("apis/ray.io/v1"));
  EXPECT_NE(find(document, {"components", "schemas", "io.ray.v1.RayJob"}), nullptr);
  EXPECT_NE(find(document, {"components", "schemas", "io.ray.v1.CronTab"}), nullptr);
}

TEST(CustomSchemas, AreDescribedInOpenApi) {
  const std::unique_ptr<CustomSchemas> schemas = make_schemas();
  schemas->publish({definition(kTwoVersions)}, Revision(1));
  const std::vector<std::string> paths = schemas->openapi_v3_paths();
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "apis/stable.example.com/v1"), 1);
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "apis/stable.example.com/v1alpha1"), 0);
  const Json v3 = parse(*schemas->openapi_v3("apis/stable.example.com/v1"));
  const Json* component = find(v3, {"components", "schemas", "com.example.stable.v1.CronTab"});
  ASSERT_NE(component, nullptr);
  EXPECT_EQ(text_at(*component, {"properties", "spec", "properties", "cronSpec", "description"}),
            "When.");
  EXPECT_EQ(text_at(*component, {"properties", "metadata", "$ref"}),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  EXPECT_NE(find(v3, {"components", "schemas", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                      "properties"}),
            nullptr);
  const Json* patch = find(
      v3, {"paths", "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}", "patch"});
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(find(*patch, {"requestBody", "content", "application/strategic-merge-patch+json"}),
            nullptr);
  const Json v2 = parse(schemas->openapi_v2());
  EXPECT_NE(find(v2, {"definitions", "com.example.stable.v1.CronTabList"}), nullptr);
  EXPECT_NE(find(v2, {"definitions", "io.k8s.api.core.v1.Pod"}), nullptr);
}

}  // namespace
}  // namespace krater::api
