// The pure rules of RayJobs: validation, the submitter's command, the machine's table, dashboard
// replies.
#include <gtest/gtest.h>

#include "controllers/ray/testing/objects.h"
#include "controllers/rayjob/children.h"
#include "controllers/rayjob/dashboard.h"
#include "controllers/rayjob/machine.h"
#include "controllers/rayjob/submit_command.h"
#include "controllers/rayjob/transitions.h"
#include "controllers/rayjob/validate.h"

namespace krater::controllers {
namespace {

using test::cluster_spec;
using test::object_of;

RayJobView job_with(const std::string& fields, const std::string& name = "j", bool cluster = true) {
  const std::string spec = cluster ? R"("rayClusterSpec":)" + cluster_spec(1) + "," : "";
  return RayJobView(
      object_of(kinds::kRayJob, R"({"metadata":{"name":")" + name +
                                    R"(","finalizers":["ray.io/rayjob-finalizer"]},"spec":{)" +
                                    spec + fields + R"("entrypoint":" python main.py --n 1 "}})"));
}

TEST(RayJobValidation, EachContradictionIsRefusedWithItsField) {
  struct Case {
    std::string fields, says;
    bool cluster = true;
  };
  const std::string rule = R"("deletionStrategy":{"deletionRules":[)";
  for (
      const Case& c : {
          Case{R"("suspend":true,)", "shutdownAfterJobFinishes"},
          Case{R"("ttlSecondsAfterFinished":30,)", "ttlSecondsAfterFinished"},
          Case{R"("ttlSecondsAfterFinished":-1,"shutdownAfterJobFinishes":true,)",
               "ttlSecondsAfterFinished"},
          Case{R"("submissionMode":"InteractiveMode","backoffLimit":1,)", "backoffLimit"},
          Case{R"("submissionMode":"HTTPMode",)", "HTTPMode is not supported"},
          Case{R"("submissionMode":"SidecarMode",)", "SidecarMode is not supported"},
          Case{R"("submissionMode":"Typo",)", "submissionMode"},
          Case{R"("activeDeadlineSeconds":0,)", "activeDeadlineSeconds"},
          Case{R"("preRunningDeadlineSeconds":0,)", "preRunningDeadlineSeconds"},
          Case{R"("backoffLimit":-1,)", "backoffLimit"},
          Case{
              R"("suspend":true,"shutdownAfterJobFinishes":true,"clusterSelector":{"ray.io/cluster":"x"},)",
              "clusterSelector", false},
          Case{R"("clusterSelector":{"other":"x"},)", "ray.io/cluster", false},
          Case{R"("clusterSelector":{"ray.io/cluster":"x"},"backoffLimit":1,)", "backoffLimit",
               false},
          Case{"", "one of rayClusterSpec and clusterSelector", false},
          Case{R"("runtimeEnvYAML":"- a\n- b",)", "runtimeEnvYAML"},
          Case{R"("runtimeEnvYAML":"a: [",)", "runtimeEnvYAML"},
          Case{R"("deletionStrategy":{},)", "deletionStrategy"},
          Case{R"("deletionStrategy":{"onSuccess":{"policy":"DeleteSelf"}},)", "onFailure"},
          Case{
              R"("shutdownAfterJobFinishes":true,"deletionStrategy":{"onSuccess":{"policy":"DeleteNone"},"onFailure":{"policy":"DeleteSelf"}},)",
              "DeleteNone"},
          Case{rule + R"({"policy":"DeleteSelf","condition":{}}]},)",
               "deletionRules[0]: condition"},
          Case{R"("shutdownAfterJobFinishes":true,)" + rule +
                   R"({"policy":"DeleteSelf","condition":{"jobStatus":"FAILED"}}]},)",
               "shutdownAfterJobFinishes"},
          Case{
              rule +
                  R"({"policy":"DeleteSelf","condition":{"jobStatus":"FAILED"}},{"policy":"DeleteSelf","condition":{"jobStatus":"FAILED","ttlSeconds":3}}]},)",
              "deletionRules[1]: a second rule"},
          Case{
              rule +
                  R"({"policy":"DeleteSelf","condition":{"jobStatus":"FAILED","ttlSeconds":1}},{"policy":"DeleteWorkers","condition":{"jobStatus":"FAILED","ttlSeconds":9}}]},)",
              "DeleteSelf is below"},
          Case{R"("clusterSelector":{"ray.io/cluster":"x"},)" + rule +
                   R"({"policy":"DeleteCluster","condition":{"jobStatus":"FAILED"}}]},)",
               "DeleteCluster does not work with clusterSelector", false},
      }) {
    const auto problem = judge_job(job_with(c.fields, "j", c.cluster));
    ASSERT_TRUE(problem.has_value()) << c.fields;
    EXPECT_EQ(problem->reason, "InvalidRayJobSpec");
    EXPECT_NE(problem->message.find(c.says), std::string::npos) << problem->message;
  }
  EXPECT_FALSE(
      judge_job(
          job_with(
              R"("shutdownAfterJobFinishes":true,"ttlSecondsAfterFinished":9,"backoffLimit":2,)"))
          .has_value());
}

TEST(RayJobValidation, NamesHaveALimit) {
  EXPECT_FALSE(judge_job(job_with("", std::string(47, 'a'))).has_value());
  const auto problem = judge_job(job_with("", std::string(48, 'a')));
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->reason, "InvalidRayJobMetadata");
  EXPECT_NE(problem->message.find("no more than 47 characters"), std::string::npos);
}

TEST(SubmitCommand, SubmitsOnceAndFollows) {
  const auto command =
      submit_command(job_with(""), "c-head-svc.ns.svc.cluster.local:8265", "j-abcde");
  ASSERT_TRUE(command.has_value());
  const std::string address = "http://c-head-svc.ns.svc.cluster.local:8265";
  EXPECT_EQ(command->substr(command->find("done ;") + 7),
            "if ! ray job status --address " + address +
                " j-abcde >/dev/null 2>&1 ; then ray job submit --address " + address +
                " --no-wait --submission-id j-abcde -- python main.py --n 1 ; fi ; ray job logs "
                "--address " +
                address + " --follow j-abcde");
  EXPECT_TRUE(command->starts_with("until python3 -c \"")) << *command;
  EXPECT_NE(command->find(address + "/api/gcs_healthz"), std::string::npos);
}

TEST(SubmitCommand, CarriesEnvironmentMetadataAndResources) {
  const auto command = submit_command(
      job_with(
          R"("runtimeEnvYAML":"pip: [b, a]\nenv_vars:\n  Z: 'a<b'\n  A: \"1\"\n","metadata":{"k":"v\"w"},"entrypointNumCpus":1.5,"entrypointNumGpus":0,"entrypointResources":"{\"x\": 1}",)"),
      "h:1", "id");
  ASSERT_TRUE(command.has_value());
  EXPECT_NE(
      command->find(
          R"(--runtime-env-json "{\"env_vars\":{\"A\":\"1\",\"Z\":\"a\\u003cb\"},\"pip\":[\"b\",\"a\"]}")"),
      std::string::npos)
      << *command;
  EXPECT_NE(command->find(R"(--metadata-json "{\"k\":\"v\\\"w\"}")"), std::string::npos)
      << *command;
  EXPECT_NE(command->find("--entrypoint-num-cpus 1.500000 "), std::string::npos);
  EXPECT_EQ(command->find("--entrypoint-num-gpus"), std::string::npos);
  EXPECT_NE(command->find(R"(--entrypoint-resources "{\"x\": 1}")"), std::string::npos);
}

TEST(Submitter, DefaultsAndTheUsersTemplate) {
  const Json own = submitter_template(
      job_with(R"("submitterPodTemplate":{"spec":{"containers":[{"name":"mine"}]}},)"));
  EXPECT_EQ(to_json(own), R"({"spec":{"containers":[{"name":"mine"}],"restartPolicy":"Never"}})");
  const Json generated = submitter_template(job_with(""));
  EXPECT_EQ(
      to_json(generated),
      R"({"spec":{"containers":[{"name":"ray-job-submitter","image":"rayproject/ray:2.53.0","resources":{"limits":{"cpu":"1","memory":"1Gi"},)"
      R"("requests":{"cpu":"500m","memory":"200Mi"}}}],"restartPolicy":"Never"}})");
  EXPECT_EQ(job_with(R"("submitterConfig":{"backoffLimit":0},)").submitter_backoff_limit(), 0);
  EXPECT_EQ(job_with("").submitter_backoff_limit(), 2);
}

TEST(DashboardReply, IsReadOrNamedAsAProblem) {
  const auto read = [](int status, std::string body) {
    return read_job_answer(HttpResponse{status, {}, std::move(body)},
                           WallTime::from_unix_seconds(9));
  };
  const DashboardAnswer ok =
      read(200, R"({"status":"SUCCEEDED","message":"m","start_time":1000,"end_time":0})");
  EXPECT_EQ(ok.what, DashboardAnswer::What::Job);
  EXPECT_EQ(ok.status, "SUCCEEDED");
  EXPECT_EQ(*ok.start, WallTime::from_unix_seconds(1));
  EXPECT_FALSE(ok.end.has_value());
  EXPECT_EQ(read(404, "x").what, DashboardAnswer::What::NoSuchJob);
  EXPECT_EQ(read(500, "{}").what, DashboardAnswer::What::Problem);
  EXPECT_EQ(read(200, "<html>").what, DashboardAnswer::What::Problem);
  EXPECT_EQ(read(200, "{}").what, DashboardAnswer::What::Problem);
  EXPECT_EQ(read_job_answer(make_error(Code::TooLarge, "big"), WallTime()).message, "big");
}

// The machine as a table: what is stored and seen, and what must come of it.
struct TableRow {
  std::string given;      // status
  std::string spec;       // fields
  std::string submitter;  // condition type of the Job, "" running, "-" none
  int submitter_age_s = 0;
  std::optional<DashboardAnswer> answer;
  std::string want_phase, want_reason;
};

DashboardAnswer answer(DashboardAnswer::What what, std::string status, int age_s) {
  DashboardAnswer out;
  out.what = what;
  out.status = std::move(status);
  out.asked = WallTime::from_unix_seconds(1'767'226'000 - age_s);
  return out;
}

TEST(RayJobMachine, RunningTable) {
  using What = DashboardAnswer::What;
  const WallTime now = WallTime::from_unix_seconds(1'767'226'000);
  const auto volcano = make_volcano_batch_scheduler();
  const JobRules rules{.scheduler = *volcano};
  const std::string since_6min = to_rfc3339(now - 360s);
  for (const TableRow& row : {
           TableRow{"", "", "", 0, std::nullopt, "Running", ""},
           TableRow{"", "", "", 0, answer(What::Job, "RUNNING", 0), "Running", ""},
           TableRow{"", "", "", 0, answer(What::Job, "SUCCEEDED", 0), "Running", ""},
           TableRow{"", "", "Complete", 2, answer(What::Job, "SUCCEEDED", 0), "Complete", ""},
           TableRow{"", "", "Complete", 2, answer(What::Job, "STOPPED", 0), "Complete", ""},
           TableRow{"", "", "Complete", 2, answer(What::Job, "FAILED", 0), "Failed", "AppFailed"},
           TableRow{"", R"("backoffLimit":1,)", "Complete", 2, answer(What::Job, "FAILED", 0),
                    "Retrying", "AppFailed"},
           TableRow{R"("failed":1,)", R"("backoffLimit":1,)", "Complete", 2,
                    answer(What::Job, "FAILED", 0), "Failed", "AppFailed"},
           TableRow{"", "", "Failed", 2, answer(What::Job, "RUNNING", 0), "Failed",
                    "SubmissionFailed"},
           TableRow{R"("jobStatus":"FAILED",)", "", "Failed", 2, answer(What::Job, "FAILED", 5),
                    "Failed", "AppFailed"},
           TableRow{"", "", "Complete", 2, answer(What::NoSuchJob, "", 0), "Failed", "AppFailed"},
           TableRow{"", "", "Complete", 2, answer(What::NoSuchJob, "", 3), "Running", ""},
           TableRow{"", "", "", 0, answer(What::NoSuchJob, "", 0), "Running", ""},
           TableRow{"", "", "Complete", 40, answer(What::Job, "RUNNING", 1), "Failed",
                    "JobDeploymentStatusTransitionGracePeriodExceeded"},
           TableRow{"", "", "Complete", 40, answer(What::Job, "RUNNING", 20), "Running", ""},
           TableRow{"", "", "Complete", 40, answer(What::Job, "SUCCEEDED", 20), "Complete", ""},
           TableRow{R"("jobStatus":"SUCCEEDED","rayJobInfo":{"endTime":")" + since_6min + R"("},)",
                    "", "", 0, std::nullopt, "Complete",
                    "JobDeploymentStatusTransitionGracePeriodExceeded"},
           TableRow{R"("jobStatusCheckFailureStartTime":")" + since_6min + R"(",)",
                    R"("backoffLimit":1,)", "", 0, answer(What::Problem, "", 0), "Failed",
                    "JobStatusCheckTimeoutExceeded"},
           TableRow{R"("startTime":")" + since_6min + R"(",)",
                    R"("activeDeadlineSeconds":300,"backoffLimit":1,)", "", 0, std::nullopt,
                    "Failed", "DeadlineExceeded"},
           TableRow{"", R"("suspend":true,"shutdownAfterJobFinishes":true,)", "Complete", 2,
                    answer(What::Job, "SUCCEEDED", 0), "Suspending", ""},
       }) {
    JobSeen seen;
    Json json = *job_with(row.spec)->document();
    set_path(
        json, {"status"},
        *parse_json(
            "{" + row.given +
            R"("jobDeploymentStatus":"Running","jobId":"i","rayClusterName":"c","dashboardURL":"d:1"})"));
    seen.job = RayJobView(object_of(kinds::kRayJob, json));
    seen.status = seen.job.status();
    seen.cluster = RayClusterView(object_of(
        kinds::kRayCluster, R"({"metadata":{"name":"c"},"spec":)" + cluster_spec(1) + "}"));
    Json submitter = *parse_json(
        R"({"metadata":{"name":"j","ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayJob","name":"j","uid":"uid-j","controller":true}]}})");
    if (!row.submitter.empty()) {
      set_path(
          submitter, {"status", "conditions"},
          JsonArray{JsonObject{{"type", row.submitter},
                               {"status", "True"},
                               {"lastTransitionTime",
                                to_rfc3339(now - std::chrono::seconds(row.submitter_age_s))}}});
    }
    seen.submitter = object_of(kinds::kJob, std::move(submitter));
    seen.answer = row.answer;
    const Plan plan = step_job(seen, rules, now);
    RayJobStatus after = seen.status;
    for (const auto& step : plan.steps) {
      for (const PlannedWrite& write : step) {
        const auto* patch = std::get_if<client::PatchWrite>(&write.write);
        if (patch == nullptr || patch->subresource != "status") continue;
        Json status = seen.job.status_json();
        for (const auto& member : find(patch->patch, {"status"})->get_object())
          status.get_object()[member.key()] = member.value();
        after = RayJobStatus::from(status);
      }
    }
    EXPECT_EQ(to_text(after.phase), row.want_phase) << row.given << row.spec << row.submitter;
    EXPECT_EQ(after.reason, row.want_reason) << row.given << row.spec << row.submitter;
  }
}

TEST(RayJobMachine, TheTableOfEdgesHasNoDuplicates) {
  for (std::size_t i = 0; i < kJobEdges.size(); ++i) {
    for (std::size_t j = i + 1; j < kJobEdges.size(); ++j) {
      EXPECT_FALSE(kJobEdges[i].from == kJobEdges[j].from && kJobEdges[i].to == kJobEdges[j].to)
          << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace krater::controllers
