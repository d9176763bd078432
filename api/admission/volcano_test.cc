// What Volcano's webhooks do to its kinds, and to pods of its scheduler.
#include "api/admission/testing/admission_fixture.h"
#include "model/job_flow.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::AdmissionTest;

TEST_F(AdmissionTest, VolcanoCronJobsHaveSchedulesThatCanBeRead) {
  const Kind cron{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  const auto with = [&](std::string_view spec, std::string_view name = "c") {
    std::string why = submit(cron, name, R"({"metadata":{},"spec":)" + std::string(spec) + "}");
    const std::string denied =
        "admission webhook \"validatecronjob.volcano.sh\" denied the request: ";
    return why.starts_with(denied) ? why.substr(denied.size()) : why;
  };
  EXPECT_EQ(with(R"({"schedule":"*/5 * * * *","timeZone":"Europe/Berlin"})"), "");
  EXPECT_EQ(with(R"({"schedule":"TZ=UTC * * * * *"})"),
            "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone "
            "field");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":"Nowhere/Land"})"), "invalid timeZone");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":"../etc"})"),
            "unknown timeZone invalid timeZone");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":"local"})"),
            "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":""})"),
            "timeZone must be nil or non-empty string, got empty string");
  EXPECT_EQ(with("{}"), "schedule is required, but got empty");
  EXPECT_EQ(with(R"({"schedule":"never"})"), "schedule is not a valid cron expression");
  EXPECT_EQ(with(R"({"schedule":"never"})", std::string(53, 'a')),
            "schedule is not a valid cron expression; cronJob name must be no more than 52 "
            "characters to accommodate job name suffix (max 63 total)");
}

TEST_F(AdmissionTest, APodThatAsksForItWaitsBehindItsQueuesGate) {
  const auto gates = [&](const std::string& annotations, const std::string& spec) {
    EXPECT_EQ(submit(kinds::kPod, "p",
                     R"({"metadata":{"annotations":{)" + annotations +
                         R"(}},"spec":{"schedulerName":"volcano","containers":[])" + spec + "}}"),
              "");
    const Json* list = find(object, {"spec", "schedulingGates"});
    return list == nullptr ? std::string() : to_json(*list);
  };
  const std::string asks = R"("scheduling.volcano.sh/queue-allocation-gate":"true")";
  const std::string gate = R"({"name":"scheduling.volcano.sh/queue-allocation-gate"})";
  EXPECT_EQ(gates("", ""), "");
  EXPECT_EQ(gates(asks, ""), "[" + gate + "]");
  EXPECT_EQ(gates(asks, R"(,"schedulingGates":[{"name":"x"}])"), R"([{"name":"x"},)" + gate + "]");
  EXPECT_EQ(gates(asks, R"(,"schedulingGates":[)" + gate + "]"), "[" + gate + "]");
  EXPECT_EQ(gates(R"("scheduling.volcano.sh/queue-allocation-gate":"false")", ""), "");
}

TEST_F(AdmissionTest, PodGroupsGoToOpenQueuesOnly) {
  reader.put(kinds::kQueue, "", "shut", R"({"metadata":{},"status":{"state":"Closed"}})");
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{},"status":{"state":"Open"}})");
  reader.put(kinds::kNamespace, "", "default",
             R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":"team"}}})");
  EXPECT_TRUE(says(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"shut"}})"),
                   "can only submit PodGroup to queue with state `Open`"));
  EXPECT_TRUE(says(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"none"}})"),
                   "unable to find queue"));
  EXPECT_EQ(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"default"}})"), "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "team");
}

TEST_F(AdmissionTest, AQueueThatIsBeingClosedCanBeChangedButNobodyMayAskForClosing) {
  const std::string open = R"({"metadata":{},"spec":{"weight":1},"status":{"state":"Open"}})";
  const std::string closing = R"({"metadata":{},"spec":{"weight":1},"status":{"state":"Closing"}})";
  EXPECT_EQ(submit(kinds::kQueue, "q",
                   R"({"metadata":{},"spec":{"weight":2},"status":{"state":"Closing"}})", closing),
            "");
  EXPECT_TRUE(says(submit(kinds::kQueue, "q", closing, open), "must be in [Open Closed]"));
}

TEST_F(AdmissionTest, QueueSharesMustNotContradictEachOther) {
  const auto queue = [&](std::string_view spec) {
    return submit(kinds::kQueue, "q", R"({"metadata":{},"spec":)" + std::string(spec) + "}");
  };
  EXPECT_EQ(queue(R"({})"), "");
  EXPECT_EQ(bool_at(object, {"spec", "reclaimable"}), true);
  EXPECT_EQ(int_at(object, {"spec", "weight"}), 1);
  EXPECT_TRUE(says(queue(R"({"deserved":{"cpu":"4"},"capability":{"cpu":"2"}})"),
                   "must be <= capability[cpu]=2"));
  EXPECT_TRUE(says(queue(R"({"guarantee":{"resource":{"cpu":"4"}},"deserved":{"cpu":"2"}})"),
                   "deserved[cpu]=2 must be >= guarantee[cpu]=4"));
  EXPECT_TRUE(says(queue(R"({"capability":{"cpu":"-1"}})"), "must be greater than or equal to 0"));
  EXPECT_TRUE(says(queue(R"({"guarantee":{"resource":{"cpu":"4","memory":"1"}}})"),
                   R"([requestBody.spec.deserved.cpu: Invalid value: "<nil>": deserved[cpu] must )"
                   R"(be >= guarantee[cpu]=4, requestBody.spec.deserved.memory: Invalid value: )"));
  EXPECT_TRUE(says(queue(R"({"parent":"nowhere"})"),
                   "failed to get parent queue nowhere of queue q: "
                   "queue.scheduling.volcano.sh \"nowhere\" not found"));
  EXPECT_TRUE(says(queue(R"({"parent":"q"})"), "queue q cannot use itself as parent"));
}

TEST_F(AdmissionTest, RootIsBelowNoQueue) {
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{},"spec":{"parent":"root"}})");
  const std::string root = R"({"metadata":{},"spec":{"weight":1}})";
  reader.put(kinds::kQueue, "", "root", root);
  const auto under = [&](const std::string& parent, std::string_view before) {
    return submit(kinds::kQueue, "root",
                  R"({"metadata":{},"spec":{"weight":1,"parent":")" + parent + "\"}}", before);
  };
  EXPECT_TRUE(says(under("team", root), "queue root cannot use itself as parent"));
  EXPECT_TRUE(says(under("team", {}), "queue root cannot use itself as parent"));
  EXPECT_TRUE(says(under("nowhere", root), "queue root cannot use itself as parent"));
  EXPECT_EQ(under("root", root), "") << "says nothing, as upstream's controller may fill it";
}

TEST_F(AdmissionTest, QueuesFormATreeOfFewLevels) {
  std::string parent = "root";
  for (const std::string name : {"a", "b", "c", "d"}) {
    reader.put(kinds::kQueue, "", name, R"({"metadata":{},"spec":{"parent":")" + parent + "\"}}");
    parent = name;
  }
  const auto put = [&](const std::string& name, const std::string& under, std::string_view before) {
    return submit(kinds::kQueue, name, R"({"metadata":{},"spec":{"parent":")" + under + "\"}}",
                  before);
  };
  EXPECT_EQ(put("e", "d", {}), "");
  reader.put(kinds::kQueue, "", "e", R"({"metadata":{},"spec":{"parent":"d"}})");
  EXPECT_TRUE(says(put("f", "e", {}), "queue f exceeds the maximum allowed depth of 5"));
  EXPECT_TRUE(says(put("a", "c", R"({"metadata":{},"spec":{"parent":"root"}})"),
                   "queue a exceeds the maximum allowed depth of 5"))
      << "a ring";
  reader.put(kinds::kQueue, "", "busy",
             R"({"metadata":{},"spec":{},"status":{"allocated":{"pods":"3"}}})");
  EXPECT_TRUE(says(put("f", "busy", {}),
                   "queue busy cannot be the parent queue of queue f because it has allocated "
                   "Pods: 3"));
}

TEST_F(AdmissionTest, ChildQueuesShareTheirParent) {
  reader.put(
      kinds::kQueue, "", "team",
      R"({"metadata":{},"spec":{"parent":"root","capability":{"cpu":"8"},"deserved":{"cpu":"6"}}})");
  reader.put(kinds::kQueue, "", "one",
             R"({"metadata":{},"spec":{"parent":"team","deserved":{"cpu":"4"}}})");
  EXPECT_EQ(submit(kinds::kQueue, "two",
                   R"({"metadata":{},"spec":{"parent":"team","deserved":{"cpu":"2"}}})"),
            "");
  EXPECT_TRUE(
      says(submit(kinds::kQueue, "two",
                  R"({"metadata":{},"spec":{"parent":"team","deserved":{"cpu":"3"}}})"),
           "parent queue team validation failed: sum of children's deserved (cpu 7000.00, memory "
           "0.00) exceeds parent's deserved limit (cpu 6000.00, memory 0.00)"));
  EXPECT_TRUE(says(submit(kinds::kQueue, "two",
                          R"({"metadata":{},"spec":{"parent":"team","capability":{"cpu":"9"}}})"),
                   "queue two capability[cpu]=9 exceeds its ancestor's capability=8"));
  EXPECT_TRUE(says(
      submit(
          kinds::kQueue, "team",
          R"({"metadata":{},"spec":{"parent":"root","capability":{"cpu":"8"},"deserved":{"cpu":"3"}}})",
          R"({"metadata":{},"spec":{"parent":"root","capability":{"cpu":"8"},"deserved":{"cpu":"6"}}})"),
      "queue team validation failed: sum of children's deserved (cpu 4000.00, memory 0.00) exceeds "
      "parent's deserved limit (cpu 3000.00, memory 0.00)"));
  reader.put(
      kinds::kQueue, "", "below",
      R"({"metadata":{},"spec":{"parent":"one","capability":{"cpu":"7","nvidia.com/gpu":"2"}}})");
  EXPECT_TRUE(says(submit(kinds::kQueue, "more",
                          R"({"metadata":{},"spec":{"parent":"one","capability":{"cpu":"9"}}})"),
                   "queue more capability[cpu]=9 exceeds its ancestor's capability=8"))
      << "of the nearest that has one";
  EXPECT_TRUE(says(
      submit(
          kinds::kQueue, "team",
          R"({"metadata":{},"spec":{"parent":"root","capability":{"nvidia.com/gpu":"1"},"deserved":{"cpu":"6"}}})",
          R"({"metadata":{},"spec":{"parent":"root","deserved":{"cpu":"6"}}})"),
      "queue team capability[nvidia.com/gpu]=1000.00 is smaller than its descendants' max "
      "capability=2000.00"));
  EXPECT_TRUE(says(submit(kinds::kQueue, "team", R"({"metadata":{}})", {}, Operation::Delete),
                   "has 1 child queues: one"));
  EXPECT_EQ(submit(kinds::kQueue, "below", R"({"metadata":{}})", {}, Operation::Delete), "");
  EXPECT_EQ(submit(kinds::kQueue, "root", R"({"metadata":{}})", {}, Operation::Delete),
            "admission webhook \"validatequeue.volcano.sh\" denied the request: "
            "`root` queue can not be deleted");
}

TEST_F(AdmissionTest, PathsOfQueuesBeginAtRootAndHaveAWeightForEachStep) {
  const auto queue = [&](const std::string& path, const std::string& weights) {
    return submit(kinds::kQueue, "q",
                  R"({"metadata":{"annotations":{"volcano.sh/hierarchy":")" + path +
                      R"(","volcano.sh/hierarchy-weights":")" + weights + R"("}}})");
  };
  EXPECT_EQ(queue("a/b", "1/2"), "");
  EXPECT_EQ(text_at(object, {"metadata", "annotations", "volcano.sh/hierarchy"}), "root/a/b");
  EXPECT_EQ(text_at(object, {"metadata", "annotations", "volcano.sh/hierarchy-weights"}), "1/1/2");
  EXPECT_EQ(queue("a/b", "1/2/3"),
            "admission webhook \"validatequeue.volcano.sh\" denied the request: "
            "requestBody.metadata.annotations: Invalid value: \"root/a/b\": volcano.sh/hierarchy "
            "must have the same length with volcano.sh/hierarchy-weights");
  EXPECT_TRUE(says(queue("a", ""), " in the  is invalid number"));
  EXPECT_TRUE(says(queue("a/b", "1/0"), "0 in the 1/1/0 must be larger than 0"));
}

TEST_F(AdmissionTest, AQueuesOvercommitFactorIsADecimalNumberOfAtLeastOne) {
  const auto queue = [&](const std::string& factor,
                         const std::string& spec = R"({"deserved":{"cpu":"4"}})") {
    return submit(kinds::kQueue, "q",
                  R"({"metadata":{"annotations":{"volcano.sh/overcommit-factor":")" + factor +
                      R"("}},"spec":)" + spec + "}");
  };
  for (const char* good : {"1", "1.0", "1.5", "1.0005", "10", "01.25"})
    EXPECT_EQ(queue(good), "") << good;
  for (const char* bad : {"", "0.9", "0", "-2", "+2", "1.", ".5", "1,5", "1e3", "Inf", "NaN", "2x",
                          " 2", "99999999999999999999"}) {
    EXPECT_TRUE(says(queue(bad),
                     "volcano.sh/overcommit-factor must be a decimal number of at "
                     "least 1"))
        << bad;
  }
  for (const char* nothing : {"{}", R"({"deserved":{"cpu":"0"}})"}) {
    EXPECT_TRUE(says(queue("2", nothing), "needs a positive amount in spec.deserved")) << nothing;
  }
}

TEST_F(AdmissionTest, VolcanoJobsAreCompleted) {
  EXPECT_EQ(
      submit(
          kinds::kVolcanoJob, "j",
          R"({"metadata":{},"spec":{"plugins":{"mpi":["--master=default0"]},"tasks":[{"replicas":2,"template":{"spec":{"hostNetwork":true}}},{"name":"w","replicas":3,"minAvailable":1}]}})"),
      "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "default");
  EXPECT_EQ(text_at(object, {"spec", "schedulerName"}), "volcano");
  EXPECT_EQ(int_at(object, {"spec", "minAvailable"}), 3);
  EXPECT_EQ(int_at(object, {"spec", "maxRetry"}), 3);
  const Json& task = (*array_at(object, {"spec", "tasks"}))[0];
  EXPECT_EQ(text_at(task, {"name"}), "default0");
  EXPECT_EQ(text_at(task, {"template", "spec", "dnsPolicy"}), "ClusterFirstWithHostNet");
  EXPECT_NE(find(object, {"spec", "plugins", "ssh"}), nullptr);
  EXPECT_NE(find(object, {"spec", "plugins", "svc"}), nullptr);
}

TEST_F(AdmissionTest, VolcanoJobsBeginPending) {
  constexpr std::string_view spec =
      R"("spec":{"minAvailable":2,"queue":"default","tasks":[{"name":"a","replicas":2,"minAvailable":2}]}})";
  EXPECT_EQ(submit(kinds::kVolcanoJob, "j", R"({"metadata":{},)" + std::string(spec)), "");
  EXPECT_EQ(*find(object, {"status"}), *parse_json(R"({
    "state":{"phase":"Pending","lastTransitionTime":"2026-01-01T00:00:00Z"},"minAvailable":2,
    "conditions":[{"status":"Pending","lastTransitionTime":"2026-01-01T00:00:00Z"}]})"));
  EXPECT_EQ(
      submit(kinds::kVolcanoJob, "j", R"({"metadata":{"labels":{"a":"b"}},)" + std::string(spec),
             R"({"metadata":{},)" + std::string(spec)),
      "");
  EXPECT_EQ(find(object, {"status"}), nullptr) << "only once";
}

TEST_F(AdmissionTest, PodsOfAGangKnowTheirGroupFromTheStart) {
  const auto group_of = [&](const std::string& annotations) {
    reader.put(kinds::kJob, "default", "j",
               R"({"metadata":{"uid":"u1","annotations":{)" + annotations + "}}}");
    EXPECT_EQ(
        submit(
            kinds::kPod, "p",
            R"({"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
            R"("name":"j","uid":"u1","controller":true}]},"spec":{"schedulerName":"volcano","containers":[]}})"),
        "");
    return text_at(object, {"metadata", "annotations", "scheduling.k8s.io/group-name"});
  };
  EXPECT_EQ(group_of(R"("scheduling.volcano.sh/group-min-member":"3")"), "podgroup-u1");
  EXPECT_EQ(group_of(""), "");
  settings.joins_gangs = false;  // Volcano's own controller makes groups for pods without one
  EXPECT_EQ(group_of(R"("scheduling.volcano.sh/group-min-member":"3")"), "");
}

TEST_F(AdmissionTest, JobFlowsAreOrdered) {
  const auto flow = [&](const std::string& flows) {
    return submit(kinds::kJobFlow, "f", R"({"metadata":{},"spec":{"flows":[)" + flows + "]}}");
  };
  EXPECT_EQ(flow(""), "");
  EXPECT_EQ(flow(R"({"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}})"), "");
  EXPECT_TRUE(says(flow(R"({"name":"a","dependsOn":{"targets":["x"]}})"), "vertex is not defined"));
  EXPECT_TRUE(says(flow(R"({"name":"a","dependsOn":{"targets":["a"]}})"), "is not DAG"));
}

struct JobCase {
  std::string name, spec, says;
};

class VolcanoJobProblems : public AdmissionTest, public ::testing::WithParamInterface<JobCase> {};

TEST_P(VolcanoJobProblems, AreTold) {
  reader.put(kinds::kQueue, "", "shut", R"({"metadata":{},"status":{"state":"Closed"}})");
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{}})");
  reader.put(kinds::kQueue, "", "child", R"({"metadata":{},"spec":{"parent":"team"}})");
  const std::string said =
      submit(kinds::kVolcanoJob, "j", R"({"metadata":{},"spec":)" + GetParam().spec + "}");
  EXPECT_TRUE(says(said, GetParam().says)) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, VolcanoJobProblems,
    ::testing::Values(
        JobCase{"MpiWithoutItsMaster",
                R"({"plugins":{"mpi":["-master","boss"]},"tasks":[{"name":"a","replicas":1}]})",
                "The specified mpi master task was not found"},
        JobCase{"PolicyWordsAreListed",
                R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"X","action":"Y"}]})",
                "valid actions are [AbortJob RestartJob"},
        JobCase{
            "HalfACpuOnANumaNode",
            R"({"tasks":[{"name":"a","replicas":1,"topologyPolicy":"restricted","template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"500m"}}}]}}}]})",
            "the cpu request isn't an integer in spec.task[0] container[0]."},
        JobCase{
            "AnOddClaimName",
            R"({"tasks":[{"name":"a","replicas":1}],"volumes":[{"mountPath":"/a","volumeClaimName":"A_b"}]})",
            "invalid VolumeClaimName"},
        JobCase{"no_tasks", R"({})", "No task specified in job spec"},
        JobCase{"min_above_replicas", R"({"tasks":[{"name":"a","replicas":1,"minAvailable":2}]})",
                "'minAvailable' is greater than 'replicas' in task"},
        JobCase{"same_name", R"({"tasks":[{"name":"a","replicas":1},{"name":"a","replicas":1}]})",
                "duplicated task name"},
        JobCase{
            "event_and_code",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"PodFailed","exitCode":3,"action":"AbortJob"}]})",
            "must not specify event and exitCode simultaneously"},
        JobCase{"neither",
                R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"action":"AbortJob"}]})",
                "either event and exitCode should be specified"},
        JobCase{
            "bad_event",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"X","action":"AbortJob"}]})",
            "invalid policy event"},
        JobCase{
            "bad_action",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"PodFailed","action":"Y"}]})",
            "invalid policy action"},
        JobCase{
            "star",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"events":["*","PodFailed"],"action":"AbortJob"}]})",
            "if there's * here, no other policy should be here"},
        JobCase{
            "code_zero",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"exitCode":0,"action":"AbortJob"}]})",
            "0 is not a valid error code"},
        JobCase{"too_many", R"({"minAvailable":5,"tasks":[{"name":"a","replicas":1}]})",
                "should not be greater than total replicas in tasks"},
        JobCase{"plugin", R"({"plugins":{"nope":[]},"tasks":[{"name":"a","replicas":1}]})",
                "unable to find job plugin"},
        JobCase{"volume", R"({"volumes":[{"mountPath":"/a"}],"tasks":[{"name":"a","replicas":1}]})",
                "either VolumeClaim or VolumeClaimName must be specified"},
        JobCase{
            "ring",
            R"({"tasks":[{"name":"a","replicas":1,"dependsOn":{"name":["b"]}},{"name":"b","replicas":1,"dependsOn":{"name":["a"]}}]})",
            "doesn't form a directed acyclic graph(DAG)"},
        JobCase{
            "partitions",
            R"({"tasks":[{"name":"a","replicas":5,"partitionPolicy":{"totalPartitions":2,"partitionSize":2}}]})",
            "'Replicas' are not equal to TotalPartitions*PartitionSize"},
        JobCase{"queue_missing", R"({"queue":"none","tasks":[{"name":"a","replicas":1}]})",
                "unable to find job queue"},
        JobCase{"queue_closed", R"({"queue":"shut","tasks":[{"name":"a","replicas":1}]})",
                "can only submit job to queue with state `Open`"},
        JobCase{"queue_root", R"({"queue":"root","tasks":[{"name":"a","replicas":1}]})",
                "can not submit job to root queue"},
        JobCase{"queue_inner", R"({"queue":"team","tasks":[{"name":"a","replicas":1}]})",
                "can only submit job to leaf queue"}),
    [](const auto& one) { return one.param.name; });

TEST_F(AdmissionTest, TimesInVolcanosObjectsCanBeRead) {
  const auto policy = [](const std::string& timeout) {
    return R"("policies":[{"event":"PodFailed","action":"AbortJob","timeout":")" + timeout +
           R"("}])";
  };
  const auto job = [&](const std::string& fields, std::string_view before = {}) {
    return submit(
        kinds::kVolcanoJob, "j",
        R"({"metadata":{},"spec":{"queue":"default","tasks":[{"name":"a","replicas":1}],)" +
            fields + "}}",
        before);
  };
  for (const std::string good : {"5s", "1h30m", "1.5h", ".5s", "3\u00b5s", "3\u03bcs", "0"})
    EXPECT_EQ(job(policy(good)), "") << good;
  const std::map<std::string, std::string> kBad{
      {"5x", "time: unknown unit \"x\" in duration \"5x\""},
      {"5", "time: missing unit in duration \"5\""},
      {"", "time: invalid duration \"\""},
      {"soon", "time: invalid duration \"soon\""},
      {"99999999h", "time: invalid duration \"99999999h\""}};
  for (const auto& [bad, why] : kBad) {
    EXPECT_EQ(job(policy(bad)),
              "spec.policies[0].timeout: Invalid value: \"" + bad + "\": " + why + "\n");
  }
  EXPECT_EQ(job(policy("-1s")),
            "spec.policies[0].timeout: Invalid value: \"-1s\": must not be negative\n");
  EXPECT_TRUE(says(job(R"("runningEstimate":"long")"), "spec.runningEstimate: Invalid value"));
  const std::string task = R"({"name":"a","replicas":1,)" + policy("5x") + "}";
  EXPECT_TRUE(
      says(submit(kinds::kVolcanoJob, "j", R"({"metadata":{},"spec":{"tasks":[)" + task + "]}}"),
           "spec.tasks[0].policies[0].timeout: Invalid value"));
  // Wherever a job is described.
  const Kind cron{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  EXPECT_TRUE(
      says(submit(cron, "c",
                  R"({"metadata":{},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{)" +
                      policy("5x") + "}}}}"),
           "spec.jobTemplate.spec.policies[0].timeout: Invalid value"));
  const Kind part{"flow.volcano.sh", "v1alpha1", "JobTemplate", "jobtemplates", true};
  EXPECT_TRUE(says(submit(part, "t", R"({"metadata":{},"spec":{)" + policy("5x") + "}}"),
                   "spec.policies[0].timeout: Invalid value"));
  // Who has such a one from earlier may still be changed.
  const std::string stored =
      R"({"metadata":{},"spec":{"queue":"default","tasks":[{"name":"a","replicas":2}],)" +
      policy("5x") + "}}";
  EXPECT_EQ(job(policy("5x"), stored), "");
}

TEST_F(AdmissionTest, AnEventThatOnePolicyNamesTwiceIsNamedOnce) {
  const auto job = [&](std::string_view policies) {
    return submit(kinds::kVolcanoJob, "j",
                  R"({"metadata":{},"spec":{"tasks":[{"name":"a","replicas":1}],"policies":[)" +
                      std::string(policies) + "]}}");
  };
  EXPECT_EQ(job(R"({"events":["PodEvicted","PodFailed","PodEvicted"],"action":"TerminateJob"})"),
            "");
  EXPECT_TRUE(says(job(R"({"event":"PodFailed","action":"AbortJob"},)"
                       R"({"events":["PodFailed"],"action":"RestartJob"})"),
                   "duplicate event PodFailed across different policy"));
}

}  // namespace
}  // namespace krater::api
