#include "controllers/gc/gc_controller.h"

#include <gtest/gtest.h>

#include "controllers/gc/absentees.h"
#include "controllers/loop/testing/world.h"

namespace krater::controllers {
namespace {

using client::Propagation;

struct GcTest : ::testing::Test {
  testing::World world;
  GarbageCollector* collector = nullptr;

  void start(std::vector<Kind> kinds = {kinds::kConfigMap, kinds::kPod, kinds::kSecret,
                                        kinds::kNode, kinds::kJob}) {
    world.controllers.add([&](Enqueue wake) {
      auto made = make_gc_controller({world.fake, std::move(wake), kinds});
      collector = made.get();
      return made;
    });
    world.controllers.start();
    world.settle();
  }
  ObjectPtr make(const Kind& kind, const std::string& name, const std::vector<Json>& owners = {},
                 const std::string& name_space = "d") {
    Json object = new_object(kind, name_space, name);
    if (!owners.empty()) {
      set_path(object, {"metadata", "ownerReferences"}, JsonArray(owners.begin(), owners.end()));
    }
    const ObjectPtr out = world.fake.put(kind, std::move(object));
    world.settle();
    return out;
  }
  static Json owned_by(const ObjectPtr& owner, bool blocking = true) {
    Json reference = controller_reference(*owner);
    reference.get_object()["blockOwnerDeletion"] = blocking;
    return reference;
  }
  bool there(const Kind& kind, const std::string& name) const {
    return world.get(kind, "d", name) != nullptr;
  }
  void remove(const Kind& kind, const std::string& name,
              Propagation how = Propagation::Background) {
    world.remove(kind, "d", name, how);
    world.settle();
  }
};

TEST_F(GcTest, DependentsGoWithTheirOwnerDownTheTree) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  const ObjectPtr pod = make(kinds::kPod, "pod", {owned_by(owner)});
  make(kinds::kConfigMap, "leaf", {owned_by(pod)});
  make(kinds::kConfigMap, "stranger");
  EXPECT_TRUE(there(kinds::kConfigMap, "leaf"));
  remove(kinds::kJob, "job");
  EXPECT_FALSE(there(kinds::kPod, "pod"));
  EXPECT_FALSE(there(kinds::kConfigMap, "leaf"));
  EXPECT_TRUE(there(kinds::kConfigMap, "stranger"));
}

TEST_F(GcTest, AnOwnerMadeAnewIsAnotherOwner) {
  const ObjectPtr old = make(kinds::kJob, "job");
  make(kinds::kPod, "pod", {owned_by(old)});
  world.remove(kinds::kJob, "d", "job");
  make(kinds::kJob, "job");
  start();  // sees only the new one
  EXPECT_FALSE(there(kinds::kPod, "pod"));
  EXPECT_TRUE(there(kinds::kJob, "job"));
}

TEST_F(GcTest, AnOwnerTheCacheHasNotSeenIsVerifiedFirst) {
  // The owner is there, but its kind is not among those watched as objects change: only the source
  // knows it.
  start({kinds::kConfigMap});
  const ObjectPtr owner = make(kinds::kSecret, "late");
  make(kinds::kConfigMap, "kept", {owned_by(owner)});
  world.pass(1min);
  EXPECT_TRUE(there(kinds::kConfigMap, "kept"));
  world.controllers.add_interest(collector->name(), collector->add_kind(kinds::kSecret));
  world.pass(1min);
  EXPECT_TRUE(there(kinds::kConfigMap, "kept"));
  remove(kinds::kSecret, "late");
  EXPECT_FALSE(there(kinds::kConfigMap, "kept"));
}

TEST_F(GcTest, AnUnreachableSourceDeletesNothing) {
  const Json ghost = owned_by(make(kinds::kJob, "ghost"));
  world.remove(kinds::kJob, "d", "ghost");
  make(kinds::kPod, "pod", {ghost});
  world.fake.fail_get = [](const ObjectKey&) { return make_error(Code::Unavailable, "no"); };
  start();
  world.pass(1min);
  EXPECT_TRUE(there(kinds::kPod, "pod"));
  world.fake.fail_get = nullptr;
  world.pass(10s);
  EXPECT_FALSE(there(kinds::kPod, "pod"));
}

TEST_F(GcTest, WhatTheCacheDoesNotShowIsAskedOnceForAll) {
  const ObjectPtr late = make(kinds::kSecret, "late");
  std::vector<std::string> woken;
  Absentees absentees(world.fake, [&](const ObjectKey& key) { woken.push_back(key.name); });
  const auto ask = [&](const Uid& uid, const char* who) {
    absentees.ask(kinds::kSecret, "d", "late", uid, ObjectKey::of(kinds::kPod, "d", who));
  };
  ask(late->uid(), "a");
  ask(late->uid(), "b");
  ask(Uid("another"), "c");
  world.settle();
  EXPECT_EQ(woken, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(absentees.take_present(late->uid()));
  EXPECT_FALSE(absentees.take_present(late->uid()));
  EXPECT_FALSE(absentees.knows(late->uid()));
  EXPECT_TRUE(absentees.knows(Uid("another")));
}

TEST_F(GcTest, WithAnotherOwnerLeftOnlyTheReferenceGoes) {
  start();
  const ObjectPtr a = make(kinds::kJob, "a"), b = make(kinds::kJob, "b");
  Json second = owned_by(b);
  second.get_object()["controller"] = false;
  make(kinds::kPod, "pod", {owned_by(a), second});
  remove(kinds::kJob, "a");
  ASSERT_TRUE(there(kinds::kPod, "pod"));
  const ObjectPtr pod = world.get(kinds::kPod, "d", "pod");
  ASSERT_EQ(pod->owners().size(), 1U);
  EXPECT_EQ(pod->owners()[0].uid, b->uid());
}

TEST_F(GcTest, ForegroundWaitsForWhoBlocks) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  make(kinds::kPod, "slow", {owned_by(owner)});
  world.patch(*world.get(kinds::kPod, "d", "slow"), kinds::kPod,
              R"({"metadata":{"finalizers":["x/hold"]}})");
  make(kinds::kPod, "loose", {owned_by(owner, false)});
  remove(kinds::kJob, "job", Propagation::Foreground);
  EXPECT_TRUE(there(kinds::kJob, "job"));
  EXPECT_TRUE(world.get(kinds::kPod, "d", "slow")->deletion().has_value());
  EXPECT_FALSE(there(kinds::kPod, "loose"));
  world.patch(*world.get(kinds::kPod, "d", "slow"), kinds::kPod,
              R"({"metadata":{"finalizers":null}})");
  world.settle();
  EXPECT_FALSE(there(kinds::kPod, "slow"));
  EXPECT_FALSE(there(kinds::kJob, "job"));
}

TEST_F(GcTest, ForegroundDoesNotWaitForWhoDoesNotBlock) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  make(kinds::kPod, "loose", {owned_by(owner, false)});
  world.patch(*world.get(kinds::kPod, "d", "loose"), kinds::kPod,
              R"({"metadata":{"finalizers":["x/hold"]}})");
  remove(kinds::kJob, "job", Propagation::Foreground);
  EXPECT_FALSE(there(kinds::kJob, "job"));
  EXPECT_TRUE(world.get(kinds::kPod, "d", "loose")->deletion().has_value());
}

TEST_F(GcTest, ForegroundGoesDownTheTree) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  const ObjectPtr middle = make(kinds::kConfigMap, "middle", {owned_by(owner)});
  make(kinds::kPod, "leaf", {owned_by(middle)});
  world.patch(*world.get(kinds::kPod, "d", "leaf"), kinds::kPod,
              R"({"metadata":{"finalizers":["x/hold"]}})");
  remove(kinds::kJob, "job", Propagation::Foreground);
  EXPECT_TRUE(there(kinds::kJob, "job"));
  EXPECT_TRUE(there(kinds::kConfigMap, "middle"));
  world.patch(*world.get(kinds::kPod, "d", "leaf"), kinds::kPod,
              R"({"metadata":{"finalizers":null}})");
  world.settle();
  EXPECT_FALSE(there(kinds::kConfigMap, "middle"));
  EXPECT_FALSE(there(kinds::kJob, "job"));
}

TEST_F(GcTest, ARingInForegroundDoesNotWaitForItself) {
  start();
  const ObjectPtr a = make(kinds::kConfigMap, "a");
  const ObjectPtr b = make(kinds::kConfigMap, "b", {owned_by(a)});
  const ObjectPtr c = make(kinds::kConfigMap, "c", {owned_by(b)});
  Json patch(boost::json::object_kind);
  set_path(patch, {"metadata", "ownerReferences"}, JsonArray{owned_by(c)});
  world.patch(*a, kinds::kConfigMap, to_json(patch));
  world.settle();
  remove(kinds::kConfigMap, "a", Propagation::Foreground);
  EXPECT_TRUE(world.fake.all(kinds::kConfigMap).empty());
}

TEST_F(GcTest, OrphansLoseOnlyTheReference) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  make(kinds::kPod, "a", {owned_by(owner)});
  make(kinds::kPod, "b", {owned_by(owner)});
  remove(kinds::kJob, "job", Propagation::Orphan);
  EXPECT_FALSE(there(kinds::kJob, "job"));
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(there(kinds::kPod, name));
    EXPECT_TRUE(world.get(kinds::kPod, "d", name)->owners().empty());
  }
}

TEST_F(GcTest, AnOwnerInAnotherNamespaceIsAbsent) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job", {}, "other");
  make(kinds::kPod, "pod", {owned_by(owner)});
  EXPECT_FALSE(there(kinds::kPod, "pod"));
}

TEST_F(GcTest, AClusterOwnerIsFoundFromANamespace) {
  start();
  const ObjectPtr node = make(kinds::kNode, "n1", {}, "");
  make(kinds::kPod, "pod", {owned_by(node)});
  EXPECT_TRUE(there(kinds::kPod, "pod"));
  world.remove(kinds::kNode, "", "n1");
  world.settle();
  EXPECT_FALSE(there(kinds::kPod, "pod"));
}

TEST_F(GcTest, ANamespacedOwnerOfAClusterObjectIsIgnoredAndTold) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  make(kinds::kNode, "n1", {owned_by(owner)}, "");
  remove(kinds::kJob, "job");
  EXPECT_NE(world.get(kinds::kNode, "", "n1"), nullptr);
  EXPECT_GE(world.told("OwnerRefInvalidNamespace"), 1);
}

TEST_F(GcTest, ManyDependentsOfOneOwnerCostOneWriteEach) {
  start();
  const ObjectPtr owner = make(kinds::kJob, "job");
  for (int i = 0; i < 500; ++i) make(kinds::kPod, "p" + std::to_string(i), {owned_by(owner)});
  world.fake.writes.clear();
  remove(kinds::kJob, "job");
  EXPECT_TRUE(world.fake.all(kinds::kPod).empty());
  EXPECT_EQ(world.fake.writes.size(), 500U);
}

}  // namespace
}  // namespace krater::controllers
