#include "api/cel/schema_rules.h"

#include <gtest/gtest.h>

namespace krater::cel {
namespace {

Json json(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? std::move(*parsed) : Json();
}

std::vector<std::string> texts(const std::vector<Cause>& causes) {
  std::vector<std::string> out;
  for (const Cause& cause : causes) {
    out.push_back(cause.field + ": " + cause.message + " (" + cause.reason + ")");
  }
  return out;
}

std::vector<std::string> broken(std::string_view schema, std::string_view object,
                                std::string_view old = {}) {
  const Json parsed = json(schema);
  const SchemaRulesPtr rules = SchemaRules::compile(parsed);
  if (rules == nullptr) return {"no rules"};
  const Json now = json(object);
  const Json before = old.empty() ? Json() : json(old);
  return texts(rules->check(now, old.empty() ? nullptr : &before).causes);
}

using Texts = std::vector<std::string>;

constexpr std::string_view kReplicas = R"j({"type":"object","properties":{"spec":{"type":"object",
  "properties":{"replicas":{"type":"integer"},"name":{"type":"string","maxLength":10}},
  "x-kubernetes-validations":[{"rule":"self.replicas <= 5"}]}}})j";

TEST(SchemaRules, ABrokenRuleNamesItselfAtItsPlace) {
  EXPECT_EQ(broken(kReplicas, R"j({"spec":{"replicas":7}})j"),
            Texts{"spec: Invalid value: \"object\": failed rule: self.replicas <= 5 "
                  "(FieldValueInvalid)"});
  EXPECT_EQ(broken(kReplicas, R"j({"spec":{"replicas":5}})j"), Texts{});
  EXPECT_EQ(broken(kReplicas, R"j({})j"), Texts{});
}

TEST(SchemaRules, ASchemaWithoutRulesHasNone) {
  EXPECT_EQ(SchemaRules::compile(json(R"j({"type":"object"})j")), nullptr);
}

TEST(SchemaRules, MetadataIsKnownAtTheRootEvenWhenTheSchemaDoesNotSaySo) {
  EXPECT_EQ(broken(R"j({"type":"object","x-kubernetes-validations":[
                      {"rule":"self.metadata.name == 'a'","message":"bad name"}]})j",
                   R"j({"metadata":{"name":"b"}})j"),
            Texts{"<nil>: Invalid value: \"object\": bad name (FieldValueInvalid)"});
}

TEST(SchemaRules, ReasonsAndFieldPathsSayWhatTheRuleSays) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{"spec":{"type":"object",
    "properties":{"name":{"type":"string","x-kubernetes-validations":[
      {"rule":"self == oldSelf","message":"immutable","reason":"FieldValueForbidden"},
      {"rule":"self.startsWith('x')","reason":"FieldValueDuplicate"},
      {"rule":"self != 'b'","message":" wanted ","reason":"FieldValueRequired"}]
}
, "a" : {
  "type" : "integer"
}
}
, "x-kubernetes-validations" : [ {"rule" : "self.a < 3", "fieldPath" : ".a"} ]
}
}
})j";
  EXPECT_EQ(broken(kSchema, R"j({"spec":{"name":"b","a":7}})j", R"j({"spec":{"name":"c","a":1}})j"),
            (Texts{"spec.a: Invalid value: \"object\": failed rule: self.a < 3 (FieldValueInvalid)",
                   "spec.name: Forbidden: immutable (FieldValueForbidden)",
                   "spec.name: Duplicate value: \"string\" (FieldValueDuplicate)",
                   "spec.name: Required value: wanted (FieldValueRequired)"}));
}

TEST(SchemaRules, TransitionRulesNeedAnOldValue) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{"l":{"type":"array",
    "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
    "items":{"type":"object","required":["k"],
      "properties":{"k":{"type":"string"},"v":{"type":"integer"}},
      "x-kubernetes-validations":[{"rule":"self.v >= oldSelf.v",
        "messageExpression":"'v must not shrink: ' + string(self.v)"}]
}
}
}
})j";
  const std::string old = R"j({"l":[{"k":"a","v":2},{"k":"b","v":1}]})j";
  EXPECT_EQ(broken(kSchema, R"j({"l":[{"k":"b","v":1},{"k":"a","v":1},{"k":"c","v":0}]})j", old),
            Texts{"l[1]: Invalid value: \"object\": v must not shrink: 1 (FieldValueInvalid)"});
  EXPECT_EQ(broken(kSchema, R"j({"l":[{"k":"a","v":1}]})j"), Texts{});
}

TEST(SchemaRules, AnOptionalOldValueIsThereOnCreateToo) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{"s":{"type":"string",
    "x-kubernetes-validations":[{"rule":"oldSelf.hasValue() ? oldSelf.value() == self : self != 'x'",
      "optionalOldSelf":true,"message":"no"}]}}})j";
  EXPECT_EQ(broken(kSchema, R"j({"s":"y"})j"), Texts{});
  EXPECT_EQ(broken(kSchema, R"j({"s":"x"})j").size(), 1U);
  EXPECT_EQ(broken(kSchema, R"j({"s":"y"})j", R"j({"s":"x"})j").size(), 1U);
  EXPECT_EQ(broken(kSchema, R"j({"s":"x"})j", R"j({"s":"x"})j"), Texts{});
}

TEST(SchemaRules, ErrorsOfRulesSayWhatWentWrong) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{
      "m":{"type":"object","additionalProperties":{"type":"integer"}},
      "p":{"x-kubernetes-int-or-string":true}},
    "x-kubernetes-validations":[{"rule":"self.m['q'] == 1"},{"rule":"self.p.startsWith('a')"}]
})j";
  EXPECT_EQ(
      broken(kSchema, R"j({"m":{},"p":1})j"),
      (Texts{"<nil>: Invalid value: \"object\": no such key: q evaluating rule: self.m['q'] == 1 "
             "(FieldValueInvalid)",
             "<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match a "
             "supported operator, function or macro signature for rule: self.p.startsWith('a') "
             "(FieldValueInvalid)"}));
}

TEST(SchemaRules, ValuesReadAsTheirSchemaSays) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{"p":{"type":"object",
    "x-kubernetes-preserve-unknown-fields":true,"properties":{"a-b":{"type":"string"},
      "namespace":{"type":"string"},"d":{"type":"string","format":"date-time"},
      "dur":{"type":"string","format":"duration"},"n":{"type":"number"},
      "raw":{"type":"string","format":"byte"}},
    "x-kubernetes-validations":[{"rule":"self.a__dash__b == self.__namespace__"},
      {"rule":"self.d > timestamp('2020-01-01T00:00:00Z')"},{"rule":"self.dur == duration('1h')"},
      {"rule":"self.n > 1.5"},{"rule":"self.raw == b'hello'"}]
}
}
})j";
  EXPECT_EQ(broken(kSchema, R"j({"p":{"a-b":"x","namespace":"x","d":"2021-01-01T00:00:00Z",
                                "dur":"1h","n":2,"raw":"aGVsbG8=","unknown":1}})j"),
            Texts{});
}

TEST(SchemaRules, SetsCompareWithoutOrder) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{"s":{"type":"array",
    "x-kubernetes-list-type":"set","items":{"type":"string"},"x-kubernetes-validations":[
      {"rule":"self == ['b','a']"},{"rule":"oldSelf.all(x, x in self)","message":"no removal"}]
}
}
})j";
  EXPECT_EQ(broken(kSchema, R"j({"s":["a","b"]})j", R"j({"s":["a","c"]})j"),
            Texts{"s: Invalid value: \"array\": no removal (FieldValueInvalid)"});
}

TEST(SchemaRules, WhatWasBrokenBeforeIsAWarning) {
  const Json schema = json(R"j({"type":"object","properties":{"a":{"type":"integer",
    "x-kubernetes-validations":[{"rule":"self > 5"}]},"b":{"type":"integer"}}})j");
  const SchemaRulesPtr rules = SchemaRules::compile(schema);
  const Json now = json(R"j({"a":1,"b":2})j");
  const Json before = json(R"j({"a":1,"b":1})j");
  const RuleFindings found = rules->check(now, &before);
  EXPECT_TRUE(found.causes.empty());
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_EQ(found.warnings[0], "a: Invalid value: \"integer\": failed rule: self > 5");
}

TEST(SchemaRules, NullIsNotAskedAbout) {
  constexpr std::string_view kSchema = R"j({"type":"object","properties":{"s":{"type":"string",
    "nullable":true,"x-kubernetes-validations":[{"rule":"self.size() < 3"}]}}})j";
  EXPECT_EQ(broken(kSchema, R"j({"s":null})j"), Texts{});
  EXPECT_EQ(broken(kSchema, R"j({"s":"abcd"})j").size(), 1U);
}

TEST(SchemaRules, EvaluationStopsWhenTheBudgetOfTheRequestIsSpent) {
  const std::string schema = R"j({"type":"object","properties":{"l":{"type":"array",
    "items":{"type":"string"},"x-kubernetes-validations":[
    {"rule":"self.all(x, self.all(y, x.size() + y.size() < 9))"}]
}
}
})j";
  std::string object = R"j({"l":["a")j";
  for (int i = 0; i < 2000; ++i) object += R"j(,"a")j";
  object += "]}";
  const Texts found = broken(schema, object);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("no further validation rules will be run due to call cost exceeds limit"),
            std::string::npos)
      << found[0];
}

std::vector<std::string> wrong(std::string_view schema) {
  std::vector<std::string> out;
  for (const Cause& cause : check_rules(json(schema), "spec.schema")) {
    out.push_back(cause.field + ": " + cause.message);
  }
  return out;
}

TEST(RuleDefinitions, SoundRulesPass) {
  EXPECT_EQ(wrong(kReplicas), Texts{});
}

TEST(RuleDefinitions, WhatDoesNotCompileIsRefusedWithTheWholeStory) {
  const Texts found = wrong(R"j({"type":"object","properties":{"spec":{"type":"object",
    "properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[
      {"rule":"self.b == 1"},{"rule":"self.a"},{"rule":"self.a == 1","messageExpression":"self.a"},
      {"rule":"self.a == 1","fieldPath":".b"},{"rule":"self.a == 1","optionalOldSelf":true}]}}})j");
  const std::string at = "spec.schema.properties[spec].x-kubernetes-validations";
  const std::string tail =
      ", Message:\"\", MessageExpression:\"\", Reason:(*apiextensions.FieldValueErrorReason)(nil), "
      "FieldPath:\"\", OptionalOldSelf:(*bool)(nil)}: ";
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0], at +
                          "[0].rule: Invalid value: apiextensions.ValidationRule{Rule:\"self.b == "
                          "1\"" +
                          tail +
                          "compilation failed: ERROR: <input>:1:5: undefined field "
                          "'b'\n | self.b == 1\n | ....^");
  EXPECT_EQ(found[1], at + "[1].rule: Invalid value: apiextensions.ValidationRule{Rule:\"self.a\"" +
                          tail + "cel expression must evaluate to a bool");
  EXPECT_NE(found[2].find("[2].messageExpression: "), std::string::npos);
  EXPECT_NE(found[2].find("messageExpression must evaluate to a string"), std::string::npos);
  EXPECT_EQ(found[3], at + "[3].fieldPath: Invalid value: \".b\": must be a valid path");
  EXPECT_EQ(found[4], at + "[4].optionalOldSelf: Invalid value: true: may not be set if oldSelf is "
                           "not used in rule");
}

TEST(RuleDefinitions, CostIsBoundedByWhatTheSchemaAllows) {
  const auto schema = [](const std::string& list, const std::string& item) {
    return R"j({"type":"object","properties":{"l":{"type":"array",)j" + list +
           R"j("items":{"type":"string")j" + item + R"j(}}},"x-kubernetes-validations":[
      {"rule":"self.l.all(x, self.l.all(y, x == y || x.contains(y)))"}]})j";
  };
  EXPECT_EQ(
      wrong(schema("", "")),
      (Texts{"spec.schema.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost "
             "exceeds budget by factor of more than 100x (try simplifying the rule, or adding "
             "maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
             "declared)",
             "spec.schema.x-kubernetes-validations[0].rule: Forbidden: contributed to "
             "estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
             "spec.schema: Forbidden: x-kubernetes-validations estimated rule cost total for "
             "entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try "
             "simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
             "arrays, maps, and strings are declared)"}));
  EXPECT_EQ(wrong(schema(R"j("maxItems":10,)j", R"j(,"maxLength":20)j")), Texts{});
}

TEST(RuleDefinitions, OldValuesNeedAWayToBeFound) {
  EXPECT_EQ(
      wrong(R"j({"type":"object","properties":{"l":{"type":"array","maxItems":3,
      "items":{"type":"integer","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}})j"),
      Texts{"spec.schema.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "
            "\"self == oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the "
            "schema within spec.schema.properties[l].items"});
}

}  // namespace
}  // namespace krater::cel
