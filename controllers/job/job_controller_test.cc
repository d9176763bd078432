// Jobs from creation to their end, with hands that play the kubelet.
#include "controllers/job/job_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "controllers/job/backoff.h"
#include "controllers/job/job_status.h"
#include "controllers/job/pod_fact.h"
#include "controllers/loop/testing/world.h"

namespace krater::controllers {
namespace {

struct JobTest : ::testing::Test {
  testing::World world;
  std::set<std::string> ever;  // names of all pods that were made

  void SetUp() override {
    world.controllers.add(make_job_controller());
    world.controllers.start();
    world.settle();
  }

  void make(const std::string& spec, const std::string& extra = "") {
    world.put(kinds::kJob,
              R"({"metadata":{"name":"j","namespace":"d"},"spec":{)" + spec +
                  (spec.empty() ? "" : ",") +
                  R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main"}]})" +
                  extra + "}}}");
    world.settle();
  }
  ObjectPtr job() const { return world.get(kinds::kJob, "d", "j"); }
  JobView view() const { return JobView(job()); }
  JobStatus status() const { return JobStatus::of(view()); }
  std::string reason(std::string_view type) const {
    const JobStatus now = status();
    const Condition* found = now.find(type);
    return found != nullptr && found->is_true() ? found->reason : "";
  }
  std::vector<PodFact> pods() const {
    std::vector<PodFact> out;
    for (const ObjectPtr& pod : world.fake.all(kinds::kPod)) out.push_back(fact_of(pod));
    return out;
  }
  std::vector<PodFact> active() {
    std::vector<PodFact> out = pods();
    std::erase_if(out, [](const PodFact& pod) { return !pod.active(); });
    for (const PodFact& pod : out) ever.insert(pod.object->name());
    return out;
  }
  void end(const PodFact& pod, bool success, int code = 1) {
    const std::string at = to_rfc3339(world.loop.wall().now());
    world.patch(*pod.object, kinds::kPod,
                R"({"status":{"phase":")" + std::string(success ? "Succeeded" : "Failed") +
                    R"(","containerStatuses":[{"name":"main","state":{"terminated":{"exitCode":)" +
                    std::to_string(success ? 0 : code) + R"(,"finishedAt":")" + at + R"("}}}]}})");
    world.settle();
  }
  void run(const PodFact& pod, int restarts = 0) {
    world.patch(
        *pod.object, kinds::kPod,
        R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main","restartCount":)" +
            std::to_string(restarts) + R"(,"state":{"running":{}}}]}})");
    world.settle();
  }
  // The kubelet's part in a deletion: the pod is gone once no finalizer holds it.
  void kill(const PodFact& pod) {
    world.remove(kinds::kPod, "d", pod.object->name());
    world.settle();
  }
};

TEST_F(JobTest, RunsToCompletion) {
  make(R"("completions":2,"parallelism":1)");
  ASSERT_EQ(active().size(), 1U);
  const PodFact first = active()[0];
  EXPECT_TRUE(first.tracked);
  EXPECT_EQ(first.object->name().substr(0, 2), "j-");
  EXPECT_EQ(first.object->name().size(), 7U);
  EXPECT_EQ(first.object->label(keys::kJobName), "j");
  EXPECT_EQ(first.object->label(keys::kJobControllerUid), job()->uid().text());
  ASSERT_NE(first.object->controller(), nullptr);
  run(first);
  EXPECT_EQ(status().active, 1);
  EXPECT_EQ(status().ready, 1);
  EXPECT_TRUE(status().start.has_value());
  end(first, true);
  EXPECT_EQ(status().succeeded, 1);
  EXPECT_FALSE(view().finished());
  ASSERT_EQ(active().size(), 1U);
  world.pass(3s);
  end(active()[0], true);
  EXPECT_EQ(status().succeeded, 2);
  EXPECT_EQ(status().active, 0);
  EXPECT_EQ(reason("Complete"), "CompletionsReached");
  EXPECT_EQ(reason("SuccessCriteriaMet"), "CompletionsReached");
  EXPECT_EQ(to_rfc3339(*status().completion), "2026-01-01T00:00:03Z");
  EXPECT_FALSE(status().uncounted());
  for (const PodFact& pod : pods()) EXPECT_FALSE(pod.tracked);
  EXPECT_EQ(world.told("SuccessfulCreate"), 2);
  EXPECT_EQ(world.told("Completed"), 1);
}

TEST_F(JobTest, ParallelPodsNeverExceedWhatIsMissing) {
  make(R"("completions":5,"parallelism":3)");
  EXPECT_EQ(active().size(), 3U);
  end(active()[0], true);
  end(active()[0], true);
  EXPECT_EQ(active().size(), 3U);
  end(active()[0], true);
  EXPECT_EQ(active().size(), 2U);
  while (!active().empty()) end(active()[0], true);
  EXPECT_EQ(ever.size(), 5U);
  EXPECT_TRUE(view().has("Complete"));
}

TEST_F(JobTest, AllPodsOfALargeJobMayEndAtOnce) {
  make(R"("completions":1200,"parallelism":1200)");
  world.settle();
  ASSERT_EQ(active().size(), 1200U);
  for (const PodFact& pod : active()) {
    world.patch(*pod.object, kinds::kPod, R"({"status":{"phase":"Succeeded"}})");
  }
  world.settle();
  EXPECT_EQ(status().succeeded, 1200);
  EXPECT_EQ(pods().size(), 1200U);
  EXPECT_TRUE(view().has("Complete"));
}

// JB-01, never2
TEST_F(JobTest, BackoffLimitWithNeverWaitsLongerEachTimeThenFails) {
  make(R"("backoffLimit":2)");
  end(active()[0], false);
  EXPECT_TRUE(active().empty());
  world.pass(9s);
  EXPECT_TRUE(active().empty());
  world.pass(1s);
  ASSERT_EQ(active().size(), 1U);
  end(active()[0], false);
  world.pass(19s);
  EXPECT_TRUE(active().empty());
  world.pass(1s);
  ASSERT_EQ(active().size(), 1U);
  end(active()[0], false);
  EXPECT_EQ(status().failed, 3);
  EXPECT_EQ(status().active, 0);
  EXPECT_EQ(reason("Failed"), "BackoffLimitExceeded");
  EXPECT_EQ(reason("FailureTarget"), "BackoffLimitExceeded");
  EXPECT_FALSE(status().completion.has_value());
  EXPECT_EQ(world.told("BackoffLimitExceeded"), 1);
  world.pass(1h);
  EXPECT_EQ(pods().size(), 3U);
}

// JB-01, onfail2
TEST_F(JobTest, BackoffLimitWithOnFailureCountsRestarts) {
  world.put(kinds::kJob, R"({"metadata":{"name":"j","namespace":"d"},"spec":{"backoffLimit":2,
      "template":{"spec":{"restartPolicy":"OnFailure","containers":[{"name":"main"}]}}}})");
  world.settle();
  run(active()[0], 1);
  EXPECT_EQ(active().size(), 1U);
  run(active()[0], 2);
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(status().failed, 1);
  EXPECT_EQ(reason("Failed"), "BackoffLimitExceeded");
  world.pass(1h);
  EXPECT_TRUE(pods().empty());
}

TEST_F(JobTest, ADeadlineEndsIt) {
  make(R"("activeDeadlineSeconds":30)");
  run(active()[0]);
  world.pass(29s);
  EXPECT_EQ(active().size(), 1U);
  world.pass(1s);
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(reason("Failed"), "DeadlineExceeded");
}

TEST_F(JobTest, SuspendingTakesItsPodsAndResumingStartsTheClockAnew) {
  make(R"("activeDeadlineSeconds":30)");
  run(active()[0]);
  world.pass(20s);
  world.patch(*job(), kinds::kJob, R"({"spec":{"suspend":true}})");
  world.settle();
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(reason("Suspended"), "JobSuspended");
  EXPECT_EQ(status().failed, 0);
  EXPECT_EQ(world.told("Suspended"), 1);
  world.pass(1h);
  world.patch(*job(), kinds::kJob, R"({"spec":{"suspend":false}})");
  world.settle();
  EXPECT_EQ(active().size(), 1U);
  EXPECT_EQ(reason("Suspended"), "");
  EXPECT_EQ(world.told("Resumed"), 1);
  world.pass(29s);
  EXPECT_FALSE(view().has("Failed"));
  world.pass(1s);
  EXPECT_EQ(reason("Failed"), "DeadlineExceeded");
}

TEST_F(JobTest, CreatedSuspendedMakesNothing) {
  make(R"("suspend":true)");
  EXPECT_TRUE(pods().empty());
  EXPECT_FALSE(status().start.has_value());
  EXPECT_EQ(reason("Suspended"), "JobSuspended");
}

// JB-04
TEST_F(JobTest, GoesAfterItsTtlWhichMayBeRaised) {
  make(R"("ttlSecondsAfterFinished":20)");
  end(active()[0], true);
  world.pass(10s);
  world.patch(*job(), kinds::kJob, R"({"spec":{"ttlSecondsAfterFinished":60}})");
  world.pass(49s);
  EXPECT_FALSE(job()->deletion().has_value());
  world.pass(1s);
  EXPECT_TRUE(job()->deletion().has_value());  // the collector takes it from here, in foreground
  const auto& last = std::get<client::DeleteWrite>(world.fake.writes.back());
  EXPECT_EQ(last.propagation, client::Propagation::Foreground);
}

TEST_F(JobTest, WithoutATtlItStays) {
  make("");
  end(active()[0], true);
  world.pass(1000h);
  EXPECT_NE(job(), nullptr);
}

// JB-05, all
TEST_F(JobTest, EachIndexSucceedsOnce) {
  make(R"("completions":5,"parallelism":2,"completionMode":"Indexed")");
  auto of = [&](std::int64_t index) {
    std::vector<PodFact> out = active();
    std::erase_if(out, [&](const PodFact& pod) { return pod.index != index; });
    return out;
  };
  ASSERT_EQ(of(0).size(), 1U);
  ASSERT_EQ(of(1).size(), 1U);
  const Json pod = *of(1)[0].object->document();
  EXPECT_EQ(of(1)[0].object->name().substr(0, 4), "j-1-");
  EXPECT_EQ(text_at(pod, {"spec", "hostname"}), "j-1");
  EXPECT_EQ(text_at(pod, {"metadata", "annotations", keys::kJobCompletionIndex}), "1");
  const Json* variable = &array_at(pod, {"spec", "containers"})->at(0).at("env").at(0);
  EXPECT_EQ(text_at(*variable, {"name"}), "JOB_COMPLETION_INDEX");
  run(of(0)[0]);
  run(of(1)[0]);
  kill(of(1)[0]);
  ASSERT_EQ(of(1).size(), 1U);  // one live pod at a time
  const PodFact zero = of(0)[0];
  end(zero, true);
  kill(zero);
  EXPECT_TRUE(of(0).empty());
  while (!active().empty()) end(active()[0], true);
  EXPECT_EQ(status().completed_indexes, "0-4");
  EXPECT_EQ(status().succeeded, 5);
  EXPECT_TRUE(view().has("Complete"));
}

// JB-05, some
TEST_F(JobTest, OneBadIndexDoesNotKillTheOthers) {
  make(R"("completions":5,"parallelism":5,"completionMode":"Indexed","backoffLimitPerIndex":1)");
  int tries = 0;
  for (int round = 0; round < 4; ++round) {
    for (const PodFact& pod : active()) {
      tries += pod.index == 2 ? 1 : 0;
      end(pod, pod.index != 2);
    }
    world.pass(1min);
  }
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(status().completed_indexes, "0,1,3,4");
  EXPECT_EQ(status().failed_indexes, "2");
  EXPECT_EQ(status().failed, 2);
  EXPECT_EQ(reason("Failed"), "FailedIndexes");
  for (const PodFact& pod : pods()) EXPECT_FALSE(pod.tracked);
}

TEST_F(JobTest, AnIndexWaitsForItsBackoffWhileOthersGoOn) {
  make(R"("completions":3,"parallelism":1,"completionMode":"Indexed","backoffLimitPerIndex":2)");
  end(active()[0], false);
  ASSERT_EQ(active().size(), 1U);
  EXPECT_EQ(active()[0].index, 1);
  end(active()[0], true);
  end(active()[0], true);
  EXPECT_TRUE(active().empty());
  world.pass(10s);
  ASSERT_EQ(active().size(), 1U);
  EXPECT_EQ(active()[0].index, 0);
  EXPECT_EQ(active()[0].failures, 1);
  end(active()[0], true);
  EXPECT_TRUE(view().has("Complete"));
}

TEST_F(JobTest, TooManyFailedIndexesEndIt) {
  make(
      R"("completions":4,"parallelism":4,"completionMode":"Indexed","backoffLimitPerIndex":0,"maxFailedIndexes":1)");
  const std::vector<PodFact> all = active();
  end(all[0], false);
  EXPECT_FALSE(view().has("FailureTarget"));
  end(all[1], false);
  EXPECT_EQ(reason("Failed"), "MaxFailedIndexesExceeded");
  EXPECT_EQ(pods().size(), 2U);
}

TEST_F(JobTest, ZeroCompletionsCompleteAtOnce) {
  make(R"("completions":0,"completionMode":"Indexed")");
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(view().has("Complete"));
}

TEST_F(JobTest, ZeroParallelismWaitsUntilItIsRaised) {
  make(R"("completions":3,"parallelism":0)");
  EXPECT_TRUE(pods().empty());
  EXPECT_FALSE(view().finished());
  world.patch(*job(), kinds::kJob, R"({"spec":{"parallelism":2}})");
  world.settle();
  EXPECT_EQ(active().size(), 2U);
  world.patch(*job(), kinds::kJob, R"({"spec":{"parallelism":1}})");
  world.settle();
  EXPECT_EQ(active().size(), 1U);
  EXPECT_EQ(status().failed, 0);  // taken away, not failed
}

TEST_F(JobTest, AWorkQueueIsDoneWhenOneSucceededAndNoneIsLeft) {
  make(R"("parallelism":3,"completions":null)");
  ASSERT_EQ(active().size(), 3U);
  end(active()[0], true);
  EXPECT_EQ(active().size(), 2U);
  EXPECT_FALSE(view().has("SuccessCriteriaMet"));
  end(active()[0], false);
  EXPECT_EQ(active().size(), 1U);
  end(active()[0], true);
  EXPECT_TRUE(view().has("Complete"));
  EXPECT_EQ(ever.size(), 3U);
}

TEST_F(JobTest, AFailJobRuleEndsItAndIgnoredFailuresDoNotCount) {
  make(R"("backoffLimit":0,"podFailurePolicy":{"rules":[
      {"action":"Ignore","onExitCodes":{"operator":"In","values":[7]}},
      {"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}]})");
  end(active()[0], false, 7);
  EXPECT_EQ(status().failed, 0);
  EXPECT_FALSE(view().has("FailureTarget"));
  world.pass(10s);
  ASSERT_EQ(active().size(), 1U);
  end(active()[0], false, 42);
  EXPECT_EQ(reason("Failed"), "PodFailurePolicy");
}

TEST_F(JobTest, ASuccessPolicyEndsItEarly) {
  make(
      R"("completions":3,"parallelism":3,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededIndexes":"0"}]})");
  std::vector<PodFact> all = active();
  end(*std::ranges::find(all, std::optional<std::int64_t>(0), &PodFact::index), true);
  EXPECT_EQ(reason("Complete"), "SuccessPolicy");
  EXPECT_EQ(pods().size(), 1U);
}

// A process that died between storing the uids and removing finalizers, or before counting, goes on
// exactly.
TEST_F(JobTest, ACrashAtAnyWriteCountsEachPodOnce) {
  for (std::size_t crash_at = 0; crash_at < 12; ++crash_at) {
    testing::World fresh;
    fresh.put(kinds::kJob,
              R"({"metadata":{"name":"j","namespace":"d"},"spec":{"completions":3,"parallelism":3,
        "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main"}]}}}})");
    fresh.controllers.add(make_job_controller());
    fresh.controllers.start();
    fresh.settle();
    std::size_t writes = 0;
    fresh.fake.fail = [&](const client::Write& write) -> std::optional<Error> {
      if (client::key_of(write).resource == "events") return std::nullopt;
      if (writes++ >= crash_at) return make_error(Code::Unavailable, "gone");
      return std::nullopt;
    };
    for (const ObjectPtr& pod : fresh.fake.all(kinds::kPod)) {
      fresh.patch(*pod, kinds::kPod, R"({"status":{"phase":"Succeeded"}})");
    }
    fresh.settle();
    fresh.controllers.stop();
    fresh.fake.fail = nullptr;
    ControllerLoop second(fresh.loop, fresh.loop.wall(), fresh.fake);
    second.add(make_job_controller());
    second.start();
    fresh.settle();
    const JobView after(fresh.get(kinds::kJob, "d", "j"));
    EXPECT_EQ(JobStatus::of(after).succeeded, 3) << "crash at " << crash_at;
    EXPECT_TRUE(after.has("Complete")) << "crash at " << crash_at;
    EXPECT_EQ(fresh.fake.all(kinds::kPod).size(), 3U) << "crash at " << crash_at;
  }
}

TEST_F(JobTest, PodsOfADeletedJobAreLetGo) {
  make("");
  const PodFact pod = active()[0];
  run(pod);
  world.remove(kinds::kJob, "d", "j");
  world.settle();
  kill(pod);
  EXPECT_TRUE(pods().empty());
}

TEST_F(JobTest, AnotherManagersJobIsLeftAlone) {
  make(R"("managedBy":"example.com/other")");
  EXPECT_TRUE(pods().empty());
}

TEST_F(JobTest, AdoptsPodsByAManualSelector) {
  world.put(kinds::kPod, R"({"metadata":{"name":"mine","namespace":"d","labels":{"app":"x"}}})");
  make(R"("manualSelector":true,"selector":{"matchLabels":{"app":"x"}})",
       R"(,"metadata":{"labels":{"app":"x"}})");
  ASSERT_EQ(pods().size(), 1U);
  EXPECT_TRUE(pods()[0].tracked);
  end(pods()[0], true);
  EXPECT_TRUE(view().has("Complete"));
}

TEST_F(JobTest, WhoeverTakesAnothersPlaceIsNotNamedLikeHim) {
  make(R"("backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore",)"
       R"("onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]})");
  for (std::size_t round = 1; round <= 20; ++round) {
    ASSERT_EQ(active().size(), 1U);
    EXPECT_EQ(ever.size(), round);
    const PodFact pod = active()[0];
    world.patch(*pod.object, kinds::kPod,
                R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True"}]}})");
    end(pod, false);
    if (world.get(kinds::kPod, "d", pod.object->name()) != nullptr)
      world.remove(kinds::kPod, "d", pod.object->name());
    world.pass(10min);
  }
}

TEST_F(JobTest, AFailedCreateIsToldAndRetried) {
  world.fake.fail = [](const client::Write& write) -> std::optional<Error> {
    if (client::key_of(write).resource == "pods")
      return make_error(Code::Forbidden, "exceeded quota");
    return std::nullopt;
  };
  make("");
  EXPECT_GE(world.told("FailedCreate"), 1);
  world.fake.fail = nullptr;
  world.pass(1s);
  EXPECT_EQ(active().size(), 1U);
}

TEST(Backoff, DoublesUpToSixMinutes) {
  const std::pair<int, Duration> cases[] = {{0, 0s},   {1, 10s},  {2, 20s},  {3, 40s},
                                            {6, 320s}, {7, 360s}, {50, 360s}};
  for (const auto& [failures, want] : cases) EXPECT_EQ(backoff_after(failures), want) << failures;
}

}  // namespace
}  // namespace krater::controllers
