// Volcano Jobs from creation to their end, with hands that play scheduler, kubelet and user.
#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "controllers/vcjob/vcjob_controller.h"
#include "model/keys.h"
#include "model/pod_overhead.h"

namespace krater::controllers {
namespace {

struct VolcanoJobTest : ::testing::Test {
  testing::World world;
  std::function<void(vcjob::SshKey)> key_ready;

  void SetUp() override {
    world.controllers.add([this](Enqueue wake) {
      return make_volcano_job_controller(
          {[this](std::function<void(vcjob::SshKey)> done) { key_ready = std::move(done); }, wake,
           [](const Kind&) { return false; }});
    });
    world.put(kinds::kQueue, R"({"metadata":{"name":"default"},"spec":{}})");
    world.controllers.start();
    world.settle();
  }

  static std::string task(const std::string& name, int replicas, const std::string& more = "") {
    return R"({"name":")" + name + R"(","replicas":)" + std::to_string(replicas) + more +
           R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main",)"
           R"("resources":{"requests":{"cpu":"1"}}}]}}})";
  }
  // `tasks` comma separated, `more` of the spec with a leading comma.
  void make(const std::string& tasks, int least, const std::string& more = "",
            const std::string& name = "j") {
    world.put(kinds::kVolcanoJob,
              R"({"metadata":{"name":")" + name +
                  R"(","namespace":"d"},"spec":{"schedulerName":"volcano",)"
                  R"("queue":"default","minAvailable":)" +
                  std::to_string(least) +
                  (more.find("maxRetry") == std::string::npos ? R"(,"maxRetry":3)" : "") +
                  R"(,"tasks":[)" + tasks + "]" + more + "}}");
    world.settle();
  }
  void spec(const std::string& patch) {
    world.patch(*job(), kinds::kVolcanoJob, R"({"spec":)" + patch + "}");
    world.settle();
  }
  ObjectPtr job(const std::string& name = "j") const {
    return world.get(kinds::kVolcanoJob, "d", name);
  }
  // Counts are told now and then.
  vcjob::Status status() {
    world.pass(200ms);
    return vcjob::Status::of(VolcanoJobView(job()));
  }
  std::string phase() const {
    const auto now = vcjob::Status::of(VolcanoJobView(job())).phase;
    return now ? std::string(to_text(*now)) : "";
  }
  ObjectPtr group() const {
    return world.get(kinds::kPodGroup, "d", VolcanoJobView(job()).pod_group_name());
  }
  ObjectPtr pod(const std::string& name) const { return world.get(kinds::kPod, "d", name); }
  std::vector<std::string> pods() const {
    std::vector<std::string> out;
    for (const ObjectPtr& one : world.fake.all(kinds::kPod)) out.push_back(one->name());
    return out;
  }

  void admit(const std::string& to = "Inqueue") {
    world.patch(*group(), kinds::kPodGroup, R"({"status":{"phase":")" + to + R"("}})");
    world.settle();
  }
  void run(const std::string& name, bool ready = true) {
    world.patch(*pod(name), kinds::kPod,
                R"({"status":{"phase":"Running","containerStatuses":[{"name":"main","ready":)" +
                    std::string(ready ? "true" : "false") + R"(,"state":{"running":{}}}]}})");
    world.settle();
  }
  void run_all() {
    for (const std::string& name : pods()) {
      if (PodView(pod(name)).phase() == PodPhase::Pending) run(name);
    }
  }
  void end(const std::string& name, int code = 0) {
    world.patch(*pod(name), kinds::kPod,
                R"({"status":{"phase":")" + std::string(code == 0 ? "Succeeded" : "Failed") +
                    R"(","containerStatuses":[{"name":"main","state":{"running":null,)"
                    R"("terminated":{"exitCode":)" +
                    std::to_string(code) + R"(,"finishedAt":")" +
                    to_rfc3339(world.loop.wall().now()) + R"("}}}]}})");
    world.settle();
  }
  // A kubelet holds the pod until its processes have ended.
  void hold(const std::string& name) {
    world.patch(*pod(name), kinds::kPod, R"({"metadata":{"finalizers":["test/grace"]}})");
    world.settle();
  }
  void let_go(const std::string& name) {
    world.patch(*pod(name), kinds::kPod, R"({"metadata":{"finalizers":null}})");
    world.settle();
  }
  void evict(const std::string& name, bool by_scheduler = false) {
    if (by_scheduler) {
      world.patch(
          *pod(name), kinds::kPod,
          R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}})");
      world.settle();
    }
    world.remove(kinds::kPod, "d", name);
    world.settle();
  }
  void order(const std::string& action) {
    world.put(
        kinds::kCommand,
        R"({"metadata":{"name":"order","namespace":"d"},"action":")" + action +
            R"(","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":")" +
            job()->uid().text() + R"("}})");
    world.settle();
  }
};

using Names = std::vector<std::string>;

TEST_F(VolcanoJobTest, ItsGroupAsksForWhatItsRuntimeClassAddsToThePods) {
  world.put(kRuntimeClassKind,
            R"({"metadata":{"name":"box"},"overhead":{"podFixed":{"cpu":"3"}}})");
  world.settle();
  make(R"({"name":"w","replicas":2,"template":{"spec":{"runtimeClassName":"box","containers":[)"
       R"({"name":"main","resources":{"requests":{"cpu":"1"}}}]}}})",
       2);
  EXPECT_EQ(PodGroupView(group()).min_resources()->at("cpu"), 8000);
}

TEST_F(VolcanoJobTest, PodsAreMadeOnlyWhenTheGangIsAdmitted) {
  make(task("w", 2), 2, R"(,"priorityClassName":"high","plugins":{"env":[]})");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_TRUE(pods().empty());
  ASSERT_NE(group(), nullptr);
  const PodGroupView pg(group());
  EXPECT_EQ(pg.min_member(), 2);
  EXPECT_EQ(pg.min_task_member().at("w"), 2);
  EXPECT_EQ(pg.priority_class_name(), "high");
  EXPECT_EQ(pg.min_resources()->at("cpu"), 2000);
  EXPECT_EQ(text_at(pg.document(), {"spec", "minResources", "requests.cpu"}), "2");
  EXPECT_EQ(text_at(pg.document(), {"spec", "minResources", "count/pods"}), "2");
  ASSERT_NE(group()->controller(), nullptr);

  admit();
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
  EXPECT_EQ(status().counts.pending, 2);
  const PodView made(pod("j-w-1"));
  EXPECT_EQ(made.annotation(keys::kGroupName), group()->name());
  EXPECT_EQ(made.annotation(keys::kTaskSpec), "w");
  EXPECT_EQ(made.annotation(keys::kVolcanoJobVersion), "0");
  EXPECT_EQ(made->label(keys::kTaskIndex), "1");
  EXPECT_EQ(made->label(keys::kVolcanoJobName), "j");
  EXPECT_EQ(made.scheduler_name(), "volcano");
  EXPECT_EQ(made.priority_class_name(), "high");
  EXPECT_EQ(status().controlled.at("plugin-env"), "env");

  run("j-w-0");
  EXPECT_EQ(phase(), "Pending");
  run("j-w-1");
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().counts.of("w", PodPhase::Running), 2);
  end("j-w-0");
  end("j-w-1");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().counts.succeeded, 2);
  EXPECT_EQ(pods().size(), 2U) << "ended pods stay, their logs can be read";
  EXPECT_EQ(group(), nullptr);
  EXPECT_FALSE(status().controlled.contains("plugin-env"));
  const vcjob::Status last = status();
  ASSERT_EQ(last.conditions.size(), 3U);
  EXPECT_EQ(last.conditions[2].phase, "Completed");
  world.pass(60s);
  EXPECT_EQ(status(), last) << "nothing is written when nothing happens";
}

// VC-17
TEST_F(VolcanoJobTest, RestartsAsOftenAsItMayAndKeepsTheLastFailure) {
  make(task("bad", 1) + "," + task("good", 1), 2,
       R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])");
  for (int round = 1; round <= 2; ++round) {
    admit();
    run_all();
    ASSERT_EQ(phase(), "Running");
    hold("j-good-0");
    end("j-bad-0", 7);
    EXPECT_EQ(phase(), "Restarting");
    EXPECT_EQ(status().retry_count, round);
    EXPECT_EQ(status().version, round);
    EXPECT_EQ(status().message, "PodFailed of pod j-bad-0, exit code 7");
    EXPECT_EQ(group(), nullptr) << "it queues again";
    EXPECT_EQ(pods(), Names{"j-good-0"}) << "nothing new before all of the old is gone";
    let_go("j-good-0");
    EXPECT_EQ(phase(), "Pending");
    ASSERT_NE(group(), nullptr);
  }
  admit();
  run_all();
  EXPECT_EQ(PodView(pod("j-bad-0")).annotation(keys::kVolcanoJobRetryCount), "2");
  end("j-bad-0", 7);
  EXPECT_EQ(phase(), "Failed");
  EXPECT_EQ(status().retry_count, 3);
  EXPECT_EQ(pods(), Names{"j-bad-0"}) << "its logs can be read";
  EXPECT_EQ(world.told("ExecuteAction"), 3);
}

// VC-17, last point
TEST_F(VolcanoJobTest, SuspendingAndResumingUsesUpNoRetry) {
  make(task("w", 1), 1);
  for (int round = 0; round < 5; ++round) {
    admit();
    run_all();
    ASSERT_EQ(phase(), "Running");
    hold("j-w-0");
    order("AbortJob");
    EXPECT_EQ(world.get(kinds::kCommand, "d", "order"), nullptr) << "taken";
    EXPECT_EQ(phase(), "Aborting");
    EXPECT_EQ(group(), nullptr);
    let_go("j-w-0");
    EXPECT_EQ(phase(), "Aborted");
    EXPECT_TRUE(pods().empty());
    order("ResumeJob");
    EXPECT_EQ(phase(), "Pending");
  }
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(world.told("CommandIssued"), 10);
}

// A quota that lets only some of the pods be made.
TEST_F(VolcanoJobTest, WhoMayNotHaveAllHisPodsTellsOfThoseThereAre) {
  int allowed = 3;
  world.fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    const auto* create = std::get_if<client::CreateWrite>(&write);
    if (create == nullptr || create->kind != kinds::kPod || allowed-- > 0) return std::nullopt;
    return make_error(Code::Forbidden, "exceeded quota: q");
  };
  make(task("w", 5), 2);
  admit();
  world.pass(5s);
  ASSERT_EQ(pods().size(), 3U);
  run_all();
  world.pass(30s);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().counts.running, 3);
  EXPECT_EQ(status().counts.pending, 0);
  world.fake.fail = nullptr;
  world.pass(600s);
  EXPECT_EQ(pods().size(), 5U);
}

TEST_F(VolcanoJobTest, AnOrderSurvivesAConflict) {
  make(task("w", 1), 1);
  admit();
  run_all();
  int lost = 2;
  world.fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    const auto* update = std::get_if<client::UpdateWrite>(&write);
    if (update == nullptr || update->subresource != "status" || lost == 0) return std::nullopt;
    --lost;
    return make_error(Code::Conflict, "moved on");
  };
  order("AbortJob");
  world.pass(1s);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(phase(), "Aborted");
}

TEST_F(VolcanoJobTest, OrdersWithoutAJobAreClearedAway) {
  world.put(kinds::kCommand, R"({"metadata":{"name":"o","namespace":"d"},"action":"AbortJob",)"
                             R"("target":{"kind":"Job","name":"nobody","uid":"x"}})");
  world.settle();
  EXPECT_EQ(world.get(kinds::kCommand, "d", "o"), nullptr);
  world.put(kinds::kCommand, R"({"metadata":{"name":"o","namespace":"d"},"action":"CloseQueue",)"
                             R"("target":{"kind":"Queue","name":"q","uid":"x"}})");
  world.settle();
  EXPECT_NE(world.get(kinds::kCommand, "d", "o"), nullptr) << "another controller's";
}

// VC-19
TEST_F(VolcanoJobTest, CompletesWhenTheLeadingTaskIsDone) {
  make(task("driver", 1, R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}])") +
           "," + task("worker", 2),
       3,
       R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"},)"
       R"({"event":"PodFailed","action":"TerminateJob"}])");
  admit();
  run_all();
  hold("j-worker-0");
  hold("j-worker-1");
  end("j-driver-0");
  EXPECT_EQ(phase(), "Completing");
  EXPECT_EQ(status().counts.terminating, 2);
  EXPECT_EQ(status().counts.succeeded, 1);
  end("j-worker-0", 143);
  let_go("j-worker-0");
  EXPECT_EQ(phase(), "Completing");
  let_go("j-worker-1");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(pods(), Names{"j-driver-0"});
  EXPECT_EQ(status().retry_count, 0);
}

// VC-28
TEST_F(VolcanoJobTest, IsScaledInPlace) {
  make(task("w", 6, R"(,"minAvailable":2)"), 2,
       R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}],"plugins":{"svc":[]})");
  EXPECT_EQ(PodGroupView(group()).min_resources()->at("cpu"), 2000) << "the minimum only";
  admit();
  run_all();
  const Uid first = pod("j-w-0")->uid();
  const auto hosts = [&] {
    return text_at(*world.get(kinds::kConfigMap, "d", "j-svc")->document(), {"data", "VC_W_HOSTS"});
  };
  EXPECT_TRUE(hosts().ends_with("j-w-5.j"));
  const std::string template_only = task("w", 2, R"(,"minAvailable":2)");
  spec(R"({"tasks":[)" + template_only + "]}");
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
  EXPECT_EQ(pod("j-w-0")->uid(), first);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().retry_count, 0) << "its own deletions are no evictions";
  EXPECT_EQ(hosts(), "j-w-0.j,j-w-1.j");
  spec(R"({"tasks":[)" + task("w", 4, R"(,"minAvailable":2)") + "]}");
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1", "j-w-2", "j-w-3"}));
  EXPECT_EQ(status().counts.running, 2);
  EXPECT_EQ(status().counts.pending, 2);
}

TEST_F(VolcanoJobTest, ScaledToNothingAndBack) {
  make(task("w", 2), 2);
  admit();
  run_all();
  spec(R"({"minAvailable":0,"tasks":[)" + task("w", 0) + "]}");
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(phase(), "Running");
  spec(R"({"minAvailable":2,"tasks":[)" + task("w", 2) + "]}");
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
}

// VC-21
TEST_F(VolcanoJobTest, TasksWaitForOthers) {
  make(task("first", 1, R"(,"minAvailable":1)") + "," + task("never", 1, R"(,"minAvailable":1)") +
           "," + task("both", 1, R"(,"dependsOn":{"name":["first","never"]})") + "," +
           task("any", 1, R"(,"dependsOn":{"name":["first","never"],"iteration":"any"})"),
       1);
  admit();
  EXPECT_EQ(pods(), (Names{"j-first-0", "j-never-0"}));
  run("j-first-0", false);
  EXPECT_EQ(pods().size(), 2U) << "running is not ready";
  run("j-first-0", true);
  EXPECT_EQ(pods(), (Names{"j-any-0", "j-first-0", "j-never-0"}));
  end("j-never-0");
  EXPECT_EQ(pods().size(), 4U) << "what has succeeded was ready";
}

// VC-29
TEST_F(VolcanoJobTest, WhatHasSucceededIsNotDoneAgain) {
  make(task("short", 2) + "," + task("long", 1), 1,
       R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])");
  admit();
  run_all();
  end("j-short-0");
  end("j-short-1");
  evict("j-short-0");
  EXPECT_EQ(pods(), (Names{"j-long-0", "j-short-1"}));
  EXPECT_EQ(status().counts.succeeded, 2);
  EXPECT_EQ(status().counts.of("short", PodPhase::Succeeded), 2);
  EXPECT_EQ(phase(), "Running");
  end("j-long-0");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().counts.succeeded, 3);
}

// What is left is a gang of its own: it can start again.
TEST_F(VolcanoJobTest, AGangWithoutWhatIsDoneIsSmaller) {
  make(task("a", 3) + "," +
           task("b", 1, R"(,"policies":[{"event":"PodFailed","action":"RestartTask"}])"),
       4);
  const auto wanted = [&](std::string_view field) {
    return int_at(*group()->document(), {"spec", field});
  };
  admit("Running");
  run_all();
  for (const char* name : {"j-a-0", "j-a-1", "j-a-2"}) end(name);
  EXPECT_EQ(wanted("minMember"), 4) << "who is still there counts";
  for (const char* name : {"j-a-0", "j-a-1", "j-a-2"}) evict(name);
  EXPECT_EQ(wanted("minMember"), 1);
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minTaskMember", "a"}), 0);
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minTaskMember", "b"}), 1);
  EXPECT_EQ(text_at(*group()->document(), {"spec", "minResources", "pods"}), "1");
  end("j-b-0", 1);
  EXPECT_EQ(pods(), Names{"j-b-0"});
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(wanted("minMember"), 1);
  run_all();
  EXPECT_EQ(phase(), "Running");
  end("j-b-0");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().min_available, 4) << "the job itself wants what it wanted";
}

TEST_F(VolcanoJobTest, ATaskThatIsDoneAnewIsAskedForAnew) {
  make(task("a", 1) + "," +
           task("b", 1, R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])"),
       2);
  admit("Running");
  run_all();
  end("j-a-0");
  evict("j-a-0");
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minMember"}), 1);
  end("j-b-0", 1);
  EXPECT_EQ(status().version, 1);
  EXPECT_EQ(int_at(*group()->document(), {"spec", "minMember"}), 2);
  admit();
  EXPECT_EQ(pods(), (Names{"j-a-0", "j-b-0"}));
}

TEST_F(VolcanoJobTest, PartitionsWithoutWhatIsDoneAreSmaller) {
  make(task("w", 4,
            R"(,"partitionPolicy":{"totalPartitions":2,"partitionSize":2,"minPartitions":2},)"
            R"("minAvailable":4)"),
       4);
  admit("Running");
  run_all();
  const auto size = [&](std::string_view field) {
    return int_at(array_at(*group()->document(), {"spec", "subGroupPolicy"})->at(0), {field});
  };
  end("j-w-1");
  evict("j-w-1");
  EXPECT_EQ(size("subGroupSize"), 1);
  EXPECT_EQ(size("minSubGroups"), 2);
  end("j-w-0");
  evict("j-w-0");
  EXPECT_EQ(size("subGroupSize"), 2);
  EXPECT_EQ(size("minSubGroups"), 1);
}

TEST_F(VolcanoJobTest, ALostPodIsMadeAgainWithoutAPolicy) {
  make(task("w", 2), 2);
  admit();
  run_all();
  evict("j-w-1");
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(status().counts.running, 1);
  run_all();
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().retry_count, 0);
}

TEST_F(VolcanoJobTest, AnEvictionByTheSchedulerCostsNoRetry) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])");
  for (int round = 0; round < 5; ++round) {
    admit();
    run_all();
    evict("j-w-1", true);
    ASSERT_EQ(phase(), "Pending");
    EXPECT_EQ(status().retry_count, 0);
    EXPECT_EQ(status().version, round + 1);
    EXPECT_EQ(status().counts.running, 0);
  }
  admit();
  run_all();
  evict("j-w-0");
  EXPECT_EQ(status().retry_count, 1) << "any other does";
}

TEST_F(VolcanoJobTest, AJobMayWantEveryRestartToCost) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"}])");
  world.patch(*job(), kinds::kVolcanoJob,
              R"({"metadata":{"annotations":{"krater.io/retry-accounting":"all"}}})");
  admit();
  run_all();
  evict("j-w-1", true);
  EXPECT_EQ(status().retry_count, 1) << "the scheduler's eviction";
  admit();
  run_all();
  order("AbortJob");
  ASSERT_EQ(phase(), "Aborted");
  EXPECT_EQ(status().retry_count, 1);
  order("ResumeJob");
  EXPECT_EQ(status().retry_count, 2) << "that it was resumed";
}

TEST_F(VolcanoJobTest, APodThatFailsBecauseItIsDeletedIsEvicted) {
  make(task("w", 2), 2,
       R"(,"policies":[{"event":"PodFailed","action":"TerminateJob"},)"
       R"({"event":"PodEvicted","action":"RestartJob"}])");
  admit();
  run_all();
  hold("j-w-0");
  evict("j-w-0");
  end("j-w-0", 143);
  EXPECT_EQ(phase(), "Running");
  let_go("j-w-0");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(status().version, 1);
}

TEST_F(VolcanoJobTest, WhoEndsWellOnlyBecauseItIsDeletedIsRunAgain) {
  make(task("w", 2), 2);
  admit();
  run_all();
  const Uid first = pod("j-w-0")->uid();
  hold("j-w-0");
  evict("j-w-0");
  end("j-w-0", 0);
  EXPECT_EQ(status().counts.succeeded, 0);
  EXPECT_EQ(status().counts.terminating, 1);
  let_go("j-w-0");
  ASSERT_NE(pod("j-w-0"), nullptr);
  EXPECT_NE(pod("j-w-0")->uid(), first);
}

TEST_F(VolcanoJobTest, RestartsOnePodOrOneTask) {
  make(task("a", 2,
            R"(,"policies":[{"exitCode":3,"action":"RestartPod"},)"
            R"({"event":"PodFailed","action":"RestartTask"}])") +
           "," + task("b", 1),
       3);
  admit();
  run_all();
  const auto uid = [&](const std::string& name) { return pod(name)->uid(); };
  const Uid a0 = uid("j-a-0"), a1 = uid("j-a-1"), b0 = uid("j-b-0");
  const Uid gang = group()->uid();
  end("j-a-0", 3);
  EXPECT_NE(uid("j-a-0"), a0);
  EXPECT_EQ(uid("j-a-1"), a1);
  EXPECT_EQ(group()->uid(), gang) << "it keeps its place";
  EXPECT_EQ(status().retry_count, 1);
  EXPECT_EQ(status().version, 0);
  EXPECT_EQ(phase(), "Pending");
  run_all();
  EXPECT_EQ(phase(), "Running");
  end("j-a-0", 1);
  EXPECT_NE(uid("j-a-1"), a1) << "the whole task";
  EXPECT_EQ(uid("j-b-0"), b0);
  EXPECT_EQ(status().retry_count, 2);
}

TEST_F(VolcanoJobTest, RestartsOnePartition) {
  make(task("w", 4,
            R"(,"partitionPolicy":{"totalPartitions":2,"partitionSize":2,"minPartitions":1},)"
            R"("minAvailable":2,"policies":[{"event":"PodFailed","action":"RestartPartition"}])"),
       2);
  const PodGroupView pg(group());
  const JsonArray& sub = *array_at(pg.document(), {"spec", "subGroupPolicy"});
  ASSERT_EQ(sub.size(), 1U);
  EXPECT_EQ(int_at(sub[0], {"subGroupSize"}), 2);
  EXPECT_EQ(int_at(sub[0], {"minSubGroups"}), 1);
  admit();
  run_all();
  EXPECT_EQ(pod("j-w-3")->label(keys::kVolcanoPartition), "1");
  const Uid w0 = pod("j-w-0")->uid(), w2 = pod("j-w-2")->uid();
  end("j-w-3", 1);
  EXPECT_EQ(pod("j-w-0")->uid(), w0);
  EXPECT_NE(pod("j-w-2")->uid(), w2);
}

// VC-17 again: what failed last can be looked at, whatever was to be restarted.
TEST_F(VolcanoJobTest, AfterTheLastTryWhatHasEndedStays) {
  for (const std::string action : {"RestartPod", "RestartTask", "RestartPartition"}) {
    make(task("w", 2,
              R"(,"partitionPolicy":{"totalPartitions":1,"partitionSize":2},)"
              R"("policies":[{"event":"PodFailed","action":")" +
                  action + R"("}])") +
             "," + task("other", 1),
         3, R"(,"maxRetry":2)");
    admit();
    run_all();
    const Uid first = pod("j-w-0")->uid();
    end("j-w-0", 1);
    ASSERT_NE(pod("j-w-0")->uid(), first) << action << ": there is another try";
    run_all();
    const Uid last = pod("j-w-0")->uid();
    end("j-w-0", 1);
    EXPECT_EQ(phase(), "Failed") << action;
    EXPECT_EQ(status().retry_count, 2);
    EXPECT_EQ(status().counts.failed, 1);
    EXPECT_EQ(pods(), Names{"j-w-0"}) << action;
    EXPECT_EQ(pod("j-w-0")->uid(), last);
    world.pass(60s);
    EXPECT_EQ(pods(), Names{"j-w-0"});
    world.remove(kinds::kVolcanoJob, "d", "j");
    world.remove(kinds::kPod, "d", "j-w-0");
    world.settle();
  }
}

TEST_F(VolcanoJobTest, WhereThereAreNoPartitionsNoneIsRestarted) {
  make(task("a", 2) + "," + task("b", 1), 2,
       R"(,"policies":[{"events":["PodFailed","PodEvicted"],"action":"RestartPartition"}])");
  admit();
  run_all();
  const Uid a1 = pod("j-a-1")->uid(), b0 = pod("j-b-0")->uid();
  end("j-a-0", 1);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(status().counts.failed, 1);
  evict("j-b-0");
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(pod("j-a-1")->uid(), a1);
  EXPECT_NE(pod("j-b-0")->uid(), b0) << "made again, as without a policy";
}

TEST_F(VolcanoJobTest, ADelayedActionIsVoidWhenItsCauseIsGone) {
  make(task("w", 1), 1,
       R"(,"policies":[{"event":"PodPending","action":"AbortJob","timeout":"60s"}])");
  admit();
  EXPECT_EQ(world.told("ExecuteAction"), 1) << "announced";
  world.pass(59s);
  run_all();
  world.pass(120s);
  EXPECT_EQ(phase(), "Running");
  make(task("w", 1), 1,
       R"(,"policies":[{"event":"PodPending","action":"AbortJob","timeout":"60s"}])", "late");
  world.patch(*world.get(kinds::kPodGroup, "d", "late-" + job("late")->uid().text()),
              kinds::kPodGroup, R"({"status":{"phase":"Inqueue"}})");
  world.settle();
  world.pass(59s);
  EXPECT_EQ(text_at(*job("late")->document(), {"status", "state", "phase"}), "Pending");
  world.pass(2s);
  EXPECT_EQ(text_at(*job("late")->document(), {"status", "state", "phase"}), "Aborted");
}

TEST_F(VolcanoJobTest, AnEvictionThatIsMadeGoodInTimeIsForgiven) {
  make(task("w", 2), 2,
       R"(,"policies":[{"event":"PodEvicted","action":"TerminateJob","timeout":"30s"}])");
  admit();
  run_all();
  evict("j-w-0");
  world.pass(10s);
  run_all();
  world.pass(60s);
  EXPECT_EQ(phase(), "Running");
  evict("j-w-0");
  world.pass(31s);
  EXPECT_EQ(phase(), "Terminated");
}

TEST_F(VolcanoJobTest, AnUnknownGangRestartsItsJob) {
  make(task("w", 2), 2, R"(,"policies":[{"event":"Unknown","action":"RestartJob"}])");
  admit("Running");
  run_all();
  admit("Unknown");
  EXPECT_EQ(status().retry_count, 0) << "nothing is lost: both run";
  EXPECT_EQ(phase(), "Running");
  admit("Running");
  end("j-w-0", 1);
  admit("Unknown");
  EXPECT_EQ(status().retry_count, 1);
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(VolcanoJobTest, AFinishedPodThatIsCleanedUpLosesNothing) {
  make(task("a", 1) + "," + task("b", 1), 2,
       R"(,"policies":[{"event":"Unknown","action":"RestartJob"}])");
  admit("Running");
  run_all();
  end("j-a-0");
  const Uid b = pod("j-b-0")->uid();
  evict("j-a-0");
  admit("Unknown");  // who schedules may have looked in between
  EXPECT_EQ(status().retry_count, 0);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(pod("j-b-0")->uid(), b);
}

// Its pods end in one moment; told one by one, it had been completed before the last of them.
TEST_F(VolcanoJobTest, EnoughSuccessComesBeforeACompletedTask) {
  const std::string policy = R"(,"policies":[{"event":"TaskCompleted","action":"RestartTask"}])";
  const auto all_at_once = [&](const std::string& name) {
    for (int i = 0; i < 3; ++i) {
      world.patch(*pod(name + "-w-" + std::to_string(i)), kinds::kPod,
                  R"({"status":{"phase":"Succeeded"}})");
    }
    world.settle();
  };
  make(task("w", 3), 3, policy + R"(,"minSuccess":2)");
  admit();
  run_all();
  all_at_once("j");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(status().retry_count, 0);
  make(task("w", 3), 3, policy + R"(,"minSuccess":3)", "last");
  world.patch(*world.get(kinds::kPodGroup, "d", "last-" + job("last")->uid().text()),
              kinds::kPodGroup, R"({"status":{"phase":"Inqueue"}})");
  world.settle();
  run_all();
  all_at_once("last");
  EXPECT_EQ(int_at(*job("last")->document(), {"status", "retryCount"}), 1)
      << "the last pod completes both";
}

TEST_F(VolcanoJobTest, ATaskThatRestartsTooOftenHasFailed) {
  make(task("w", 1, R"(,"maxRetry":3)"), 1,
       R"(,"policies":[{"event":"TaskFailed","action":"TerminateJob"}])");
  admit();
  run_all();
  const auto restarts = [&](int count) {
    world.patch(*pod("j-w-0"), kinds::kPod,
                R"({"status":{"containerStatuses":[{"name":"main","ready":true,"restartCount":)" +
                    std::to_string(count) + R"(,"state":{"running":{}}}]}})");
    world.settle();
  };
  restarts(2);
  EXPECT_EQ(phase(), "Running");
  restarts(3);
  EXPECT_EQ(phase(), "Terminated");
}

TEST_F(VolcanoJobTest, AnActionIsCarriedOutOnceWhenTheProcessStopsInBetween) {
  make(task("bad", 1) + "," + task("good", 1), 2,
       R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}])");
  admit();
  run_all();
  // The status is stored, then nothing works for a while.
  bool stuck = false;
  world.fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    if (stuck && std::holds_alternative<client::PatchWrite>(write))
      return make_error(Code::Unavailable, "no");
    return std::nullopt;
  };
  stuck = true;
  end("j-bad-0", 1);
  EXPECT_EQ(phase(), "Restarting");
  EXPECT_EQ(pods().size(), 2U);
  EXPECT_EQ(status().retry_count, 1);
  stuck = false;
  world.pass(120s);
  EXPECT_EQ(status().retry_count, 1);
  EXPECT_EQ(phase(), "Pending");
  admit();
  EXPECT_EQ(pods().size(), 2U);
  for (const std::string& name : pods())
    EXPECT_EQ(PodView(pod(name)).annotation(keys::kVolcanoJobVersion), "1");
}

TEST_F(VolcanoJobTest, IsDeletedWhenItsTimeIsUp) {
  make(task("w", 1), 1, R"(,"ttlSecondsAfterFinished":30)");
  admit();
  run_all();
  end("j-w-0");
  EXPECT_EQ(phase(), "Completed");
  world.pass(28s);
  EXPECT_FALSE(job()->deletion().has_value());
  world.pass(3s);
  EXPECT_TRUE(job() == nullptr || job()->deletion().has_value());
}

TEST_F(VolcanoJobTest, WithoutItsQueueARunningJobIsLeftAlone) {
  make(task("w", 2), 2);
  admit();
  run_all();
  world.remove(kinds::kQueue, "", "default");
  world.settle();
  world.pass(600s);
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(pods().size(), 2U);
  world.put(kinds::kQueue, R"({"metadata":{"name":"late"},"spec":{}})");
  make(task("w", 1), 1, "", "k");
  EXPECT_EQ(world.get(kinds::kPodGroup, "d", "k-" + job("k")->uid().text()), nullptr);
  world.put(kinds::kQueue, R"({"metadata":{"name":"default"},"spec":{}})");
  world.settle();
  EXPECT_NE(world.get(kinds::kPodGroup, "d", "k-" + job("k")->uid().text()), nullptr);
}

TEST_F(VolcanoJobTest, ANameHeldBySomebodyElseIsWaitedFor) {
  world.put(kinds::kPod, R"({"metadata":{"name":"j-w-0","namespace":"d"},"spec":{}})");
  make(task("w", 2), 2);
  admit();
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
  EXPECT_EQ(pod("j-w-0")->controller(), nullptr);
  EXPECT_GE(world.told("FailedCreate"), 1);
  world.remove(kinds::kPod, "d", "j-w-0");
  world.pass(6s);
  ASSERT_NE(pod("j-w-0"), nullptr);
  EXPECT_NE(pod("j-w-0")->controller(), nullptr);
}

TEST_F(VolcanoJobTest, SaysWhyItsGangWaits) {
  make(task("w", 1), 1);
  world.patch(
      *group(), kinds::kPodGroup,
      R"({"status":{"phase":"Pending","conditions":[{"type":"Unschedulable","status":"True",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z","message":"no room"}]}})");
  world.settle();
  EXPECT_EQ(world.told("PodGroupPending"), 1);
}

TEST_F(VolcanoJobTest, PodsWaitForTheirSshKey) {
  make(task("w", 1), 1, R"(,"plugins":{"ssh":[],"svc":[]})");
  ASSERT_TRUE(key_ready);
  EXPECT_EQ(group(), nullptr);
  key_ready({"PRIVATE", "ssh-rsa AAAA"});
  world.settle();
  const ObjectPtr secret = world.get(kinds::kSecret, "d", "j-ssh");
  ASSERT_NE(secret, nullptr);
  EXPECT_EQ(text_at(*secret->document(), {"data", "id_rsa"}), "UFJJVkFURQ==");
  ASSERT_NE(group(), nullptr);
  ASSERT_NE(world.get(kinds::kService, "d", "j"), nullptr);
  admit();
  run_all();
  end("j-w-0");
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(world.get(kinds::kSecret, "d", "j-ssh"), nullptr) << "taken away in the end";
  EXPECT_EQ(world.get(kinds::kService, "d", "j"), nullptr);
  EXPECT_EQ(world.get(kinds::kConfigMap, "d", "j-svc"), nullptr);
}

TEST_F(VolcanoJobTest, CountsAreToldNowAndThenAndPhasesAtOnce) {
  make(task("w", 40, R"(,"minAvailable":1)"), 1);
  admit();
  const auto told = [&] {
    return std::ranges::count_if(world.fake.writes, [](const client::Write& write) {
      const auto* update = std::get_if<client::UpdateWrite>(&write);
      return update != nullptr && update->subresource == "status";
    });
  };
  world.pass(1s);
  const auto before = told();
  run("j-w-0");
  EXPECT_EQ(phase(), "Running");
  for (int i = 1; i < 40; ++i) {
    run("j-w-" + std::to_string(i));
    world.pass(10ms);
  }
  EXPECT_LE(told() - before, 5) << "390 ms";
  EXPECT_EQ(status().counts.running, 40);
}

TEST_F(VolcanoJobTest, ManyPodsAreMadeInSeveralPasses) {
  make(task("w", 2500), 2500);
  admit();
  world.pass(1s);
  EXPECT_EQ(pods().size(), 2500U);
  EXPECT_EQ(status().counts.pending, 2500);
}

}  // namespace
}  // namespace krater::controllers
