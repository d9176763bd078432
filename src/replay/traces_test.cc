// Traces as others publish them, and what is wrong in them.
#include <gtest/gtest.h>

#include "replay/testing/reading.h"

namespace krater::replay {
namespace {

using testing::find_job;
using testing::noted;
using testing::read;

std::string request(const Submission& job, std::size_t pod, std::string_view resource) {
  const JsonArray* containers = array_at(job.pods.at(pod).pod, {"spec", "containers"});
  return text_at(containers->at(0), {"resources", "requests", resource});
}

std::int64_t count(const Workload& workload, const Kind& kind) {
  std::int64_t out = 0;
  for (const auto& [of, object] : workload.cluster) out += of == kind ? 1 : 0;
  return out;
}

// task_events of ClusterData 2011: two tasks of a job, the second evicted once; a third never runs.
constexpr const char* kTasks2011 =
    "600000000,,3418309,0,,0,user=,3,9,0.125,0.07446,0.0004244,0\n"
    "600000000,,3418309,1,,0,user=,3,9,0.25,,9.155e-05,0\n"
    "610000000,,3418309,0,4155527081,1,user=,3,9,0.125,0.07446,0.0004244,0\n"
    "610000000,,3418309,1,329150663,1,user=,3,9,0.25,,9.155e-05,0\n"
    "620000000,,3418309,1,329150663,2,user=,3,9,0.25,,9.155e-05,0\n"
    "630000000,,3418309,1,329150663,1,user=,3,9,0.25,,9.155e-05,0\n"
    "670000000,,3418309,0,4155527081,4,user=,3,9,0.125,0.07446,0.0004244,0\n"
    "675000000,,3418309,1,329150663,4,user=,3,9,0.25,,9.155e-05,0\n"
    "700000000,,3418314,0,,0,user=,0,0,,,,\n"
    "705000000,,3418314,0,3938719206,1,user=,0,0,,,,\n"
    "710000000,,3418319,0,,0,user=,0,0,0.5,0.5,0,0\n"
    "720000000,,3418319,0,,5,user=,0,0,0.5,0.5,0,0\n"
    "9223372036854775807,,3418314,0,3938719206,4,user=,0,0,,,,\n";

TEST(Traces, GooglesTaskEventsOf2011) {
  const Result<Workload> workload = read(kTasks2011, Format::Auto, {4, "8", "32Gi", "2"});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 2U);
  const Submission* job = find_job(*workload, "default/job-3418309");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->at, 0s);  // counted from the first
  EXPECT_EQ(job->min, 1);
  ASSERT_EQ(job->pods.size(), 2U);
  EXPECT_EQ(job->pods[0].run, Duration(60s));
  EXPECT_EQ(job->pods[1].run, Duration(45s));  // as it ran the last time
  EXPECT_EQ(request(*job, 0, "cpu"), "1");     // an eighth of the largest machine
  EXPECT_EQ(request(*job, 1, "cpu"), "2");
  EXPECT_EQ(request(*job, 1, "memory"), "");
  EXPECT_EQ(text_at(*job->group, {"spec", "priorityClassName"}), "p9");
  const Submission* endless = find_job(*workload, "default/job-3418314");
  ASSERT_NE(endless, nullptr);
  EXPECT_EQ(endless->at, 100s);
  EXPECT_FALSE(endless->pods[0].run.has_value());
  EXPECT_EQ(request(*endless, 0, "cpu"), "2");
  EXPECT_TRUE(noted(*workload, "t: 1 line: tasks that never ran are left out"));
  EXPECT_TRUE(noted(*workload, "after the end of the trace"));
  EXPECT_TRUE(noted(*workload, "tasks that do not say what they ask for ask for cpu 2"));
  EXPECT_EQ(count(*workload, kinds::kNode), 4);
}

TEST(Traces, GooglesMachineAndJobEventsOf2011) {
  const std::string jobs =
      "600000000,,3418309,0,70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=,3,name=,logical=\n"
      "605000000,,3418309,1,70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=,3,name=,logical=\n"
      "665000000,,3418309,4,70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=,3,name=,logical=\n";
  const std::string machines =
      "0,5,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493\n"
      "0,6,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,1,1\n"
      "900,6,1,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,,\n";
  const Result<Workload> alone = read(jobs);
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  ASSERT_EQ(alone->submissions.size(), 1U);
  EXPECT_EQ(alone->submissions[0].pods.at(0).run, Duration(60s));
  EXPECT_TRUE(noted(*alone, "job_events do not tell of tasks"));
  const Result<Workload> all =
      read_files({{"job_events", jobs}, {"machine_events", machines}, {"task_events", kTasks2011}},
                 Format::Google2011, {10, "16", "64Gi"});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ(all->submissions.size(), 2U);
  EXPECT_EQ(count(*all, kinds::kNode), 2);
  for (const auto& [kind, object] : all->cluster) {
    if (text_at(object, {"metadata", "name"}) != "machine-5") continue;
    EXPECT_EQ(text_at(object, {"status", "allocatable", "cpu"}), "8");
  }
  EXPECT_TRUE(noted(*all, "machines stay, though the trace removes them"));
  TraceOptions three{3, "8", "32Gi"};
  three.nodes_given = true;
  EXPECT_EQ(count(*read(machines + "0,7,0,x,1,1\n", Format::Auto, {}), kinds::kNode), 3);
  EXPECT_EQ(
      count(*read_files({{"m", machines}, {"t", kTasks2011}}, Format::Auto, three), kinds::kNode),
      3);
}

TEST(Traces, GooglesInstanceEventsOf2019) {
  const std::string csv =
      "time,type,collection_id,scheduling_class,collection_type,priority,instance_index,"
      "resource_request.cpus,resource_request.memory\n"
      "600000000,0,330587238433,2,0,200,0,0.125,0.25\n"
      "605000000,3,330587238433,2,0,200,0,0.125,0.25\n"
      "665000000,6,330587238433,2,0,200,0,0.125,0.25\n"
      "700000000,0,5,2,1,200,0,0.5,0.5\n";
  const Result<Workload> from_csv = read(csv);
  ASSERT_TRUE(from_csv.has_value()) << from_csv.error().message;
  ASSERT_EQ(from_csv->submissions.size(), 1U);
  const Submission& job = from_csv->submissions[0];
  EXPECT_EQ(job.name, "default/job-330587238433");
  EXPECT_EQ(job.pods.at(0).run, Duration(60s));
  EXPECT_EQ(request(job, 0, "cpu"), "1");
  EXPECT_EQ(request(job, 0, "memory"), std::to_string(std::int64_t{8} << 30));
  EXPECT_TRUE(noted(*from_csv, "alloc sets are left out"));
  // As BigQuery exports JSON: a line each, whole numbers as texts.
  const Result<Workload> from_json = read(
      R"({"time":"600000000","type":"0","collection_id":"330587238433","priority":"200","instance_index":"0","resource_request":{"cpus":0.125,"memory":0.25}}
{"time":"605000000","type":"3","collection_id":"330587238433","instance_index":"0"}
{"time":"665000000","type":"FINISH","collection_id":"330587238433","instance_index":"0"}
)");
  ASSERT_TRUE(from_json.has_value()) << from_json.error().message;
  ASSERT_EQ(from_json->submissions.size(), 1U);
  EXPECT_EQ(to_json(from_json->submissions[0].pods[0].pod), to_json(job.pods[0].pod));
  EXPECT_EQ(from_json->submissions[0].pods[0].run, Duration(60s));
  // As other exports print the record.
  const Result<Workload> record = read(
      ",time,instance_events_type,collection_id,priority,instance_index,resource_request\n"
      "0,0,0,7,200,0,\"{'cpus': 0.125, 'memory': 0.25}\"\n1,1000000,3,7,200,0,\n");
  ASSERT_TRUE(record.has_value()) << record.error().message;
  EXPECT_EQ(request(record->submissions.at(0), 0, "cpu"), "1");
  const Result<Workload> collections = read(
      "time,type,collection_id,priority,user\n0,0,7,200,u\n1000000,3,7,200,u\n9000000,7,7,200,u\n");
  ASSERT_TRUE(collections.has_value()) << collections.error().message;
  EXPECT_EQ(collections->submissions.at(0).pods.at(0).run, Duration(8s));
  EXPECT_TRUE(noted(*collections, "collection_events do not tell of tasks"));
}

TEST(Traces, AlibabasTablesWithAndWithoutNames) {
  const std::string row = "M1,2,j_1,1,Terminated,100,160,50,25\n";
  const std::string names =
      "task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu,plan_mem\n";
  for (const std::string& text : {row, names + row, "\xef\xbb\xbf" + names + row}) {
    const Result<Workload> workload = read(text);
    ASSERT_TRUE(workload.has_value()) << workload.error().message;
    ASSERT_EQ(workload->submissions.size(), 1U) << text;
    EXPECT_EQ(workload->submissions[0].pods.size(), 2U);
    EXPECT_EQ(request(workload->submissions[0], 0, "cpu"), "500m");
    EXPECT_EQ(request(workload->submissions[0], 0, "memory"),
              std::to_string(std::int64_t{8} << 30));
  }
  const Result<Workload> of_2017 = read("10000,20000,1,7,3,Terminated,100,0.25\n");
  ASSERT_TRUE(of_2017.has_value()) << of_2017.error().message;
  EXPECT_EQ(of_2017->submissions.at(0).pods.size(), 3U);
  EXPECT_EQ(of_2017->submissions.at(0).pods[0].run, Duration(10000s));
  EXPECT_EQ(request(of_2017->submissions[0], 0, "memory"), std::to_string(std::int64_t{8} << 30));
  const Result<Workload> pai = read(
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
      "4f057009a5d4,tensorflow,1.0,Terminated,1739162.0,1739200.5,600.0,29.296875,50.0,MISC\n");
  ASSERT_TRUE(pai.has_value()) << pai.error().message;
  EXPECT_EQ(request(pai->submissions.at(0), 0, "cpu"), "6");
  EXPECT_EQ(request(pai->submissions[0], 0, "nvidia.com/gpu"), "1");
  EXPECT_EQ(pai->submissions[0].pods[0].run, Duration(38500ms));
  EXPECT_TRUE(noted(*pai, "parts of GPUs"));
}

// What has no end in Alibaba's trace is told, not made up.
TEST(Traces, AlibabasTasksWithoutAnEnd) {
  const Result<Workload> workload = read(
      "a,1,j,1,Terminated,100,160,100,1\nb,1,j,1,Running,100,0,,1\nc,1,j,1,Waiting,0,0,100,1\n"
      "d,1,j,1,Failed,100,0,100,1\ne,1,j,1,Terminated,100,90,100,1\nf,1,j,1,Failed,100,130,100,\n");
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 3U);
  EXPECT_FALSE(find_job(*workload, "default/j-b-2")->pods[0].run.has_value());
  EXPECT_EQ(find_job(*workload, "default/j-f-6")->pods[0].run, Duration(30s));
  for (const char* part : {"still run in the trace", "(the first is line 2)", "had not begun",
                           "without an end_time", "end before they begin", "plan_cpu is empty"})
    EXPECT_TRUE(noted(*workload, part)) << part;
}

TEST(Traces, ADecisionLogIsPlayedAgain) {
  const Result<Workload> workload = read(
      "2026-01-01T00:00:00.5Z action=config verdict=loaded reason=\"actions enqueue\"\n"
      "2026-01-01T00:00:10Z action=enqueue verdict=admitted queue=research job=default/a\n"
      "2026-01-01T00:00:11Z action=allocate verdict=bound queue=research job=default/a pods=3 "
      "asks=cpu=6,memory=12Gi reason=\"to 1 node: n-0\"\n"
      "2026-01-01T00:00:20Z action=enqueue verdict=refused queue=production "
      "job=default/b-0f3c1f7e-93b5-4c55-a4c4-2f6f3cb0b1aa pods=2 reason=\"QueueLimit: \\\"x\\\" "
      "\"\n"
      "2026-01-01T00:00:30Z action=reclaim verdict=evicted queue=research job=default/a "
      "pods=default/a-w-2 for=default/b-0f3c1f7e-93b5-4c55-a4c4-2f6f3cb0b1aa reason=\"r\"\n"
      "2026-01-01T00:00:31Z action=allocate verdict=bound queue=production "
      "job=default/b-0f3c1f7e-93b5-4c55-a4c4-2f6f3cb0b1aa pods=2 asks=cpu=500m reason=\"to\"\n"
      "2026-01-01T00:01:11Z action=close verdict=completed queue=research job=default/a\n");
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 2U);
  const Submission* a = find_job(*workload, "default/a");
  const Submission* b = find_job(*workload, "default/b");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(a->queue, "research");
  EXPECT_EQ(a->pods.size(), 3U);
  EXPECT_EQ(a->min, 3);
  EXPECT_EQ(a->pods[0].run, Duration(60s));
  EXPECT_EQ(request(*a, 0, "cpu"), "2");
  EXPECT_EQ(request(*a, 0, "memory"), "4Gi");
  EXPECT_EQ(b->at, 10s);
  EXPECT_EQ(request(*b, 0, "cpu"), "250m");
  EXPECT_FALSE(b->pods[0].run.has_value());
  EXPECT_TRUE(noted(*workload, "jobs whose end the log does not tell"));
  const Result<Workload> timeless =
      read("action=allocate verdict=bound queue=q job=default/a pods=1 reason=\"to\"\n");
  ASSERT_TRUE(timeless.has_value()) << timeless.error().message;
  EXPECT_TRUE(noted(*timeless, "kubectl logs --timestamps"));
  EXPECT_TRUE(noted(*timeless, "each pod asks for cpu 1"));
}

struct Bad {
  const char *text, *message;
};

TEST(Traces, WhatIsNoGoodIsNamedByFileLineAndField) {
  const std::vector<Bad> all = {
      {"submit,run,cpu\n0,5,-3\n", "t: line 2: cpu must not be less than zero: \"-3\""},
      {"submit,run,cpu\n0,5,abc\n", "t: line 2: cpu is not a quantity: \"abc\""},
      {"submit,run,cpu\n0,5,9223372036854775807\n", "t: line 2: cpu must be 1000000 at most"},
      {"submit,run\n9223372036854775807,5\n", "t: line 2: submit must be zero or more seconds"},
      {"submit,run\n-5,5\n", "t: line 2: submit must be zero or more seconds"},
      {"submit,run\n0,1e400\n", "t: line 2: run is not a number"},
      {"submit,run\n0,nan\n", "t: line 2: run is not a number"},
      {"submit,run\n0,0\n", "t: line 2: run must be more than zero"},
      {"submit,run,pods,min\n0,5,3,9\n", "t: line 2: min is 9, but there are 3 pods"},
      {"submit,run,pods\n0,5,0\n", "t: line 2: pods must be 1 to 100000: \"0\""},
      {"submit,run,pods\n0,5,1.5\n", "t: line 2: pods is not a whole number: \"1.5\""},
      {"submit,run,priority\n0,5,9999999999\n", "t: line 2: priority must be"},
      {"submit,run,job\n0,5,a\n\n1,5,a\n", "t: line 4: job \"a\" is on line 2 already"},
      {"submit,run\n0,5,7\n", "t: line 2: it has 3 fields, the first line names 2"},
      {"submit,run,run\n0,5,7\n", "t: line 1: column \"run\" is there twice"},
      {"M1,x,j,1,Terminated,1,2,3,4\n", "t: line 1: instance_num is not a number: \"x\""},
      {"M1,-2,j,1,Terminated,1,2,3,4\n", "t: line 1: instance_num must be 1 to 100000"},
      {"M1,1,j,1,Terminated,1,2,-3,4\n", "t: line 1: plan_cpu must be 0 to 1000000: \"-3\""},
      {"M1,1,j,1,Terminated,1,2,3,4\nM1,1,j\n", "t: line 2: it has 3 fields, not 9"},
      {"M1,1,j,1,Terminated,-1,2,3,4\n", "t: line 1: start_time must be zero or more"},
      {"0,,1,0,,0,u,3,9,-0.5,0.1,0,0\n", "t: line 1: CPU request must be 0 to 1000000: \"-0.5\""},
      {"0,,1,0,,0,u,3,9,0.5,0.1,0,0\n0,,1,0,,9,u,3,9,0.5,0.1,0,0\n",
       "t: line 2: event type must be"},
      {"0,,1,0,,0,u,3,9,0.5,0.1,0,0\n-4,,1,0,,0,u,3,9,0.5,0.1,0,0\n", "t: line 2: time must be"},
      {"0,,1,0,,0,u,3,9,0.5,0.1,0,0\n1,2\n", "t: line 2: it has 2 fields, not 13"},
      {"time,type,collection_id,instance_index\n0,11,1,0\n", "t: line 2: type must be 0 to 10"},
      {"time,type,collection_id,instance_index\n,0,1,0\n", "t: line 2: time is not a number"},
      {"{\"collection_id\":1,\"time\":\"x\"}\n", "t: line 1: time is not a number: \"x\""},
      {"{\"collection_id\":1,\"time\":1}\n{\"collection_id\":", "t: line 2: "},
      {"action=allocate verdict=bound job=default/a pods=-1 reason=\"x\"\n",
       "t: line 1: pods must be"},
      {"action=allocate verdict=bound job=a/b pods=1 asks=cpu reason=\"x\"\n",
       "t: line 1: asks is not"},
      {"action=allocate verdict=bound job=a/b reason=\"x\n", "t: line 1: reason does not end"},
      {"x action=allocate verdict=bound job=a/b pods=1\n",
       "t: line 1: time is not a number: \"x\""},
      {"a,b\n1,2\n", "t: it is nothing that can be read (objects: no apiVersion and kind"},
      // batch_instance has more columns than the table of tasks.
      {"i,M1,j,1,Terminated,1,2,m_1,1,1,0.1,0.2,0.3,0.4\n",
       "alibaba: not the columns of batch_task"},
      {"\x1f\x8b\x08", "t: it is compressed (gzip): unpack it first"},
      {"", "there is nothing in it"},
  };
  for (const Bad& bad : all) {
    const Result<Workload> refused = read(bad.text);
    ASSERT_FALSE(refused.has_value()) << bad.text;
    EXPECT_EQ(refused.error().code, Code::BadRequest);
    EXPECT_NE(refused.error().message.find(bad.message), std::string::npos)
        << bad.text << "\n"
        << refused.error().message;
  }
  EXPECT_EQ(read("a,b\n1,2\n", Format::Log).error().message,
            "t: it is nothing that can be read (log: no line with action= and verdict= in it)");
  EXPECT_EQ(read_files({{"t", "submit,run\n0,5\n"}, {"u", "M1,1,j,1,Terminated,1,2,3,4\n"}},
                       Format::Auto, {})
                .error()
                .message,
            "u: it is a trace of another kind than t");
}

TEST(Traces, LineEndsOfOtherSystemsAndNamesOfAllSorts) {
  const Result<Workload> workload =
      read("submit,run,cpu,job\r\n0,5.5,1,My_Job\r\n1,5,1,my-job\r\n");
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 2U);
  EXPECT_EQ(workload->submissions[0].name, "default/My_Job");
  EXPECT_EQ(workload->submissions[0].pods[0].run, Duration(5500ms));
  const std::string name = text_at(*workload->submissions[0].group, {"metadata", "name"});
  EXPECT_TRUE(name.starts_with("my-job-")) << name;
}

// The cluster as objects, the load as a trace.
TEST(Traces, ObjectsMayStandBesideATrace) {
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata: {name: big}\nstatus: {allocatable: {cpu: 64}}\n---\n"
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: {weight: "
      "7}\n";
  const Result<Workload> workload = read_files(
      {{"cluster.yaml", node}, {"load", "submit,run,queue\n0,5,q\n"}}, Format::Columns, {});
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  EXPECT_EQ(count(*workload, kinds::kNode), 1);
  EXPECT_EQ(count(*workload, kinds::kQueue), 2);  // q as it is, default
  EXPECT_EQ(workload->submissions.size(), 1U);
}

}  // namespace
}  // namespace krater::replay
