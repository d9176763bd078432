// ValidatingAdmissionPolicies over the whole way of a write.
#include <gtest/gtest.h>

#include "api/registry/testing/harness.h"
#include "model/policy_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::Harness;

Json json(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? std::move(*parsed) : Json();
}

Json policy(const std::string& spec) {
  return json(
      R"j({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy",
    "metadata":{"name":"demo"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],
    "apiVersions":["v1"],"operations":["CREATE","UPDATE","DELETE"],"resources":["configmaps"]}]},)j" +
      spec + "}}");
}

Json binding(const std::string& actions, const std::string& more = "") {
  return json(
      R"j({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding",
      "metadata":{"name":"demo-binding"},"spec":{"policyName":"demo","validationActions":)j" +
      actions + more + "}}");
}

Json config_map(const std::string& name, const std::string& more = "") {
  return json(R"j({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")j" + name + "\"" +
              more + "}}");
}

class Policies : public ::testing::Test {
 protected:
  Result<Answer> put(const Kind& kind, Json object, RequestInfo info = {}) {
    const std::string space = kind.namespaced ? "default" : "";
    return harness_.write(client::CreateWrite{kind, space, std::move(object)}, std::move(info));
  }
  void install(const std::string& spec, const std::string& actions = R"j(["Deny"])j",
               const std::string& more = "") {
    const auto made = put(kinds::kValidatingAdmissionPolicy, policy(spec));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    const auto bound = put(kinds::kValidatingAdmissionPolicyBinding, binding(actions, more));
    ASSERT_TRUE(bound.has_value()) << bound.error().message;
  }

  Harness harness_;
};

TEST_F(Policies, ABrokenValidationDeniesWithItsMessage) {
  install(R"j("validations":[{"expression":"object.metadata.name.startsWith('a')"}])j");
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("abc")).has_value());
  const auto refused = put(kinds::kConfigMap, config_map("xyz"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Invalid);
  EXPECT_EQ(refused.error().message,
            "configmaps \"xyz\" is forbidden: ValidatingAdmissionPolicy 'demo' with binding "
            "'demo-binding' denied request: failed expression: "
            "object.metadata.name.startsWith('a')");
}

TEST_F(Policies, APolicyWithoutBindingDoesNothing) {
  ASSERT_TRUE(
      put(kinds::kValidatingAdmissionPolicy, policy(R"j("validations":[{"expression":"false"}])j"))
          .has_value());
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("abc")).has_value());
}

TEST_F(Policies, OtherKindsAreNotAsked) {
  install(R"j("validations":[{"expression":"false"}])j");
  EXPECT_TRUE(put(kinds::kSecret, json(R"j({"apiVersion":"v1","kind":"Secret",
                                           "metadata":{"name":"s"}})j"))
                  .has_value());
}

TEST_F(Policies, ReasonsMessagesAndVariablesCount) {
  install(R"j("variables":[{"name":"data","expression":"has(object.data) ? object.data : {}"},
                          {"name":"count","expression":"variables.data.size()"}],
             "validations":[{"expression":"variables.count <= 1","reason":"Forbidden",
               "messageExpression":"'too many: ' + string(variables.count)"}])j");
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("none")).has_value());
  Json many = config_map("many");
  set_path(many, {"data"}, json(R"j({"a":"1","b":"2"})j"));
  const auto refused = put(kinds::kConfigMap, std::move(many));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Forbidden);
  EXPECT_NE(refused.error().message.find("denied request: too many: 2"), std::string::npos);
}

TEST_F(Policies, WarningsLetTheWriteThrough) {
  install(R"j("validations":[{"expression":"false","message":"careful"}])j",
          R"j(["Warn","Audit"])j");
  const auto made = put(kinds::kConfigMap, config_map("abc"));
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->warnings,
            std::vector<std::string>{"Validation failed for ValidatingAdmissionPolicy 'demo' with "
                                     "binding 'demo-binding': careful"});
}

TEST_F(Policies, MatchConditionsAndRequestsDecideWhoIsAsked) {
  install(
      R"j("matchConditions":[{"name":"people","expression":"request.userInfo.username != 'root'"}],
             "validations":[{"expression":"request.operation != 'CREATE'"}])j");
  RequestInfo root;
  root.user = "root";
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("a"), root).has_value());
  RequestInfo bob;
  bob.user = "bob";
  EXPECT_FALSE(put(kinds::kConfigMap, config_map("b"), bob).has_value());
}

TEST_F(Policies, DeletesSeeTheOldObject) {
  install(
      R"j("validations":[{"expression":"request.operation != 'DELETE' || !has(oldObject.metadata.labels)",
             "message":"labelled"}])j");
  ASSERT_TRUE(put(kinds::kConfigMap, config_map("a", R"j(,"labels":{"keep":"1"})j")).has_value());
  ASSERT_TRUE(put(kinds::kConfigMap, config_map("b")).has_value());
  EXPECT_FALSE(harness_.write(client::DeleteWrite{kinds::kConfigMap, "default", "a"}).has_value());
  EXPECT_TRUE(harness_.write(client::DeleteWrite{kinds::kConfigMap, "default", "b"}).has_value());
}

TEST_F(Policies, AFailureIsARefusalUnlessIgnored) {
  install(R"j("validations":[{"expression":"object.nothing.here == 1"}])j");
  const auto refused = put(kinds::kConfigMap, config_map("a"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("expression 'object.nothing.here == 1' resulted in error: "
                                         "no such key: nothing"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(Policies, AFailureThatIsIgnoredIsNone) {
  install(
      R"j("failurePolicy":"Ignore","validations":[{"expression":"object.nothing.here == 1"}])j");
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("a")).has_value());
}

TEST_F(Policies, ParametersComeFromTheBinding) {
  install(
      R"j("paramKind":{"apiVersion":"v1","kind":"ConfigMap"},
             "matchConditions":[{"name":"not-itself","expression":"object.metadata.name != 'limits'"}],
             "validations":[{"expression":"object.metadata.name.size() <= int(params.data.longest)"}])j",
      R"j(["Deny"])j",
      R"j(,"paramRef":{"name":"limits","namespace":"default","parameterNotFoundAction":"Deny"})j");
  const auto without = put(kinds::kConfigMap, config_map("a"));
  ASSERT_FALSE(without.has_value());
  EXPECT_NE(without.error().message.find("no params found for policy binding with `Deny` "
                                         "parameterNotFoundAction"),
            std::string::npos);
  ASSERT_TRUE(
      harness_
          .write(client::DeleteWrite{kinds::kValidatingAdmissionPolicyBinding, "", "demo-binding"})
          .has_value());
  Json limits = config_map("limits");
  set_path(limits, {"data"}, json(R"j({"longest":"3"})j"));
  ASSERT_TRUE(put(kinds::kConfigMap, std::move(limits)).has_value());
  ASSERT_TRUE(
      put(kinds::kValidatingAdmissionPolicyBinding,
          binding(
              R"j(["Deny"])j",
              R"j(,"paramRef":{"name":"limits","namespace":"default","parameterNotFoundAction":"Deny"})j"))
          .has_value());
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("abc")).has_value());
  EXPECT_FALSE(put(kinds::kConfigMap, config_map("abcd")).has_value());
}

TEST_F(Policies, SelectorsNarrowABinding) {
  install(R"j("validations":[{"expression":"false"}])j", R"j(["Deny"])j",
          R"j(,"matchResources":{"objectSelector":{"matchLabels":{"strict":"yes"}}})j");
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("a")).has_value());
  EXPECT_FALSE(
      put(kinds::kConfigMap, config_map("b", R"j(,"labels":{"strict":"yes"})j")).has_value());
}

TEST_F(Policies, TheOldObjectThatACreateDoesNotHaveIsNotSelectedForItsLackOfLabels) {
  install(R"j("validations":[{"expression":"false"}])j", R"j(["Deny"])j",
          R"j(,"matchResources":{"objectSelector":{"matchExpressions":[
                 {"key":"fine","operator":"DoesNotExist"}]}})j");
  EXPECT_FALSE(put(kinds::kConfigMap, config_map("a")).has_value());
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("b", R"j(,"labels":{"fine":"1"})j")).has_value());
}

TEST_F(Policies, ADryRunIsAskedToo) {
  install(R"j("validations":[{"expression":"!request.dryRun"}])j");
  RequestInfo info;
  info.dry_run = true;
  EXPECT_FALSE(put(kinds::kConfigMap, config_map("a"), info).has_value());
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("a")).has_value());
}

TEST_F(Policies, APolicyThatDoesNotCompileIsRefused) {
  const auto refused = put(kinds::kValidatingAdmissionPolicy,
                           policy(R"j("validations":[{"expression":"object.x == 1 +"},
                                                    {"expression":"'a'"},{"expression":"nobody == 1"}])j"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::Invalid);
  ASSERT_EQ(refused.error().causes.size(), 3U) << refused.error().message;
  EXPECT_EQ(refused.error().causes[0].field, "spec.validations[0].expression");
  EXPECT_EQ(refused.error().causes[1].message, "Invalid value: \"'a'\": must evaluate to bool");
  EXPECT_EQ(refused.error().causes[2].message,
            "Invalid value: \"nobody == 1\": compilation failed: ERROR: <input>:1:1: undeclared "
            "reference to 'nobody' (in container '')\n | nobody == 1\n | ^");
}

TEST_F(Policies, ABindingThatSaysNothingIsRefused) {
  const auto refused = put(
      kinds::kValidatingAdmissionPolicyBinding,
      json(
          R"j({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding",
               "metadata":{"name":"b"},"spec":{"validationActions":["Deny","Warn"]}})j"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().causes.size(), 2U) << refused.error().message;
}

TEST_F(Policies, PoliciesCannotLockThemselvesIn) {
  ASSERT_TRUE(
      put(kinds::kValidatingAdmissionPolicy,
          json(
              R"j({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy",
        "metadata":{"name":"demo"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],
        "apiVersions":["*"],"operations":["*"],"resources":["*"]}]},
        "validations":[{"expression":"false"}]}})j"))
          .has_value());
  ASSERT_TRUE(put(kinds::kValidatingAdmissionPolicyBinding, binding(R"j(["Deny"])j")).has_value());
  EXPECT_FALSE(put(kinds::kConfigMap, config_map("a")).has_value());
  EXPECT_TRUE(
      harness_
          .write(client::DeleteWrite{kinds::kValidatingAdmissionPolicyBinding, "", "demo-binding"})
          .has_value());
  EXPECT_TRUE(put(kinds::kConfigMap, config_map("a")).has_value());
}

}  // namespace
}  // namespace krater::api
