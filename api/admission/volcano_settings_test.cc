// What an administrator chooses about Volcano's webhooks, and what they tell of their refusals.
#include "api/admission/testing/admission_fixture.h"
#include "model/volcano_job.h"

namespace krater::api {
namespace {

using testing::AdmissionTest;

TEST_F(AdmissionTest, JobsAndGroupsThatNameNoQueueGoToTheDefaultOne) {
  settings.default_queue = "lab";
  settings.scheduler_names = {"gangs", "volcano"};
  const std::string job = R"({"tasks":[{"name":"a","replicas":1}])";
  EXPECT_EQ(submit(kinds::kVolcanoJob, "j", R"({"metadata":{},"spec":)" + job + "}}"), "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "lab");
  EXPECT_EQ(text_at(object, {"spec", "schedulerName"}), "gangs");
  // That is what the definitions write where nothing is said.
  EXPECT_EQ(submit(kinds::kVolcanoJob, "j",
                   R"({"metadata":{},"spec":)" + job + R"(,"queue":"default"}})"),
            "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "lab");
  for (const std::string_view queue : {R"({})", R"({"queue":"default"})"}) {
    EXPECT_EQ(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":)" + std::string(queue) + "}"),
              "");
    EXPECT_EQ(text_at(object, {"spec", "queue"}), "lab");
  }
  reader.put(kinds::kNamespace, "", "default",
             R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":"team"}}})");
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{},"status":{"state":"Open"}})");
  EXPECT_EQ(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{}})"), "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "team");
  EXPECT_TRUE(says(submit(kinds::kQueue, "lab", "{}", {}, Operation::Delete),
                   "`lab` queue can not be deleted"));
}

TEST_F(AdmissionTest, AnnotationsArePlainWrongForPodsOfEachOfItsNames) {
  settings.scheduler_names = {"gangs", "volcano"};
  const auto pod = [&](const std::string& scheduler) {
    return submit(kinds::kPod, "p",
                  R"({"metadata":{"annotations":{"volcano.sh/jdb-min-available":"none"}},"spec":{)"
                  R"("containers":[],"schedulerName":")" +
                      scheduler + "\"}}");
  };
  EXPECT_NE(pod("gangs"), "");
  EXPECT_NE(pod("volcano"), "");
  EXPECT_EQ(pod("another"), "");
}

TEST_F(AdmissionTest, QueuesMayBeAsDeepAsItIsSaid) {
  settings.max_queue_depth = 2;
  reader.put(kinds::kQueue, "", "a", R"({"metadata":{},"spec":{}})");
  reader.put(kinds::kQueue, "", "b", R"({"metadata":{},"spec":{"parent":"a"}})");
  const auto below = [&](const std::string& parent) {
    return submit(kinds::kQueue, "q", R"({"metadata":{},"spec":{"parent":")" + parent + "\"}}");
  };
  EXPECT_EQ(below("a"), "");
  EXPECT_TRUE(says(below("b"), "queue q exceeds the maximum allowed depth of 2"));
  settings.max_queue_depth = 3;
  EXPECT_EQ(below("b"), "");
}

TEST_F(AdmissionTest, RootIsProtectedUnlessItIsNotToBe) {
  const auto resize = [&] {
    return submit(kinds::kQueue, "root", R"({"metadata":{},"spec":{"capability":{"cpu":"4"}}})",
                  R"({"metadata":{},"spec":{}})");
  };
  EXPECT_TRUE(says(resize(), "cannot be modified"));
  settings.protects_root_queue = false;
  EXPECT_EQ(resize(), "");
}

TEST_F(AdmissionTest, AQueueWithPodsIsKeptWhereThatIsAskedFor) {
  const auto remove = [&] {
    return submit(kinds::kQueue, "q", R"({"metadata":{},"status":{"allocated":{"pods":"3"}}})", {},
                  Operation::Delete);
  };
  EXPECT_EQ(remove(), "");
  settings.keeps_queues_with_pods = true;
  EXPECT_TRUE(says(remove(), "queue q cannot be deleted because it has allocated Pods: 3"));
}

TEST_F(AdmissionTest, WholeProcessorsAreAskedOfInitContainersToo) {
  const auto job = [&](const std::string& cpu) {
    return submit(kinds::kVolcanoJob, "j",
                  R"({"metadata":{},"spec":{"tasks":[{"name":"a","replicas":1,"topologyPolicy":)"
                  R"("best-effort","template":{"spec":{"containers":[{"resources":{"requests":)"
                  R"({"cpu":"2"}}}],"initContainers":[{"resources":{"limits":{"cpu":")" +
                      cpu + R"("}}}]}}}]}})");
  };
  EXPECT_EQ(job("1"), "");
  EXPECT_TRUE(says(job("500m"), "the cpu request isn't an integer in spec.task[0] container[1]."));
}

TEST_F(AdmissionTest, WhatVolcanosWebhooksRefuseIsTold) {
  std::vector<std::string> told;
  settings.refused = [&](WallTime, std::string line) { told.push_back(std::move(line)); };
  submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"none"}})");
  submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"default"}})");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0],
            "webhook=validatepodgroup.volcano.sh verdict=refused operation=create kind=PodGroup "
            "object=default/g reason=\"unable to find queue: queues.scheduling.volcano.sh "
            "\\\"none\\\" not found\"");
}

}  // namespace
}  // namespace krater::api
