#include "api/registry/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "api/registry/status.h"
#include "api/registry/testing/harness.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::kPodJson;
using testing::text_of;

constexpr std::string_view kMap = R"({"metadata":{"name":"m"},"data":{"a":"1"}})";

class RegistryTest : public ::testing::Test {
 protected:
  Harness h;
};

TEST_F(RegistryTest, ACreatedObjectCarriesTheServersFields) {
  const Result<Answer> made = h.create(kinds::kConfigMap, kMap);
  ASSERT_TRUE(made.has_value()) << text_of(made);
  EXPECT_TRUE(made->created);
  const Json map = h.read(kinds::kConfigMap, "m");
  EXPECT_EQ(text_at(map, {"apiVersion"}), "v1");
  EXPECT_EQ(text_at(map, {"kind"}), "ConfigMap");
  EXPECT_EQ(text_at(map, {"metadata", "namespace"}), "default");
  EXPECT_EQ(text_at(map, {"metadata", "creationTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(text_at(map, {"metadata", "uid"}).size(), 36U);
  EXPECT_EQ(text_at(map, {"metadata", "resourceVersion"}), made->object->revision().text());
  EXPECT_EQ(h.store().revision(), made->object->revision());
}

TEST_F(RegistryTest, ASecondCreateIsAlreadyThere) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  const Result<Answer> again = h.create(kinds::kConfigMap, kMap);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, Code::AlreadyExists);
  EXPECT_EQ(again.error().message, "configmaps \"m\" already exists");
}

TEST_F(RegistryTest, TheClientCannotSetWhatIsTheServers) {
  const Result<Answer> made = h.create(
      kinds::kConfigMap,
      R"({"metadata":{"name":"m","uid":"mine","selfLink":"/x","creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":"2001-01-01T00:00:00Z"}})");
  ASSERT_TRUE(made.has_value()) << text_of(made);
  EXPECT_NE(made->object->uid(), Uid("mine"));
  EXPECT_FALSE(made->object->deletion().has_value());
  EXPECT_EQ(find(*made->object->document(), {"metadata", "selfLink"}), nullptr);
  const Result<Answer> versioned =
      h.create(kinds::kConfigMap, R"({"metadata":{"name":"n","resourceVersion":"5"}})");
  ASSERT_FALSE(versioned.has_value());
  EXPECT_EQ(versioned.error().message,
            "resourceVersion should not be set on objects to be created");
}

TEST_F(RegistryTest, BodyAndUrlMustAgree) {
  const auto message = [&](std::string_view json) {
    return text_of(h.create(kinds::kConfigMap, json));
  };
  EXPECT_EQ(
      message(R"({"metadata":{"name":"m","namespace":"other"}})"),
      "the namespace of the provided object does not match the namespace sent on the request");
  const Result<Answer> above =
      h.create(kinds::kPriorityClass, R"({"metadata":{"name":"p","namespace":"other"},"value":1})");
  ASSERT_TRUE(above.has_value());  // where there is no namespace, one that is named is dropped
  EXPECT_EQ(text_at(*above->object->document(), {"metadata", "namespace"}), "");
  EXPECT_EQ(message(R"({"apiVersion":"v2","metadata":{"name":"m"}})"),
            "the API version in the data (v2) does not match the expected API version (v1)");
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  EXPECT_EQ(
      text_of(h.update(kinds::kConfigMap, "m", Harness::parsed(R"({"metadata":{"name":"x"}})"))),
      "the name of the object (x) does not match the name on the URL (m)");
}

TEST_F(RegistryTest, GeneratedNamesAreShortEnoughAndDistinct) {
  std::set<std::string> names;
  for (int i = 0; i < 200; ++i) {
    const Result<Answer> made =
        h.create(kinds::kConfigMap, R"({"metadata":{"generateName":"load-"}})");
    ASSERT_TRUE(made.has_value()) << text_of(made);
    names.insert(made->object->name());
    EXPECT_EQ(made->object->name().find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 5),
              std::string::npos)
        << made->object->name();
    EXPECT_EQ(made->object->name().size(), 10U);
  }
  EXPECT_EQ(names.size(), 200U);
  const std::string base(60, 'a');
  const Result<Answer> made =
      h.create(kinds::kConfigMap, R"({"metadata":{"generateName":")" + base + R"("}})");
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->object->name().size(), 63U);
  EXPECT_EQ(text_at(*made->object->document(), {"metadata", "generateName"}), base);
}

TEST_F(RegistryTest, WhatNamesAreMadeOfIsCheckedToo) {
  const auto refused = [this](const std::string& metadata) {
    const Result<Answer> made = h.create(kinds::kConfigMap, R"({"metadata":)" + metadata + "}");
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(refused(R"({"generateName":"a-"})"), "");
  EXPECT_NE(
      refused(R"({"generateName":"a."})").find("metadata.generateName: Invalid value: \"a.\""),
      std::string::npos);
  EXPECT_NE(
      refused(R"({"name":"fine","generateName":"Ab"})").find("metadata.generateName: Invalid"),
      std::string::npos);
  const std::string both = refused(R"({"generateName":"Ab"})");
  EXPECT_NE(both.find("metadata.generateName: Invalid value: \"Ab\""), std::string::npos) << both;
  EXPECT_NE(both.find("metadata.name: Invalid value: \"Ab"), std::string::npos) << both;
}

TEST_F(RegistryTest, BadNamesAreInvalid) {
  const Result<Answer> made = h.create(kinds::kConfigMap, R"({"metadata":{"name":"A_b"}})");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::Invalid);
  ASSERT_EQ(made.error().causes.size(), 1U);
  EXPECT_EQ(made.error().causes[0].field, "metadata.name");
}

TEST_F(RegistryTest, AnUpdateWithAnOldRevisionIsAConflict) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  Json map = h.read(kinds::kConfigMap, "m");
  set_path(map, {"data", "a"}, "2");
  ASSERT_TRUE(h.update(kinds::kConfigMap, "m", map).has_value());
  set_path(map, {"data", "a"}, "3");
  const Result<Answer> late = h.update(kinds::kConfigMap, "m", map);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::Conflict);
  EXPECT_EQ(late.error().message,
            "Operation cannot be fulfilled on configmaps \"m\": the object has been modified; "
            "please apply your changes to "
            "the latest version and try again");
  erase_path(map, {"metadata", "resourceVersion"});
  EXPECT_TRUE(h.update(kinds::kConfigMap, "m", map).has_value());
}

TEST_F(RegistryTest, CustomKindsAreNotOverwrittenUnseen) {
  ASSERT_TRUE(
      h.create(kinds::kQueue, R"({"metadata":{"name":"q"},"spec":{"weight":1}})").has_value());
  const Result<Answer> unseen = h.update(
      kinds::kQueue, "q", Harness::parsed(R"({"metadata":{"name":"q"},"spec":{"weight":2}})"));
  ASSERT_FALSE(unseen.has_value());
  EXPECT_EQ(unseen.error().message,
            "Queue.scheduling.volcano.sh \"q\" is invalid: metadata.resourceVersion: Invalid "
            "value: 0: must be specified for an update");
}

TEST_F(RegistryTest, AWriteThatChangesNothingStoresNothing) {
  ASSERT_TRUE(h.create(kinds::kPod, kPodJson).has_value());
  const Revision before = h.store().revision();
  const Result<Answer> same = h.merge(kinds::kPod, "p", R"({"metadata":{"labels":{"app":"a"}}})");
  ASSERT_TRUE(same.has_value()) << text_of(same);
  EXPECT_EQ(h.store().revision(), before);
  ASSERT_TRUE(h.update(kinds::kPod, "p", h.read(kinds::kPod, "p")).has_value());
  EXPECT_EQ(h.store().revision(), before);
}

TEST_F(RegistryTest, TheMainEndpointKeepsTheStatusAndTheStatusEndpointTheSpec) {
  ASSERT_TRUE(h.create(kinds::kPod, kPodJson).has_value());
  Json pod = h.read(kinds::kPod, "p");
  set_path(pod, {"status", "phase"}, "Running");
  set_path(pod, {"metadata", "labels", "app"}, "b");
  ASSERT_TRUE(h.update(kinds::kPod, "p", pod).has_value());
  pod = h.read(kinds::kPod, "p");
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Pending");
  EXPECT_EQ(text_at(pod, {"metadata", "labels", "app"}), "b");
  set_path(pod, {"status", "phase"}, "Running");
  set_path(pod, {"spec", "priority"}, 7);
  ASSERT_TRUE(h.update(kinds::kPod, "p", pod, "status").has_value());
  pod = h.read(kinds::kPod, "p");
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Running");
  EXPECT_NE(int_at(pod, {"spec", "priority"}), 7);
}

TEST_F(RegistryTest, MetadataThatComesWithAStatusCounts) {
  ASSERT_TRUE(h.create(kinds::kPod, kPodJson).has_value());
  const Result<Answer> said = h.merge(
      kinds::kPod, "p",
      R"({"metadata":{"labels":{"l":"1"},"annotations":{"a":"2"},"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]},"status":{"phase":"Running"}})",
      "status");
  ASSERT_TRUE(said.has_value()) << text_of(said);
  const Json pod = h.read(kinds::kPod, "p");
  EXPECT_EQ(text_at(pod, {"metadata", "labels", "l"}), "1");
  EXPECT_EQ(text_at(pod, {"metadata", "annotations", "a"}), "2");
  EXPECT_EQ(find(pod, {"metadata", "ownerReferences"}), nullptr);  // not of a pod
  EXPECT_EQ(text_at(pod, {"status", "phase"}), "Running");
  // Who writes statuses in this process says nothing of the rest.
  RequestInfo inside;
  inside.in_process = true;
  ASSERT_TRUE(h.update(kinds::kPod, "p",
                       Harness::parsed(R"({"metadata":{"name":"p"},"status":{"phase":"Failed"}})"),
                       "status", inside)
                  .has_value());
  EXPECT_EQ(text_at(h.read(kinds::kPod, "p"), {"metadata", "labels", "l"}), "1");
}

TEST_F(RegistryTest, ANamespacesFinalizersAndPhaseHaveDoorsOfTheirOwn) {
  ASSERT_TRUE(h.create(kinds::kNamespace, R"({"metadata":{"name":"n"}})").has_value());
  ASSERT_TRUE(
      h.merge(
           kinds::kNamespace, "n",
           R"({"metadata":{"labels":{"a":"b"}},"spec":{"finalizers":null},"status":{"phase":"X"}})")
          .has_value());
  const Json kept = h.read(kinds::kNamespace, "n");
  EXPECT_EQ(to_json(*find(kept, {"spec", "finalizers"})), R"(["kubernetes"])");
  EXPECT_EQ(text_at(kept, {"status", "phase"}), "Active");
  EXPECT_EQ(text_at(kept, {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(text_of(h.merge(kinds::kNamespace, "n", R"({"status":{"phase":"X"}})", "status")),
            "Namespace \"n\" is invalid: status.Phase: Invalid value: \"X\": may only be 'Active' "
            "if `deletionTimestamp` is empty");
  ASSERT_TRUE(h.remove(kinds::kNamespace, "n").has_value());
  EXPECT_EQ(text_at(h.read(kinds::kNamespace, "n"), {"status", "phase"}), "Terminating");
  ASSERT_TRUE(h.update(kinds::kNamespace, "n",
                       Harness::parsed(R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})"),
                       "finalize")
                  .has_value());
  EXPECT_TRUE(h.read(kinds::kNamespace, "n").as_object().empty());
}

TEST_F(RegistryTest, WhatAPatchMakesOfAnObjectIsInvalidRatherThanABadRequest) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  const Result<Answer> wrong = h.merge(kinds::kConfigMap, "m", R"({"data":{"a":[1]}})");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, Code::Invalid);
  EXPECT_TRUE(wrong.error().message.starts_with(" \"\" is invalid: patch: Invalid value: "))
      << wrong.error().message;
  RequestInfo strict;
  strict.field_validation = FieldValidation::Strict;
  const Result<Answer> unknown =
      h.merge(kinds::kConfigMap, "m", R"({"foo":1})", "", std::move(strict));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, Code::Invalid);
  EXPECT_NE(unknown.error().message.find("strict decoding error: unknown field \"foo\""),
            std::string::npos);
  const Result<Answer> other = h.merge(kinds::kConfigMap, "m", R"({"metadata":{"uid":"z"}})");
  EXPECT_EQ(text_of(other),
            "ConfigMap \"m\" is invalid: metadata.uid: Invalid value: \"z\": field is immutable");
}

TEST_F(RegistryTest, WrongTypesInQueuesAreToldAndNotTakenForMissingOnes) {
  const Kind queues = h.schemas().find_resource("queues.scheduling.volcano.sh")->kind();
  const Result<Answer> made =
      h.create(queues, R"({"metadata":{"name":"q"},"spec":{"weight":"x"}})");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::Invalid);
  EXPECT_NE(made.error().message.find("spec.weight: Invalid value: "), std::string::npos)
      << made.error().message;
}

TEST_F(RegistryTest, GenerationCountsIntentOnly) {
  ASSERT_TRUE(
      h.create(kinds::kQueue, R"({"metadata":{"name":"q"},"spec":{"weight":1}})").has_value());
  const auto generation = [&] {
    return int_at(h.read(kinds::kQueue, "q"), {"metadata", "generation"});
  };
  EXPECT_EQ(generation(), 1);
  ASSERT_TRUE(h.merge(kinds::kQueue, "q", R"({"spec":{"weight":2}})").has_value());
  EXPECT_EQ(generation(), 2);
  const Result<Answer> opened =
      h.merge(kinds::kQueue, "q", R"({"status":{"state":"Open","allocated":{}}})", "status");
  ASSERT_TRUE(opened.has_value()) << text_of(opened);
  ASSERT_TRUE(h.merge(kinds::kQueue, "q", R"({"metadata":{"labels":{"a":"b"}}})").has_value());
  EXPECT_EQ(generation(), 2);
  EXPECT_EQ(text_at(h.read(kinds::kQueue, "q"), {"status", "state"}), "Open");
}

// API-03
TEST_F(RegistryTest, StrategicPatchesAreForBuiltInKindsOnly) {
  ASSERT_TRUE(h.create(kinds::kQueue,
                       R"({"metadata":{"name":"pq"},"spec":{"weight":1,"capability":{"cpu":"1"}}})")
                  .has_value());
  const Revision before = h.store().revision();
  const auto patch = [&](const Kind& kind, std::string name, client::PatchType type,
                         std::string_view json) {
    return h.write(client::PatchWrite{kind, kind.namespaced ? "default" : "", std::move(name), type,
                                      Harness::parsed(json)});
  };
  const Result<Answer> strategic =
      patch(kinds::kQueue, "pq", client::PatchType::StrategicMerge, R"({"spec":{"weight":2}})");
  ASSERT_FALSE(strategic.has_value());
  EXPECT_EQ(strategic.error().code, Code::UnsupportedMedia);
  EXPECT_EQ(h.store().revision(), before);
  ASSERT_TRUE(patch(kinds::kQueue, "pq", client::PatchType::Merge,
                    R"({"spec":{"capability":{"cpu":null,"memory":"2Gi"}}})")
                  .has_value());
  EXPECT_EQ(to_json(*find(h.read(kinds::kQueue, "pq"), {"spec", "capability"})),
            R"({"memory":"2Gi"})");
  const Result<Answer> failed = patch(
      kinds::kQueue, "pq", client::PatchType::Json,
      R"([{"op":"replace","path":"/spec/weight","value":9},{"op":"test","path":"/spec/weight","value":3}])");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::Invalid);
  EXPECT_EQ(int_at(h.read(kinds::kQueue, "pq"), {"spec", "weight"}), 1);

  ASSERT_TRUE(h.create(kinds::kPod, R"({"metadata":{"name":"pp","annotations":{"a":"1","b":"2"}},
      "spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"busybox:1.36"}]}})")
                  .has_value());
  const Result<Answer> pod = patch(kinds::kPod, "pp", client::PatchType::StrategicMerge,
                                   R"({"metadata":{"labels":{"x":"y"},"annotations":{"a":null}}})");
  ASSERT_TRUE(pod.has_value()) << text_of(pod);
  EXPECT_EQ(to_json(*find(*pod->object->document(), {"metadata", "annotations"})), R"({"b":"2"})");
  const Result<Answer> stale = patch(kinds::kPod, "pp", client::PatchType::Merge,
                                     R"({"metadata":{"resourceVersion":"1","labels":{"x":"z"}}})");
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, Code::Conflict);
}

TEST_F(RegistryTest, PatchesOfManyClientsAllArrive) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  std::vector<std::thread> clients;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      for (int n = 0; n < 20; ++n) {
        const std::string key = "k" + std::to_string(i) + "-" + std::to_string(n);
        if (!h.merge(kinds::kConfigMap, "m", R"({"data":{")" + key + R"(":"x"}})").has_value())
          ++failed;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(object_at(h.read(kinds::kConfigMap, "m"), {"data"})->size(), 81U);
}

TEST_F(RegistryTest, UnknownFieldsWarnOrFail) {
  constexpr std::string_view json =
      R"({"metadata":{"name":"p"},"spec":{"foo":1,"containers":[{"name":"main","image":"busybox:1.36"}]}})";
  RequestInfo strict;
  strict.field_validation = FieldValidation::Strict;
  strict.duplicate_fields = {"spec.x"};
  const Result<Answer> refused = h.create(kinds::kPod, json, "default", strict);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::BadRequest);
  EXPECT_EQ(refused.error().message,
            "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown "
            "field \"spec.foo\", duplicate field "
            "\"spec.x\"");
  const Result<Answer> warned = h.create(kinds::kPod, json);
  ASSERT_TRUE(warned.has_value()) << text_of(warned);
  ASSERT_EQ(warned->warnings.size(), 1U);
  EXPECT_EQ(warned->warnings[0], "unknown field \"spec.foo\"");
  EXPECT_EQ(find(*warned->object->document(), {"spec", "foo"}), nullptr);
}

TEST_F(RegistryTest, ADryRunStoresNothing) {
  const Revision before = h.store().revision();
  RequestInfo dry;
  dry.dry_run = true;
  const Result<Answer> made = h.create(kinds::kPod, kPodJson, "default", dry);
  ASSERT_TRUE(made.has_value()) << text_of(made);
  EXPECT_EQ(text_at(*made->object->document(), {"status", "phase"}), "Pending");
  EXPECT_EQ(find(*made->object->document(), {"metadata", "resourceVersion"}), nullptr);
  EXPECT_EQ(h.store().revision(), before);
  const Result<ObjectPtr> there = h.registry().get(kinds::kPod, "default", "p");
  ASSERT_FALSE(there.has_value());
  EXPECT_EQ(there.error().code, Code::NotFound);
}

TEST_F(RegistryTest, NothingIsMadeInANamespaceThatIsNotThereOrGoes) {
  const Result<Answer> nowhere = h.create(kinds::kConfigMap, kMap, "gone");
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().message, "namespaces \"gone\" not found");
  ASSERT_TRUE(h.create(kinds::kNamespace, R"({"metadata":{"name":"hang"}})").has_value());
  const Result<Answer> deleted = h.remove(kinds::kNamespace, "hang");
  ASSERT_TRUE(deleted.has_value()) << text_of(deleted);
  EXPECT_FALSE(deleted->gone);
  EXPECT_EQ(text_at(h.read(kinds::kNamespace, "hang"), {"status", "phase"}), "Terminating");
  const Result<Answer> late = h.create(kinds::kConfigMap, kMap, "hang");
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, Code::Forbidden);
  EXPECT_EQ(late.error().message,
            "configmaps \"m\" is forbidden: unable to create new content in namespace hang because "
            "it is being terminated");
  ASSERT_EQ(late.error().causes.size(), 1U);
  EXPECT_EQ(late.error().causes[0].reason, "NamespaceTerminating");
  const Result<Answer> finalized = h.update(
      kinds::kNamespace, "hang",
      Harness::parsed(R"({"metadata":{"name":"hang"},"spec":{"finalizers":[]}})"), "finalize");
  ASSERT_TRUE(finalized.has_value()) << text_of(finalized);
  EXPECT_TRUE(finalized->gone);
  EXPECT_FALSE(h.registry().get(kinds::kNamespace, "", "hang").has_value());
}

TEST_F(RegistryTest, TheDefaultNamespacesStay) {
  const Result<Answer> deleted = h.remove(kinds::kNamespace, "kube-system");
  ASSERT_FALSE(deleted.has_value());
  EXPECT_EQ(deleted.error().message,
            "namespaces \"kube-system\" is forbidden: this namespace may not be deleted");
}

// API-06
TEST_F(RegistryTest, FinalizersHoldAnObjectUntilTheLastIsRemoved) {
  ASSERT_TRUE(
      h.create(kinds::kConfigMap,
               R"({"metadata":{"name":"held","finalizers":["example.com/hold"]},"data":{"a":"1"}})")
          .has_value());
  const Result<Answer> deleted = h.remove(kinds::kConfigMap, "held");
  ASSERT_TRUE(deleted.has_value()) << text_of(deleted);
  EXPECT_FALSE(deleted->gone);
  const auto marked = deleted->object->deletion();
  EXPECT_TRUE(marked.has_value());
  h.clock().advance(10s);

  const Result<Answer> added =
      h.merge(kinds::kConfigMap, "held",
              R"({"metadata":{"finalizers":["example.com/hold","example.com/more"]}})");
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, Code::Invalid);
  EXPECT_NE(
      added.error().message.find("no new finalizers can be added if the object is being deleted, "
                                 "found new finalizers []string{\"example.com/more\"}"),
      std::string::npos)
      << added.error().message;
  EXPECT_TRUE(h.merge(kinds::kConfigMap, "held", R"({"data":{"a":"2"}})").has_value());
  const Result<Answer> again = h.remove(kinds::kConfigMap, "held");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->object->deletion(), marked);

  const Result<std::unique_ptr<Watch>> watch = h.registry().watch(
      kinds::kConfigMap, {"default", "", "", h.store().revision().text()}, [] {});
  ASSERT_TRUE(watch.has_value());
  const Result<Answer> removed = h.write(
      client::PatchWrite{kinds::kConfigMap, "default", "held", client::PatchType::Json,
                         Harness::parsed(R"([{"op":"remove","path":"/metadata/finalizers/0"}])")});
  ASSERT_TRUE(removed.has_value()) << text_of(removed);
  EXPECT_TRUE(removed->gone);
  EXPECT_EQ(removed->object->revision(), h.store().revision());
  EXPECT_FALSE(h.registry().get(kinds::kConfigMap, "default", "held").has_value());
  const auto events = (*watch)->next(10);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().type, WatchEvent::Type::Deleted);
  EXPECT_EQ(events->front().revision, removed->object->revision());
  EXPECT_TRUE(events->front().object->finalizers().empty());
  EXPECT_EQ(text_at(*events->front().object->document(), {"data", "a"}), "2");
}

TEST_F(RegistryTest, DeletePreconditionsNameBothValues) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  client::DeleteWrite options;
  options.only_uid = Uid("x");
  const Result<Answer> refused = h.remove(kinds::kConfigMap, "m", options);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Conflict);
  EXPECT_NE(refused.error().message.find(
                "Precondition failed: UID in precondition: x, UID in object meta: "),
            std::string::npos);
}

TEST_F(RegistryTest, DeleteAnswersWithTheObjectOrWithSuccess) {
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());
  const Result<Answer> gone = h.remove(kinds::kConfigMap, "m");
  ASSERT_TRUE(gone.has_value());
  const Json body = Harness::parsed(*delete_body(kinds::kConfigMap, *gone));
  EXPECT_EQ(text_at(body, {"status"}), "Success");
  EXPECT_EQ(text_at(body, {"details", "kind"}), "configmaps");
  EXPECT_EQ(text_at(body, {"details", "uid"}), gone->object->uid().text());
  ASSERT_TRUE(h.create(kinds::kPod, kPodJson).has_value());
  const Result<Answer> pod = h.remove(kinds::kPod, "p");
  ASSERT_TRUE(pod.has_value());
  EXPECT_TRUE(pod->gone);
  EXPECT_EQ(text_at(Harness::parsed(*delete_body(kinds::kPod, *pod)), {"kind"}), "Pod");
}

TEST_F(RegistryTest, ACollectionIsDeletedBySelector) {
  for (const std::string& name : std::vector<std::string>{"a", "b", "c"}) {
    ASSERT_TRUE(h.create(kinds::kConfigMap, R"({"metadata":{"name":")" + name +
                                                R"(","labels":{"odd":")" +
                                                (name == "b" ? "no" : "yes") + R"("}}})")
                    .has_value());
  }
  std::promise<Result<std::vector<Answer>>> done;
  h.registry().delete_collection(
      kinds::kConfigMap, {"default", "odd=yes"}, {}, {},
      [&](Result<std::vector<Answer>> answers) { done.set_value(std::move(answers)); });
  const Result<std::vector<Answer>> answers = done.get_future().get();
  ASSERT_TRUE(answers.has_value());
  EXPECT_EQ(answers->size(), 2U);
  const Result<ListResult> left = h.registry().list(kinds::kConfigMap, {"default"});
  ASSERT_TRUE(left.has_value());
  ASSERT_EQ(left->items.size(), 1U);
  EXPECT_EQ(left->items[0]->name(), "b");
}

TEST_F(RegistryTest, PreconditionsOfACollectionAreAboutEachOfIt) {
  for (const std::string& name : std::vector<std::string>{"a", "b"})
    ASSERT_TRUE(
        h.create(kinds::kConfigMap, R"({"metadata":{"name":")" + name + R"("}})").has_value());
  client::DeleteWrite options;
  options.only_uid = Uid("x");
  std::promise<Result<std::vector<Answer>>> done;
  h.registry().delete_collection(
      kinds::kConfigMap, {"default"}, options, {},
      [&](Result<std::vector<Answer>> answers) { done.set_value(std::move(answers)); });
  const Result<std::vector<Answer>> answers = done.get_future().get();
  ASSERT_FALSE(answers.has_value());
  EXPECT_EQ(answers.error().code, Code::Conflict);
  EXPECT_EQ(h.registry().list(kinds::kConfigMap, {"default"})->items.size(), 2U);
}

TEST_F(RegistryTest, AJobKeepsItsPodsUnlessTheClientSaysOtherwise) {
  constexpr std::string_view kJobJson =
      R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"x"}]}}}})";
  ASSERT_TRUE(h.create(kinds::kJob, kJobJson).has_value());
  EXPECT_EQ(text_at(h.read(kinds::kJob, "j"), {"metadata", "labels", "job-name"}), "j");
  const Result<Answer> unsaid = h.remove(kinds::kJob, "j");
  ASSERT_TRUE(unsaid.has_value());
  EXPECT_FALSE(unsaid->gone);
  EXPECT_EQ(to_json(*find(h.read(kinds::kJob, "j"), {"metadata", "finalizers"})), R"(["orphan"])");
  ASSERT_EQ(unsaid->warnings.size(), 1U);
  EXPECT_TRUE(unsaid->warnings[0].starts_with("child pods are preserved by default"));
  ASSERT_TRUE(h.merge(kinds::kJob, "j", R"({"metadata":{"finalizers":null}})").has_value());
  ASSERT_TRUE(h.create(kinds::kJob, kJobJson).has_value());
  client::DeleteWrite said;
  said.propagation = client::Propagation::Background;
  const Result<Answer> background = h.remove(kinds::kJob, "j", said);
  ASSERT_TRUE(background.has_value());
  EXPECT_TRUE(background->gone);
  EXPECT_TRUE(background->warnings.empty());
}

TEST_F(RegistryTest, AGangBindsAsAWholeOrNotAtAll) {
  for (const std::string& name : std::vector<std::string>{"a", "b"}) {
    ASSERT_TRUE(h.create(kinds::kPod, R"({"metadata":{"name":")" + name +
                                          R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})")
                    .has_value());
  }
  const auto bind = [](std::string pod) {
    return client::BindWrite{"default", std::move(pod), Uid(), NodeName("n1"), {{"why", "gang"}}};
  };
  const Revision before = h.store().revision();
  const Result<std::vector<Answer>> broken = h.transact({bind("a"), bind("missing")});
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, Code::NotFound);
  ASSERT_FALSE(broken.error().causes.empty());
  EXPECT_EQ(broken.error().causes[0].field, "[1]");
  EXPECT_EQ(h.store().revision(), before);
  const Result<std::vector<Answer>> bound = h.transact({bind("a"), bind("b")});
  ASSERT_TRUE(bound.has_value()) << bound.error().message;
  const Json pod = h.read(kinds::kPod, "b");
  EXPECT_EQ(text_at(pod, {"spec", "nodeName"}), "n1");
  EXPECT_EQ(text_at(pod, {"metadata", "annotations", "why"}), "gang");
  EXPECT_EQ(text_at((*array_at(pod, {"status", "conditions"}))[0], {"type"}), "PodScheduled");
  EXPECT_TRUE(h.write(client::PatchWrite{kinds::kPod, "default", "b", client::PatchType::Merge,
                                         *parse_json(R"({"metadata":{"labels":{"a":"b"}}})")})
                  .has_value());  // what binding wrote is valid
  const Result<Answer> again = h.write(client::BindWrite{"default", "a", Uid(), NodeName("n2")});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(
      again.error().message,
      "Operation cannot be fulfilled on pods \"a\": pod a is already assigned to node \"n1\"");
}

TEST_F(RegistryTest, LaterWritesOfATransactionSeeTheEarlierOnes) {
  const Result<std::vector<Answer>> made = h.transact({
      client::CreateWrite{kinds::kNamespace, "",
                          Harness::parsed(R"({"metadata":{"name":"team"}})")},
      client::CreateWrite{kinds::kConfigMap, "team", Harness::parsed(kMap)},
      client::PatchWrite{kinds::kConfigMap, "team", "m", client::PatchType::Merge,
                         Harness::parsed(R"({"data":{"b":"2"}})")},
  });
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(to_json(*find(h.read(kinds::kConfigMap, "m", "team"), {"data"})),
            R"({"a":"1","b":"2"})");
}

// API-07
TEST_F(RegistryTest, LargeObjectsAreStoredOrRefusedClearly) {
  const auto map = [](std::size_t bytes) {
    return R"({"metadata":{"name":"big"},"data":{"a":")" + std::string(bytes, 'x') + R"("}})";
  };
  const Result<Answer> big = h.create(kinds::kConfigMap, map(1'200'000));
  ASSERT_FALSE(big.has_value());
  EXPECT_EQ(big.error().code, Code::Invalid);
  EXPECT_NE(big.error().message.find("1048576"), std::string::npos) << big.error().message;
  ASSERT_TRUE(h.create(kinds::kConfigMap, map(300'000)).has_value());
  EXPECT_EQ(text_at(h.read(kinds::kConfigMap, "big"), {"data", "a"}).size(), 300'000U);
  const std::string last(300'000, 'y');
  const Result<Answer> annotated = h.merge(
      kinds::kConfigMap, "big", R"({"metadata":{"annotations":{"last":")" + last + R"("}}})");
  ASSERT_FALSE(annotated.has_value());
  EXPECT_EQ(annotated.error().code, Code::Invalid);
  EXPECT_NE(annotated.error().message.find(
                "metadata.annotations: Too long: may not be more than 262144 bytes"),
            std::string::npos)
      << annotated.error().message;
}

TEST_F(RegistryTest, OldEventsGo) {
  const auto event = [](std::string name) {
    return R"({"metadata":{"name":")" + name +
           R"("},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},"reason":"R","type":"Normal","source":{"component":"c"}})";
  };
  ASSERT_TRUE(h.create(kinds::kEvent, event("old")).has_value());
  ASSERT_TRUE(h.create(kinds::kEvent, event("touched")).has_value());
  h.clock().advance(59min);
  ASSERT_TRUE(
      h.merge(kinds::kEvent, "touched", R"({"count":2,"lastTimestamp":"2026-01-01T00:59:00Z"})")
          .has_value());
  ASSERT_TRUE(h.create(kinds::kEvent, event("new")).has_value());
  h.clock().advance(2min);
  h.registry().expire_events();
  ASSERT_TRUE(h.create(kinds::kConfigMap, kMap).has_value());  // queued behind the expiry
  EXPECT_FALSE(h.registry().get(kinds::kEvent, "default", "old").has_value());
  EXPECT_TRUE(h.registry().get(kinds::kEvent, "default", "touched").has_value());
  EXPECT_TRUE(h.registry().get(kinds::kEvent, "default", "new").has_value());
}

TEST_F(RegistryTest, EventsOfBothGroupsAreOneObject) {
  const Kind events_v1{"events.k8s.io", "v1", "Event", "events", true};
  const Result<Answer> made = h.create(
      events_v1,
      R"({"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"c","reportingInstance":"i",
          "action":"a","reason":"r","type":"Normal","note":"words","regarding":{"kind":"Pod","namespace":"default","name":"p"}})");
  ASSERT_TRUE(made.has_value()) << text_of(made);
  EXPECT_EQ(text_at(*made->object->document(), {"note"}), "words");
  const Json core = h.read(kinds::kEvent, "e");
  EXPECT_EQ(text_at(core, {"apiVersion"}), "v1");
  EXPECT_EQ(text_at(core, {"message"}), "words");
  EXPECT_EQ(text_at(core, {"involvedObject", "name"}), "p");
  const Result<ListResult> listed =
      h.registry().list(events_v1, {"default", "", "regarding.name=p"});
  ASSERT_TRUE(listed.has_value()) << listed.error().message;
  ASSERT_EQ(listed->items.size(), 1U);
  EXPECT_EQ(text_at(*listed->items[0]->document(), {"apiVersion"}), "events.k8s.io/v1");
  const Result<Answer> patched = h.write(client::PatchWrite{
      events_v1, "default", "e", client::PatchType::Merge, Harness::parsed(R"({"note":"more"})")});
  ASSERT_TRUE(patched.has_value()) << text_of(patched);
  EXPECT_EQ(text_at(h.read(kinds::kEvent, "e"), {"message"}), "more");
}

}  // namespace
}  // namespace krater::api
