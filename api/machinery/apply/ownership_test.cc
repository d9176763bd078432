// Runs testdata/ownership.yaml: one object, written by turns, without defaults and validation.
#include "api/machinery/apply/ownership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "api/machinery/apply/field_set.h"
#include "api/machinery/apply/merge.h"
#include "api/machinery/testing/pipeline.h"
#include "base/yaml.h"

namespace krater::api {
namespace {

using testing::schemas;

Json read_cases() {
  const char* folder = std::getenv("KRATER_APPLY_TESTDATA");
  EXPECT_NE(folder, nullptr);
  std::ifstream file(std::string(folder) + "/ownership.yaml");
  std::stringstream text;
  text << file.rdbuf();
  Result<Json> cases = parse_yaml(text.str());
  EXPECT_TRUE(cases) << cases.error().message;
  return *std::move(cases);
}

KindSchemaPtr schema_named(const std::string& name) {
  for (const KindSchemaPtr& schema : schemas().all()) {
    const Kind& kind = schema->kind();
    if (name == kind.kind + "." + kind.group) return schema;
    if (name == kind.kind && kind.kind != "Event" &&
        kind.group.find("volcano") == std::string::npos)
      return schema;
  }
  return nullptr;
}

// The one object of a case and who owns it.
struct Subject {
  explicit Subject(KindSchemaPtr of) : schema(std::move(of)) { object = framed(JsonObject()); }

  Json framed(Json body) const {
    set_path(body, {"apiVersion"}, Json(schema->kind().api_version()));
    set_path(body, {"kind"}, Json(schema->kind().kind));
    if (!find(body, {"metadata"})) set_path(body, {"metadata"}, JsonObject());
    return body;
  }

  void take(const Json& step) {
    now = now + 1s;
    managers = stored_managed_fields(to_managed_fields(std::move(managers)));
    const Json config = framed(*find(step, {"object"}));
    const bool applies = find(step, {"apply"}) != nullptr;
    const FieldWriter writer{text_at(step, {applies ? "apply" : "update"}),
                             text_at(step, {"subresource"}), now};
    const OwnedKind kind = owned_kind(*schema);
    if (!applies) {
      record_update(kind, stored ? &object : nullptr, config, writer, managers);
      object = config;
      stored = true;
      return;
    }
    const bool force = bool_at(step, {"force"}).value_or(false);
    Result<Applied> applied = apply_configuration(kind, object, config, writer, force, managers);
    const std::string wanted = text_at(step, {"conflict"});
    EXPECT_EQ(applied ? "" : applied.error().message, wanted);
    if (!applied) return;
    object = std::move(applied->object);
    managers = std::move(applied->managers);
    stored = true;
  }

  KindSchemaPtr schema;
  Json object;
  FieldManagers managers;
  WallTime now = WallTime::from_unix_seconds(1'767'225'600);
  bool stored = false;
};

using Owners = std::map<std::string, std::vector<std::string>>;

Owners owners_of(const FieldManagers& managers) {
  Owners out;
  for (const FieldManager& manager : managers) {
    std::vector<std::string>& paths =
        out[manager.name + (manager.subresource.empty() ? "" : "/" + manager.subresource)];
    for (std::string& path : path_texts(manager.fields.get())) paths.push_back(std::move(path));
    std::sort(paths.begin(), paths.end());
  }
  return out;
}

Owners wanted_owners(const JsonObject& owners) {
  Owners out;
  for (const auto& owner : owners) {
    std::vector<std::string>& paths = out[owner.key()];
    for (const Json& path : owner.value().as_array()) paths.emplace_back(view(path.as_string()));
    std::sort(paths.begin(), paths.end());
  }
  return out;
}

TEST(Ownership, FollowsTheCases) {
  const Json cases = read_cases();
  ASSERT_GT(cases.as_array().size(), 30U);
  for (const Json& entry : cases.as_array()) {
    SCOPED_TRACE(text_at(entry, {"name"}));
    const KindSchemaPtr schema = schema_named(text_at(entry, {"kind"}));
    ASSERT_NE(schema, nullptr);
    Subject subject(schema);
    for (const Json& step : *array_at(entry, {"steps"})) subject.take(step);
    if (const Json* want = find(entry, {"want"})) {
      EXPECT_EQ(to_json(with_sorted_keys(subject.object)),
                to_json(with_sorted_keys(subject.framed(*want))));
    }
    if (const JsonObject* owners = object_at(entry, {"owners"})) {
      EXPECT_EQ(owners_of(subject.managers), wanted_owners(*owners));
    }
    // What is stored says the same as what was worked with.
    const Result<FieldManagers> again = parse_managed_fields(to_managed_fields(subject.managers));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(same_but_times(stored_managed_fields(to_managed_fields(subject.managers)), *again));
    EXPECT_TRUE(same_but_times(*again, subject.managers));
  }
}

TEST(Configuration, HoldsOnlyWhatTheSchemaKnowsHoweverItIsOwned) {
  struct {
    const char* kind;
    const char* config;
    const char* told;
  } const cases[] = {
      {"ServiceAccount", R"({"imagePullSecrets":[{"name":"s"}],"secrets":[{"name":"t"}]})", ""},
      {"ServiceAccount", R"({"imagePullSecrets":[{"name":"s"},{"name":"t","x":{}}]})",
       ".imagePullSecrets[1].x: field not declared in schema"},
      {"ServiceAccount", R"({"secrets":[{"name":"t","x":{}}]})",
       ".secrets[name=\"t\"].x: field not declared in schema"},
      {"Secret", R"({"spec":{}})", ".spec: field not declared in schema"},
      {"Pod", R"({"spec":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"k","keys":[]}]}})",
       ".spec.tolerations[0].keys: field not declared in schema"},
      {"Role", R"({"rules":[{"verbs":["get"],"verb":"get","sorts":[{}]}]})",
       "errors:\n  .rules[0].verb: field not declared in schema"
       "\n  .rules[0].sorts: field not declared in schema"},
  };
  for (const auto& entry : cases) {
    const Subject subject(schema_named(entry.kind));
    const Result<void> checked = check_configuration(
        subject.schema->root(), subject.framed(testing::parse(entry.config)), "x");
    const std::string want =
        *entry.told == '\0' ? ""
                            : std::string("failed to create typed patch object (x): ") + entry.told;
    EXPECT_EQ(checked ? "" : checked.error().message, want) << entry.config;
  }
}

TEST(FieldSet, IsWrittenAsFieldsV1) {
  const Json fields = testing::parse(
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}},"f:status":{}})");
  Result<FieldSet> set = parse_fields_v1(fields);
  ASSERT_TRUE(set);
  EXPECT_EQ(to_json(to_fields_v1(*set)), to_json(fields));
  EXPECT_EQ(path_texts(*set), (std::vector<std::string>{".status", ".spec.containers[name=\"c\"]",
                                                        ".spec.containers[name=\"c\"].image"}));
}

TEST(FieldSet, ReadsKeysHoweverTheyAreSpaced) {
  const Result<FieldSet> loose =
      parse_fields_v1(testing::parse(R"({"k:{ \"protocol\": \"TCP\", \"port\": 53 }":{}})"));
  ASSERT_TRUE(loose);
  EXPECT_NE(loose->find(R"(k:{"port":53,"protocol":"TCP"})"), nullptr);
}

TEST(FieldSet, RefusesWhatIsNoFieldSet) {
  for (const char* text : {R"({"x:spec":{}})", R"({"spec":{}})", R"({"f:spec":1})", R"([])",
                           R"({"k:[1]":{}})", R"({"k:{":{}})", R"({"":{}})"}) {
    EXPECT_FALSE(parse_fields_v1(testing::parse(text))) << text;
  }
}

TEST(ManagedFields, AppliesStandBeforeUpdatesThenByTime) {
  FieldSet one;
  one.add("f:data", true, {});
  FieldManagers managers{{"z", false, "v1", "", "2026-01-01T00:00:00Z", one},
                         {"y", true, "v1", "", "2026-01-02T00:00:00Z", one},
                         {"x", false, "v1", "", "", one},
                         {"w", true, "v1", "", "2026-01-01T00:00:00Z", one},
                         {"empty", true, "v1", "", "", {}}};
  std::vector<std::string> order;
  for (const Json& entry : to_managed_fields(managers))
    order.push_back(text_at(entry, {"manager"}));
  EXPECT_EQ(order, (std::vector<std::string>{"w", "y", "x", "z"}));
}

TEST(ManagedFields, OnlyOneEmptyEntryForgetsAll) {
  EXPECT_TRUE(resets_managed_fields(testing::parse("[{}]")));
  EXPECT_FALSE(resets_managed_fields(testing::parse("[]")));
  EXPECT_FALSE(resets_managed_fields(testing::parse("[{},{}]")));
}

}  // namespace
}  // namespace krater::api
