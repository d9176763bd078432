#include "api/registry/deletion.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace krater::api {
namespace {

const WallTime kNow = WallTime::from_unix_seconds(1'767'225'600);

Json object(std::string_view text) {
  Result<Json> out = parse_json(text);
  EXPECT_TRUE(out.has_value()) << text;
  return out ? *std::move(out) : Json(JsonObject());
}

client::DeleteWrite with_grace(std::optional<std::int64_t> seconds) {
  client::DeleteWrite out;
  out.grace_seconds = seconds;
  return out;
}

client::DeleteWrite with_policy(client::Propagation propagation) {
  client::DeleteWrite out;
  out.propagation = propagation;
  return out;
}

struct PodCase {
  std::string name;
  std::string pod;
  std::optional<std::int64_t> grace;
  Deletion want;
  std::optional<std::int64_t> want_grace{};
  std::string want_timestamp{};
};

class DeletePod : public ::testing::TestWithParam<PodCase> {};

TEST_P(DeletePod, FollowsItsGracePeriod) {
  const PodCase& given = GetParam();
  Json pod = object(given.pod);
  EXPECT_EQ(decide_deletion(kinds::kPod, pod, with_grace(given.grace), kNow), given.want);
  if (given.want_grace) {
    EXPECT_EQ(int_at(pod, {"metadata", "deletionGracePeriodSeconds"}), given.want_grace);
  }
  if (!given.want_timestamp.empty()) {
    EXPECT_EQ(text_at(pod, {"metadata", "deletionTimestamp"}), given.want_timestamp);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DeletePod,
    ::testing::Values(
        PodCase{"unscheduled", R"({"metadata":{},"spec":{"terminationGracePeriodSeconds":30}})", 30,
                Deletion::Remove},
        PodCase{"finished",
                R"({"metadata":{},"spec":{"nodeName":"n"},"status":{"phase":"Succeeded"}})",
                std::nullopt, Deletion::Remove},
        PodCase{"failed", R"({"metadata":{},"spec":{"nodeName":"n"},"status":{"phase":"Failed"}})",
                60, Deletion::Remove},
        PodCase{"running_default", R"({"metadata":{},"spec":{"nodeName":"n"}})", std::nullopt,
                Deletion::Mark, 30, "2026-01-01T00:00:30Z"},
        PodCase{"running_own",
                R"({"metadata":{},"spec":{"nodeName":"n","terminationGracePeriodSeconds":5}})",
                std::nullopt, Deletion::Mark, 5, "2026-01-01T00:00:05Z"},
        PodCase{"negative_means_one", R"({"metadata":{},"spec":{"nodeName":"n"}})", -3,
                Deletion::Mark, 1, "2026-01-01T00:00:01Z"},
        PodCase{"grace_zero", R"({"metadata":{},"spec":{"nodeName":"n"}})", 0, Deletion::Remove},
        PodCase{"grace_zero_with_finalizer",
                R"({"metadata":{"finalizers":["a.b/c"]},"spec":{"nodeName":"n"}})", 0,
                Deletion::Mark, 0, "2026-01-01T00:00:00Z"},
        PodCase{
            "shorter_later",
            R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
            10, Deletion::Mark, 10, "2026-01-01T00:00:00Z"},
        PodCase{
            "longer_later",
            R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
            60, Deletion::Nothing, 30, "2026-01-01T00:00:20Z"},
        PodCase{
            "again_without_grace",
            R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
            std::nullopt, Deletion::Nothing, 30, "2026-01-01T00:00:20Z"},
        PodCase{
            "the_agent_is_done",
            R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"}})",
            0, Deletion::Remove},
        PodCase{
            "finished_while_terminating",
            R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":30},"spec":{"nodeName":"n"},"status":{"phase":"Failed"}})",
            std::nullopt, Deletion::Remove}),
    [](const auto& one) { return one.param.name; });

TEST(Deletion, AnObjectWithoutFinalizersGoesAtOnce) {
  Json map = object(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(decide_deletion(kinds::kConfigMap, map, with_grace(30), kNow), Deletion::Remove);
}

TEST(Deletion, FinalizersHoldItAndTheSecondDeleteChangesNothing) {
  Json map =
      object(R"({"metadata":{"name":"a","generation":3,"finalizers":["example.com/hold"]}})");
  EXPECT_EQ(decide_deletion(kinds::kConfigMap, map, {}, kNow), Deletion::Mark);
  EXPECT_EQ(text_at(map, {"metadata", "deletionTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(int_at(map, {"metadata", "generation"}), 4);
  const Json marked = map;
  EXPECT_EQ(decide_deletion(kinds::kConfigMap, map, {}, kNow + 10s), Deletion::Nothing);
  EXPECT_EQ(map, marked);
}

TEST(Deletion, ForegroundAndOrphanLeaveTheirFinalizerForTheCollector) {
  Json cluster = object(R"({"metadata":{"name":"a","finalizers":["orphan"]}})");
  EXPECT_EQ(decide_deletion(kinds::kRayCluster, cluster,
                            with_policy(client::Propagation::Foreground), kNow),
            Deletion::Mark);
  EXPECT_EQ(to_json(*find(cluster, {"metadata", "finalizers"})), R"(["foregroundDeletion"])");
  EXPECT_EQ(
      decide_deletion(kinds::kRayCluster, cluster, with_policy(client::Propagation::Orphan), kNow),
      Deletion::Mark);
  EXPECT_EQ(to_json(*find(cluster, {"metadata", "finalizers"})), R"(["orphan"])");
}

TEST(Deletion, BackgroundTakesTheCollectorsFinalizersAway) {
  Json job = object(R"({"metadata":{"name":"a","finalizers":["foregroundDeletion"]}})");
  EXPECT_EQ(decide_deletion(kinds::kJob, job, with_policy(client::Propagation::Background), kNow),
            Deletion::Remove);
  EXPECT_EQ(find(job, {"metadata", "finalizers"}), nullptr);
}

TEST(Deletion, ANamespaceTerminatesUntilItsOwnFinalizerIsGone) {
  Json space = object(
      R"({"metadata":{"name":"a"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  EXPECT_EQ(decide_deletion(kinds::kNamespace, space, {}, kNow), Deletion::Mark);
  EXPECT_EQ(text_at(space, {"status", "phase"}), "Terminating");
  EXPECT_FALSE(may_go(kinds::kNamespace, space));
  set_path(space, {"spec", "finalizers"}, JsonArray());
  EXPECT_TRUE(may_go(kinds::kNamespace, space));
}

TEST(Deletion, APodMayNotGoWhileItsGracePeriodRuns) {
  EXPECT_FALSE(may_go(
      kinds::kPod,
      object(
          R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":30}})")));
  EXPECT_TRUE(may_go(
      kinds::kPod,
      object(
          R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:20Z","deletionGracePeriodSeconds":0}})")));
  EXPECT_FALSE(may_go(kinds::kPod, object(R"({"metadata":{}})")));
}

}  // namespace
}  // namespace krater::api
