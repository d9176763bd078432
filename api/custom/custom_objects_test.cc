// Users' kinds over a real registry: from a definition to the end of its objects.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/custom/definition_keeper.h"
#include "api/local_client/local_client.h"
#include "api/registry/scale.h"
#include "api/registry/testing/harness.h"
#include "api/registry/testing/test_loop.h"
#include "model/condition.h"
#include "model/definition_kinds.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::TestLoop;
using testing::text_of;

constexpr std::string_view kDefinition = R"({"metadata":{"name":"crontabs.stable.example.com"},
  "spec":{"group":"stable.example.com","scope":"Namespaced",
    "names":{"plural":"crontabs","kind":"CronTab","shortNames":["ct"]},
    "versions":[
      {"name":"v1","served":true,"storage":true,
       "subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size","labelSelectorPath":".status.selector"}},
       "selectableFields":[{"jsonPath":".spec.cronSpec"}],
       "schema":{"openAPIV3Schema":{"type":"object","properties":{
         "spec":{"type":"object","required":["cronSpec"],"properties":{
           "cronSpec":{"type":"string","pattern":"^[0-9* ]+$"},
           "size":{"type":"integer","default":1,"maximum":5},
           "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
             "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"value":{"type":"string"}}}}}},
         "status":{"type":"object","properties":{"size":{"type":"integer"},"selector":{"type":"string"}}}}}}},
      {"name":"v1beta1","served":true,"storage":false,
       "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

const Kind kCronTab{"stable.example.com", "v1", "CronTab", "crontabs", true};
const Kind kOldCronTab{"stable.example.com", "v1beta1", "CronTab", "crontabs", true};

struct CustomObjects : ::testing::Test {
  Harness h;
  TestLoop loop;
  std::unique_ptr<client::ObjectClient> client = make_local_client(h.registry(), loop, "keeper");
  std::unique_ptr<DefinitionKeeper> keeper;

  void SetUp() override { start(); }
  void TearDown() override { keeper.reset(); }
  void start() {
    keeper = std::make_unique<DefinitionKeeper>(
        DefinitionKeeperDeps{h.registry(), h.custom(), *client, loop, h.clock()});
    keeper->start();
  }

  Json definition(const std::string& name = "crontabs.stable.example.com") {
    return h.read(kinds::kCustomResourceDefinition, name);
  }
  std::string condition(std::string_view type,
                        const std::string& name = "crontabs.stable.example.com") {
    const std::optional<Condition> found = krater::condition_of(definition(name), type);
    return found ? found->status + " " + found->reason : "";
  }
  void define(std::string_view text = kDefinition) {
    const Result<Answer> made = h.create(kinds::kCustomResourceDefinition, text);
    ASSERT_TRUE(made.has_value()) << text_of(made);
    const std::string name = made->object->name();
    ASSERT_TRUE(loop.run_until([&] {
      return condition("Established", name) == "True InitialNamesAccepted";
    })) << to_json(definition(name));
  }
  Result<Answer> tab(std::string_view spec, const Kind& kind = kCronTab, std::string name = "t") {
    return h.create(kind,
                    R"({"metadata":{"name":")" + name + R"("},"spec":)" + std::string(spec) + "}");
  }
};

TEST_F(CustomObjects, ADefinitionIsServedBeforeItSaysSo) {
  EXPECT_EQ(text_of(tab(R"({"cronSpec":"* *"})")),
            "the server could not find the requested resource");
  define();
  EXPECT_EQ(condition("NamesAccepted"), "True NoConflicts");
  EXPECT_EQ(
      to_json(*find(definition(), {"status", "acceptedNames"})),
      R"({"plural":"crontabs","singular":"crontab","shortNames":["ct"],"kind":"CronTab","listKind":"CronTabList"})");
  EXPECT_EQ(to_json(*find(definition(), {"status", "storedVersions"})), R"(["v1"])");
  EXPECT_EQ(text_of(tab(R"({"cronSpec":"* *"})")), "ok");
  EXPECT_EQ(int_at(h.read(kCronTab, "t"), {"spec", "size"}), 1);
  EXPECT_EQ(int_at(h.read(kCronTab, "t"), {"metadata", "generation"}), 1);
}

TEST_F(CustomObjects, AreValidatedAndPruned) {
  define();
  const Result<Answer> bad = tab(R"({"cronSpec":"soon","size":9})");
  EXPECT_EQ(text_of(bad),
            "CronTab.stable.example.com \"t\" is invalid: [spec.cronSpec: Invalid value: \"soon\": "
            "spec.cronSpec in body should match '^[0-9* ]+$', spec.size: Invalid value: 9: "
            "spec.size in body should be less than or equal to 5]");
  RequestInfo strict;
  strict.field_validation = FieldValidation::Strict;
  EXPECT_EQ(text_of(h.create(kCronTab, R"({"metadata":{"name":"t"},"spec":{"cronSpec":"*","x":1}})",
                             "default", strict)),
            "strict decoding error: unknown field \"spec.x\"");
  const Result<Answer> warned = tab(R"({"cronSpec":"*","x":1})");
  ASSERT_TRUE(warned.has_value());
  EXPECT_EQ(warned->warnings, std::vector<std::string>{"unknown field \"spec.x\""});
  EXPECT_EQ(find(h.read(kCronTab, "t"), {"spec", "x"}), nullptr);
}

TEST_F(CustomObjects, StatusAndScaleAreDoorsOfTheirOwn) {
  define();
  ASSERT_EQ(
      text_of(h.create(kCronTab,
                       R"({"metadata":{"name":"t"},"spec":{"cronSpec":"*"},"status":{"size":3}})")),
      "ok");
  EXPECT_EQ(find(h.read(kCronTab, "t"), {"status"}), nullptr);
  ASSERT_EQ(
      text_of(h.merge(kCronTab, "t", R"({"spec":{"size":2},"status":{"size":3,"selector":"a=b"}})",
                      "status")),
      "ok");
  EXPECT_EQ(int_at(h.read(kCronTab, "t"), {"spec", "size"}), 1);
  EXPECT_EQ(int_at(h.read(kCronTab, "t"), {"metadata", "generation"}), 1);
  const KindSchemaPtr schema = h.custom().find_resource(kCronTab.resource());
  const Json scale = *scale_of(*schema, **h.registry().get(kCronTab, "default", "t"));
  EXPECT_EQ(int_at(scale, {"spec", "replicas"}), 1);
  EXPECT_EQ(int_at(scale, {"status", "replicas"}), 3);
  EXPECT_EQ(text_at(scale, {"status", "selector"}), "a=b");
  ASSERT_EQ(text_of(h.merge(kCronTab, "t", R"({"spec":{"replicas":4}})", "scale")), "ok");
  EXPECT_EQ(int_at(h.read(kCronTab, "t"), {"spec", "size"}), 4);
  EXPECT_EQ(int_at(h.read(kCronTab, "t"), {"metadata", "generation"}), 2);
}

TEST_F(CustomObjects, VersionsDifferInNameAlone) {
  define();
  ASSERT_EQ(text_of(tab(R"({"cronSpec":"*"})", kOldCronTab)), "ok");
  EXPECT_EQ(text_at(h.read(kOldCronTab, "t"), {"apiVersion"}), "stable.example.com/v1beta1");
  EXPECT_EQ(text_at(h.read(kCronTab, "t"), {"apiVersion"}), "stable.example.com/v1");
  const Result<ObjectPtr> stored = h.registry().get(kCronTab, "default", "t");
  const Result<ListResult> listed = h.registry().list(kOldCronTab, {});
  ASSERT_TRUE(listed.has_value());
  EXPECT_EQ(listed->items.at(0)->api_version(), "stable.example.com/v1beta1");
  EXPECT_EQ(listed->items.at(0)->revision(), (*stored)->revision());
  // The same again in another version is no change.
  const Result<Answer> same = h.merge(kOldCronTab, "t", R"({"spec":{"cronSpec":"*"}})");
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->object->revision(), (*stored)->revision());
  EXPECT_EQ(same->object->api_version(), "stable.example.com/v1beta1");
}

TEST_F(CustomObjects, ADefaultThatIsAddedLaterIsThereAtOnce) {
  define();
  ASSERT_EQ(text_of(tab(R"({"cronSpec":"*"})")), "ok");
  Json changed = definition();
  Json& version = find(changed, {"spec", "versions"})->get_array()[0];
  set_path(version, {"schema", "openAPIV3Schema", "properties", "spec", "properties", "zone"},
           Harness::parsed(R"({"type":"string","default":"UTC"})"));
  ASSERT_EQ(
      text_of(h.update(kinds::kCustomResourceDefinition, "crontabs.stable.example.com", changed)),
      "ok");
  ASSERT_TRUE(loop.run_until([&] {
    return text_at(h.read(kCronTab, "t"), {"spec", "zone"}) == "UTC";
  }));
  EXPECT_EQ(int_at(definition(), {"metadata", "generation"}), 2);
}

TEST_F(CustomObjects, AreAppliedByFieldAndItem) {
  define();
  const auto apply = [&](std::string_view body, std::string manager) {
    RequestInfo info;
    info.field_manager = std::move(manager);
    return h.write(client::PatchWrite{kCronTab, "default", "t", client::PatchType::Apply,
                                      Harness::parsed(body)},
                   std::move(info));
  };
  ASSERT_EQ(
      text_of(apply(
          R"({"metadata":{"name":"t"},"spec":{"cronSpec":"*","parts":[{"name":"a","value":"1"}]}})",
          "one")),
      "ok");
  ASSERT_EQ(text_of(apply(
                R"({"metadata":{"name":"t"},"spec":{"parts":[{"name":"b","value":"2"}]}})", "two")),
            "ok");
  EXPECT_EQ(array_at(h.read(kCronTab, "t"), {"spec", "parts"})->size(), 2U);
  const Result<Answer> conflict =
      apply(R"({"metadata":{"name":"t"},"spec":{"parts":[{"name":"a","value":"3"}]}})", "two");
  ASSERT_FALSE(conflict.has_value());
  EXPECT_EQ(conflict.error().code, Code::Conflict);
  EXPECT_EQ(conflict.error().causes.at(0).field, ".spec.parts[name=\"a\"].value");
  const Result<Answer> merge = h.write(client::PatchWrite{
      kCronTab, "default", "t", client::PatchType::StrategicMerge, Harness::parsed("{}")});
  ASSERT_FALSE(merge.has_value());
  EXPECT_EQ(merge.error().code, Code::UnsupportedMedia);
}

TEST_F(CustomObjects, AreSelectedByTheirFields) {
  define();
  ASSERT_EQ(text_of(tab(R"({"cronSpec":"*"})", kCronTab, "a")), "ok");
  ASSERT_EQ(text_of(tab(R"({"cronSpec":"1"})", kCronTab, "b")), "ok");
  ListQuery query;
  query.field_selector = "spec.cronSpec=1";
  const Result<ListResult> found = h.registry().list(kCronTab, query);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->items.size(), 1U);
  EXPECT_EQ(found->items[0]->name(), "b");
  query.field_selector = "spec.size=1";
  EXPECT_FALSE(h.registry().list(kCronTab, query).has_value());
}

TEST_F(CustomObjects, GoWithTheirDefinition) {
  define();
  ASSERT_EQ(text_of(tab(R"({"cronSpec":"*"})")), "ok");
  ASSERT_EQ(
      text_of(h.create(
          kCronTab,
          R"({"metadata":{"name":"held","finalizers":["example.com/x"]},"spec":{"cronSpec":"*"}})")),
      "ok");
  int woken = 0;
  Result<std::unique_ptr<Watch>> watch =
      h.registry().watch(kCronTab, WatchQuery{}, [&] { loop.post([&] { ++woken; }); });
  ASSERT_TRUE(watch.has_value());

  const Result<Answer> removed =
      h.remove(kinds::kCustomResourceDefinition, "crontabs.stable.example.com");
  ASSERT_TRUE(removed.has_value());
  EXPECT_FALSE(removed->gone);
  EXPECT_EQ(condition("Terminating"), "True InstanceDeletionPending");
  ASSERT_TRUE(loop.run_until([&] {
    return condition("Terminating") == "True InstanceDeletionInProgress" &&
           !h.registry().get(kCronTab, "default", "t").has_value();
  }));
  EXPECT_EQ(text_of(tab(R"({"cronSpec":"*"})", kCronTab, "late")),
            "create not allowed while custom resource definition is terminating");
  ASSERT_EQ(text_of(h.merge(kCronTab, "held", R"({"metadata":{"finalizers":null}})")), "ok");
  ASSERT_TRUE(loop.run_until([&] {
    return !h.registry()
                .get(kinds::kCustomResourceDefinition, "", "crontabs.stable.example.com")
                .has_value() &&
           h.custom().find_resource(kCronTab.resource()) == nullptr;
  }));
  EXPECT_EQ(text_of(tab(R"({"cronSpec":"*"})")),
            "the server could not find the requested resource");
  // The watch sees all of it, and its end.
  std::vector<WatchEvent::Type> seen;
  Code end = Code::Internal;
  ASSERT_TRUE(loop.run_until([&] {
    for (;;) {
      Result<std::vector<WatchEvent>> events = (*watch)->next(100);
      if (!events) {
        end = events.error().code;
        return true;
      }
      if (events->empty()) return false;
      for (const WatchEvent& event : *events) seen.push_back(event.type);
    }
  }));
  EXPECT_EQ(end, Code::NotFound);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), WatchEvent::Type::Deleted), 2);

  // Made again it is empty.
  define();
  EXPECT_TRUE(h.registry().list(kCronTab, {})->items.empty());
}

TEST_F(CustomObjects, NamesThatAreTakenAreNotGiven) {
  define();
  ASSERT_EQ(text_of(h.create(kinds::kCustomResourceDefinition,
                             R"({"metadata":{"name":"others.stable.example.com"},
    "spec":{"group":"stable.example.com","scope":"Cluster","names":{"plural":"others","kind":"CronTab","shortNames":["ct"]},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})")),
            "ok");
  const std::string other = "others.stable.example.com";
  ASSERT_TRUE(loop.run_until([&] { return !condition("NamesAccepted", other).empty(); }));
  EXPECT_EQ(condition("NamesAccepted", other), "False ListKindConflict");
  EXPECT_EQ(condition("Established", other), "False NotAccepted");
  EXPECT_EQ(h.custom().find_resource(other), nullptr);
  // Set free, they are.
  ASSERT_TRUE(
      h.remove(kinds::kCustomResourceDefinition, "crontabs.stable.example.com").has_value());
  EXPECT_TRUE(loop.run_until(
      [&] { return condition("Established", other) == "True InitialNamesAccepted"; }));
}

TEST_F(CustomObjects, DefinitionsOfBuiltInKindsChangeNothing) {
  ASSERT_EQ(text_of(h.create(kinds::kRayJob,
                             R"({"metadata":{"name":"j"},"spec":{"entrypoint":"true"}})")),
            "ok");
  const KindSchemaPtr before = h.schemas().find("ray.io", "v1", "rayjobs");
  define(R"({"metadata":{"name":"rayjobs.ray.io"},"spec":{"group":"ray.io","scope":"Namespaced",
    "names":{"plural":"rayjobs","kind":"RayJob"},
    "versions":[{"name":"v9","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  EXPECT_EQ(h.schemas().find("ray.io", "v1", "rayjobs"), before);
  EXPECT_EQ(h.schemas().find("ray.io", "v9", "rayjobs"), nullptr);
  ASSERT_TRUE(h.remove(kinds::kCustomResourceDefinition, "rayjobs.ray.io").has_value());
  ASSERT_TRUE(loop.run_until([&] {
    return !h.registry().get(kinds::kCustomResourceDefinition, "", "rayjobs.ray.io").has_value();
  }));
  EXPECT_TRUE(h.registry().get(kinds::kRayJob, "default", "j").has_value());
}

TEST_F(CustomObjects, AreThereAgainAfterARestart) {
  define();
  ASSERT_EQ(text_of(tab(R"({"cronSpec":"*"})")), "ok");
  keeper.reset();
  h.custom().publish({}, Revision());
  EXPECT_FALSE(h.registry().get(kCronTab, "default", "t").has_value());
  ASSERT_TRUE(load_definitions(h.registry(), h.custom()).has_value());
  EXPECT_TRUE(h.registry().get(kCronTab, "default", "t").has_value());
}

TEST_F(CustomObjects, KeepTheRulesOfTheirSchema) {
  constexpr std::string_view kRules = R"({"metadata":{"name":"ranges.example.com"},
    "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"ranges","kind":"Range"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
      "properties":{"spec":{"type":"object","properties":{"low":{"type":"integer"},"high":{"type":"integer"},
        "zone":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"zone is immutable"}]}},
        "x-kubernetes-validations":[{"rule":"self.low <= self.high","message":"low must not be above high"}]}}}}}]}})";
  define(kRules);
  const Kind range{"example.com", "v1", "Range", "ranges", true};
  EXPECT_EQ(text_of(h.create(range, R"({"metadata":{"name":"r"},"spec":{"low":2,"high":1}})")),
            "Range.example.com \"r\" is invalid: spec: Invalid value: \"object\": low must not be "
            "above high");
  ASSERT_EQ(
      text_of(h.create(range, R"({"metadata":{"name":"r"},"spec":{"low":1,"high":2,"zone":"a"}})")),
      "ok");
  EXPECT_EQ(text_of(h.merge(range, "r", R"({"spec":{"zone":"b"}})")),
            "Range.example.com \"r\" is invalid: spec.zone: Invalid value: \"string\": zone is "
            "immutable");
  const Result<Answer> bad = h.create(kinds::kCustomResourceDefinition,
                                      R"({"metadata":{"name":"bads.example.com"},
    "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"bads","kind":"Bad"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
      "properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.none == 1"}]}}}}}]}})");
  ASSERT_FALSE(bad.has_value());
  ASSERT_EQ(bad.error().causes.size(), 1U);
  EXPECT_EQ(bad.error().causes[0].field,
            "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule");
}

TEST_F(CustomObjects, FinalizersWithoutAPathAreOnlyOdd) {
  define();
  const Result<Answer> made = h.create(
      kCronTab,
      R"({"metadata":{"name":"t","finalizers":["mine.example.com"]},"spec":{"cronSpec":"*"}})");
  ASSERT_TRUE(made.has_value()) << text_of(made);
  ASSERT_EQ(made->warnings.size(), 1U);
  EXPECT_TRUE(made->warnings[0].starts_with(
      "metadata.finalizers: \"mine.example.com\": prefer a domain-qualified finalizer name"));
}

TEST_F(CustomObjects, AnUpdateNamesTheRevisionItMeans) {
  define();
  Json blind = definition();
  erase_path(blind, {"metadata", "resourceVersion"});
  const Result<Answer> refused =
      h.update(kinds::kCustomResourceDefinition, "crontabs.stable.example.com", blind);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().causes.at(0).message,
            "Invalid value: 0: must be specified for an update");
}

}  // namespace
}  // namespace krater::api
