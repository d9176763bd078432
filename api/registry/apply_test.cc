// Server-side apply through the one door.
#include <gtest/gtest.h>

#include <string>

#include "api/registry/testing/harness.h"

namespace krater::api {
namespace {

using testing::Harness;

RequestInfo as(std::string manager) {
  RequestInfo info;
  info.field_manager = std::move(manager);
  return info;
}

struct Apply {
  std::string manager;
  std::string config;
  bool force = false;
  std::string subresource{};
};

Result<Answer> apply(Harness& api, const Kind& kind, const std::string& name, const Apply& what) {
  client::PatchWrite write{kind,
                           kind.namespaced ? "default" : "",
                           name,
                           client::PatchType::Apply,
                           Harness::parsed(what.config),
                           what.subresource};
  RequestInfo info = as(what.manager);
  info.force = what.force;
  return api.write(std::move(write), std::move(info));
}

// "a Apply v1 ", "agent Update v1 status": the entries in their order.
std::vector<std::string> managers(const Json& object) {
  std::vector<std::string> out;
  const JsonArray* entries = array_at(object, {"metadata", "managedFields"});
  if (entries == nullptr) return out;
  for (const Json& entry : *entries) {
    out.push_back(text_at(entry, {"manager"}) + ' ' + text_at(entry, {"operation"}) + ' ' +
                  text_at(entry, {"apiVersion"}) + ' ' + text_at(entry, {"subresource"}));
  }
  return out;
}

std::string fields_of_entry(const Json& object, std::size_t index) {
  return to_json(array_at(object, {"metadata", "managedFields"})->at(index).at("fieldsV1"));
}

using Names = std::vector<std::string>;

TEST(Apply, AConfigurationOfAnotherTypeIsRefused) {
  Harness api;
  const auto message = [&](std::string config) {
    const Result<Answer> made = apply(api, kinds::kConfigMap, "c", {"me", std::move(config)});
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(message(R"({"apiVersion":"v1","kind":"Secret"})"),
            "invalid object type: /v1, Kind=Secret");
  EXPECT_EQ(message(R"({"apiVersion":"apps/v1","kind":"ConfigMap"})"),
            "invalid object type: apps/v1, Kind=ConfigMap");
}

TEST(Apply, AnAtomicMapIsReplacedAsAWhole) {
  Harness api;
  const Kind ingresses = api.schemas().find_resource("ingresses.networking.k8s.io")->kind();
  const auto port = [](std::string_view which) {
    return R"({"spec":{"defaultBackend":{"service":{"name":"s","port":)" + std::string(which) +
           "}}}}";
  };
  ASSERT_TRUE(apply(api, ingresses, "i", {"one", port(R"({"number":80})")}));
  const auto other = apply(api, ingresses, "i", {"two", port(R"({"name":"http"})"), true});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(to_json(*find(api.read(ingresses, "i"), {"spec", "defaultBackend", "service", "port"})),
            R"({"name":"http"})");
}

TEST(Apply, CreatesWhatIsNotThere) {
  Harness api;
  const auto made = apply(api, kinds::kConfigMap, "c", {"me", R"({"data":{"a":"1"}})"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->created);
  const Json stored = api.read(kinds::kConfigMap, "c");
  EXPECT_EQ(managers(stored), Names{"me Apply v1 "});
  EXPECT_EQ(fields_of_entry(stored, 0), R"({"f:data":{"f:a":{}}})");
  EXPECT_EQ(text_at(stored, {"metadata", "name"}), "c");
}

TEST(Apply, OfTheSameAgainWritesNothing) {
  Harness api;
  const std::string pod = R"({"spec":{"containers":[
      {"name":"m","image":"busybox:1.36","stdin":false,"ports":[{"containerPort":53}],
       "resources":{"requests":{"cpu":"0.5","memory":"0.5Gi"}}}]}})";
  ASSERT_TRUE(apply(api, kinds::kPod, "p", {"me", pod}));
  const Json before = api.read(kinds::kPod, "p");
  EXPECT_EQ(text_at(before, {"spec", "dnsPolicy"}), "ClusterFirst");
  api.clock().advance(60s);
  const auto again = apply(api, kinds::kPod, "p", {"me", pod});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->created);
  EXPECT_EQ(api.read(kinds::kPod, "p"), before);
}

TEST(Apply, OfAnEqualAmountInOtherWordsIsNoChangeAndNoConflict) {
  Harness api;
  const auto pod = [](std::string_view memory) {
    return R"({"spec":{"containers":[{"name":"m","image":"i:1","resources":{"requests":{"memory":")" +
           std::string(memory) + R"("}}}]}})";
  };
  ASSERT_TRUE(apply(api, kinds::kPod, "p", {"a", pod("512Mi")}));
  const Json before = api.read(kinds::kPod, "p");
  ASSERT_TRUE(apply(api, kinds::kPod, "p", {"a", pod("536870912")}));
  EXPECT_EQ(api.read(kinds::kPod, "p"), before);
  const auto other = apply(api, kinds::kPod, "p", {"b", pod("536870912")});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(api.read(kinds::kPod, "p").at("spec"), before.at("spec"));
}

TEST(Apply, ByAnotherManagerWritesWhoOwnsIt) {
  Harness api;
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"x":"1"}})"}));
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"b", R"({"data":{"x":"1"}})"}));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), (Names{"a Apply v1 ", "b Apply v1 "}));
}

TEST(Apply, TellsConflictsAsUpstream) {
  Harness api;
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"x":"1"}})"}));
  const auto refused = apply(api, kinds::kConfigMap, "c", {"b", R"({"data":{"x":"2"}})"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Conflict);
  EXPECT_EQ(refused.error().message, "Apply failed with 1 conflict: conflict with \"a\": .data.x");
  ASSERT_EQ(refused.error().causes.size(), 1U);
  EXPECT_EQ(refused.error().causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(refused.error().causes[0].message, "conflict with \"a\"");
  EXPECT_EQ(refused.error().causes[0].field, ".data.x");
  EXPECT_TRUE(apply(api, kinds::kConfigMap, "c", {"b", R"({"data":{"x":"2"}})", true}));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), Names{"b Apply v1 "});
}

TEST(Apply, DefaultsBelongToNobody) {
  Harness api;
  ASSERT_TRUE(apply(api, kinds::kPod, "p",
                    {"a", R"({"spec":{"containers":[{"name":"m","image":"i:1"}]}})"}));
  const auto other =
      apply(api, kinds::kPod, "p", {"b", R"({"spec":{"terminationGracePeriodSeconds":5}})"});
  EXPECT_FALSE(other && other->created);
  // Refused because pods do not change, not because of a conflict.
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::Invalid) << other.error().message;
}

TEST(Apply, OfAStatusHasAnEntryOfItsOwn) {
  Harness api;
  ASSERT_TRUE(api.create(kinds::kPod, testing::kPodJson, "default", as("kubectl-create")));
  const auto done = apply(
      api, kinds::kPod, "p",
      {"agent", R"({"spec":{"nodeName":"n"},"status":{"phase":"Running"}})", false, "status"});
  ASSERT_TRUE(done) << done.error().message;
  const Json stored = api.read(kinds::kPod, "p");
  EXPECT_EQ(text_at(stored, {"status", "phase"}), "Running");
  EXPECT_EQ(text_at(stored, {"spec", "nodeName"}), "");
  EXPECT_EQ(managers(stored), (Names{"agent Apply v1 status", "kubectl-create Update v1 "}));
  EXPECT_EQ(fields_of_entry(stored, 0), R"({"f:status":{"f:phase":{}}})");
}

TEST(Apply, OfTheStatusOfNothingIsNotFound) {
  Harness api;
  const auto missing =
      apply(api, kinds::kPod, "p", {"a", R"({"status":{"phase":"Running"}})", false, "status"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::NotFound);
}

TEST(Apply, AdoptsWhatNobodyTracked) {
  Harness api;
  RequestInfo inside;
  inside.in_process = true;
  ASSERT_TRUE(api.create(kinds::kConfigMap, R"({"metadata":{"name":"c"},"data":{"x":"1"}})",
                         "default", inside));
  ASSERT_TRUE(api.merge(kinds::kConfigMap, "c", R"({"data":{"y":"1"}})", "", as("u")));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), Names{});
  const auto refused = apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"x":"2"}})"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.x");
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"z":"1"}})"}));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")),
            (Names{"a Apply v1 ", "before-first-apply Update v1 "}));
}

TEST(Apply, RefusesWhatIsNoConfiguration) {
  Harness api;
  const auto message = [&](const std::string& config) {
    const auto refused = apply(api, kinds::kPod, "p", {"a", config});
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::BadRequest) << refused.error().message;
    return refused.error().message;
  };
  EXPECT_EQ(message(R"({"apiVersion":"v2","kind":"Pod"})"), "invalid object type: /v2, Kind=Pod");
  EXPECT_EQ(message(R"({"metadata":{"managedFields":[]}})"), "metadata.managedFields must be nil");
  EXPECT_EQ(message(R"({"metadata":{"name":"q"}})"),
            "the name of the object (q) does not match the name on the URL (p)");
  EXPECT_EQ(message(R"({"spec":{"foo":1}})"),
            "failed to create typed patch object (default/p; /v1, Kind=Pod): .spec.foo: field not "
            "declared in schema");
  EXPECT_EQ(message(R"({"spec":{"containers":[{"name":"a"},{"name":"a"}]}})"),
            "failed to create typed patch object (default/p; /v1, Kind=Pod): .spec.containers: "
            "duplicate entries for key [name=\"a\"]");
  EXPECT_EQ(message(R"({"spec":{"containers":[{"image":"a"}]}})"),
            "failed to create typed patch object (default/p; /v1, Kind=Pod): .spec.containers: "
            "element 0: associative list with keys has an element that omits key field \"name\" "
            "(and doesn't have default value)");
}

TEST(Apply, MayBeBoundToARevision) {
  Harness api;
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"x":"1"}})"}));
  const auto stale = apply(api, kinds::kConfigMap, "c",
                           {"a", R"({"metadata":{"resourceVersion":"1"},"data":{"x":"2"}})"});
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, Code::Conflict);
}

TEST(Apply, DoesNotCreateForThoseWhoMayNot) {
  Harness api;
  RequestInfo info = as("a");
  info.create_refused = make_error(Code::Forbidden, "no");
  client::PatchWrite write{kinds::kConfigMap,        "default",    "c",
                           client::PatchType::Apply, JsonObject{}, ""};
  EXPECT_EQ(api.write(write, info).error().code, Code::Forbidden);
}

TEST(Apply, DryRunChangesNothing) {
  Harness api;
  RequestInfo info = as("a");
  info.dry_run = true;
  client::PatchWrite write{kinds::kConfigMap,
                           "default",
                           "c",
                           client::PatchType::Apply,
                           Harness::parsed(R"({"data":{"x":"1"}})"),
                           ""};
  const auto answer = api.write(write, info);
  ASSERT_TRUE(answer);
  EXPECT_EQ(managers(*answer->object->document()), Names{"a Apply v1 "});
  EXPECT_FALSE(api.registry().get(kinds::kConfigMap, "default", "c"));
}

TEST(Updates, AreTrackedByTheirManager) {
  Harness api;
  ASSERT_TRUE(api.create(kinds::kPod, testing::kPodJson, "default", as("kubectl-create")));
  ASSERT_TRUE(
      api.merge(kinds::kPod, "p", R"({"metadata":{"labels":{"x":"y"}}})", "", as("kubectl-label")));
  ASSERT_TRUE(
      api.merge(kinds::kPod, "p", R"({"status":{"phase":"Running"}})", "status", as("agent")));
  const Json stored = api.read(kinds::kPod, "p");
  EXPECT_EQ(managers(stored), (Names{"agent Update v1 status", "kubectl-create Update v1 ",
                                     "kubectl-label Update v1 "}));
  EXPECT_EQ(fields_of_entry(stored, 2), R"({"f:metadata":{"f:labels":{"f:x":{}}}})");
  const std::string created = fields_of_entry(stored, 1);
  EXPECT_NE(created.find(R"("f:labels":{".":{},"f:app":{}})"), std::string::npos) << created;
  EXPECT_NE(created.find(R"("f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{})"),
            std::string::npos)
      << created;
}

TEST(Updates, OfOneEmptyEntryForgetAll) {
  Harness api;
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"x":"1"}})"}));
  ASSERT_TRUE(api.merge(kinds::kConfigMap, "c", R"({"metadata":{"managedFields":[]}})"));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), Names{"a Apply v1 "});
  ASSERT_TRUE(api.merge(kinds::kConfigMap, "c", R"({"metadata":{"managedFields":[{}]}})"));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), Names{});
}

TEST(Updates, WithoutManagedFieldsKeepThem) {
  Harness api;
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"a", R"({"data":{"x":"1"}})"}));
  ASSERT_TRUE(api.update(kinds::kConfigMap, "c",
                         Harness::parsed(R"({"metadata":{"name":"c"},"data":{"x":"1","y":"1"}})"),
                         "", as("u")));
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), (Names{"a Apply v1 ", "u Update v1 "}));
}

TEST(Updates, MayRewriteManagedFieldsByHand) {
  Harness api;
  ASSERT_TRUE(api.create(kinds::kConfigMap, R"({"metadata":{"name":"c"},"data":{"x":"1"}})",
                         "default", as("kubectl-client-side-apply")));
  // As kubectl migrates from client-side apply.
  const Json before = api.read(kinds::kConfigMap, "c");
  JsonArray entries = *array_at(before, {"metadata", "managedFields"});
  entries[0].as_object()["manager"] = "kubectl";
  entries[0].as_object()["operation"] = "Apply";
  const JsonArray patch{
      JsonObject{{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", entries}},
      JsonObject{{"op", "replace"},
                 {"path", "/metadata/resourceVersion"},
                 {"value", text_at(before, {"metadata", "resourceVersion"})}}};
  const auto done = api.write(
      client::PatchWrite{kinds::kConfigMap, "default", "c", client::PatchType::Json, patch, ""},
      as("kubectl"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(managers(api.read(kinds::kConfigMap, "c")), Names{"kubectl Apply v1 "});
  // What was given up by the migrated manager goes.
  ASSERT_TRUE(apply(api, kinds::kConfigMap, "c", {"kubectl", R"({"data":{"z":"1"}})"}));
  EXPECT_EQ(to_json(api.read(kinds::kConfigMap, "c").at("data")), R"({"z":"1"})");
}

TEST(Updates, ThatChangeNothingMoveNoTimes) {
  Harness api;
  ASSERT_TRUE(api.create(kinds::kConfigMap, R"({"metadata":{"name":"c"},"data":{"x":"1"}})",
                         "default", as("a")));
  const Json before = api.read(kinds::kConfigMap, "c");
  api.clock().advance(60s);
  ASSERT_TRUE(api.update(kinds::kConfigMap, "c", before, "", as("b")));
  EXPECT_EQ(api.read(kinds::kConfigMap, "c"), before);
}

}  // namespace
}  // namespace krater::api
