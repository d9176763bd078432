#include <gtest/gtest.h>

#include "api/auth/rbac/policy_rule.h"
#include "api/auth/rbac/rbac_authorizer.h"
#include "model/rbac_kinds.h"

namespace krater::api {
namespace {

Attributes on(std::string verb, std::string resource, std::string name_space = "",
              std::string name = "", std::string group = "") {
  Attributes what{std::move(verb)};
  what.group = std::move(group);
  const std::size_t slash = resource.find('/');
  what.resource = resource.substr(0, slash);
  if (slash != std::string::npos) what.subresource = resource.substr(slash + 1);
  what.name_space = std::move(name_space);
  what.name = std::move(name);
  return what;
}

TEST(PolicyRule, WhatItAllows) {
  struct Case {
    PolicyRule rule;
    Attributes what;
    bool allowed;
  };
  Attributes metrics{"get"};
  metrics.path = "/metrics";
  Attributes deep{"get"};
  deep.path = "/api/v1";
  const std::vector<Case> cases{
      {{{"get"}, {""}, {"pods"}, {}, {}}, on("get", "pods"), true},
      {{{"get"}, {""}, {"pods"}, {}, {}}, on("list", "pods"), false},
      {{{"*"}, {""}, {"pods"}, {}, {}}, on("delete", "pods"), true},
      {{{"get"}, {"apps"}, {"pods"}, {}, {}}, on("get", "pods"), false},
      {{{"get"}, {"*"}, {"pods"}, {}, {}}, on("get", "pods", "", "", "apps"), true},
      {{{"get"}, {""}, {"pods"}, {}, {}}, on("get", "pods/log"), false},
      {{{"get"}, {""}, {"pods/log"}, {}, {}}, on("get", "pods/log"), true},
      {{{"get"}, {""}, {"*/log"}, {}, {}}, on("get", "pods/log"), true},
      {{{"get"}, {""}, {"*/log"}, {}, {}}, on("get", "pods"), false},
      {{{"get"}, {""}, {"*"}, {}, {}}, on("get", "pods/log"), true},
      {{{"get"}, {""}, {"secrets"}, {"a"}, {}}, on("get", "secrets", "d", "a"), true},
      {{{"get"}, {""}, {"secrets"}, {"a"}, {}}, on("get", "secrets", "d", "b"), false},
      {{{"list"}, {""}, {"secrets"}, {"a"}, {}}, on("list", "secrets", "d"), false},
      {{{"get"}, {}, {}, {}, {"/metrics"}}, metrics, true},
      {{{"get"}, {}, {}, {}, {"/api/*"}}, deep, true},
      {{{"get"}, {}, {}, {}, {"/api/*"}}, metrics, false},
      {{{"get"}, {"*"}, {"*"}, {}, {}}, metrics, false},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(allows(one.rule, one.what), one.allowed)
        << to_text(one.rule) << " " << one.what.verb << " " << one.what.resource << "/"
        << one.what.subresource << one.what.path;
  }
}

TEST(PolicyRule, WhatIsNotCoveredIsNamedPieceByPiece) {
  const std::vector<PolicyRule> held{{{"get", "list"}, {""}, {"pods", "*/scale"}, {}, {}},
                                     {{"get"}, {""}, {"secrets"}, {"a"}, {}},
                                     {{"get"}, {}, {}, {}, {"/api/*"}}};
  EXPECT_TRUE(not_covered({{{"get"}, {""}, {"pods"}, {"p"}, {}}}, held).empty());
  EXPECT_TRUE(not_covered({{{"get"}, {""}, {"deployments/scale"}, {}, {}}}, held).empty());
  EXPECT_TRUE(not_covered({{{"get"}, {""}, {"secrets"}, {"a"}, {}}}, held).empty());
  EXPECT_TRUE(not_covered({{{"get"}, {}, {}, {}, {"/api/v1"}}}, held).empty());
  EXPECT_EQ(not_covered({{{"get"}, {""}, {"secrets"}, {}, {}}}, held).size(), 1U);
  const std::vector<PolicyRule> missing =
      not_covered({{{"get", "watch"}, {"", "apps"}, {"pods"}, {}, {}}}, held);
  ASSERT_EQ(missing.size(), 3U);
  EXPECT_EQ(to_text(missing[0]), R"({APIGroups:["apps"], Resources:["pods"], Verbs:["get"]})");
}

// Nothing but masters.
class Closed final : public Authorizer {
 public:
  Verdict decide(const Identity& who, const Attributes&) const override {
    return {who.in(kMastersGroup)};
  }
  std::vector<PolicyRule> rules(const Identity&, std::string_view) const override { return {}; }
};

class Rbac : public ::testing::Test {
 protected:
  void put(const Kind& kind, std::string_view json) {
    Json object = *parse_json(json);
    object.get_object()["kind"] = kind.kind;
    object.get_object()["apiVersion"] = kind.api_version();
    const ObjectKey key = ObjectKey::of(kind, text_at(object, {"metadata", "namespace"}),
                                        text_at(object, {"metadata", "name"}));
    const ObjectPtr made =
        *Object::parse(key, Revision(1), std::make_shared<const std::string>(to_json(object)));
    objects_[key] = made;
    changes_.push_back({made, false});
  }
  void remove(const Kind& kind, std::string_view name_space, std::string_view name) {
    const ObjectKey key = ObjectKey::of(kind, name_space, name);
    changes_.push_back({objects_.at(key), true});
    objects_.erase(key);
  }
  bool may(const Identity& who, const Attributes& what) {
    return authorizer_->decide(who, what).allowed;
  }
  Result<void> write(const Identity& who, const Kind& kind, std::string_view json,
                     const Json* old = nullptr) {
    return check_escalation(*authorizer_, who, kind, *parse_json(json), old, lookup_);
  }

  std::map<ObjectKey, ObjectPtr> objects_;
  std::vector<ObjectChange> changes_;
  ObjectLookup lookup_ = [this](const Kind& kind, std::string_view name_space,
                                std::string_view name) -> Result<ObjectPtr> {
    const auto found = objects_.find(ObjectKey::of(kind, name_space, name));
    if (found == objects_.end()) return make_error(Code::NotFound, "absent");
    return found->second;
  };
  std::unique_ptr<Authorizer> authorizer_ = make_rbac_authorizer(
      std::make_unique<Closed>(),
      {[] { return Result<void>(); },
       [this]() -> Result<std::vector<ObjectChange>> { return std::exchange(changes_, {}); }});
  const Identity alice_{"alice", {}, {"dev", "system:authenticated"}, {}};
  const Identity robot_{
      "system:serviceaccount:d:robot", {}, {"system:serviceaccounts", "system:authenticated"}, {}};

  void let_developers_read() {
    put(kinds::kClusterRole,
        R"({"metadata":{"name":"reader"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
    put(kinds::kClusterRoleBinding, R"({"metadata":{"name":"devs-read"},
        "subjects":[{"kind":"Group","name":"dev"}],"roleRef":{"kind":"ClusterRole","name":"reader"}})");
  }
};

TEST_F(Rbac, AClusterRoleBindingCountsEverywhereAndOnlyWhileItIsThere) {
  EXPECT_FALSE(may(alice_, on("get", "pods", "d")));
  let_developers_read();
  EXPECT_TRUE(may(alice_, on("get", "pods", "d")));
  EXPECT_TRUE(may(alice_, on("get", "pods")));
  EXPECT_FALSE(may(robot_, on("get", "pods", "d")));
  EXPECT_EQ(authorizer_->decide(alice_, on("get", "pods", "d")).reason,
            "RBAC: allowed by ClusterRoleBinding \"devs-read\" of ClusterRole \"reader\" to Group "
            "\"dev\"");
  remove(kinds::kClusterRoleBinding, "", "devs-read");
  EXPECT_FALSE(may(alice_, on("get", "pods", "d")));
}

TEST_F(Rbac, ARoleBindingCountsInItsNamespaceOnly) {
  put(kinds::kRole,
      R"({"metadata":{"name":"r","namespace":"d"},"rules":[{"verbs":["*"],"apiGroups":["ray.io"],"resources":["rayjobs"]}]})");
  put(kinds::kRoleBinding, R"({"metadata":{"name":"b","namespace":"d"},
      "subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"d"}],"roleRef":{"kind":"Role","name":"r"}})");
  EXPECT_TRUE(may(robot_, on("create", "rayjobs", "d", "", "ray.io")));
  EXPECT_FALSE(may(robot_, on("create", "rayjobs", "e", "", "ray.io")));
  EXPECT_FALSE(may(robot_, on("list", "rayjobs", "", "", "ray.io")));
}

TEST_F(Rbac, AServiceAccountWithoutANamespaceIsOfTheBindings) {
  put(kinds::kRoleBinding, R"({"metadata":{"name":"b","namespace":"d"},
      "subjects":[{"kind":"ServiceAccount","name":"robot"}],"roleRef":{"kind":"ClusterRole","name":"reader"}})");
  put(kinds::kClusterRole, R"({"metadata":{"name":"reader"},
      "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  EXPECT_TRUE(may(robot_, on("get", "pods", "d")));
  EXPECT_FALSE(may(robot_, on("get", "pods", "e")));
}

TEST_F(Rbac, ABindingOfAnAbsentRoleGrantsNothingUntilTheRoleIsThere) {
  put(kinds::kRoleBinding, R"({"metadata":{"name":"b","namespace":"d"},
      "subjects":[{"kind":"User","name":"alice"}],"roleRef":{"kind":"ClusterRole","name":"reader"}})");
  EXPECT_FALSE(may(alice_, on("get", "pods", "d")));
  put(kinds::kClusterRole,
      R"({"metadata":{"name":"reader"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  EXPECT_TRUE(may(alice_, on("get", "pods", "d")));
}

TEST_F(Rbac, NobodyWritesARoleWithMoreThanHeHolds) {
  let_developers_read();
  const std::string_view same =
      R"({"metadata":{"name":"x"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})";
  const std::string_view more =
      R"({"metadata":{"name":"x"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]})";
  EXPECT_TRUE(write(alice_, kinds::kClusterRole, same));
  const Result<void> refused = write(alice_, kinds::kClusterRole, more);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "user \"alice\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC "
      "permissions not currently held:\n"
      "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}");
  const Json old = *parse_json(more);
  EXPECT_TRUE(write(alice_, kinds::kClusterRole, more, &old)) << "nothing more is granted";
  put(kinds::kClusterRole,
      R"({"metadata":{"name":"climber"},"rules":[{"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"]}]})");
  put(kinds::kClusterRoleBinding, R"({"metadata":{"name":"c"},
      "subjects":[{"kind":"User","name":"alice"}],"roleRef":{"kind":"ClusterRole","name":"climber"}})");
  EXPECT_TRUE(write(alice_, kinds::kClusterRole, more));
}

TEST_F(Rbac, NobodyBindsARoleWithMoreThanHeHolds) {
  let_developers_read();
  put(kinds::kClusterRole,
      R"({"metadata":{"name":"cluster-admin"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})");
  const std::string_view reader = R"({"metadata":{"name":"b","namespace":"d"},
      "subjects":[{"kind":"User","name":"bob"}],"roleRef":{"kind":"ClusterRole","name":"reader"}})";
  const std::string_view admin = R"({"metadata":{"name":"b","namespace":"d"},
      "subjects":[{"kind":"User","name":"bob"}],"roleRef":{"kind":"ClusterRole","name":"cluster-admin"}})";
  EXPECT_TRUE(write(alice_, kinds::kRoleBinding, reader));
  EXPECT_FALSE(write(alice_, kinds::kRoleBinding, admin));
}

TEST_F(Rbac, ARoleThatCollectsNeedsEverything) {
  let_developers_read();
  EXPECT_FALSE(
      write(alice_, kinds::kClusterRole,
            R"({"metadata":{"name":"x"},"aggregationRule":{"clusterRoleSelectors":[{}]}})"));
}

}  // namespace
}  // namespace krater::api
