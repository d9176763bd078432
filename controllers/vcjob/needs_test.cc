// What a gang still needs when parts of it are done and gone, as data.
#include "controllers/vcjob/needs.h"

#include <gtest/gtest.h>

namespace krater::controllers::vcjob {
namespace {

Observed job_of(const std::string& spec, const std::string& resources) {
  const std::string text =
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j",)"
      R"("namespace":"n","uid":"u"},"spec":)" +
      spec + R"(,"status":{"state":{"phase":"Running"},"controlledResources":)" + resources + "}}";
  Observed seen;
  seen.job = VolcanoJobView(*Object::parse(ObjectKey::of(kinds::kVolcanoJob, "n", "j"), Revision(1),
                                           std::make_shared<const std::string>(text)));
  seen.tasks = seen.job.tasks();
  seen.stored = seen.status = Status::of(seen.job);
  return seen;
}

void add_pod(Observed& seen, const std::string& task, std::int64_t index, PodPhase phase) {
  PodFact pod;
  const std::string name = volcano_pod_name("j", task, index);
  pod.object =
      *Object::parse(ObjectKey::of(kinds::kPod, "n", name), Revision(1),
                     std::make_shared<const std::string>(
                         R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":")" +
                         name + R"("}})"));
  pod.task = task;
  pod.index = index;
  pod.phase = phase;
  seen.pods.push_back(std::move(pod));
}

struct Case {
  std::string name, spec, gone;
  std::int64_t min_member;
  std::vector<std::int64_t> minimums;
};

TEST(Needs, WhatIsDoneAndGoneIsAskedForNoMore) {
  const std::string two = R"("tasks":[{"name":"a","replicas":3},{"name":"b","replicas":2}]})";
  const std::string least =
      R"("tasks":[{"name":"a","replicas":5,"minAvailable":1},{"name":"b","replicas":3,"minAvailable":3}]})";
  const std::vector<Case> cases{
      {"nothing", R"({"minAvailable":5,)" + two, "{}", 5, {3, 2}},
      {"one", R"({"minAvailable":5,)" + two, R"({"succeeded-a":"1"})", 4, {2, 2}},
      {"a task", R"({"minAvailable":5,)" + two, R"({"succeeded-a":"0-2"})", 2, {0, 2}},
      {"more than the job needs leaves one",
       R"({"minAvailable":2,)" + two,
       R"({"succeeded-a":"0-2"})",
       1,
       {0, 2}},
      {"all of it",
       R"({"minAvailable":5,)" + two,
       R"({"succeeded-a":"0-2","succeeded-b":"0-1"})",
       1,
       {0, 0}},
      {"who asks for nobody gets nobody",
       R"({"minAvailable":0,)" + two,
       R"({"succeeded-a":"0"})",
       0,
       {2, 2}},
      {"beyond one task's minimum the others' stands",
       R"({"minAvailable":4,)" + least,
       R"({"succeeded-a":"0-4"})",
       3,
       {0, 3}},
      {"unless the minima did not count",
       R"({"minAvailable":3,)" + least,
       R"({"succeeded-a":"0-4"})",
       1,
       {0, 3}},
      {"indexes that are no more",
       R"({"minAvailable":5,)" + two,
       R"({"succeeded-a":"7"})",
       5,
       {3, 2}}};
  for (const Case& one : cases) {
    const GangNeeds needs = needs_of(job_of(one.spec, one.gone));
    EXPECT_EQ(needs.min_member, one.min_member) << one.name;
    std::vector<std::int64_t> minimums;
    for (const TaskNeeds& task : needs.tasks) minimums.push_back(task.minimum);
    EXPECT_EQ(minimums, one.minimums) << one.name;
  }
}

TEST(Needs, APodThatIsStillThereCounts) {
  Observed seen =
      job_of(R"({"minAvailable":2,"tasks":[{"name":"a","replicas":2}]})", R"({"succeeded-a":"0"})");
  EXPECT_EQ(needs_of(seen).min_member, 1);
  add_pod(seen, "a", 0, PodPhase::Succeeded);
  EXPECT_EQ(needs_of(seen).min_member, 2);
}

TEST(Needs, PartitionsShrinkWithWhatIsDoneOfThem) {
  const auto left = [](const std::string& gone) {
    const Observed seen =
        job_of(R"({"minAvailable":6,"tasks":[{"name":"w","replicas":12,"minAvailable":6,)"
               R"("partitionPolicy":{"totalPartitions":4,"partitionSize":3,"minPartitions":2}}]})",
               R"({"succeeded-w":")" + gone + R"("})");
    const PartitionNeeds needs = needs_of(seen).tasks[0].partitions.value();
    return std::pair(needs.size, needs.minimum);
  };
  EXPECT_EQ(left(""), std::pair(std::int64_t{3}, std::int64_t{2}));
  EXPECT_EQ(left("4"), std::pair(std::int64_t{2}, std::int64_t{2}));
  EXPECT_EQ(left("3-5"), std::pair(std::int64_t{3}, std::int64_t{1}));
  EXPECT_EQ(left("2-9"), std::pair(std::int64_t{2}, std::int64_t{0}));
  EXPECT_EQ(left("0,2,4-5"), std::pair(std::int64_t{1}, std::int64_t{2}));
  EXPECT_EQ(left("0-11"), std::pair(std::int64_t{3}, std::int64_t{0}));
}

// VC-21: tasks not yet created do not block the job.
TEST(Needs, PartitionsCountOnceTheirTaskMayBegin) {
  Observed seen =
      job_of(R"({"minAvailable":1,"tasks":[{"name":"boot","replicas":1,"minAvailable":1},)"
             R"({"name":"w","replicas":6,"dependsOn":{"name":["boot"]},)"
             R"("partitionPolicy":{"totalPartitions":3,"partitionSize":2,"minPartitions":2}}]})",
             "{}");
  const auto minimum = [&] { return needs_of(seen).tasks[1].partitions.value().minimum; };
  EXPECT_EQ(minimum(), 0);
  add_pod(seen, "boot", 0, PodPhase::Running);
  EXPECT_EQ(minimum(), 0) << "it is not ready yet";
  seen.pods.back().ready = true;
  EXPECT_EQ(minimum(), 2);
  add_pod(seen, "w", 0, PodPhase::Pending);
  seen.pods.front().ready = false;
  EXPECT_EQ(minimum(), 2) << "it has begun";
}

TEST(Needs, AWholeGangRunsOrHasSucceeded) {
  Observed seen =
      job_of(R"({"minAvailable":3,"tasks":[{"name":"a","replicas":1},{"name":"b","replicas":2}]})",
             R"({"succeeded-a":"0"})");
  add_pod(seen, "b", 0, PodPhase::Running);
  EXPECT_FALSE(is_whole(seen));
  add_pod(seen, "b", 1, PodPhase::Pending);
  EXPECT_FALSE(is_whole(seen));
  seen.pods.back().phase = PodPhase::Succeeded;
  EXPECT_TRUE(is_whole(seen));
  seen.pods.back().phase = PodPhase::Failed;
  EXPECT_FALSE(is_whole(seen));
}

}  // namespace
}  // namespace krater::controllers::vcjob
