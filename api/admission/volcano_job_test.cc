// What Volcano's job webhooks make of a job that changes, that is written again, and whose plugins
// miss something.
#include "api/admission/testing/admission_fixture.h"

namespace krater::api {
namespace {

using testing::AdmissionTest;

TEST_F(AdmissionTest, AVolcanoJobChangesOnlyInSize) {
  constexpr std::string_view before =
      R"({"metadata":{},"spec":{"minAvailable":1,"queue":"default","tasks":[{"name":"a","replicas":2,"minAvailable":1}]}})";
  EXPECT_EQ(
      submit(
          kinds::kVolcanoJob, "j",
          R"({"metadata":{},"spec":{"minAvailable":2,"queue":"default","tasks":[{"name":"a","replicas":4,"minAvailable":2}]}})",
          before),
      "");
  EXPECT_TRUE(says(
      submit(kinds::kVolcanoJob, "j",
             R"({"metadata":{},"spec":{"minAvailable":1,"queue":"default","tasks":[]}})", before),
      "may not add or remove tasks"));
  EXPECT_TRUE(says(
      submit(
          kinds::kVolcanoJob, "j",
          R"({"metadata":{},"spec":{"minAvailable":1,"queue":"x","tasks":[{"name":"a","replicas":2,"minAvailable":1}]}})",
          before),
      "job updates may not change fields other than"));
}

TEST_F(AdmissionTest, TheNameOfAClaimThatTheControllerMakesIsTheControllers) {
  const auto job = [](const std::string& volume) {
    return R"({"metadata":{},"spec":{"minAvailable":1,"queue":"default","volumes":[{"mountPath":"/a")" +
           volume + R"(}],"tasks":[{"name":"a","replicas":1,"minAvailable":1}]}})";
  };
  const std::string claim = R"(,"volumeClaim":{"accessModes":["ReadWriteOnce"]})";
  const std::string named = R"(,"volumeClaimName":"mine")";
  const auto change = [&](const std::string& from, const std::string& to) {
    return submit(kinds::kVolcanoJob, "j", job(to), job(from));
  };
  EXPECT_EQ(change(claim, claim + named), "");
  EXPECT_EQ(change(claim + named, claim), "");
  EXPECT_EQ(change(named, named), "");
  EXPECT_TRUE(says(change(named, R"(,"volumeClaimName":"yours")"), "may not change fields"));
  EXPECT_TRUE(says(change(claim, R"(,"volumeClaim":{"accessModes":["ReadOnlyMany"]})"),
                   "may not change fields"));
  EXPECT_TRUE(says(change(claim, named), "may not change fields"));
}

// As Volcano's controller writes a job back that it has read into its own types.
TEST_F(AdmissionTest, AJobInAnotherSpellingIsTheSameJob) {
  const auto job = [](const std::string& plugins, const std::string& policy,
                      const std::string& pod) {
    return R"({"metadata":{},"spec":{"minAvailable":1,"queue":"default","plugins":{)" + plugins +
           R"(},"policies":[{"event":"PodFailed","action":"AbortJob")" + policy +
           R"(}],"tasks":[{"name":"a","replicas":1,"minAvailable":1,"template":{"metadata":{"labels":{"l":""}},"spec":{)" +
           pod + "}}}]}}";
  };
  const std::string theirs = job(
      R"("ssh":null)", R"(,"timeout":"1m0s")",
      R"("containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"}},)"
      R"("env":[{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"0"}}}]}])");
  const std::string ours = job(
      R"("ssh":[])", R"(,"timeout":"60s")",
      R"("hostNetwork":false,"nodeSelector":{},"volumes":[],"restartPolicy":"",)"
      R"("containers":[{"name":"c","command":[],"stdin":false,"resources":{"limits":{},"requests":{"cpu":1,"memory":"1024Mi"}},)"
      R"("env":[{"name":"E","value":"","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}}]}])");
  EXPECT_EQ(submit(kinds::kVolcanoJob, "j", theirs, ours), "");
  EXPECT_EQ(submit(kinds::kVolcanoJob, "j", ours, theirs), "");
  const auto differs = [&](std::string_view part, std::string_view instead) {
    std::string other = ours;
    const std::size_t at = other.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    other.replace(at, part.size(), instead);
    return says(submit(kinds::kVolcanoJob, "j", other, theirs), "may not change fields");
  };
  EXPECT_TRUE(differs(R"("cpu":1)", R"("cpu":2)"));
  EXPECT_TRUE(differs(R"("60s")", R"("61s")"));
  EXPECT_TRUE(differs(R"("ssh":[])", R"("ssh":[],"svc":[])"));
  EXPECT_TRUE(differs(R"("l":"")", ""));
  EXPECT_TRUE(differs(R"("hostNetwork":false)", R"("hostNetwork":true)"));
  EXPECT_TRUE(differs(R"("hostNetwork":false)", R"("automountServiceAccountToken":false)"));
}

class AppliedAgain : public AdmissionTest {
 protected:
  static std::string job(const std::string& tasks, const std::string& rest = "") {
    return R"({"metadata":{},"spec":{"queue":"default","maxRetry":3)" + rest + R"(,"tasks":[)" +
           tasks + "]}}";
  }
  static std::string task(const std::string& fields) {
    return R"({"replicas":3,)" + fields +
           R"("template":{"spec":{"containers":[{"name":"c"}],"hostNetwork":true}}})";
  }
  // As it is stored; `defaults_are_nobodys`: whoever wrote it has not set a minAvailable.
  std::string stored(const std::string& text, bool defaults_are_nobodys = true) {
    EXPECT_EQ(submit(kinds::kVolcanoJob, "j", text), "");
    set_path(
        object, {"metadata", "managedFields"},
        *parse_json(R"([{"fieldsV1":{"f:spec":{"f:tasks":{})" +
                    std::string(defaults_are_nobodys ? "" : R"(,"f:minAvailable":{})") + "}}}]"));
    return to_json(object);
  }
  std::string write(const std::string& text, const std::string& before) {
    return submit(kinds::kVolcanoJob, "j", text, before);
  }
  Json spec_of(const std::string& text) { return *find(*parse_json(text), {"spec"}); }
};

TEST_F(AppliedAgain, AFileIsTheSameJob) {
  const std::string claim = R"({"mountPath":"/a","volumeClaim":{"accessModes":["ReadWriteOnce"]})";
  const std::string plugins = R"(,"plugins":{"pytorch":["--master=default0"]})";
  for (const std::string& rest : {std::string(), plugins, R"(,"volumes":[)" + claim + "}]",
                                  std::string(R"(,"schedulerName":"mine")")}) {
    for (const std::string& one :
         {task(""), task(R"("name":"w",)"), task(R"("maxRetry":7,)"), task(R"("minAvailable":2,)"),
          task(R"("partitionPolicy":{"totalPartitions":3,)"
               R"("partitionSize":1,"minPartitions":2},)")}) {
      const std::string file = job(one, rest);
      const std::string before = stored(file);
      EXPECT_EQ(write(file, before), "") << file;
      EXPECT_EQ(*find(object, {"spec"}), spec_of(before)) << file;
    }
  }
}

TEST_F(AppliedAgain, TheNameOfAClaimIsKept) {
  const std::string file =
      job(task(""),
          R"(,"volumes":[{"mountPath":"/a","volumeClaim":{"accessModes":["ReadWriteOnce"]}}])");
  Json named = *parse_json(stored(file));
  set_path(find(named, {"spec", "volumes"})->get_array()[0], {"volumeClaimName"}, "made");
  EXPECT_EQ(write(file, to_json(named)), "");
  EXPECT_EQ(*find(object, {"spec"}), *find(named, {"spec"}));
}

TEST_F(AppliedAgain, WithOtherReplicasItScales) {
  const auto sized = [](int replicas) {
    return R"({"name":"w","replicas":)" + std::to_string(replicas) + R"(,"template":{"spec":{}}})";
  };
  const std::string before = stored(job(sized(3)));
  const auto sizes = [&] {
    const Json& task = array_at(object, {"spec", "tasks"})->front();
    return std::array{int_at(object, {"spec", "minAvailable"}), int_at(task, {"replicas"}),
                      int_at(task, {"minAvailable"}), int_at(task, {"maxRetry"})};
  };
  using Sizes = std::array<std::optional<std::int64_t>, 4>;
  EXPECT_EQ(write(job(sized(5)), before), "");
  EXPECT_EQ(sizes(), (Sizes{3, 5, 5, 3}));
  // A patch of the list leaves the minimum as it is; nobody has set it, so it is no obstacle.
  EXPECT_EQ(write(job(sized(1), R"(,"minAvailable":3)"), before), "");
  EXPECT_EQ(sizes(), (Sizes{1, 1, 1, 3}));
  EXPECT_EQ(write(job(sized(0), R"(,"minAvailable":3)"), before), "");
  EXPECT_EQ(sizes(), (Sizes{0, 0, 0, 3}));
  EXPECT_TRUE(says(write(job(sized(1), R"(,"minAvailable":2)"), before),
                   "job 'minAvailable' must not be greater than total replicas"));
  const std::string chosen = stored(job(sized(3), R"(,"minAvailable":3)"), false);
  EXPECT_TRUE(says(write(job(sized(1), R"(,"minAvailable":3)"), chosen),
                   "job 'minAvailable' must not be greater than total replicas"));
}

TEST_F(AppliedAgain, NameAndSizeAloneScaleATask) {
  const std::string before =
      stored(job(R"({"name":"w","replicas":3,"minAvailable":2,"policies":[{"event":"PodFailed",)"
                 R"("action":"RestartPod"}],"template":{"spec":{"containers":[]}}})"));
  EXPECT_EQ(write(job(R"({"name":"w","replicas":5})"), before), "");
  Json wanted = spec_of(before);
  set_path(find(wanted, {"tasks"})->get_array()[0], {"replicas"}, 5);
  EXPECT_EQ(*find(object, {"spec"}), wanted);
  EXPECT_EQ(write(job(R"({"name":"w","replicas":1})", R"(,"minAvailable":1)"), before), "");
  EXPECT_EQ(int_at(array_at(object, {"spec", "tasks"})->front(), {"minAvailable"}), 1);
}

TEST_F(AppliedAgain, WhatIsWrittenOtherwiseIsRefused) {
  const std::string before = stored(job(task(R"("name":"w",)")));
  for (const std::string& other :
       {job(task(R"("name":"v",)")), job(task(R"("name":"w","maxRetry":4,)")),
        job(task(R"("name":"w","policies":[{"event":"*","action":"AbortJob"}],)")),
        job(R"({"name":"w","replicas":3,"template":{"spec":{"hostNetwork":true}}})"),
        job(task(R"("name":"w",)"), R"(,"plugins":{"svc":[]})")}) {
    EXPECT_TRUE(says(write(other, before), "job updates may not change fields other than"))
        << other;
  }
}

TEST_F(AdmissionTest, PluginsFindTheirTasks) {
  const auto job = [&](const std::string& plugin, const std::string& task) {
    return submit(kinds::kVolcanoJob, "j",
                  R"({"metadata":{},"spec":{"plugins":{)" + plugin +
                      R"(},"tasks":[{"replicas":2,"name":")" + task + R"("}]}})");
  };
  EXPECT_TRUE(says(job(R"("ray":[])", "worker"), "the head task head of the ray plugin"));
  EXPECT_TRUE(says(job(R"("ray":["--head=boss"])", "head"), "the head task boss"));
  EXPECT_EQ(job(R"("ray":["--head","boss"])", "boss"), "");
  EXPECT_EQ(job(R"("pytorch":[])", "worker"), "");
  EXPECT_EQ(warnings, std::vector<std::string>{"spec.plugins.pytorch: there is no task master"});
  EXPECT_EQ(job(R"("pytorch":["--master=worker"])", "worker"), "");
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(job(R"("tensorflow":[])", "trainer"), "");
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "spec.plugins.tensorflow: no task is ps, worker, chief, evaluator"});
  EXPECT_EQ(job(R"("tensorflow":["--chief=trainer"])", "trainer"), "");
  EXPECT_TRUE(warnings.empty());
}

TEST_F(AdmissionTest, AGangThatWaitsForItselfIsToldOf) {
  const auto job = [&](const std::string& spec, const std::string& prep, const std::string& train) {
    return submit(kinds::kVolcanoJob, "j",
                  R"({"metadata":{},"spec":{)" + spec + R"("tasks":[{"replicas":1,"name":"prep")" +
                      prep + R"(},{"replicas":2,"name":"train","dependsOn":{"name":["prep"])" +
                      train + "}}]}}");
  };
  EXPECT_EQ(job("", "", ""), "");
  EXPECT_EQ(warnings,
            std::vector<std::string>{
                "spec.minAvailable: the job waits for 3 pods, but only 1 are made before the tasks "
                "that depend on others (train); it starts with a minAvailable of at most 1"});
  EXPECT_EQ(job(R"("minAvailable":1,)", "", ""), "");
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(job("", R"(,"minAvailable":0)", ""), "") << "prep is ready without a pod";
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(job(R"("minAvailable":2,)", "", R"(,"iteration":"any")"), "");
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(AdmissionTest, AQueueWhoseNameIsNoLabelHasNoJobs) {
  const std::string name(64, 'q');
  EXPECT_TRUE(says(submit(kinds::kVolcanoJob, "j",
                          R"({"metadata":{},"spec":{"queue":")" + name +
                              R"(","tasks":[{"replicas":1,"name":"w"}]}})"),
                   "its name is a label of their pods"));
}

TEST_F(AdmissionTest, WithServicesNamesAreThoseOfHosts) {
  const auto job = [&](const std::string& name, const std::string& plugins, int replicas,
                       std::string_view before = {}) {
    return submit(kinds::kVolcanoJob, name,
                  R"({"metadata":{},"spec":{"queue":"default","plugins":{)" + plugins +
                      R"(},"tasks":[{"name":"w","replicas":)" + std::to_string(replicas) + "}]}}",
                  before);
  };
  const std::string svc = R"("svc":[])";
  for (const char* odd : {"my.job", "1job"}) {
    EXPECT_EQ(job(odd, "", 1), "") << odd;
    EXPECT_TRUE(says(job(odd, svc, 1), "the service of the job can not be named")) << odd;
  }
  const std::string name(59, 'a');
  EXPECT_EQ(job(name, svc, 10), "");
  const std::string before = to_json(object);
  EXPECT_EQ(job(name, "", 12), "");
  EXPECT_TRUE(says(job(name, svc, 12), "too long for one"));
  EXPECT_TRUE(says(job(name, svc, 12, before), "too long for one"));
  EXPECT_EQ(job("head", R"("ray":["--head=w"])", 1), "");
  EXPECT_TRUE(says(job(std::string(58, 'a'), R"("ray":["--head=w"])", 1), "-head-svc"));
}

TEST_F(AdmissionTest, ACronJobsTemplateMakesJobs) {
  const Kind cron{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  reader.put(kinds::kQueue, "", "shut", R"({"metadata":{},"status":{"state":"Closed"}})");
  const auto whole = [](const std::string& spec, bool suspend) {
    return R"({"metadata":{},"spec":{"schedule":"* * * * *","suspend":)" +
           std::string(suspend ? "true" : "false") + R"(,"jobTemplate":{"spec":)" + spec + "}}}";
  };
  const auto with = [&](const std::string& spec, std::string_view before = {}) {
    return submit(cron, "c", whole(spec, true), before);
  };
  const std::string task = R"("tasks":[{"name":"a","replicas":1}])";
  EXPECT_EQ(with("{" + task + "}"), "");
  EXPECT_EQ(find(object, {"spec", "jobTemplate", "spec", "queue"}), nullptr) << "stays as written";
  EXPECT_EQ(with(R"({"queue":"shut",)" + task + "}"), "") << "it may be open by then";
  const std::string bad = R"({"queue":"none",)" + task + "}";
  EXPECT_TRUE(says(with(bad), "jobTemplate: unable to find job queue"));
  EXPECT_TRUE(says(with(R"({"queue":"root",)" + task + "}"), "can not submit job to root queue"));
  EXPECT_TRUE(says(with(R"({"plugins":{"nope":[]},)" + task + "}"), "unable to find job plugin"));
  EXPECT_TRUE(says(with(R"({"minAvailable":2,)" + task + "}"), "total replicas in tasks"));
  EXPECT_TRUE(says(with(R"({"tasks":[{"name":"a"},{"name":"a"}]})"), "duplicated task name a"));
  EXPECT_EQ(with(bad, whole(bad, false)), "") << "one from earlier can be suspended";
  EXPECT_TRUE(says(with(bad, whole("{" + task + "}", true)), "unable to find job queue"));
}

}  // namespace
}  // namespace krater::api
