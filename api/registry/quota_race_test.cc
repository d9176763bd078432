// Quotas over a real registry: whatever races, nothing is overdrawn and nothing is charged in vain.
#include <gtest/gtest.h>

#include <future>

#include "api/registry/testing/harness.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::text_of;

struct QuotaRaceTest : ::testing::Test {
  Harness h;

  void quota(std::string_view hard) {
    const Result<Answer> made =
        h.create(kinds::kResourceQuota,
                 R"({"metadata":{"name":"q"},"spec":{"hard":)" + std::string(hard) + "}}");
    ASSERT_TRUE(made.has_value()) << text_of(made);
  }
  std::string used(std::string_view resource) {
    return text_at(h.read(kinds::kResourceQuota, "q"), {"status", "used", resource});
  }
  static Json map(int number) {
    return Harness::parsed(R"({"metadata":{"name":"m)" + std::to_string(number) + R"("}})");
  }
};

TEST_F(QuotaRaceTest, ConcurrentCreatesNeverOverdraw) {
  quota(R"({"configmaps":"3"})");
  EXPECT_EQ(used("configmaps"), "0");
  constexpr int kMany = 12;
  std::vector<std::promise<Result<Answer>>> done(kMany);
  for (int i = 0; i < kMany; ++i) {
    h.registry().write(client::CreateWrite{kinds::kConfigMap, "default", map(i)}, {},
                       [&done, i](Result<Answer> answer) {
                         done[static_cast<std::size_t>(i)].set_value(std::move(answer));
                       });
  }
  int made = 0;
  for (auto& one : done) {
    const Result<Answer> answer = one.get_future().get();
    made += answer.has_value() ? 1 : 0;
    if (!answer) {
      EXPECT_EQ(answer.error().code, Code::Forbidden);
      EXPECT_NE(text_of(answer).find("is forbidden: exceeded quota: q, requested: configmaps=1, "
                                     "used: configmaps=3, limited: configmaps=3"),
                std::string::npos)
          << text_of(answer);
    }
  }
  EXPECT_EQ(made, 3);
  EXPECT_EQ(used("configmaps"), "3");
}

TEST_F(QuotaRaceTest, ATransactionIsChargedAsAWholeOrNotAtAll) {
  quota(R"({"configmaps":"2"})");
  const auto create = [](int number) {
    return client::Write(client::CreateWrite{kinds::kConfigMap, "default", map(number)});
  };
  ASSERT_TRUE(h.transact({create(1), create(2)}).has_value());
  EXPECT_EQ(used("configmaps"), "2");
  ASSERT_TRUE(h.remove(kinds::kConfigMap, "m1").has_value());
  // Given back when the quota is counted anew, which any write of its status asks for.
  ASSERT_TRUE(h.merge(kinds::kResourceQuota, "q", "{}", "status").has_value());
  EXPECT_EQ(used("configmaps"), "1");
  const Result<std::vector<Answer>> refused = h.transact({create(3), create(4)});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().causes.front().field, "[1]");
  EXPECT_EQ(used("configmaps"), "1");
}

TEST_F(QuotaRaceTest, ADryRunAndARefusedCreateChargeNothing) {
  quota(R"({"configmaps":"2"})");
  RequestInfo dry;
  dry.dry_run = true;
  EXPECT_TRUE(
      h.create(kinds::kConfigMap, R"({"metadata":{"name":"m"}})", "default", dry).has_value());
  EXPECT_FALSE(h.create(kinds::kConfigMap, R"({"metadata":{"name":"B_d"}})").has_value());
  EXPECT_EQ(used("configmaps"), "0");
}

TEST_F(QuotaRaceTest, NobodyCanWriteTheUsageByHand) {
  quota(R"({"configmaps":"2"})");
  ASSERT_TRUE(
      h.merge(kinds::kResourceQuota, "q", R"({"status":{"used":{"configmaps":"-5"}}})", "status")
          .has_value());
  EXPECT_EQ(used("configmaps"), "0");
  ASSERT_TRUE(
      h.merge(kinds::kResourceQuota, "q", R"({"spec":{"hard":{"secrets":"1"}}})").has_value());
  EXPECT_EQ(used("secrets"), "0");
}

}  // namespace
}  // namespace krater::api
