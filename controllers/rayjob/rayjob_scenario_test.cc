// RayJobs through the real controller loop, beside the real RayCluster controller: the stories
// users know.
#include <gtest/gtest.h>

#include "controllers/ray/testing/world.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "model/podgroup.h"

namespace krater::controllers {
namespace {

using test::cluster_spec;

// A Ray dashboard: says what it is told to say.
class FakeDashboard final : public HttpClient {
 public:
  explicit FakeDashboard(Loop& loop) : loop_(loop) {}
  int status = 404;
  std::string body;
  bool reachable = true;
  int stops = 0, asked = 0;
  std::string last_url;

  void says(const std::string& ray_status, const std::string& more = "") {
    status = 200;
    body = R"({"status":")" + ray_status + R"(","message":"m")" + more + "}";
  }
  std::unique_ptr<HttpExchange> send(HttpRequest request, Done done) override {
    struct Exchange final : HttpExchange {
      std::shared_ptr<bool> alive = std::make_shared<bool>(true);
      ~Exchange() override { *alive = false; }
    };
    auto exchange = std::make_unique<Exchange>();
    last_url = request.url;
    if (request.method == "POST") {
      ++stops;
    } else {
      ++asked;
    }
    const Result<HttpResponse> answer =
        !reachable ? Result<HttpResponse>(make_error(Code::Unavailable, "no route"))
        : request.method == "POST"
            ? Result<HttpResponse>(HttpResponse{200, {}, R"({"stopped":true})"})
            : Result<HttpResponse>(HttpResponse{status, {}, body});
    loop_.post([alive = exchange->alive, answer, done = std::move(done)] {
      if (*alive) done(answer);
    });
    return exchange;
  }
  std::unique_ptr<HttpExchange> stream(HttpRequest, HttpStreamHandlers) override { return nullptr; }

 private:
  Loop& loop_;
};

struct RayJobScenario : ::testing::Test, test::World {
  RayJobScenario() { restart(); }
  ~RayJobScenario() override { controllers.reset(); }

  FakeDashboard dashboard{loop};
  std::set<std::string> clusters, job_ids, phases;  // ever seen

  void add_controllers() override {
    controllers->add(make_raycluster_controller({.scheduler = *volcano}));
    controllers->add([this](Enqueue enqueue) {
      return make_rayjob_controller({.scheduler = *volcano,
                                     .http = dashboard,
                                     .loop = loop,
                                     .clock = loop.wall(),
                                     .enqueue = std::move(enqueue)});
    });
  }
  void after_settle() override {
    const ObjectPtr object = fake.read(kinds::kRayJob, "ns", "j");
    if (!object) return;
    const RayJobStatus status = RayJobView(object).status();
    if (!status.cluster_name.empty()) clusters.insert(status.cluster_name);
    if (!status.job_id.empty()) job_ids.insert(status.job_id);
    phases.insert(std::string(to_text(status.phase)));
    int live = 0;
    for (const ObjectPtr& cluster : fake.all(kinds::kRayCluster))
      live += cluster->deletion() ? 0 : 1;
    EXPECT_LE(live, 1);
  }

  void submit(const std::string& more = "", const std::string& metadata = "{}") {
    apply(kinds::kRayJob, "j",
          R"({"entrypoint":"python main.py",)" + more + R"("rayClusterSpec":)" + cluster_spec(2) +
              "}",
          metadata);
  }
  RayJobView job() const { return RayJobView(fake.read(kinds::kRayJob, "ns", "j")); }
  JobPhase phase() const { return job().status().phase; }
  ObjectPtr cluster() const {
    return fake.read(kinds::kRayCluster, "ns", job().status().cluster_name);
  }
  ObjectPtr submitter() const { return fake.read(kinds::kJob, "ns", "j"); }
  PodGroupView gang() const { return PodGroupView(fake.read(kinds::kPodGroup, "ns", "ray-j-pg")); }
  void finish_submitter(const std::string& type = "Complete") {
    patch(
        kinds::kJob, "j",
        R"({"status":{"conditions":[{"type":")" + type +
            R"(","status":"True","reason":"BackoffLimitExceeded","message":"gave up","lastTransitionTime":")" +
            to_rfc3339(loop.wall().now()) + R"("}]}})",
        "status");
  }
  void run_to_running() {
    run_pods();
    ASSERT_EQ(phase(), JobPhase::Running);
  }
  void run_to_end(const std::string& ray_status) {
    run_to_running();
    dashboard.says(ray_status, R"(,"start_time":1767225600000,"end_time":1767225610000)");
    finish_submitter();
    advance(3s);
  }
};

TEST_F(RayJobScenario, FromApplyToSucceeded) {
  submit(R"("shutdownAfterJobFinishes":true,"ttlSecondsAfterFinished":20,)",
         R"({"labels":{"volcano.sh/queue-name":"ray-batch"}})");
  EXPECT_EQ(phase(), JobPhase::Initializing);
  EXPECT_TRUE(job().has_finalizer());
  const RayJobStatus first = job().status();
  EXPECT_TRUE(first.cluster_name.starts_with("j-") && first.job_id.starts_with("j-"));
  EXPECT_NE(first.cluster_name, first.job_id);
  EXPECT_EQ(gang().min_member(), 3);
  EXPECT_EQ(to_json(gang().min_resources()->to_json_object()),
            R"({"cpu":"1268m","memory":"968Mi"})");
  EXPECT_EQ(gang().queue().text(), "ray-batch");
  ASSERT_NE(cluster(), nullptr);
  EXPECT_EQ(cluster()->label("ray.io/originated-from-cr-name"), "j");
  EXPECT_EQ(cluster()->label("ray.io/job-submission-mode"), "K8sJobMode");
  EXPECT_EQ(head().annotation("scheduling.k8s.io/group-name"), "ray-j-pg");
  EXPECT_EQ(head()->label("volcano.sh/queue-name"), "ray-batch");
  EXPECT_EQ(fake.all(kinds::kPodGroup).size(), 1U);
  EXPECT_EQ(submitter(), nullptr);

  run_to_running();
  ASSERT_NE(submitter(), nullptr);
  const Json job_json = *submitter()->document();
  EXPECT_EQ(int_at(job_json, {"spec", "backoffLimit"}), 2);
  EXPECT_EQ(
      text_at(job_json, {"spec", "template", "metadata", "annotations", "volcano.sh/task-spec"}),
      "submittergroup");
  EXPECT_EQ(job().status().dashboard_url,
            first.cluster_name + "-head-svc.ns.svc.cluster.local:8265");
  EXPECT_EQ(dashboard.last_url, "http://10.0.0.7:8265/api/jobs/" + first.job_id);
  EXPECT_NE(fake.read(kinds::kService, "ns", "j-head-svc"), nullptr);
  EXPECT_EQ(job().status().job_status, "");  // 404 until the submitter has posted it

  dashboard.says("RUNNING");
  advance(3s);
  EXPECT_EQ(job().status().job_status, "RUNNING");
  dashboard.says("SUCCEEDED", R"(,"start_time":1767225600000,"end_time":1767225610000)");
  advance(3s);
  EXPECT_EQ(job().status().job_status, "SUCCEEDED");
  EXPECT_EQ(phase(), JobPhase::Running);  // until the submitter has finished
  finish_submitter();
  EXPECT_EQ(phase(), JobPhase::Complete);
  EXPECT_EQ(job().status().succeeded, 1);
  EXPECT_EQ(job().status().failed, 0);
  EXPECT_TRUE(job().status().end.has_value());
  EXPECT_EQ(to_rfc3339(*job().status().ray_end), "2026-01-01T00:00:10Z");
  EXPECT_EQ(gang().min_member(), 3);  // its pods still live

  advance(15s);
  EXPECT_NE(cluster(), nullptr);
  advance(10s);
  EXPECT_EQ(cluster(), nullptr);
  EXPECT_EQ(gang().min_member(), 0);
  EXPECT_TRUE(gang().min_resources()->empty());
  EXPECT_NE(submitter(), nullptr);  // for its log
  EXPECT_TRUE(event_reasons().contains("BatchSchedulerCleanedUp"));
  EXPECT_EQ(creates(kinds::kRayCluster), 1);
  const std::size_t mark = fake.writes.size();
  const int asked = dashboard.asked;
  advance(600s);
  EXPECT_EQ(fake.writes.size(), mark);
  EXPECT_EQ(dashboard.asked, asked);  // nobody is asked about what is over
}

TEST_F(RayJobScenario, AFailedProgramIsAppFailed) {
  submit();
  run_to_end("FAILED");
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().reason, "AppFailed");
  EXPECT_EQ(job().status().job_status, "FAILED");
  EXPECT_EQ(job().status().failed, 1);
  EXPECT_NE(cluster(), nullptr);  // kept: nobody asked for its end
}

TEST_F(RayJobScenario, ASubmitterThatGivesUpIsSubmissionFailed) {
  submit();
  run_to_running();
  finish_submitter("Failed");
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().reason, "SubmissionFailed");
  EXPECT_NE(job().status().message.find("gave up"), std::string::npos);
}

TEST_F(RayJobScenario, EveryRetryHasAFreshClusterAndJobId) {
  submit(R"("backoffLimit":2,"shutdownAfterJobFinishes":true,)");
  for (int attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_EQ(phase(), JobPhase::Initializing) << attempt;
    dashboard.status = 404;
    run_to_end("FAILED");
    EXPECT_EQ(job().status().failed, attempt);
    if (attempt == 3) break;
    EXPECT_EQ(phase(), JobPhase::Retrying);
    collect_garbage();
    advance(2s);
  }
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().reason, "AppFailed");
  EXPECT_EQ(job().status().succeeded, 0);
  EXPECT_EQ(clusters.size(), 3U);
  EXPECT_EQ(job_ids.size(), 3U);
  EXPECT_TRUE(phases.contains("Retrying"));
  EXPECT_EQ(cluster(), nullptr);
  EXPECT_TRUE(job());
}

TEST_F(RayJobScenario, DeadlinesEndItAndOnlyTheFirstKindIsFinal) {
  submit(R"("activeDeadlineSeconds":30,"backoffLimit":1,)");
  advance(29s);
  EXPECT_EQ(phase(), JobPhase::Initializing);
  advance(1s);
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().reason, "DeadlineExceeded");
}

TEST_F(RayJobScenario, NotRunningInTimeFailsAndNoMorePodsAreMade) {
  submit(R"("preRunningDeadlineSeconds":30,"shutdownAfterJobFinishes":true,)");
  advance(31s);
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().reason, "PreRunningDeadlineExceeded");
  collect_garbage();
  EXPECT_TRUE(pods().empty());
  const std::size_t mark = fake.writes.size();
  advance(120s);
  EXPECT_EQ(creates(kinds::kPod, mark), 0);
}

TEST_F(RayJobScenario, SuspendTakesEverythingAndResumeStartsAnew) {
  submit(R"("shutdownAfterJobFinishes":true,)");
  run_to_running();
  const std::string old = job().status().cluster_name;
  patch(kinds::kRayJob, "j", R"({"spec":{"suspend":true}})");
  EXPECT_EQ(phase(), JobPhase::Suspending);  // its pods are still there
  collect_garbage();
  advance(2s);
  EXPECT_EQ(phase(), JobPhase::Suspended);
  EXPECT_TRUE(pods().empty());
  EXPECT_EQ(submitter(), nullptr);
  EXPECT_EQ(gang().min_member(), 0);
  EXPECT_EQ(job().status().cluster_name, "");
  const std::size_t mark = fake.writes.size();
  advance(600s);
  EXPECT_EQ(fake.writes.size(), mark);
  patch(kinds::kRayJob, "j", R"({"spec":{"suspend":false}})");
  EXPECT_EQ(phase(), JobPhase::Initializing);
  EXPECT_NE(job().status().cluster_name, old);
  EXPECT_EQ(gang().min_member(), 3);
}

TEST_F(RayJobScenario, SuspendedFromTheStartMakesNoCluster) {
  submit(R"("suspend":true,"shutdownAfterJobFinishes":true,)");
  EXPECT_EQ(phase(), JobPhase::Suspended);
  EXPECT_EQ(creates(kinds::kRayCluster), 0);
}

TEST_F(RayJobScenario, DeletionStopsTheRayJobFirst) {
  submit();
  run_to_running();
  dashboard.says("RUNNING");
  advance(3s);
  remove(kinds::kRayJob, "j");
  EXPECT_EQ(dashboard.stops, 1);
  EXPECT_FALSE(job());
  collect_garbage();
  for (const Kind* kind :
       {&kinds::kRayCluster, &kinds::kPod, &kinds::kService, &kinds::kJob, &kinds::kPodGroup}) {
    EXPECT_TRUE(fake.all(*kind).empty()) << kind->kind;
  }
}

TEST_F(RayJobScenario, ADeadDashboardCannotHoldTheDeletion) {
  submit();
  run_to_running();
  dashboard.reachable = false;
  remove(kinds::kRayJob, "j");
  EXPECT_TRUE(job());
  advance(10s);
  EXPECT_FALSE(job());
  EXPECT_EQ(dashboard.stops, 3);
}

TEST_F(RayJobScenario, AnUnreachableDashboardFailsTheJobAfterFiveMinutes) {
  submit();
  run_to_running();
  dashboard.says("RUNNING");
  advance(3s);
  dashboard.reachable = false;
  advance(3s);
  ASSERT_TRUE(job().status().check_failing_since.has_value());
  EXPECT_EQ(job().status().job_status, "RUNNING");
  dashboard.reachable = true;
  advance(3s);
  EXPECT_FALSE(job().status().check_failing_since.has_value());
  dashboard.reachable = false;
  advance(304s);
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().reason, "JobStatusCheckTimeoutExceeded");
}

TEST_F(RayJobScenario, AJobThatRayForgotIsAppFailedOnceItsSubmitterIsDone) {
  submit();
  run_to_running();
  finish_submitter();
  EXPECT_EQ(phase(), JobPhase::Running);  // asked before the end proves nothing
  advance(3s);
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().message, "Submitter completed but Ray job not found in RayCluster.");
}

TEST_F(RayJobScenario, ASubmitterLongDoneWhileRayStillRunsIsAFailure) {
  submit();
  run_to_running();
  dashboard.says("RUNNING");
  advance(3s);
  finish_submitter();
  advance(29s);
  EXPECT_EQ(phase(), JobPhase::Running);
  advance(4s);
  EXPECT_EQ(phase(), JobPhase::Failed);
  EXPECT_EQ(job().status().job_status, "FAILED");
  EXPECT_EQ(job().status().message,
            "The RayJob submitter finished at 2026-01-01 00:00:03 but the ray job did not reach "
            "terminal state within 30s");
}

TEST_F(RayJobScenario, AControllerThatWasAwayDoesNotFailAJobThatIsDone) {
  submit();
  run_to_running();
  controllers.reset();
  dashboard.says("SUCCEEDED");
  finish_submitter();
  loop.advance(120s);
  restart();
  advance(1s);
  EXPECT_EQ(phase(), JobPhase::Complete);
  EXPECT_EQ(creates(kinds::kJob), 1);
  EXPECT_EQ(creates(kinds::kRayCluster), 1);
}

TEST_F(RayJobScenario, ARestartAtAnyPointGoesOnWithTheSameNames) {
  submit();
  const RayJobStatus before = job().status();
  restart();
  run_to_running();
  restart();
  run_to_end("SUCCEEDED");
  EXPECT_EQ(phase(), JobPhase::Complete);
  EXPECT_EQ(job().status().job_id, before.job_id);
  EXPECT_EQ(creates(kinds::kRayCluster), 1);
  EXPECT_EQ(creates(kinds::kPod), 3);
}

TEST_F(RayJobScenario, StagedDeletionRules) {
  submit(R"("deletionStrategy":{"deletionRules":[
      {"condition":{"jobStatus":"SUCCEEDED","ttlSeconds":10},"policy":"DeleteWorkers"},
      {"condition":{"jobStatus":"SUCCEEDED","ttlSeconds":20},"policy":"DeleteCluster"},
      {"condition":{"jobStatus":"SUCCEEDED","ttlSeconds":30},"policy":"DeleteSelf"}]},)");
  run_to_end("SUCCEEDED");
  ASSERT_EQ(phase(), JobPhase::Complete);
  const WallTime end = *job().status().end;
  const auto go_to = [&](Duration after_end) { advance(end + after_end - loop.wall().now()); };
  go_to(9s);
  EXPECT_EQ(pods().size(), 3U);
  go_to(11s);
  EXPECT_EQ(pods().size(), 1U);  // the head
  EXPECT_EQ(gang().min_member(), 1);
  go_to(19s);
  EXPECT_NE(cluster(), nullptr);
  go_to(21s);
  EXPECT_EQ(cluster(), nullptr);
  EXPECT_EQ(gang().min_member(), 0);
  go_to(31s);
  EXPECT_FALSE(job());
}

TEST_F(RayJobScenario, OfTwoOverdueRulesTheFartherReachingRuns) {
  submit(R"("deletionStrategy":{"deletionRules":[
      {"condition":{"jobStatus":"SUCCEEDED","ttlSeconds":10},"policy":"DeleteWorkers"},
      {"condition":{"jobStatus":"SUCCEEDED","ttlSeconds":20},"policy":"DeleteCluster"}]},)");
  run_to_end("SUCCEEDED");
  controllers.reset();
  loop.advance(60s);
  restart();
  EXPECT_EQ(cluster(), nullptr);
  EXPECT_FALSE(event_reasons().contains("UpdatedRayCluster"));
}

TEST_F(RayJobScenario, CleanUpOfTheGangIsRetriedUntilItSucceeded) {
  submit(R"("shutdownAfterJobFinishes":true,)");
  run_to_running();
  fake.fail = [](const client::Write& write) -> std::optional<Error> {
    const auto* patch = std::get_if<client::PatchWrite>(&write);
    if (patch == nullptr || patch->kind != kinds::kPodGroup) return std::nullopt;
    return make_error(Code::Unavailable, "not now");
  };
  dashboard.says("SUCCEEDED");
  finish_submitter();
  advance(5s);
  EXPECT_EQ(phase(), JobPhase::Complete);
  EXPECT_EQ(cluster(), nullptr);
  EXPECT_EQ(gang().min_member(), 3);
  EXPECT_TRUE(event_reasons().contains("FailedToCleanupBatchScheduler"));
  fake.fail = nullptr;
  advance(120s);
  EXPECT_EQ(gang().min_member(), 0);
}

TEST_F(RayJobScenario, AChangedQueueMovesTheGangOfARunningJob) {
  submit("", R"({"labels":{"volcano.sh/queue-name":"a"}})");
  run_to_running();
  patch(kinds::kRayJob, "j", R"({"metadata":{"labels":{"volcano.sh/queue-name":"b"}}})");
  EXPECT_EQ(gang().queue().text(), "b");
}

TEST_F(RayJobScenario, ASelectedClusterIsUsedAndLeftAlone) {
  apply(kinds::kRayCluster, "shared", cluster_spec(1));
  run_pods();
  apply(kinds::kRayJob, "j",
        R"({"entrypoint":"true","clusterSelector":{"ray.io/cluster":"shared"}})");
  ASSERT_EQ(phase(), JobPhase::Running);
  EXPECT_EQ(job().status().cluster_name, "shared");
  EXPECT_EQ(fake.read(kinds::kPodGroup, "ns", "ray-j-pg"), nullptr);
  const Json made = *submitter()->document();
  EXPECT_EQ(text_at(made, {"spec", "template", "spec", "schedulerName"}), "");
  run_to_end("SUCCEEDED");
  EXPECT_EQ(phase(), JobPhase::Complete);
  advance(600s);
  EXPECT_NE(fake.read(kinds::kRayCluster, "ns", "shared"), nullptr);
}

TEST_F(RayJobScenario, AMissingSelectedClusterIsToldAndWaitedFor) {
  apply(kinds::kRayJob, "j",
        R"({"entrypoint":"true","clusterSelector":{"ray.io/cluster":"shared"}})");
  EXPECT_TRUE(event_reasons().contains("RayClusterNotFound"));
  EXPECT_EQ(phase(), JobPhase::Initializing);
}

TEST_F(RayJobScenario, InteractiveModeWaitsForTheUsersJob) {
  submit(R"("submissionMode":"InteractiveMode",)");
  run_pods();
  EXPECT_EQ(phase(), JobPhase::Waiting);
  EXPECT_EQ(submitter(), nullptr);
  patch(kinds::kRayJob, "j", R"({"spec":{"jobId":"mine"}})");
  EXPECT_EQ(phase(), JobPhase::Running);
  dashboard.says("SUCCEEDED");
  advance(3s);
  EXPECT_EQ(phase(), JobPhase::Complete);
}

TEST_F(RayJobScenario, AnInvalidSpecIsRefusedAndHeardAgainWhenRight) {
  apply(kinds::kRayJob, "j", R"({"entrypoint":"true"})");
  EXPECT_EQ(phase(), JobPhase::ValidationFailed);
  EXPECT_EQ(job().status().reason, "ValidationFailed");
  EXPECT_NE(job().status().message.find("rayClusterSpec"), std::string::npos);
  EXPECT_TRUE(event_reasons().contains("InvalidRayJobSpec"));
  EXPECT_TRUE(fake.all(kinds::kRayCluster).empty());
  patch(kinds::kRayJob, "j", R"({"spec":{"rayClusterSpec":)" + cluster_spec(1) + "}}");
  EXPECT_EQ(phase(), JobPhase::Initializing);
}

TEST_F(RayJobScenario, AForeignJobOfItsNameIsNamedInAnEvent) {
  Json foreign = new_object(kinds::kJob, "ns", "j");
  set_path(foreign, {"spec"}, JsonObject());
  fake.put(kinds::kJob, std::move(foreign));
  submit();
  run_pods();
  EXPECT_EQ(phase(), JobPhase::Initializing);
  EXPECT_TRUE(event_reasons().contains("FailedToCreateRayJobSubmitter"));
  remove(kinds::kJob, "j");
  advance(120s);
  EXPECT_EQ(phase(), JobPhase::Running);
}

TEST_F(RayJobScenario, AnotherManagersJobIsLeftAlone) {
  submit(R"("managedBy":"kueue.x-k8s.io/multikueue",)");
  EXPECT_TRUE(fake.writes.empty());
}

}  // namespace
}  // namespace krater::controllers
