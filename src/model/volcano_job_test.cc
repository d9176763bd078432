#include "model/volcano_job.h"

#include <gtest/gtest.h>

#include "model/podgroup.h"

namespace krater {
namespace {

ObjectPtr object(const Kind& kind, std::string_view spec) {
  const std::string text = R"({"apiVersion":")" + kind.api_version() + R"(","kind":")" + kind.kind +
                           R"(","metadata":{"name":"j","namespace":"n","uid":"u"},"spec":)" +
                           std::string(spec) + "}";
  return *Object::parse(ObjectKey::of(kind, "n", "j"), Revision(1),
                        std::make_shared<const std::string>(text));
}

TEST(VolcanoJob, ReadsTasksAndPolicies) {
  const VolcanoJobView job(object(kinds::kVolcanoJob, R"({
    "minAvailable":3,"queue":"q","plugins":{"svc":["--publish-not-ready-addresses"],"env":null},
    "policies":[{"event":"PodEvicted","action":"RestartJob"},{"action":"Nonsense","event":"*"}],
    "tasks":[{"name":"ps","replicas":2,"maxRetry":0},
      {"name":"w","replicas":4,"minAvailable":1,"maxRetry":-1,
       "dependsOn":{"name":["ps"],"iteration":"any"},
       "policies":[{"events":["PodFailed","PodPending"],"action":"RestartTask","timeout":"1m30s"},
                   {"exitCode":3,"action":"AbortJob"}]},
      {"name":"p","replicas":6,"partitionPolicy":{"totalPartitions":3,"partitionSize":2,"minPartitions":2}}]})"));
  EXPECT_EQ(job.min_available(), 3);
  EXPECT_EQ(job.max_retry(), 3);
  EXPECT_EQ(job.pod_group_name(), "j-u");
  EXPECT_FALSE(job.phase().has_value());
  const auto plugins = job.plugins();
  EXPECT_EQ(plugins.at("svc"), std::vector<std::string>{"--publish-not-ready-addresses"});
  EXPECT_TRUE(plugins.at("env").empty());
  ASSERT_EQ(job.policies().size(), 1U) << "what is no action is left out";
  EXPECT_EQ(job.policies()[0].events, std::vector<VolcanoEvent>{VolcanoEvent::PodEvicted});
  const std::vector<VolcanoTask> tasks = job.tasks();
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].max_retry, 3) << "0 is the default";
  EXPECT_EQ(tasks[0].minimum(), 2);
  EXPECT_EQ(tasks[1].minimum(), 1);
  EXPECT_EQ(tasks[1].max_retry, -1);
  EXPECT_TRUE(tasks[1].depends_on_any);
  EXPECT_EQ(tasks[1].policies[0].timeout, 90s);
  EXPECT_EQ(tasks[1].policies[1].exit_code, 3);
  EXPECT_EQ(tasks[2].minimum(), 4) << "minPartitions x partitionSize";
}

TEST(VolcanoJob, WordsAreVolcanos) {
  EXPECT_EQ(to_text(VolcanoJobPhase::Completing), "Completing");
  EXPECT_EQ(to_text(VolcanoEvent::Any), "*");
  EXPECT_EQ(volcano_action("RestartPartition"), VolcanoAction::RestartPartition);
  EXPECT_FALSE(volcano_action("OpenQueue").has_value());
}

TEST(VolcanoJob, DurationsAreWrittenAsGoWritesThem) {
  EXPECT_EQ(to_go_duration(0s), "0s");
  EXPECT_EQ(to_go_duration(42900ms), "42s");
  EXPECT_EQ(to_go_duration(65s), "1m5s");
  EXPECT_EQ(to_go_duration(7200s), "2h0m0s");
  EXPECT_EQ(to_go_duration(-90s), "-1m30s");
}

TEST(PodGroup, WhatQuotasCountIsNoResourceOfANode) {
  const PodGroupView group(object(kinds::kPodGroup, R"({"minResources":{"cpu":"2","pods":"2",
    "count/pods":"2","requests.cpu":"2","limits.memory":"1Gi","nvidia.com/gpu":"1"}})"));
  EXPECT_EQ(*group.min_resources(),
            (ResourceList{{"cpu", 2000}, {"pods", 2}, {"nvidia.com/gpu", 1}}));
}

}  // namespace
}  // namespace krater
