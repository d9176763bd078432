// Asking webhooks, on a loop whose time the test moves.
#include "api/webhook/caller.h"

#include <gtest/gtest.h>

#include "testing/manual_loop.h"

namespace krater::api {
namespace {

using krater::testing::ManualLoop;

class FakeTransport final : public HookTransport {
 public:
  void post(HookPost post, Done done) override {
    posts.push_back(std::move(post));
    pending.push_back(std::move(done));
  }
  std::vector<HookPost> posts;
  std::vector<Done> pending;
};

class Caller : public ::testing::Test {
 protected:
  HookQuestion question(bool fail = true) {
    auto hook = std::make_shared<Hook>();
    hook->name = "h.example.com";
    hook->kind = HookKind::Validating;
    hook->review_version = version_;
    hook->fail = fail;
    hook->timeout = std::chrono::seconds(10);
    hook->address.url = "https://h/x";
    hook->address.problem = problem_;
    return {std::move(hook), R"({"name":"a"})", "CREATE"};
  }
  void ask(const HookQuestion& one, Duration limit = std::chrono::seconds(60)) {
    caller_->call(one, limit, [this](HookVerdict verdict) { verdicts_.push_back(verdict); });
    loop_.run_ready();
  }
  // The answer that carries the uid that was sent.
  HttpResponse yes(std::size_t post) {
    const Result<Json> review = parse_json(transport_.posts[post].body);
    HttpResponse out;
    out.status = 200;
    out.body =
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":")" +
        text_at(*review, {"request", "uid"}) + R"(","allowed":true}})";
    return out;
  }

  std::string version_ = "v1", problem_;
  ManualLoop loop_;
  SeededRng rng_{1};
  FakeTransport transport_;
  HookStats stats_;
  std::unique_ptr<HookCaller> caller_ = make_hook_caller(loop_, transport_, rng_, stats_);
  std::vector<HookVerdict> verdicts_;
};

TEST_F(Caller, TheShorterOfBothTimesCounts) {
  ask(question());
  ask(question(), std::chrono::milliseconds(2500));
  ASSERT_EQ(transport_.posts.size(), 2U);
  EXPECT_EQ(transport_.posts[0].url, "https://h/x?timeout=10s");
  EXPECT_EQ(transport_.posts[1].url, "https://h/x?timeout=3s");
  EXPECT_EQ(transport_.posts[1].timeout, std::chrono::milliseconds(2500));
  EXPECT_EQ(transport_.posts[0].max_reply_bytes, 3U << 20);
}

TEST_F(Caller, EachAskingHasAnIdOfItsOwnAndIsCounted) {
  ask(question());
  ask(question());
  EXPECT_NE(transport_.posts[0].body, transport_.posts[1].body);
  loop_.advance(std::chrono::milliseconds(200));
  transport_.pending[0](yes(0));
  transport_.pending[1](yes(0));  // of the other
  ASSERT_EQ(verdicts_.size(), 2U);
  EXPECT_EQ(verdicts_[0].outcome, HookVerdict::Outcome::Allowed);
  EXPECT_EQ(verdicts_[1].outcome, HookVerdict::Outcome::Failed);
  const HookStats::Totals totals = stats_.totals();
  const std::string rest = R"(name="h.example.com",operation="CREATE",)";
  EXPECT_EQ(totals.requests.at(R"(code="200",)" + rest + R"(rejected="false",type="validating")"),
            1U);
  EXPECT_EQ(totals.rejections.at(R"(error_type="calling_webhook_error",)" + rest +
                                 R"(rejection_code="503",type="validating")"),
            1U);
  const HookStats::Times& times =
      totals.durations.at(rest + R"(rejected="false",type="validating")");
  EXPECT_EQ(times.count, 1U);
  EXPECT_EQ(times.buckets[3], 1U);  // above 0.1, at most 0.5
}

TEST_F(Caller, WhatFailsOpenIsCountedAsThat) {
  ask(question(false));
  transport_.pending[0](make_error(Code::Timeout, "late"));
  EXPECT_EQ(stats_.totals().fail_opens.at(R"(name="h.example.com",type="validating")"), 1U);
  EXPECT_TRUE(stats_.totals().rejections.empty());
}

TEST_F(Caller, WhatCannotBeAskedFailsAtOnce) {
  version_ = "";
  ask(question());
  version_ = "v1";
  problem_ = "unable to load root certificates";
  ask(question());
  EXPECT_TRUE(transport_.posts.empty());
  ASSERT_EQ(verdicts_.size(), 2U);
  EXPECT_EQ(verdicts_[0].failure,
            "could not create admission objects: webhook does not accept known AdmissionReview "
            "versions (v1, v1beta1)");
  EXPECT_EQ(verdicts_[1].failure, "could not get REST client: unable to load root certificates");
}

TEST_F(Caller, GivingUpEndsWhatIsOpenAndWhatComesAfter) {
  ask(question());
  caller_->give_up();
  loop_.run_ready();
  ASSERT_EQ(verdicts_.size(), 1U);
  EXPECT_EQ(verdicts_[0].failure, "failed to call webhook: context canceled");
  transport_.pending[0](yes(0));  // too late
  EXPECT_EQ(verdicts_.size(), 1U);
  ask(question());
  EXPECT_EQ(verdicts_.size(), 2U);
  EXPECT_EQ(transport_.posts.size(), 1U);
}

}  // namespace
}  // namespace krater::api
