// Evictions over a real registry: each case a budget's state, and what comes of it.
#include "api/registry/eviction.h"

#include <gtest/gtest.h>

#include <future>

#include "api/registry/testing/harness.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::text_of;

struct EvictionTest : ::testing::Test {
  Harness h;

  void pod(const std::string& name, bool ready = true) {
    ASSERT_TRUE(
        h.create(
             kinds::kPod,
             R"({"metadata":{"name":")" + name +
                 R"(","labels":{"app":"a"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})")
            .has_value());
    ASSERT_TRUE(
        h.merge(kinds::kPod, name,
                std::string(
                    R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":")") +
                    (ready ? "True" : "False") + R"("}]}})",
                "status")
            .has_value());
  }
  void budget(const std::string& name, const std::string& status, const std::string& more = "") {
    const Result<Answer> made =
        h.create(kinds::kPodDisruptionBudget, R"({"metadata":{"name":")" + name +
                                                  R"("},"spec":{"minAvailable":1)" + more +
                                                  R"(,"selector":{"matchLabels":{"app":"a"}}}})");
    ASSERT_TRUE(made.has_value()) << text_of(made);
    if (status.empty()) return;
    const Result<Answer> set =
        h.merge(kinds::kPodDisruptionBudget, name, R"({"status":)" + status + "}", "status");
    ASSERT_TRUE(set.has_value()) << text_of(set);
  }
  Result<Answer> evict(const std::string& name, client::DeleteWrite options = {},
                       RequestInfo info = {}) {
    options.name_space = "default";
    options.name = name;
    std::promise<Result<Answer>> done;
    h.registry().evict(std::move(options), std::move(info),
                       [&](Result<Answer> answer) { done.set_value(std::move(answer)); });
    return done.get_future().get();
  }
  std::optional<std::int64_t> allowed(const std::string& name) {
    return int_at(h.read(kinds::kPodDisruptionBudget, name), {"status", "disruptionsAllowed"});
  }
  bool leaving(const std::string& name) {
    const Json left = h.read(kinds::kPod, name);
    return left.get_object().empty() || find(left, {"metadata", "deletionTimestamp"}) != nullptr;
  }
};

constexpr std::string_view kTwo =
    R"({"observedGeneration":1,"disruptionsAllowed":2,"currentHealthy":3,"desiredHealthy":1,"expectedPods":3})";
constexpr std::string_view kNone =
    R"({"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1})";

TEST_F(EvictionTest, WithoutABudgetItIsADelete) {
  pod("p");
  const Result<Answer> answer = evict("p");
  ASSERT_TRUE(answer.has_value()) << text_of(answer);
  EXPECT_TRUE(leaving("p"));
  EXPECT_EQ(text_of(evict("absent")), "pods \"absent\" not found");
}

TEST_F(EvictionTest, TakesFromTheBudgetAndMarksThePod) {
  pod("p");
  budget("b", std::string(kTwo));
  ASSERT_TRUE(evict("p").has_value());
  EXPECT_EQ(allowed("b"), 1);
  const Json after = h.read(kinds::kPodDisruptionBudget, "b");
  EXPECT_NE(find(after, {"status", "disruptedPods", "p"}), nullptr);
  const Json left = h.read(kinds::kPod, "p");
  const JsonArray* conditions = array_at(left, {"status", "conditions"});
  ASSERT_NE(conditions, nullptr);
  EXPECT_EQ(text_at(conditions->back(), {"type"}), "DisruptionTarget");
  EXPECT_EQ(text_at(conditions->back(), {"reason"}), "EvictionByEvictionAPI");
}

TEST_F(EvictionTest, IsRefusedWhenNothingMayGo) {
  pod("p");
  budget("b", std::string(kNone));
  const Result<Answer> answer = evict("p");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::TooManyRequests);
  EXPECT_EQ(answer.error().message,
            "Cannot evict pod as it would violate the pod's disruption budget.");
  ASSERT_EQ(answer.error().causes.size(), 1U);
  EXPECT_EQ(answer.error().causes[0].reason, "DisruptionBudget");
  EXPECT_EQ(answer.error().causes[0].message,
            "The disruption budget b needs 1 healthy pods and has 1 currently");
  EXPECT_FALSE(leaving("p"));
}

TEST_F(EvictionTest, ABudgetNobodyHasCountedYetIsWaitedFor) {
  pod("p");
  budget("b", "");
  const Result<Answer> answer = evict("p");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().causes[0].message,
            "The disruption budget b is still being processed by the server.");
  EXPECT_EQ(answer.error().retry_after_seconds, 10);
}

TEST_F(EvictionTest, PodsThatAreNobodysLossGoAnyway) {
  budget("b", std::string(kNone));
  ASSERT_TRUE(
      h.create(
           kinds::kPod,
           R"({"metadata":{"name":"pending","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}})")
          .has_value());
  EXPECT_TRUE(evict("pending").has_value());
  pod("unready", false);
  EXPECT_TRUE(evict("unready").has_value());  // as many are healthy as must be
  EXPECT_EQ(allowed("b"), 0);
}

TEST_F(EvictionTest, TwoBudgetsAreNotSupported) {
  pod("p");
  budget("a", std::string(kTwo));
  budget("b", std::string(kTwo));
  const Result<Answer> answer = evict("p");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::Internal);
}

TEST_F(EvictionTest, ADryRunTakesNothing) {
  pod("p");
  budget("b", std::string(kTwo));
  RequestInfo dry;
  dry.dry_run = true;
  EXPECT_TRUE(evict("p", {}, dry).has_value());
  EXPECT_EQ(allowed("b"), 2);
  EXPECT_FALSE(leaving("p"));
}

TEST_F(EvictionTest, ConcurrentEvictionsNeverTakeMoreThanThereIs) {
  for (int i = 0; i < 6; ++i) pod("p" + std::to_string(i));
  budget("b", std::string(kTwo));
  std::vector<std::promise<Result<Answer>>> done(6);
  for (int i = 0; i < 6; ++i) {
    client::DeleteWrite options;
    options.name_space = "default";
    options.name = "p" + std::to_string(i);
    h.registry().evict(options, {}, [&done, i](Result<Answer> answer) {
      done[static_cast<std::size_t>(i)].set_value(std::move(answer));
    });
  }
  int granted = 0;
  for (auto& one : done) {
    const Result<Answer> answer = one.get_future().get();
    granted += answer.has_value() ? 1 : 0;
    if (!answer) {
      EXPECT_EQ(answer.error().code, Code::TooManyRequests) << text_of(answer);
    }
  }
  EXPECT_EQ(granted, 2);
  EXPECT_EQ(allowed("b"), 0);
}

}  // namespace
}  // namespace krater::api
