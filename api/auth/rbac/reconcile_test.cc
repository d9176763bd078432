#include "api/auth/rbac/reconcile.h"

#include <gtest/gtest.h>

#include "api/auth/rbac/policy_rule.h"

namespace krater::api {
namespace {

// Members of a role or binding, in the short form that the cases below are written in.
Json of(std::string_view text) {
  return *parse_json(text);
}

TEST(Reconcile, WhatIsAddedToRoles) {
  struct Case {
    std::string_view why, existing, expected, result;  // result "": nothing to write
  };
  const std::vector<Case> cases{
      {"nothing is missing", R"({"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})",
       R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})", ""},
      {"only the missing verb is added, what somebody added stays",
       R"({"rules":[{"verbs":["get","delete"],"apiGroups":[""],"resources":["pods"]}]})",
       R"({"rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})",
       R"({"rules":[{"verbs":["get","delete"],"apiGroups":[""],"resources":["pods"]},
                    {"verbs":["list"],"apiGroups":[""],"resources":["pods"]}]})"},
      {"a role that was emptied is filled again", R"({"rules":[]})",
       R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]})",
       R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]})"},
      {"unless it says that it is to be left alone",
       R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]})",
       R"({"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]})", ""},
      {"labels are added and not overwritten", R"({"metadata":{"labels":{"a":"mine"}},"rules":[]})",
       R"({"metadata":{"labels":{"a":"yours","b":"1"}},"rules":[]})",
       R"({"metadata":{"labels":{"a":"mine","b":"1"}},"rules":[]})"},
      {"selectors are added",
       R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"1"}}]}})",
       R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"y":"1"}}]}})",
       R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"1"}},{"matchLabels":{"y":"1"}}]}})"},
      {"collected rules are the collector's",
       R"({"aggregationRule":{"clusterRoleSelectors":[]},"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]})",
       R"({"aggregationRule":{"clusterRoleSelectors":[]},"rules":[]})", ""},
      {"a role that is none of them collects nothing",
       R"({"aggregationRule":{"clusterRoleSelectors":[]},"rules":[]})", R"({"rules":[]})",
       R"({"rules":[]})"},
  };
  for (const Case& one : cases) {
    const auto done = reconciled_role(of(one.existing), of(one.expected));
    ASSERT_EQ(done.has_value(), !one.result.empty()) << one.why;
    if (done) {
      EXPECT_EQ(done->object, of(one.result)) << one.why << to_json(done->object);
    }
  }
}

TEST(Reconcile, WhatIsAddedToBindings) {
  const std::string_view expected =
      R"({"roleRef":{"name":"r"},"subjects":[{"kind":"Group","name":"a"},{"kind":"Group","name":"b"}]})";
  const auto added = reconciled_binding(
      of(R"({"roleRef":{"name":"r"},"subjects":[{"kind":"Group","name":"b"},{"kind":"User","name":"jane"}]})"),
      of(expected));
  ASSERT_TRUE(added);
  EXPECT_FALSE(added->recreate);
  EXPECT_EQ(
      to_json(*find(added->object, {"subjects"})),
      R"([{"kind":"Group","name":"b"},{"kind":"User","name":"jane"},{"kind":"Group","name":"a"}])");
  EXPECT_FALSE(reconciled_binding(added->object, of(expected))) << "once is enough";

  const auto other =
      reconciled_binding(of(R"({"roleRef":{"name":"other"},"subjects":[]})"), of(expected));
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->recreate);
  EXPECT_EQ(to_json(other->object), to_json(of(expected)));

  EXPECT_FALSE(reconciled_binding(
      of(R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},
             "roleRef":{"name":"other"},"subjects":[]})"),
      of(expected)));
}

}  // namespace
}  // namespace krater::api
