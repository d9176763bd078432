#include "controllers/jobflow/jobflow_controller.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "model/job_flow.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

struct JobFlowTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_job_flow_controller());
    world.controllers.add(make_job_template_controller());
    world.controllers.start();
    world.settle();
  }
  void make_template(const std::string& name) {
    world.put(kinds::kJobTemplate, R"({"metadata":{"name":")" + name +
                                       R"(","namespace":"d"},"spec":{"minAvailable":1}})");
    world.settle();
  }
  void make(const std::string& flows, const std::string& policy = "retain") {
    world.put(kinds::kJobFlow,
              R"({"metadata":{"name":"f","namespace":"d"},"spec":{"jobRetainPolicy":")" + policy +
                  R"(","flows":[)" + flows + "]}}");
    world.settle();
  }
  void phase(const std::string& job, const std::string& phase) {
    world.patch(*world.get(kinds::kVolcanoJob, "d", job), kinds::kVolcanoJob,
                R"({"status":{"state":{"phase":")" + phase + R"("}}})", "status");
    world.settle();
  }
  std::vector<std::string> jobs() const {
    std::vector<std::string> out;
    for (const ObjectPtr& job : world.fake.all(kinds::kVolcanoJob)) out.push_back(job->name());
    return out;
  }
  JobFlowView flow() const { return JobFlowView(world.get(kinds::kJobFlow, "d", "f")); }
};

using Names = std::vector<std::string>;

TEST_F(JobFlowTest, JobsFollowEachOther) {
  make_template("a");
  make_template("b");
  make(R"({"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}})");
  EXPECT_EQ(jobs(), Names{"f-a"});
  const ObjectPtr first = world.get(kinds::kVolcanoJob, "d", "f-a");
  EXPECT_EQ(first->label(keys::kCreatedByJobFlow), "d.f");
  EXPECT_EQ(first->controller()->uid, flow()->uid());
  EXPECT_EQ(int_at(*first->document(), {"spec", "minAvailable"}), 1);
  EXPECT_EQ(flow().phase(), "Pending");
  phase("f-a", "Running");
  EXPECT_EQ(flow().phase(), "Running");
  EXPECT_EQ(jobs(), Names{"f-a"});
  phase("f-a", "Completed");
  EXPECT_EQ(jobs(), (Names{"f-a", "f-b"}));
  phase("f-b", "Completed");
  EXPECT_EQ(flow().phase(), "Succeed");
  EXPECT_EQ(array_at(flow().document(), {"status", "completedJobs"})->size(), 2U);
  const JobFlowView last = flow();
  const Json& entry = array_at(last.document(), {"status", "jobStatusList"})->front();
  EXPECT_EQ(array_at(entry, {"runningHistories"})->size(), 3U);
  const ObjectPtr used = world.get(kinds::kJobTemplate, "d", "a");
  EXPECT_EQ(array_at(*used->document(), {"status", "jobDependsOnList"})->size(), 1U);
  EXPECT_EQ(world.told("Created"), 2);
}

// Its time to live may end before the flow does.
TEST_F(JobFlowTest, WhatHasCompletedStaysSoWhenItIsGone) {
  make_template("a");
  make_template("b");
  make(R"({"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}})");
  phase("f-a", "Completed");
  ASSERT_EQ(jobs(), (Names{"f-a", "f-b"}));
  world.remove(kinds::kVolcanoJob, "d", "f-a");
  world.settle();
  EXPECT_EQ(jobs(), Names{"f-b"}) << "it is not run again";
  EXPECT_EQ(array_at(flow().document(), {"status", "completedJobs"})->size(), 1U);
  world.remove(kinds::kVolcanoJob, "d", "f-b");
  world.settle();
  EXPECT_EQ(jobs(), Names{"f-b"}) << "what was not done is";
  phase("f-b", "Completed");
  world.remove(kinds::kVolcanoJob, "d", "f-b");
  world.settle();
  const JobFlowView last = flow();
  EXPECT_EQ(last.phase(), "Succeed");
  EXPECT_EQ(array_at(last.document(), {"status", "completedJobs"})->size(), 2U);
  EXPECT_EQ(array_at(last.document(), {"status", "jobStatusList"})->size(), 2U);
  EXPECT_EQ(object_at(last.document(), {"status", "conditions"})->size(), 2U);
}

TEST_F(JobFlowTest, AFailedJobEndsTheFlow) {
  make_template("a");
  make_template("b");
  make(R"({"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}})");
  phase("f-a", "Failed");
  EXPECT_EQ(flow().phase(), "Failed");
  EXPECT_EQ(jobs(), Names{"f-a"});
}

TEST_F(JobFlowTest, ATemplateMayComeLater) {
  make(R"({"name":"a"})");
  EXPECT_TRUE(jobs().empty());
  EXPECT_GE(world.told("FailedCreate"), 1);
  EXPECT_EQ(find(flow().document(), {"status"}), nullptr) << "its user may still write it";
  make_template("a");
  EXPECT_EQ(jobs(), Names{"f-a"});
}

TEST_F(JobFlowTest, AJobOfSomebodyElseIsTold) {
  make_template("a");
  world.put(kinds::kVolcanoJob, R"({"metadata":{"name":"f-a","namespace":"d"},"spec":{}})");
  make(R"({"name":"a"})");
  EXPECT_EQ(flow().phase(), "Pending");
  const auto told = world.told("FailedCreate");
  EXPECT_GE(told, 1);
  world.pass(60s);
  EXPECT_EQ(world.told("FailedCreate"), told);
  phase("f-a", "Completed");
  EXPECT_EQ(flow().phase(), "Pending") << "it was not the flow's";
  world.remove(kinds::kVolcanoJob, "d", "f-a");
  world.settle();
  EXPECT_EQ(world.get(kinds::kVolcanoJob, "d", "f-a")->controller()->uid, flow()->uid());
}

TEST_F(JobFlowTest, SucceededItsJobsGoWhenItSaysSo) {
  make_template("a");
  make(R"({"name":"a"})", "delete");
  phase("f-a", "Completed");
  EXPECT_EQ(flow().phase(), "Succeed");
  EXPECT_TRUE(jobs().empty());
  world.pass(10s);
  EXPECT_TRUE(jobs().empty()) << "and stay away";
}

}  // namespace
}  // namespace krater::controllers
