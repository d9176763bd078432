// What makes a definition acceptable, message by message.
#include "api/machinery/custom/definition_check.h"

#include <gtest/gtest.h>

#include <functional>

namespace krater::api {
namespace {

Json parse(std::string_view text) {
  Result<Json> parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *std::move(parsed) : Json();
}

// A definition that is fine, its schema exchanged.
Json with_schema(std::string_view schema) {
  Json out = parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"foos.example.com"},
    "spec":{"group":"example.com","scope":"Namespaced","conversion":{"strategy":"None"},
      "names":{"plural":"foos","singular":"foo","kind":"Foo","listKind":"FooList"},
      "versions":[{"name":"v1","served":true,"storage":true,"schema":{}}]},
    "status":{"storedVersions":["v1"]}})");
  Json& version = find(out, {"spec", "versions"})->get_array()[0];
  set_path(version, {"schema", "openAPIV3Schema"}, parse(schema));
  return out;
}

std::vector<std::string> errors_of(const Json& definition, const Json* old = nullptr) {
  std::vector<std::string> out;
  for (const Cause& cause : check_definition(definition, old))
    out.push_back(cause.field + ": " + cause.message);
  return out;
}

const std::string kRoot = "spec.validation.openAPIV3Schema";

TEST(DefinitionCheck, SchemasAreStructural) {
  const struct {
    std::string_view schema;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})",
       {}},
      {R"({"properties":{"spec":{"type":"object"}}})",
       {kRoot + ".type: Required value: must not be empty at the root"}},
      {R"({"type":"string"})",
       {kRoot + R"(.type: Invalid value: "string": must be object at the root)"}},
      {R"({"type":"object","properties":{"a":{}}})",
       {kRoot +
        ".properties[a].type: Required value: must not be empty for specified object fields"}},
      {R"({"type":"object","properties":{"a":{"type":"array"}}})",
       {kRoot + ".properties[a].items: Required value: must be specified"}},
      {R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})",
       {kRoot +
        ".properties[a].items.type: Required value: must not be empty for specified array items"}},
      {R"({"type":"object","additionalProperties":{"type":"string"}})",
       {kRoot + ".additionalProperties: Forbidden: must not be used at the root"}},
      {R"({"type":"object","properties":{"a":{"type":"string","anyOf":[{"type":"string"}]}}})",
       {kRoot + ".properties[a].anyOf[0].type: Forbidden: must be empty to be structural"}},
      {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}}})",
       {}},
      {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"pattern":"a"}]}}})",
       {}},
      {R"({"type":"object","oneOf":[{"required":["a"],"properties":{"b":{"minimum":1}}}],"properties":{"a":{"type":"string"}}})",
       {kRoot + ".properties[b]: Required value: because it is defined in " + kRoot +
        ".oneOf[0].properties[b]"}},
      {R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}})",
       {kRoot + ".properties[metadata]: Forbidden: must not specify anything other than name and "
                "generateName, but metadata is implicitly specified"}},
      {R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":10}}}}})",
       {}},
      {R"({"type":"object","properties":{"a":{"type":"object","x-kubernetes-embedded-resource":true}}})",
       {kRoot +
        ".properties[a].properties: Required value: must not be empty if "
        "x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"}},
      {R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})",
       {kRoot +
        R"(.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing ): ()"}},
  };
  for (const auto& c : cases) EXPECT_EQ(errors_of(with_schema(c.schema)), c.errors) << c.schema;
}

TEST(DefinitionCheck, SchemasSayWhatOpenApiAllows) {
  const std::string a = kRoot + ".properties[a]";
  const struct {
    std::string_view property;
    std::vector<std::string> errors;
  } cases[] = {
      {R"({"type":"text"})",
       {a +
        R"(.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string")"}},
      {R"({"type":"string","$ref":"#/definitions/x"})",
       {a + ".$ref: Forbidden: $ref is not supported"}},
      {R"({"type":"string","uniqueItems":true})",
       {a + ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
            "complexity becomes quadratic"}},
      {R"({"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":{"type":"string"}})",
       {a + ".additionalProperties: Forbidden: additionalProperties and properties are mutual "
            "exclusive"}},
      {R"({"type":"string","x-kubernetes-list-type":"set"})",
       {a +
        R"(.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified)"}},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"set"})",
       {a + ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list "
            "with x-kubernetes-list-type=set"}},
      {R"({"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]})",
       {a + ".items.properties[k].default: Required value: this property is in "
            "x-kubernetes-list-map-keys, so it must have a default or be a required property"}},
      {R"({"type":"array","items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]})",
       {}},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map"})",
       {a + ".x-kubernetes-list-map-keys: Required value: must not be empty if "
            "x-kubernetes-list-type is map"}},
      {R"({"type":"object","x-kubernetes-map-type":"odd"})",
       {a +
        R"(.x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular")"}},
      {R"({"type":"integer","default":"x"})",
       {a + R"(.default: Invalid value: "string":  in body must be of type integer: "string")"}},
      {R"({"type":"object","default":{"b":1}})",
       {a + R"(.default: Invalid value: {"b":1}: must not have unknown fields)"}},
      {R"({"type":"string","x-kubernetes-validations":[{"rule":" "}]})",
       {a + ".x-kubernetes-validations[0].rule: Required value: rule is not specified"}},
  };
  for (const auto& c : cases) {
    const std::string schema =
        R"({"type":"object","properties":{"a":)" + std::string(c.property) + "}}";
    EXPECT_EQ(errors_of(with_schema(schema)), c.errors) << c.property;
  }
}

TEST(DefinitionCheck, NamesVersionsAndColumns) {
  const struct {
    std::string_view change;  // a merge patch
    std::vector<std::string> errors;
  } cases[] = {
      {R"({})", {}},
      {R"({"metadata":{"name":"bars.example.com"}})",
       {R"(metadata.name: Invalid value: "bars.example.com": must be spec.names.plural+"."+spec.group)"}},
      {R"({"spec":{"scope":"World"}})",
       {R"(spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced")"}},
      {R"({"spec":{"names":{"listKind":"Foo"}}})",
       {R"(spec.names.listKind: Invalid value: "Foo": kind and listKind may not be the same)"}},
      {R"({"spec":{"preserveUnknownFields":true}})",
       {"spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
        "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"}},
      {R"({"status":{"storedVersions":["v0","v1"]}})",
       {R"(status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions)"}},
      {R"({"spec":{"conversion":{"strategy":"Webhook"}}})",
       {"spec.conversion.webhookClientConfig: Required value: required when strategy is set to "
        "Webhook",
        "spec.conversion.conversionReviewVersions: Required value"}},
  };
  for (const auto& c : cases) {
    Json definition = with_schema(R"({"type":"object"})");
    const Json change = parse(c.change);
    // Objects of objects only, so a shallow merge by level does.
    const std::function<void(Json&, const Json&)> merge = [&](Json& to, const Json& from) {
      for (const auto& entry : from.get_object()) {
        Json* there = to.get_object().if_contains(entry.key());
        if (there != nullptr && there->is_object() && entry.value().is_object())
          merge(*there, entry.value());
        else
          to.get_object()[entry.key()] = entry.value();
      }
    };
    merge(definition, change);
    EXPECT_EQ(errors_of(definition), c.errors) << c.change;
  }
}

TEST(DefinitionCheck, VersionsThatDifferAreNamedOneByOne) {
  Json definition = with_schema(R"({"type":"object"})");
  JsonArray& versions = find(definition, {"spec", "versions"})->get_array();
  versions.push_back(parse(
      R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{}}}},
          "subresources":{"scale":{"specReplicasPath":".replicas","statusReplicasPath":".status.n"}},
          "additionalPrinterColumns":[{"name":"A","type":"text","jsonPath":"spec"}],
          "selectableFields":[{"jsonPath":".spec.none"}]})"));
  const std::vector<std::string> found = errors_of(definition);
  const std::vector<std::string> wanted{
      "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be "
      "empty for specified object fields",
      R"(spec.versions[1].subresources.scale.specReplicasPath: Invalid value: ".replicas": should be a json path under .spec)",
      R"(spec.versions[1].additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string)",
      R"(spec.versions[1].additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .)",
      R"(spec.versions[1].selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field)"};
  ASSERT_EQ(found.size(), wanted.size() + 2);
  EXPECT_EQ(std::vector<std::string>(found.begin(), found.end() - 2), wanted);
  EXPECT_TRUE(found[found.size() - 2].ends_with(": must contain unique version names"));
  EXPECT_TRUE(found.back().ends_with(": must have exactly one version marked as storage version"));
}

TEST(DefinitionCheck, WhatIsEstablishedKeepsItsKindAndScope) {
  Json old = with_schema(R"({"type":"object"})");
  Json now = old;
  set_path(now, {"spec", "scope"}, "Cluster");
  EXPECT_TRUE(errors_of(now, &old).empty());
  set_path(old, {"status", "conditions"},
           JsonArray{JsonObject{{"type", "Established"}, {"status", "True"}}});
  EXPECT_EQ(
      errors_of(now, &old),
      std::vector<std::string>{R"(spec.scope: Invalid value: "Cluster": field is immutable)"});
}

TEST(DefinitionCheck, KubernetesOwnGroupsNeedApproval) {
  Json definition = with_schema(R"({"type":"object"})");
  set_path(definition, {"spec", "group"}, "x.k8s.io");
  set_path(definition, {"metadata", "name"}, "foos.x.k8s.io");
  EXPECT_EQ(errors_of(definition),
            std::vector<std::string>{
                "metadata.annotations[api-approved.kubernetes.io]: Required value: protected "
                "groups must have approval annotation \"api-approved.kubernetes.io\", see "
                "https://github.com/kubernetes/enhancements/pull/1111"});
  set_path(definition, {"metadata", "annotations", "api-approved.kubernetes.io"},
           "https://github.com/kubernetes-sigs/kueue");
  EXPECT_TRUE(errors_of(definition).empty());
  EXPECT_EQ(approval_of(definition).reason, "approved in https://github.com/kubernetes-sigs/kueue");
}

}  // namespace
}  // namespace krater::api
