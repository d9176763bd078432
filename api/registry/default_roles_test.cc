// The default roles at a start over a store that has older ones.
#include <gtest/gtest.h>

#include "api/auth/rbac/policy_rule.h"
#include "api/registry/testing/harness.h"
#include "model/rbac_kinds.h"

namespace krater::api {
namespace {

struct DefaultRoles : ::testing::Test {
  testing::Harness harness;

  void start_again() {
    std::promise<Result<void>> done;
    harness.registry().create_defaults(
        [&](Result<void> result) { done.set_value(std::move(result)); });
    const Result<void> made = done.get_future().get();
    ASSERT_TRUE(made) << made.error().message;
  }
  ObjectPtr get(const Kind& kind, const std::string& name) {
    const Result<ObjectPtr> found = harness.registry().get(kind, "", name);
    return found ? *found : nullptr;
  }
  std::vector<PolicyRule> rules(const std::string& role) {
    return rules_of(*get(kinds::kClusterRole, role)->document());
  }
  void patch(const Kind& kind, const std::string& name, std::string_view json) {
    const auto done = harness.write(
        client::PatchWrite{kind, "", name, client::PatchType::Merge, *parse_json(json)});
    ASSERT_TRUE(done) << done.error().message;
  }
};

constexpr const char* kBootstrapper = "system:node-bootstrapper";
constexpr const char* kApproval = "kubeadm:node-autoapprove-bootstrap";

TEST_F(DefaultRoles, WhatIsUpToDateIsNotWritten) {
  const Revision before = harness.registry().revision();
  start_again();
  EXPECT_EQ(harness.registry().revision(), before);
}

TEST_F(DefaultRoles, MissingRulesAndSubjectsComeBackOthersStay) {
  patch(kinds::kClusterRole, kBootstrapper,
        R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  patch(kinds::kClusterRoleBinding, kApproval,
        R"({"subjects":[{"kind":"User","name":"jane","apiGroup":"rbac.authorization.k8s.io"}]})");
  start_again();
  const std::vector<PolicyRule> held = rules(kBootstrapper);
  EXPECT_TRUE(not_covered({{{"create", "get", "list", "watch"},
                            {"certificates.k8s.io"},
                            {"certificatesigningrequests"},
                            {},
                            {}},
                           {{"get"}, {""}, {"pods"}, {}, {}}},
                          held)
                  .empty());
  const auto binding = get(kinds::kClusterRoleBinding, kApproval)->document();
  ASSERT_EQ(array_at(*binding, {"subjects"})->size(), 2U);
  EXPECT_EQ(text_at((*array_at(*binding, {"subjects"}))[0], {"name"}), "jane");
}

TEST_F(DefaultRoles, WhatSaysSoIsLeftAlone) {
  patch(kinds::kClusterRoleBinding, kApproval,
        R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},
            "subjects":null})");
  start_again();
  const auto binding = get(kinds::kClusterRoleBinding, kApproval)->document();
  EXPECT_EQ(array_at(*binding, {"subjects"}), nullptr);
}

TEST_F(DefaultRoles, WhatWasDeletedIsThereAgain) {
  ASSERT_TRUE(harness.write(client::DeleteWrite{kinds::kClusterRole, "", kBootstrapper}));
  start_again();
  EXPECT_NE(get(kinds::kClusterRole, kBootstrapper), nullptr);
}

TEST_F(DefaultRoles, ABindingToAnotherRoleIsMadeAnew) {
  const std::string before = get(kinds::kClusterRoleBinding, kApproval)->uid().text();
  ASSERT_TRUE(harness.write(client::DeleteWrite{kinds::kClusterRoleBinding, "", kApproval}));
  ASSERT_TRUE(harness.create(kinds::kClusterRoleBinding,
                             R"({"metadata":{"name":"kubeadm:node-autoapprove-bootstrap"},
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}})"));
  start_again();
  const ObjectPtr now = get(kinds::kClusterRoleBinding, kApproval);
  EXPECT_EQ(text_at(*now->document(), {"roleRef", "name"}),
            "system:certificates.k8s.io:certificatesigningrequests:nodeclient");
  EXPECT_NE(now->uid().text(), before);
}

}  // namespace
}  // namespace krater::api
