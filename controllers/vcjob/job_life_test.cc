// A Volcano Job from its creation to its end: its group, its pods, what it tells.
#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/vcjob/testing/job_test.h"
#include "model/keys.h"
#include "model/pod_overhead.h"

namespace krater::controllers::vcjob {
namespace {

using testing::Names;
using testing::VolcanoJobTest;

TEST_F(VolcanoJobTest, ItsGroupAsksForWhatItsRuntimeClassAddsToThePods) {
  world.put(kRuntimeClassKind,
            R"({"metadata":{"name":"box"},"overhead":{"podFixed":{"cpu":"3"}}})");
  world.settle();
  make(R"({"name":"w","replicas":2,"template":{"spec":{"runtimeClassName":"box","containers":[)"
       R"({"name":"main","resources":{"requests":{"cpu":"1"}}}]}}})",
       2);
  EXPECT_EQ(PodGroupView(group()).min_resources()->at("cpu"), 8000);
}

// VC-30
TEST_F(VolcanoJobTest, AClassThatIsGoneKeepsNobodyFromStarting) {
  make(task("w", 1), 1, R"(,"priorityClassName":"gone")");
  admit();
  ASSERT_NE(pod("j-w-0"), nullptr);
  EXPECT_EQ(PodView(pod("j-w-0")).priority_class_name(), "");
}

TEST_F(VolcanoJobTest, PodsAreMadeOnlyWhenTheGangIsAdmitted) {
  world.put(kinds::kPriorityClass, R"({"metadata":{"name":"high"},"value":5})");
  make(task("w", 2), 2, R"(,"priorityClassName":"high","plugins":{"env":[]})");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_TRUE(pods().empty());
  ASSERT_NE(group(), nullptr);
  const PodGroupView pg(group());
  EXPECT_EQ(text_at(pg.document(), {"status", "phase"}), "Pending");
  EXPECT_EQ(pg.min_member(), 2);
  EXPECT_EQ(pg.min_task_member().at("w"), 2);
  EXPECT_EQ(pg.priority_class_name(), "high");
  EXPECT_EQ(pg.min_resources()->at("cpu"), 2000);
  EXPECT_EQ(text_at(pg.document(), {"spec", "minResources", "requests.cpu"}), "2");
  EXPECT_EQ(text_at(pg.document(), {"spec", "minResources", "count/pods"}), "2");
  ASSERT_NE(group()->controller(), nullptr);

  admit();
  EXPECT_EQ(pods(), (Names{"j-w-0", "j-w-1"}));
  world.pass(1s);
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
  const Status last = status();
  ASSERT_EQ(last.conditions.size(), 3U);
  EXPECT_EQ(last.conditions[2].phase, "Completed");
  world.pass(60s);
  EXPECT_EQ(status(), last) << "nothing is written when nothing happens";
}

// How many pods wait is not worth a write when they are about to run.
TEST_F(VolcanoJobTest, ThatItsPodsWaitIsToldOnlyWhenTheyDoSo) {
  make(task("w", 1), 1);
  const auto tellings = [&] {
    return std::ranges::count_if(world.fake.writes, [](const client::Write& write) {
      return client::key_of(write).resource == kinds::kVolcanoJob.resource();
    });
  };
  ASSERT_EQ(tellings(), 1) << "Pending";
  admit();
  world.pass(900ms);
  EXPECT_EQ(tellings(), 1);
  run("j-w-0");
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(tellings(), 2);
  EXPECT_EQ(status().counts.running, 1);

  make(task("w", 1), 1, "", "k");
  world.patch(*world.get(kinds::kPodGroup, "d", VolcanoJobView(job("k")).pod_group_name()),
              kinds::kPodGroup, R"({"status":{"phase":"Inqueue"}})");
  world.settle();
  const auto pending = [&] { return Status::of(VolcanoJobView(job("k"))).counts.pending; };
  EXPECT_EQ(pending(), 0);
  world.pass(1s);
  EXPECT_EQ(pending(), 1);
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
  EXPECT_EQ(status().counts.pending, 0);
  world.pass(1s);
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

TEST_F(VolcanoJobTest, CountsAreToldThoughItsTimeIsFarAway) {
  make(task("w", 2), 1, R"(,"minSuccess":1,"ttlSecondsAfterFinished":300)");
  admit();
  run_all();
  hold("j-w-1");
  end("j-w-0");
  EXPECT_EQ(phase(), "Completed");
  world.pass(1s);
  EXPECT_EQ(status().counts.terminating, 1);
  let_go("j-w-1");
  world.pass(1s);
  EXPECT_EQ(status().counts.terminating, 0);
  EXPECT_FALSE(job()->deletion().has_value());
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

TEST_F(VolcanoJobTest, TellsChangingFiguresNowAndThen) {
  make(task("w", 1), 1);
  const auto waits = [&](const std::string& message) {
    world.patch(
        *group(), kinds::kPodGroup,
        R"({"status":{"phase":"Pending","conditions":[{"type":"Unschedulable","status":"True",)"
        R"("lastTransitionTime":"2026-01-01T00:00:00Z","message":")" +
            message + R"("}]}})");
    world.settle();
  };
  waits("no room: 1");
  waits("no room: 2");
  waits("no room: 3");
  EXPECT_EQ(world.told("PodGroupPending"), 1);
  world.pass(1s);
  EXPECT_EQ(world.told("PodGroupPending"), 2);
  waits("no room: 4");
  world.pass(1s);
  EXPECT_EQ(world.told("PodGroupPending"), 2);
  world.pass(1s);
  EXPECT_EQ(world.told("PodGroupPending"), 3);
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
}  // namespace krater::controllers::vcjob
