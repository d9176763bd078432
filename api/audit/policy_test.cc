#include "api/audit/policy.h"

#include <gtest/gtest.h>

namespace krater::api::audit {
namespace {

const std::string kHead = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";

Policy policy(const std::string& text) {
  Result<Policy> out = parse_policy(kHead + text);
  EXPECT_TRUE(out.has_value()) << (out ? "" : out.error().message);
  return out ? *out : Policy();
}

std::string failure(const std::string& text) {
  const Result<Policy> out = parse_policy(kHead + text);
  return out ? "" : out.error().message;
}

Attributes resource(const std::string& verb, const std::string& group, const std::string& name) {
  Attributes out{verb};
  out.group = group;
  out.version = "v1";
  const std::size_t slash = name.find('/');
  out.resource = name.substr(0, slash);
  if (slash != std::string::npos) out.subresource = name.substr(slash + 1);
  out.name_space = "lab";
  out.name = "x";
  return out;
}

Attributes path(const std::string& text) {
  Attributes out{"get"};
  out.path = text;
  return out;
}

Identity user(const std::string& name, std::vector<std::string> groups = {"system:authenticated"}) {
  return {name, {}, std::move(groups), {}};
}

TEST(AuditPolicy, TheFirstRuleThatMatchesDecides) {
  const Policy p = policy(R"(
rules:
- {level: None, users: ["system:kube-proxy"], verbs: [watch]}
- {level: None, userGroups: ["system:nodes"], nonResourceURLs: ["/api*", "/version"]}
- level: Request
  namespaces: [lab]
  resources: [{group: "", resources: [configmaps], resourceNames: [x]}]
- {level: RequestResponse, resources: [{group: apps}]}
- {level: Metadata}
)");
  struct Case {
    Identity who;
    Attributes what;
    Level level;
  };
  const Case cases[] = {
      {user("system:kube-proxy"), resource("watch", "", "services"), Level::None},
      {user("system:kube-proxy"), resource("get", "", "services"), Level::Metadata},
      {user("n", {"system:nodes"}), path("/apis/batch"), Level::None},
      {user("n", {"system:nodes"}), path("/version/x"), Level::Metadata},
      {user("ann"), resource("update", "", "configmaps"), Level::Request},
      {user("ann"), resource("update", "", "configmaps/status"), Level::Metadata},
      {user("ann"), resource("update", "apps", "deployments/scale"), Level::RequestResponse},
      {user("ann"), path("/healthz"), Level::Metadata},
  };
  for (const Case& c : cases)
    EXPECT_EQ(decide(p, &c.who, c.what).level, c.level) << c.what.resource << c.what.path;
}

TEST(AuditPolicy, SubresourcesAreNamedInFourWays) {
  const auto level = [](const std::string& named, const std::string& asked) {
    const Policy p = policy("rules: [{level: Request, resources: [{group: \"\", resources: [\"" +
                            named + "\"]}]}]");
    const Identity who = user("ann");
    return decide(p, &who, resource("get", "", asked)).level == Level::Request;
  };
  EXPECT_TRUE(level("pods", "pods"));
  EXPECT_FALSE(level("pods", "pods/log"));
  EXPECT_TRUE(level("pods/log", "pods/log"));
  EXPECT_TRUE(level("pods/*", "pods/log"));
  EXPECT_TRUE(level("*/log", "pods/log"));
  EXPECT_FALSE(level("*/log", "pods"));
  EXPECT_TRUE(level("*", "pods/log"));
}

TEST(AuditPolicy, WhoIsNotRecognisedMatchesNoRuleAboutUsers) {
  const Policy p = policy(
      "rules: [{level: Request, users: [ann]}, {level: Request, userGroups: [x]}, {level: "
      "Metadata}]");
  EXPECT_EQ(decide(p, nullptr, resource("get", "", "pods")).level, Level::Metadata);
}

TEST(AuditPolicy, StagesAndManagedFieldsAreOmittedByPolicyAndRule) {
  const Policy p = policy(R"(
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: Request, verbs: [get], omitStages: [ResponseStarted], omitManagedFields: false}
- {level: Metadata}
)");
  const Identity who = user("ann");
  const Decision get = decide(p, &who, resource("get", "", "pods"));
  EXPECT_TRUE(get.omit_stages.has(Stage::RequestReceived));
  EXPECT_TRUE(get.omit_stages.has(Stage::ResponseStarted));
  EXPECT_FALSE(get.omit_stages.has(Stage::ResponseComplete));
  EXPECT_FALSE(get.omit_managed_fields);
  const Decision list = decide(p, &who, resource("list", "", "pods"));
  EXPECT_FALSE(list.omit_stages.has(Stage::ResponseStarted));
  EXPECT_TRUE(list.omit_managed_fields);
}

TEST(AuditPolicy, NothingMatchesMeansNothingIsWritten) {
  const Policy p = policy("rules: [{level: Request, verbs: [delete]}]");
  const Identity who = user("ann");
  EXPECT_EQ(decide(p, &who, resource("get", "", "pods")).level, Level::None);
}

TEST(AuditPolicy, MistakesAreNamed) {
  EXPECT_EQ(failure("rules: []"), "loaded illegal policy with 0 rules");
  EXPECT_EQ(failure("rules: [{verbs: [get]}]"), "rules[0].level: Required value");
  EXPECT_EQ(failure("rules: [{level: All}]"),
            "rules[0].level: Unsupported value: \"All\": supported values: \"None\", "
            "\"Metadata\", \"Request\", \"RequestResponse\"");
  EXPECT_EQ(failure("rules: [{level: None, user: [a]}]"), "rules[0]: unknown field \"user\"");
  EXPECT_EQ(failure("omitStages: [Later]\nrules: [{level: None}]"),
            "policy.omitStages: Invalid value: \"Later\"");
  EXPECT_EQ(failure("rules: [{level: None, nonResourceURLs: [\"/a\"], namespaces: [b]}]"),
            "rules[0].nonResourceURLs: rules cannot apply to both regular resources and "
            "non-resource URLs");
  EXPECT_EQ(failure("rules: [{level: None, resources: [{group: a, resourceNames: [b]}]}]"),
            "rules[0].resources[0].resourceNames: using resourceNames requires at least one "
            "resource");
  EXPECT_NE(failure("rules: [{level: None, nonResourceURLs: [\"a*b\"]}]"), "");
  EXPECT_FALSE(parse_policy("rules: [{level: None}]").has_value());
}

}  // namespace
}  // namespace krater::api::audit
