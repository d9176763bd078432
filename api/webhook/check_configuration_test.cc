// Webhook configurations that are no good, in kube-apiserver's words.
#include "api/webhook/check_configuration.h"

#include <gtest/gtest.h>

#include "api/machinery/patch.h"

namespace krater::api {
namespace {

constexpr std::string_view kGood = R"({"webhooks":[{"name":"a.example.com",
  "clientConfig":{"url":"https://host:1/p"},"sideEffects":"None","timeoutSeconds":10,
  "admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE"],"apiGroups":[""],
  "apiVersions":["v1"],"resources":["pods"]}]}]})";

struct Case {
  const char* change;  // of the good one's webhook
  const char* causes;  // "<field>: <message>" each, " | " between them
};

std::string causes_of(const Json& configuration) {
  std::string out;
  for (const Cause& cause : check_webhook_configuration(configuration)) {
    out += (out.empty() ? "" : " | ") + text_of(cause);
  }
  return out;
}

TEST(CheckConfiguration, WhatIsGoodIsGood) {
  EXPECT_EQ(causes_of(*parse_json(kGood)), "");
}

TEST(CheckConfiguration, EachMistakeIsNamed) {
  const std::vector<Case> cases{
      {R"({"name":"a"})",
       "webhooks[0].name: Invalid value: \"a\": should be a domain with at least three segments "
       "separated by dots"},
      {R"({"name":""})", "webhooks[0].name: Required value"},
      {R"({"sideEffects":null})",
       "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"},
      {R"({"sideEffects":"Some"})",
       "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", "
       "\"NoneOnDryRun\""},
      {R"({"timeoutSeconds":31})",
       "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
       "seconds"},
      {R"({"admissionReviewVersions":[]})",
       "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
      {R"({"admissionReviewVersions":["v2"]})",
       "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of "
       "v1, v1beta1"},
      {R"({"clientConfig":{"url":null}})",
       "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
      {R"({"clientConfig":{"url":"http://host/p"}})",
       "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL "
       "scheme; desired format: https://host[/path]"},
      {R"({"clientConfig":{"url":"https://u@host/p?q=1#f"}})",
       "webhooks[0].clientConfig.url: Invalid value: \"u\": user information is not permitted in "
       "the URL | webhooks[0].clientConfig.url: Invalid value: \"f\": fragments are not permitted "
       "in the URL | webhooks[0].clientConfig.url: Invalid value: \"q=1\": query parameters are "
       "not permitted in the URL"},
      {R"({"clientConfig":{"url":null,"service":{"name":"s","namespace":"","port":70000,"path":"x//y"}}})",
       "webhooks[0].clientConfig.service.namespace: Required value | "
       "webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be "
       "between 1 and 65535, inclusive | webhooks[0].clientConfig.service.path: Invalid value: "
       "\"x//y\": must start with a '/' | webhooks[0].clientConfig.service.path: Invalid value: "
       "\"x//y\": segment[0] may not be empty | webhooks[0].clientConfig.service.path: Invalid "
       "value: \"x//y\": segment[1] may not be empty"},
      {R"({"rules":[{"operations":["*","CREATE"],"apiGroups":[],"apiVersions":[""],
           "resources":["pods/*","pods/status"]}]})",
       "webhooks[0].rules[0].operations: Invalid value: [\"*\",\"CREATE\"]: if '*' is present, "
       "must not specify other operations | webhooks[0].rules[0].apiGroups: Required value | "
       "webhooks[0].rules[0].apiVersions[0]: Required value | webhooks[0].rules[0].resources[1]: "
       "Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status"},
      {R"({"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],
           "resources":["*","pods"]}]})",
       "webhooks[0].rules[0].resources: Invalid value: [\"*\",\"pods\"]: if '*' is present, must "
       "not specify other resources without subresources"},
      {R"({"matchConditions":[{"name":"","expression":""}]})",
       "webhooks[0].matchConditions[0].expression: Required value | "
       "webhooks[0].matchConditions[0].name: Required value"},
  };
  for (const Case& one : cases) {
    Json configuration = *parse_json(kGood);
    Json& webhook = configuration.at("webhooks").at(0);
    ASSERT_TRUE(merge_patch(webhook, *parse_json(one.change)).has_value()) << one.change;
    EXPECT_EQ(causes_of(configuration), one.causes) << one.change;
  }
}

TEST(CheckConfiguration, AConditionThatIsNoExpressionIsToldWhy) {
  Json configuration = *parse_json(kGood);
  configuration.at("webhooks").at(0).get_object()["matchConditions"] =
      *parse_json(R"([{"name":"x","expression":"object.metadata.name =="}])");
  EXPECT_NE(causes_of(configuration).find("webhooks[0].matchConditions[0].expression"),
            std::string::npos);
}

}  // namespace
}  // namespace krater::api
