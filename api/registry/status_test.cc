#include "api/registry/status.h"

#include <gtest/gtest.h>

#include "api/admission/causes.h"

namespace krater::api {
namespace {

TEST(Status, NamesWhatIsMissing) {
  EXPECT_EQ(
      to_json(failure_status(not_found(kinds::kRayJob, "a"))),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"rayjobs.ray.io \"a\" not found",)"
      R"("reason":"NotFound","details":{"name":"a","group":"ray.io","kind":"rayjobs"},"code":404})");
}

TEST(Status, ListsTheCausesOfAnInvalidObject) {
  const Error error =
      invalid(kinds::kPod, "p",
              {required_value("spec.containers"), invalid_value("metadata.name", "\"A\"", "bad")});
  EXPECT_EQ(error.message,
            "Pod \"p\" is invalid: [spec.containers: Required value, metadata.name: Invalid value: "
            "\"A\": bad]");
  const Json status = failure_status(error);
  EXPECT_EQ(text_at(status, {"details", "kind"}), "Pod");
  EXPECT_EQ(
      to_json(*find(status, {"details", "causes"})),
      R"([{"reason":"FieldValueRequired","message":"Required value","field":"spec.containers"},)"
      R"({"reason":"FieldValueInvalid","message":"Invalid value: \"A\": bad","field":"metadata.name"}])");
  EXPECT_EQ(int_at(status, {"code"}), 422);
}

TEST(Status, OneCauseStandsWithoutBrackets) {
  EXPECT_EQ(invalid(kinds::kRayJob, "r", {forbidden_value("spec", "no")}).message,
            "RayJob.ray.io \"r\" is invalid: spec: Forbidden: no");
}

TEST(Status, ATooLargeRevisionAsksToTryAgain) {
  const Json status = failure_status(revision_too_large(9, 5));
  EXPECT_EQ(int_at(status, {"code"}), 504);
  EXPECT_EQ(text_at(status, {"message"}), "Timeout: Too large resource version: 9, current: 5");
  EXPECT_EQ(int_at(status, {"details", "retryAfterSeconds"}), 1);
}

TEST(Status, AnExpiredPageCarriesATokenToGoOn) {
  Error error = make_error(Code::Expired, "too old");
  error.continue_token = "abc";
  const Json status = failure_status(error);
  EXPECT_EQ(text_at(status, {"metadata", "continue"}), "abc");
  EXPECT_EQ(text_at(status, {"reason"}), "Expired");
  EXPECT_EQ(int_at(status, {"code"}), 410);
}

TEST(Status, WhatAClientSentThatIsNoTextIsReplaced) {
  Error error = make_error(Code::NotFound, "pods \"\xFF\" not found");
  error.causes.push_back(Cause{"FieldValueInvalid", "\xC3(", "metadata.name"});
  const Json status = failure_status(error);
  EXPECT_EQ(text_at(status, {"message"}), "pods \"\xEF\xBF\xBD\" not found");
  EXPECT_TRUE(parse_json(to_json(status)).has_value()) << to_json(status);
}

}  // namespace
}  // namespace krater::api
