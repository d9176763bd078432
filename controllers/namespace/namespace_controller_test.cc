#include "controllers/namespace/namespace_controller.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "model/condition.h"

namespace krater::controllers {
namespace {

struct NamespaceTest : ::testing::Test {
  testing::World world;
  NamespaceController* controller = nullptr;

  void start(std::vector<Kind> kinds = {kinds::kPod, kinds::kConfigMap, kinds::kSecret,
                                        kinds::kNode, kinds::kEvent}) {
    world.controllers.add([&](Enqueue wake) {
      auto made = make_namespace_controller({world.fake, std::move(wake), kinds});
      controller = made.get();
      return made;
    });
    world.controllers.start();
    world.settle();
  }
  void make_namespace(const std::string& name) {
    world.put(kinds::kNamespace,
              R"({"metadata":{"name":")" + name +
                  R"("},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  }
  void put(const Kind& kind, const std::string& name, const std::string& name_space = "hang") {
    world.fake.put(kind, new_object(kind, name_space, name));
    world.settle();
  }
  ObjectPtr hang() const { return world.get(kinds::kNamespace, "", "hang"); }
  std::string message(std::string_view type) const {
    const auto found = condition_of(*hang()->document(), type);
    return found ? found->status + ": " + found->message : "";
  }
  void remove() {
    world.remove(kinds::kNamespace, "", "hang");
    world.settle();
  }
};

TEST_F(NamespaceTest, AllContentGoesThenTheNamespaceAndNothingElse) {
  make_namespace("hang");
  make_namespace("other");
  put(kinds::kConfigMap, "a");
  put(kinds::kSecret, "b");
  put(kinds::kPod, "p");
  put(kinds::kEvent, "e");
  put(kinds::kConfigMap, "a", "other");
  put(kinds::kEvent, "e", "other");
  start();
  EXPECT_NE(world.get(kinds::kPod, "hang", "p"), nullptr);
  remove();
  EXPECT_EQ(hang(), nullptr);
  EXPECT_EQ(world.get(kinds::kConfigMap, "hang", "a"), nullptr);
  EXPECT_EQ(world.get(kinds::kEvent, "hang", "e"), nullptr);
  EXPECT_NE(world.get(kinds::kConfigMap, "other", "a"), nullptr);
  EXPECT_NE(world.get(kinds::kEvent, "other", "e"), nullptr);
  EXPECT_NE(world.get(kinds::kNamespace, "", "other"), nullptr);
}

TEST_F(NamespaceTest, AnEmptyOneGoesAtOnce) {
  make_namespace("hang");
  start();
  remove();
  EXPECT_EQ(hang(), nullptr);
}

TEST_F(NamespaceTest, PodsGoBeforeTheRest) {
  make_namespace("hang");
  put(kinds::kConfigMap, "a");
  world.put(kinds::kPod,
            R"({"metadata":{"name":"p","namespace":"hang","finalizers":["x/grace"]}})");
  start();
  remove();
  EXPECT_TRUE(world.get(kinds::kPod, "hang", "p")->deletion().has_value());
  EXPECT_NE(world.get(kinds::kConfigMap, "hang", "a"), nullptr);
  world.patch(*world.get(kinds::kPod, "hang", "p"), kinds::kPod,
              R"({"metadata":{"finalizers":null}})");
  world.settle();
  EXPECT_EQ(hang(), nullptr);
}

// API-06, step 2
TEST_F(NamespaceTest, ConditionsNameWhatRemainsAndWhatHoldsIt) {
  make_namespace("hang");
  world.put(kinds::kConfigMap,
            R"({"metadata":{"name":"held","namespace":"hang","finalizers":["example.com/hold"]}})");
  put(kinds::kSecret, "free");
  start();
  remove();
  ASSERT_NE(hang(), nullptr);
  EXPECT_EQ(message("NamespaceContentRemaining"),
            "True: Some resources are remaining: configmaps. has 1 resource instances");
  EXPECT_EQ(message("NamespaceFinalizersRemaining"),
            "True: Some content in the namespace has finalizers remaining: example.com/hold in 1 "
            "resource instances");
  EXPECT_EQ(message("NamespaceDeletionContentFailure"),
            "False: All content successfully deleted, may be waiting on finalization");
  EXPECT_EQ(message("NamespaceDeletionDiscoveryFailure"),
            "False: All resources successfully discovered");
  EXPECT_EQ(world.get(kinds::kSecret, "hang", "free"), nullptr);
  world.patch(*world.get(kinds::kConfigMap, "hang", "held"), kinds::kConfigMap,
              R"({"metadata":{"finalizers":null}})");
  world.settle();
  EXPECT_EQ(hang(), nullptr);
}

TEST_F(NamespaceTest, AFailingDeleteIsToldAndTriedAgain) {
  make_namespace("hang");
  put(kinds::kSecret, "stuck");
  start();
  world.fake.fail = [](const client::Write& write) -> std::optional<Error> {
    if (client::key_of(write).name == "stuck") return make_error(Code::Internal, "no");
    return std::nullopt;
  };
  remove();
  world.pass(100ms);
  EXPECT_EQ(message("NamespaceDeletionContentFailure"),
            "True: Failed to delete all resource types, 1 remaining: unexpected items still remain "
            "in namespace: hang "
            "for gvr: /v1, Resource=secrets");
  world.fake.fail = nullptr;
  world.pass(1min);
  EXPECT_EQ(hang(), nullptr);
}

TEST_F(NamespaceTest, KindsThatCameLaterGoToo) {
  make_namespace("hang");
  put(kinds::kRayJob, "r");
  start();
  world.controllers.add_interest(controller->name(), controller->add_kind(kinds::kRayJob));
  world.settle();
  remove();
  EXPECT_EQ(world.get(kinds::kRayJob, "hang", "r"), nullptr);
  EXPECT_EQ(hang(), nullptr);
}

TEST(NamespaceDefaults, EachNamespaceHasItsAccountAndTheCa) {
  testing::World world;
  world.controllers.add(make_namespace_defaults_controller("PEM"));
  world.controllers.start();
  world.fake.put(kinds::kNamespace, new_object(kinds::kNamespace, "", "n"));
  world.settle();
  ASSERT_NE(world.get(kinds::kServiceAccount, "n", "default"), nullptr);
  ASSERT_NE(world.get(kinds::kConfigMap, "n", "kube-root-ca.crt"), nullptr);
  world.remove(kinds::kServiceAccount, "n", "default");
  world.patch(*world.get(kinds::kConfigMap, "n", "kube-root-ca.crt"), kinds::kConfigMap,
              R"({"data":{"ca.crt":"x"}})");
  world.settle();
  EXPECT_NE(world.get(kinds::kServiceAccount, "n", "default"), nullptr);
  EXPECT_EQ(text_at(*world.get(kinds::kConfigMap, "n", "kube-root-ca.crt")->document(),
                    {"data", "ca.crt"}),
            "PEM");
}

}  // namespace
}  // namespace krater::controllers
