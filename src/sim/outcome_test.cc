// The rules of the end must find what is missing.
#include "sim/outcome.h"

#include <gtest/gtest.h>

#include "api/registry/keys.h"
#include "api/registry/registry.h"
#include "base/check.h"
#include "storage/rocksdb_store.h"

namespace krater::sim {
namespace {

class OutcomeTest : public ::testing::Test {
 protected:
  OutcomeTest() {
    storage::OpenOptions options;
    options.path = "/outcome";
    options.in_memory = true;
    options.writer_thread = false;
    options.decode = api::object_decoder();
    auto opened = storage::open_rocksdb(std::move(options));
    CHECK(opened.has_value());
    store = *std::move(opened);
  }
  void put(const Kind& kind, const std::string& name, const std::string& json,
           const std::string& name_space = "ns") {
    const auto parsed = parse_json(json);
    CHECK_MSG(parsed.has_value(), json);
    Json object = new_object(kind, kind.namespaced ? name_space : "", name);
    for (const auto& [key, value] : parsed->as_object()) {
      if (key == "metadata") {
        for (const auto& [field, inner] : value.as_object())
          set_path(object, {"metadata", std::string_view(field.data(), field.size())}, inner);
      } else {
        object.as_object()[key] = value;
      }
    }
    storage::Op op;
    op.key = api::store_key(kind, name_space, name);
    op.value = to_json(object);
    CHECK(storage::commit_and_wait(*store, {{op}}).has_value());
  }
  std::optional<std::string> says(const std::string& rule) {
    return missing(rule, *store->snapshot(), {made, programs, heads_die});
  }
  void ran(const std::string& id, const std::string& ip, const std::string& status,
           const std::string& began = "2026-01-01T00:00:00Z") {
    programs.push_back({ip, id, *parse_rfc3339(began), status});
  }

  std::unique_ptr<storage::Store> store;
  std::vector<User::Made> made;
  std::vector<RayDashboards::Program> programs;
  bool heads_die = false;
};

TEST_F(OutcomeTest, AProgramRunsOnceUnlessAHeadHasTakenItAlong) {
  made.push_back({kinds::kRayJob, "ns", "j"});
  put(kinds::kRayJob, "j", R"({"status":{"jobDeploymentStatus":"Running","jobId":"j-a"}})");
  ran("j-a", "10.0.0.1", "RUNNING");
  ran("j2-a", "10.0.0.1", "RUNNING");
  EXPECT_FALSE(says("programs_run_within_limits"));
  ran("j-a", "10.0.0.2", "RUNNING");
  EXPECT_TRUE(says("programs_run_within_limits"));
  heads_die = true;
  EXPECT_FALSE(says("programs_run_within_limits"));
}

TEST_F(OutcomeTest, ARayJobIsTriedAsOftenAsItMayBe) {
  made.push_back({kinds::kRayJob, "ns", "j"});
  put(kinds::kRayJob, "j", R"({"spec":{"backoffLimit":1}})");
  ran("j-a", "10.0.0.1", "FAILED");
  ran("j-b", "10.0.0.2", "FAILED");
  EXPECT_FALSE(says("programs_run_within_limits"));
  ran("j-c", "10.0.0.3", "FAILED");
  EXPECT_TRUE(says("programs_run_within_limits"));
}

TEST_F(OutcomeTest, ASuccessWasOneAndNothingBeginsAfterIt) {
  made.push_back({kinds::kRayJob, "ns", "j"});
  put(kinds::kRayJob, "j",
      R"({"status":{"jobDeploymentStatus":"Complete","jobStatus":"SUCCEEDED","jobId":"j-a",)"
      R"("endTime":"2026-01-01T00:01:00Z"}})");
  EXPECT_TRUE(says("programs_run_within_limits"));
  ran("j-a", "10.0.0.1", "SUCCEEDED");
  EXPECT_FALSE(says("programs_run_within_limits"));
  heads_die = true;
  ran("j-a", "10.0.0.2", "RUNNING", "2026-01-01T00:02:00Z");
  EXPECT_TRUE(says("programs_run_within_limits"));
}

TEST_F(OutcomeTest, AJobThatIsNotThereOrHasNotEndedIsMissing) {
  made.push_back({kinds::kRayJob, "ns", "j"});
  EXPECT_TRUE(says("every_job_finished"));
  put(kinds::kRayJob, "j", R"({"status":{"jobDeploymentStatus":"Running"}})");
  EXPECT_TRUE(says("every_job_finished"));
  put(kinds::kRayJob, "j", R"({"status":{"jobDeploymentStatus":"Failed","jobStatus":"FAILED"}})");
  EXPECT_FALSE(says("every_job_finished"));
  EXPECT_TRUE(says("every_job_succeeded"));
  put(kinds::kRayJob, "j",
      R"({"status":{"jobDeploymentStatus":"Complete","jobStatus":"SUCCEEDED"}})");
  EXPECT_FALSE(says("every_job_succeeded"));
}

TEST_F(OutcomeTest, APodThatRunsOnOrHasOutlivedItsOwnerIsAnOrphan) {
  const std::string owned =
      R"({"metadata":{"uid":"p","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j",)"
      R"("uid":"u1","controller":true}]},"status":{"phase":"PHASE"}})";
  const auto with = [&](std::string text, const std::string& phase) {
    return text.replace(text.find("PHASE"), 5, phase);
  };
  put(kinds::kJob, "j", R"({"metadata":{"uid":"u1"}})");
  put(kinds::kPod, "p", with(owned, "Running"));
  EXPECT_TRUE(says("no_orphan_pods"));
  put(kinds::kPod, "p", with(owned, "Succeeded"));
  EXPECT_FALSE(says("no_orphan_pods"));
  put(kinds::kJob, "j", R"({"metadata":{"uid":"another"}})");
  EXPECT_TRUE(says("no_orphan_pods"));
}

TEST_F(OutcomeTest, AGangWithoutItsOwnerIsLeft) {
  put(kinds::kPodGroup, "g",
      R"({"metadata":{"uid":"g","ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayJob",)"
      R"("name":"j","uid":"u1","controller":true}]}})");
  EXPECT_TRUE(says("no_pod_group_left"));
  put(kinds::kRayJob, "j", R"({"metadata":{"uid":"u1"}})");
  EXPECT_FALSE(says("no_pod_group_left"));
}

TEST_F(OutcomeTest, AQueueThatStillCountsSomethingHoldsIt) {
  put(kinds::kQueue, "q", R"({"status":{"allocated":{"cpu":"0","memory":"0"}}})");
  EXPECT_FALSE(says("queues_hold_nothing"));
  put(kinds::kQueue, "q", R"({"status":{"allocated":{"cpu":"1"}}})");
  EXPECT_TRUE(says("queues_hold_nothing"));
}

TEST_F(OutcomeTest, AfterDeletingAnythingThereIsLeftOver) {
  EXPECT_FALSE(left_over(*store->snapshot()));
  put(kinds::kService, "s", "{}");
  EXPECT_TRUE(left_over(*store->snapshot()));
}

TEST_F(OutcomeTest, AnUnknownRuleNeverHolds) {
  EXPECT_TRUE(says("no_such_rule"));
}

}  // namespace
}  // namespace krater::sim
