// What webhooks answer, and what is made of it.
#include "api/webhook/review.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace krater::api {
namespace {

using Outcome = HookVerdict::Outcome;

Hook hook(HookKind kind = HookKind::Mutating, std::string version = "v1") {
  Hook out;
  out.kind = kind;
  out.name = "h.example.com";
  out.review_version = std::move(version);
  return out;
}

HttpResponse reply(const std::string& response, int status = 200,
                   const std::string& version = "v1") {
  HttpResponse out;
  out.status = status;
  out.body = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/)" + version +
             R"(","response":)" + response + "}";
  return out;
}

HttpResponse plain(int status, std::string body) {
  HttpResponse out;
  out.status = status;
  out.body = std::move(body);
  return out;
}

TEST(Review, TheUidIsPutBeforeTheRequest) {
  EXPECT_EQ(review_text("v1", "u", R"({"name":"x"})"),
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
            R"("request":{"uid":"u","name":"x"}})");
}

TEST(Review, AnAllowingAnswerMayCarryAPatchWarningsAndNotes) {
  const std::string patch = base64_encode(R"([{"op":"add","path":"/a","value":1}])");
  const HookVerdict verdict =
      read_verdict(hook(), "u",
                   reply(R"({"uid":"u","allowed":true,"patchType":"JSONPatch","patch":")" + patch +
                         R"(","warnings":["w"],"auditAnnotations":{"k":"v"}})"));
  EXPECT_EQ(verdict.outcome, Outcome::Allowed);
  EXPECT_EQ(to_json(verdict.patch), R"([{"op":"add","path":"/a","value":1}])");
  EXPECT_EQ(verdict.warnings, std::vector<std::string>{"w"});
  ASSERT_EQ(verdict.annotations.size(), 1U);
  EXPECT_EQ(verdict.annotations[0].second, "v");
  EXPECT_EQ(verdict.code, 200);
}

TEST(Review, AnEmptyPatchIsNone) {
  const HookVerdict verdict =
      read_verdict(hook(), "u",
                   reply(R"({"uid":"u","allowed":true,"patchType":"JSONPatch","patch":")" +
                         base64_encode("[]") + "\"}"));
  EXPECT_EQ(verdict.outcome, Outcome::Allowed);
  EXPECT_TRUE(verdict.patch.is_null());
}

struct Denial {
  const char* status;
  const char* message;
  int code;
};

TEST(Review, ADenialSaysWhoseItIsAndIsNeverASuccess) {
  const std::vector<Denial> cases{
      {R"({"message":"no","code":422})",
       "admission webhook \"h.example.com\" denied the request: no", 422},
      {R"({"reason":"Because","code":200,"status":"Success"})",
       "admission webhook \"h.example.com\" denied the request: Because", 400},
      {R"({})", "admission webhook \"h.example.com\" denied the request without explanation", 400},
  };
  for (const Denial& one : cases) {
    const HookVerdict verdict = read_verdict(
        hook(HookKind::Validating), "u",
        reply(R"({"uid":"u","allowed":false,"status":)" + std::string(one.status) + "}"));
    EXPECT_EQ(verdict.outcome, Outcome::Denied) << one.status;
    EXPECT_EQ(text_at(verdict.status, {"message"}), one.message);
    EXPECT_EQ(int_at(verdict.status, {"code"}), one.code);
    EXPECT_EQ(text_at(verdict.status, {"status"}), "Failure");
    EXPECT_EQ(verdict.code, one.code);
  }
}

struct Nonsense {
  HookKind kind;
  HttpResponse reply;
  const char* failure;
};

TEST(Review, NonsenseIsAFailureThatSaysWhatIsWrong) {
  const HookKind m = HookKind::Mutating, v = HookKind::Validating;
  const std::vector<Nonsense> cases{
      {m, reply(R"({"uid":"other","allowed":true})"),
       "received invalid webhook response: expected response.uid=\"u\", got \"other\""},
      {m, reply("null"), "received invalid webhook response: webhook response was absent"},
      {m, reply(R"({"uid":"u","allowed":true})", 200, "v1beta1"),
       "received invalid webhook response: expected webhook response of admission.k8s.io/v1, "
       "Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview"},
      {m, reply(R"({"uid":"u","allowed":true,"patch":"W10="})"),
       "received invalid webhook response: webhook returned response.patch but not "
       "response.patchType"},
      {m, reply(R"({"uid":"u","allowed":true,"patchType":"JSONPatch"})"),
       "received invalid webhook response: webhook returned response.patchType but not "
       "response.patch"},
      {v, reply(R"({"uid":"u","allowed":true,"patch":"W10="})"),
       "received invalid webhook response: validating webhook may not return response.patch"},
      {v, reply(R"({"uid":"u","allowed":true,"patchType":"JSONPatch"})"),
       "received invalid webhook response: validating webhook may not return response.patchType"},
      {m, plain(200, "{}"), "failed to call webhook: Object 'Kind' is missing in '{}'"},
      {m, plain(404, ""),
       "failed to call webhook: the server could not find the requested resource"},
      {m, plain(500, "boom\n"),
       "failed to call webhook: an error on the server (\"boom\") has prevented the request from "
       "succeeding"},
      {m, plain(302, ""),
       "failed to call webhook: the server rejected our request for an unknown reason"},
  };
  for (const Nonsense& one : cases) {
    const HookVerdict verdict = read_verdict(hook(one.kind), "u", one.reply);
    EXPECT_EQ(verdict.outcome, Outcome::Failed) << one.reply.body;
    EXPECT_EQ(verdict.failure, one.failure);
  }
  const HookVerdict garbage = read_verdict(hook(), "u", plain(200, "<html>"));
  EXPECT_EQ(garbage.outcome, Outcome::Failed);
  EXPECT_TRUE(garbage.failure.starts_with(
      "failed to call webhook: couldn't get version/kind; json parse error: "))
      << garbage.failure;
  const HookVerdict undecodable = read_verdict(
      hook(), "u", reply(R"({"uid":"u","allowed":true,"patchType":"JSONPatch","patch":"e30="})"));
  EXPECT_TRUE(undecodable.failure.starts_with("received undecodable patch in webhook response: "))
      << undecodable.failure;
}

TEST(Review, OlderReviewsAreReadAsTheyAlwaysWere) {
  const HookVerdict verdict =
      read_verdict(hook(HookKind::Mutating, "v1beta1"), "u",
                   reply(R"({"uid":"","allowed":true,"patch":")" +
                             base64_encode(R"([{"op":"remove","path":"/a"}])") + "\"}",
                         200, "v1beta1"));
  EXPECT_EQ(verdict.outcome, Outcome::Allowed);
  EXPECT_EQ(verdict.patch.get_array().size(), 1U);
}

TEST(Review, WhatWasNotReachedIsToldWithItsAddress) {
  EXPECT_EQ(unreached("https://h/x?timeout=1s", make_error(Code::Timeout, "whatever")).failure,
            "failed to call webhook: Post \"https://h/x?timeout=1s\": context deadline exceeded");
  EXPECT_EQ(
      unreached("https://h/x?timeout=1s", make_error(Code::Unavailable, "service \"a\" not found"))
          .failure,
      "failed to call webhook: Post \"https://h/x?timeout=1s\": service \"a\" not found");
}

TEST(Address, AServiceIsItsNameInTheCluster) {
  const HookAddress address = read_address(
      *parse_json(R"({"service":{"namespace":"ns","name":"svc","path":"/mutate","port":8443}})"));
  EXPECT_EQ(address.url, "https://svc.ns.svc:8443/mutate");
  EXPECT_EQ(address.service, (HookService{"ns", "svc", 8443}));
  EXPECT_EQ(read_address(*parse_json(R"({"service":{"namespace":"n","name":"s"}})")).url,
            "https://s.n.svc:443/");
}

TEST(Address, ABundleThatIsNoneIsToldWhenItIsNeeded) {
  const HookAddress address =
      read_address(*parse_json(R"({"url":"https://x","caBundle":"aGVsbG8="})"));
  EXPECT_EQ(address.problem,
            "unable to load root certificates: unable to parse bytes as PEM block");
}

}  // namespace
}  // namespace krater::api
