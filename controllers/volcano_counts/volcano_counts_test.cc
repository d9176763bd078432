#include "controllers/volcano_counts/volcano_counts.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "model/job_flow.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

// Watches what the counts are about, and does nothing.
class Idle final : public Reconciler {
 public:
  std::string_view name() const override { return "idle-controller"; }
  std::vector<Interest> interests() const override {
    std::vector<Interest> out;
    for (const Kind& kind : {kinds::kVolcanoJob, kinds::kPod, kinds::kJobFlow, kinds::kNamespace,
                             kinds::kPodGroup, kinds::kQueue}) {
      out.push_back({kind});
    }
    return out;
  }
  Plan reconcile(const ObjectKey&, const client::Cache&, WallTime) override { return {}; }
};

struct VolcanoCountsTest : ::testing::Test {
  testing::World world;
  VolcanoCounts counts;

  void start(VolcanoCounts::Sources sources = {}) {
    world.controllers.add(std::make_unique<Idle>());
    counts.observe(world.controllers, sources);
    world.controllers.start();
    world.settle();
  }
  void job(const std::string& name, const std::string& phase) {
    world.put(kinds::kVolcanoJob, R"({"metadata":{"namespace":"d","name":")" + name +
                                      R"("},"spec":{"queue":"q"},"status":{"state":{"phase":")" +
                                      phase + R"("}}})");
    world.settle();
  }
  void flow(const std::string& phase) {
    world.put(kinds::kJobFlow,
              R"({"metadata":{"namespace":"d","name":"f"},"status":{"state":{"phase":")" + phase +
                  R"("}}})");
    world.settle();
  }
  void group(const std::string& name, const std::string& queue, const std::string& phase) {
    world.put(kinds::kPodGroup, R"({"metadata":{"namespace":"d","name":")" + name +
                                    R"("},"spec":{"queue":")" + queue +
                                    R"("},"status":{"phase":")" + phase + R"("}})");
    world.settle();
  }
};

TEST_F(VolcanoCountsTest, EndsOfJobsAreCountedOnceEachTime) {
  job("old", "Completed");  // before anybody looked
  start();
  job("a", "Running");
  job("a", "Completed");
  job("a", "Completed");
  job("b", "Running");
  job("b", "Failed");
  job("b", "Restarting");
  job("b", "Failed");
  const auto figures = counts.figures();
  ASSERT_EQ(figures.jobs.size(), 2u);
  EXPECT_EQ(figures.jobs[0].name, "a");
  EXPECT_EQ(figures.jobs[0].name_space, "d");
  EXPECT_EQ(figures.jobs[0].queue, "q");
  EXPECT_EQ(figures.jobs[0].completed, 1u);
  EXPECT_EQ(figures.jobs[0].failed, 0u);
  EXPECT_EQ(figures.jobs[1].failed, 2u);
  world.remove(kinds::kVolcanoJob, "d", "b");
  world.settle();
  EXPECT_EQ(counts.figures().jobs.size(), 1u);
}

TEST_F(VolcanoCountsTest, GroupsAreCountedByThePhaseTheyAreInOfQueuesThatThereAre) {
  start();
  world.put(kinds::kQueue, R"({"metadata":{"name":"q"}})");
  world.put(kinds::kQueue, R"({"metadata":{"name":"empty"}})");
  group("a", "q", "Running");
  group("b", "q", "Inqueue");
  group("c", "q", "Pending");
  group("c", "q", "Inqueue");
  group("lost", "nowhere", "Pending");
  auto figures = counts.figures();
  ASSERT_EQ(figures.queues.size(), 2u);
  EXPECT_EQ(figures.queues.at("q").in(PodGroupPhase::Running), 1u);
  EXPECT_EQ(figures.queues.at("q").in(PodGroupPhase::Inqueue), 2u);
  EXPECT_EQ(figures.queues.at("q").in(PodGroupPhase::Pending), 0u);
  EXPECT_EQ(figures.queues.at("empty").in(PodGroupPhase::Running), 0u);
  world.remove(kinds::kPodGroup, "d", "b");
  world.remove(kinds::kQueue, "", "empty");
  world.settle();
  figures = counts.figures();
  EXPECT_EQ(figures.queues.size(), 1u);
  EXPECT_EQ(figures.queues.at("q").in(PodGroupPhase::Inqueue), 1u);
}

TEST_F(VolcanoCountsTest, FlowsAreCountedAsLongAsTheirNamespaceIsThere) {
  world.put(kinds::kNamespace, R"({"metadata":{"name":"d"}})");
  start();
  flow("Running");
  flow("Succeed");
  flow("Failed");
  EXPECT_EQ(counts.figures().flows.at("d").succeeded, 1u);
  EXPECT_EQ(counts.figures().flows.at("d").failed, 1u);
  world.remove(kinds::kNamespace, "", "d");
  world.settle();
  EXPECT_TRUE(counts.figures().flows.empty());
}

TEST_F(VolcanoCountsTest, PodsAreTimedFromTheirJobsCreation) {
  start();
  job("a", "Pending");
  world.pass(3s);
  const auto pod = [&](const std::string& name, const std::string& uid) {
    world.put(kinds::kPod, R"({"metadata":{"namespace":"d","name":")" + name +
                               R"(","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1",
      "kind":"Job","name":"a","uid":")" +
                               uid + R"(","controller":true}]}})");
    world.settle();
  };
  pod("a-0", world.get(kinds::kVolcanoJob, "d", "a")->uid().text());
  pod("a-1", "of-another-job");
  const Histogram took = counts.figures().pod_creation;
  EXPECT_EQ(took.count(), 1u);
  EXPECT_DOUBLE_EQ(took.sum(), 3000);
}

TEST_F(VolcanoCountsTest, WhoDoesNotWorkHereIsNotCounted) {
  start({.jobs = false, .flows = false, .queues = false});
  world.put(kinds::kQueue, R"({"metadata":{"name":"q"}})");
  job("a", "Running");
  job("a", "Completed");
  flow("Running");
  flow("Succeed");
  const auto figures = counts.figures();
  EXPECT_TRUE(figures.jobs.empty() && figures.flows.empty() && figures.queues.empty());
}

}  // namespace
}  // namespace krater::controllers
