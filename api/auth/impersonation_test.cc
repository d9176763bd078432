#include "api/auth/impersonation.h"

#include <gtest/gtest.h>

#include <set>

namespace krater::api {
namespace {

// Allows what its set names: "resource/name", with the namespace or subresource in front.
class Listed final : public Authorizer {
 public:
  explicit Listed(std::set<std::string> allowed) : allowed_(std::move(allowed)) {}
  Verdict decide(const Identity&, const Attributes& what) const override {
    EXPECT_EQ(what.verb, "impersonate");
    return {allowed_.contains(what.name_space + what.subresource + " " + what.resource + "/" +
                              what.name)};
  }
  std::vector<PolicyRule> rules(const Identity&, std::string_view) const override { return {}; }

 private:
  std::set<std::string> allowed_;
};

const Identity kAlice{"alice", {}, {"system:authenticated"}, {}};

TEST(Impersonation, TheOtherOneIsAuthenticatedAndInNoGroupOfTheCallers) {
  const Listed may({" users/bob"});
  const Result<Identity> bob = impersonate(may, kAlice, {"bob"});
  ASSERT_TRUE(bob) << bob.error().message;
  EXPECT_EQ(bob->user, "bob");
  EXPECT_EQ(bob->groups, std::vector<std::string>{"system:authenticated"});
}

TEST(Impersonation, EveryPartIsAskedFor) {
  const Listed may({" users/bob", " groups/dev", " uids/7", "scopes userextras/view"});
  EXPECT_TRUE(impersonate(may, kAlice, {"bob", "7", {"dev"}, {{"scopes", {"view"}}}}));
  for (const Impersonation& wanted :
       {Impersonation{"eve"}, Impersonation{"bob", "8"}, Impersonation{"bob", "", {"ops"}},
        Impersonation{"bob", "", {}, {{"scopes", {"edit"}}}}}) {
    const Result<Identity> refused = impersonate(may, kAlice, wanted);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Forbidden);
  }
}

TEST(Impersonation, AServiceAccountIsAskedForAsOneAndInItsGroups) {
  const Listed may({"ns serviceaccounts/robot"});
  const Result<Identity> robot = impersonate(may, kAlice, {"system:serviceaccount:ns:robot"});
  ASSERT_TRUE(robot) << robot.error().message;
  EXPECT_TRUE(robot->in("system:serviceaccounts:ns"));
  EXPECT_TRUE(robot->in("system:authenticated"));
}

TEST(Impersonation, AGroupAloneIsNobody) {
  const Result<Identity> nobody = impersonate(Listed({" groups/dev"}), kAlice, {"", "", {"dev"}});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, Code::BadRequest);
}

TEST(Impersonation, TheRefusalNamesWhoAndWhom) {
  const Result<Identity> refused = impersonate(Listed({}), kAlice, {"bob"});
  EXPECT_EQ(refused.error().message,
            "users \"bob\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in "
            "API group \"\" at the cluster scope");
}

}  // namespace
}  // namespace krater::api
