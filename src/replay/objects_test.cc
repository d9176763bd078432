// Objects and events of Kubernetes as a workload: directories people write, snapshots of clusters.
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "replay/testing/reading.h"

namespace krater::replay {
namespace {

using testing::find_job;
using testing::noted;
using testing::read;

constexpr const char* kNode =
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","memory":"16Gi","pods":"110"}}})";

std::string pod(const std::string& name, const std::string& node, const std::string& phase,
                const std::string& created, const std::string& more = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default","creationTimestamp":")" + created +
         R"(","annotations":{"scheduling.k8s.io/group-name":"train-0f3c1f7e"},"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"train","uid":"u","controller":true}])" +
         more + R"(},"spec":{)" + (node.empty() ? "" : R"("nodeName":")" + node + R"(",)") +
         R"("containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":")" +
         phase + R"("}})";
}

std::string event(const std::string& kind, const std::string& name, const std::string& reason,
                  const std::string& at, const std::string& message) {
  return R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"default"},"involvedObject":{"kind":")" +
         kind + R"(","namespace":"default","name":")" + name + R"("},"reason":")" + reason +
         R"(","message":")" + message + R"(","firstTimestamp":"2026-01-01T)" + at +
         R"(Z","lastTimestamp":"2026-01-01T)" + at + R"(Z","count":1,"type":"Normal"})";
}
std::string list(const std::vector<std::string>& items) {
  std::string out = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const std::string& item : items) out += (out.back() == '[' ? "" : ",") + item;
  return out + "]}";
}

// As `kubectl get nodes,queues,podgroups,pods,vcjobs -A -o json` prints it.
std::string snapshot() {
  return R"({"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[)" +
         std::string(kNode) + "," +
         R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"train-0f3c1f7e","namespace":"default","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"minMember":2,"queue":"research"},"status":{"phase":"Running"}},)" +
         R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"train","namespace":"default"},"spec":{"queue":"research","minAvailable":2,"tasks":[{"name":"w","replicas":2,"template":{"spec":{"containers":[]}}}]},"status":{"state":{"phase":"Running"}}},)" +
         R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"done","namespace":"default"},"spec":{"tasks":[{"name":"w","replicas":2,"template":{"spec":{"containers":[]}}}]},"status":{"state":{"phase":"Completed"}}},)" +
         R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"next","namespace":"default","creationTimestamp":"2026-01-01T00:02:00Z"},"spec":{"tasks":[{"name":"w","replicas":3,"template":{"spec":{"containers":[]}}}]},"status":{"state":{"phase":"Pending"}}},)" +
         pod("train-w-0", "n1", "Running", "2026-01-01T00:00:10Z") + "," +
         pod("train-w-1", "", "Pending", "2026-01-01T00:00:10Z") + "," +
         pod("old-w-0", "n1", "Succeeded", "2025-12-31T00:00:10Z") + "," +
         pod("gone-w-0", "n1", "Running", "2025-12-31T00:00:10Z",
             R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")") +
         "]}";
}

TEST(Objects, ASnapshotOfAClusterInJson) {
  const Result<Workload> workload = read(snapshot());
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  // The job whose pods are there is these pods, in its PodGroup.
  ASSERT_EQ(workload->submissions.size(), 2U);
  const Submission* train = find_job(*workload, "default/train-0f3c1f7e");
  const Submission* next = find_job(*workload, "default/next");
  ASSERT_TRUE(train != nullptr && next != nullptr);
  EXPECT_EQ(train->pods.size(), 2U);
  EXPECT_EQ(train->min, 2);
  EXPECT_EQ(train->queue, "research");
  EXPECT_EQ(train->at, 0s);
  EXPECT_FALSE(train->pods_wait);
  EXPECT_EQ(next->pods.size(), 3U);
  EXPECT_TRUE(noted(*workload, "3 pods and jobs have ended"));
  EXPECT_EQ(workload->cluster.size(), 1U);
}

// A job that is not admitted has no pods yet; its PodGroup knows what it will ask for.
TEST(Objects, AWaitingGroupIsPlayedWithoutItsJobAndOnce) {
  const std::string group =
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wait-d96a7e55-d05b-4594-a599-6e231e8a5408","ownerReferences":[{"kind":"Job","name":"wait","controller":true}]},"spec":{"minMember":4,"queue":"p","minResources":{"count/pods":"4","cpu":"6","memory":"4Gi","pods":"4","requests.cpu":"6"}},"status":{"phase":"Pending"}})";
  const Result<Workload> alone = read(group);
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  const Submission* wait = find_job(*alone, "default/wait");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->pods.size(), 4U);
  EXPECT_TRUE(wait->pods_wait);
  const JsonArray* containers = array_at(wait->pods[0].pod, {"spec", "containers"});
  EXPECT_EQ(to_json(*find(containers->at(0), {"resources", "requests"})),
            R"({"cpu":"1500m","memory":"1Gi"})");
  EXPECT_TRUE(noted(*alone, "1 PodGroups have no pods"));
  const Result<Workload> both = read(
      group +
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"wait"},"spec":{"queue":"p","tasks":[{"replicas":5,"template":{"spec":{"containers":[]}}}]}})");
  ASSERT_TRUE(both.has_value()) << both.error().message;
  ASSERT_EQ(both->submissions.size(), 1U);
  EXPECT_EQ(find_job(*both, "default/wait")->pods.size(), 5U);
}

// The pods of the control plane's mirror objects, among others, are nobody's to place.
TEST(Objects, WhoWaitsForAnotherSchedulerIsLeftOut) {
  const Result<Workload> workload = read(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: m}\nspec: {schedulerName: krater}\nstatus: "
      "{phase: Running}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
      "{schedulerName: other, nodeName: n}\n");
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 1U);
  EXPECT_EQ(workload->submissions[0].name, "default/p");
  EXPECT_TRUE(noted(*workload, "1 pods wait for other schedulers"));
}

// A gang whose first pods have ended still runs with the others.
TEST(Objects, OfAGangThatHasPartlyEndedTheRestIsPlayed) {
  const std::string text = list(
      {R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"train-0f3c1f7e","namespace":"default"},"spec":{"minMember":2}})",
       pod("train-w-0", "n1", "Succeeded", "2026-01-01T00:00:00Z"),
       pod("train-w-1", "n1", "Running", "2026-01-01T00:00:00Z"),
       R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"train","namespace":"default"},"spec":{"tasks":[{"replicas":2,"template":{}}]},"status":{"state":{"phase":"Running"}}})"});
  const Result<Workload> workload = read(text);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 1U);
  EXPECT_EQ(workload->submissions[0].pods.size(), 1U);
  EXPECT_EQ(workload->submissions[0].min, 1);
}

TEST(Objects, TheSameInYamlInListsOfTheApiAndOneAfterAnother) {
  const Result<Json> list = parse_json(snapshot());
  ASSERT_TRUE(list.has_value());
  std::string pieces, yaml;
  for (const Json& item : *array_at(*list, {"items"})) {
    pieces += to_json(item) + "\n";
    yaml += (yaml.empty() ? "" : "---\n") + to_yaml(item);
  }
  const Result<Workload> whole = read(snapshot());
  for (const std::string& text : {pieces, yaml, to_yaml(*list), "\xef\xbb\xbf" + snapshot()}) {
    const Result<Workload> again = read(text);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->submissions.size(), whole->submissions.size());
    EXPECT_EQ(again->cluster.size(), 1U);
  }
  // Items of the API's own lists have no kind.
  const Result<Workload> pods = read(
      R"({"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p"},"spec":{"containers":[]}}]})");
  ASSERT_TRUE(pods.has_value()) << pods.error().message;
  EXPECT_NE(find_job(*pods, "default/p"), nullptr);
}

TEST(Objects, EventsAloneTellOfPodsThatAreGone) {
  const std::string text = list({
      event("PodGroup", "train-0f3c1f7e-93b5-4c55-a4c4-2f6f3cb0b1aa", "Unschedulable", "00:00:00",
            "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable"),
      event("Pod", "train-w-0", "FailedScheduling", "00:00:01", "0/1 nodes are available"),
      event("Pod", "train-w-0", "Scheduled", "00:01:00",
            "Successfully assigned default/train-w-0 to n1"),
      event("Pod", "train-w-0", "Started", "00:01:02", "Started container c"),
      event("Pod", "train-w-0", "Killing", "00:02:02", "Stopping container c"),
      event("Pod", "train-w-1", "Scheduled", "00:01:00",
            "Successfully assigned default/train-w-1 to n2"),
      event("Job", "calc", "SuccessfulCreate", "00:00:20", "Created pod: calc-x7k2p"),
      event("Pod", "calc-x7k2p", "Scheduled", "00:00:20",
            "Successfully assigned default/calc-x7k2p to n1"),
      event("Job", "calc", "Completed", "00:00:50", "Job completed"),
      event("Node", "n3", "NodeReady", "00:00:00", "Node n3 status is now: NodeReady"),
  });
  TraceOptions options;
  options.pod_cpu = "2";
  const Result<Workload> workload = read(text, Format::Events, options);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 2U);
  const Submission* train = find_job(*workload, "default/train");
  const Submission* calc = find_job(*workload, "default/calc");
  ASSERT_TRUE(train != nullptr && calc != nullptr);
  EXPECT_EQ(train->at, 0s);
  EXPECT_EQ(train->min, 2);
  ASSERT_EQ(train->pods.size(), 2U);
  EXPECT_EQ(train->pods[0].run, Duration(60s));
  EXPECT_FALSE(train->pods[1].run.has_value());
  EXPECT_EQ(calc->at, 19s);
  EXPECT_EQ(calc->pods.at(0).run, Duration(30s));
  EXPECT_EQ(calc->min, 1);
  EXPECT_TRUE(noted(*workload, "3 pods are known from events alone: each asks for cpu 2"));
  EXPECT_TRUE(noted(*workload, "1 of them have no end in the events"));
  EXPECT_TRUE(noted(*workload, "the events name 3 nodes"));
  EXPECT_EQ(workload->cluster.size(), 3U);
}

TEST(Objects, EventsSayHowLongGivenPodsRan) {
  const std::string text = list(
      {kNode, pod("train-w-0", "", "Pending", "2026-01-01T00:00:00Z"),
       event("Pod", "train-w-0", "Scheduled", "00:01:00",
             "Successfully assigned default/train-w-0 to n1"),
       R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},"regarding":{"kind":"Pod","namespace":"default","name":"train-w-0"},"reason":"Killing","note":"Stopping container c","eventTime":"2026-01-01T00:01:30.000000Z"})"});
  const Result<Workload> workload = read(text);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  ASSERT_EQ(workload->submissions.size(), 1U);
  EXPECT_EQ(workload->submissions[0].pods[0].run, Duration(30s));
  EXPECT_EQ(workload->cluster.size(), 1U);
}

TEST(Objects, AJobAndAPodOfOneNameAreTwo) {
  const Result<Workload> workload = read(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n---\n"
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: "
      "[]}}}\n");
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  EXPECT_NE(find_job(*workload, "default/a"), nullptr);
  EXPECT_NE(find_job(*workload, "default/a (Job)"), nullptr);
}

TEST(Objects, WhatIsNoGoodIsNamedByFileDocumentAndField) {
  struct Bad {
    std::string text, message;
  };
  const std::string pod_of = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {";
  const std::string vcjob =
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec: ";
  const std::vector<Bad> all = {
      {pod_of + "krater.io/sim-submit-at: 1O s}}\nspec: {}\n",
       "t, document 1: Pod \"default/p\": metadata.annotations[krater.io/sim-submit-at]: \"1O s\" "
       "is "
       "not a time such as 90s or 2h"},
      {pod_of + "krater.io/sim-run-time: abc}}\nspec: {}\n",
       "[krater.io/sim-run-time]: \"abc\" is not"},
      {pod_of + "krater.io/sim-run-time: 5}}\nspec: {}\n", "[krater.io/sim-run-time]: 5 is not"},
      {pod_of + "krater.io/sim-run-time: -5s}}\nspec: {}\n", "must be zero or more"},
      {pod_of + "}}\nspec: {containers: [{resources: {requests: {cpu: x}}}]}\n",
       "spec.containers[0].resources.requests[cpu]: \"x\" is not a quantity"},
      {pod_of + "}}\nspec: {containers: [{resources: {requests: {cpu: -3}}}]}\n",
       "[cpu]: -3 must not be less than zero"},
      {"apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: \"-4\"}}\n",
       "Node \"n\": status.allocatable[cpu]: \"-4\" must not be less than zero"},
      {vcjob + "{minAvailable: 5, tasks: [{replicas: 3, template: {}}]}\n",
       "spec.minAvailable: 5 is more than the pods, 3"},
      {vcjob + "{tasks: [{replicas: -3, template: {}}]}\n",
       "spec.tasks[0].replicas: -3 must be a whole number, 0 to 100000"},
      {vcjob + "{tasks: [{replicas: 2, minAvailable: 3, template: {}}]}\n",
       "spec.tasks[0].minAvailable: 3 is more than replicas, 2"},
      {vcjob + "{tasks: [{template: {metadata: {annotations: {krater.io/sim-run-time: soon}}}}]}\n",
       "spec.tasks[0].template.metadata.annotations[krater.io/sim-run-time]: \"soon\""},
      {pod_of + "}}\nspec: {}\n---\n# again\n" + pod_of + "}}\nspec: {}\n",
       "t, document 2: Pod \"default/p\" is there already, in t, document 1"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: yesterday}\n",
       "metadata.creationTimestamp: \"yesterday\" is not a time"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: q}\n---\na: b: c\n",
       "t, document 2: YAML: yaml-cpp: error at line 5"},
      {R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Event","involvedObject":{"kind":"Pod","name":"p"}}]})",
       "t, line 1, item 1: the event has no time"},
      {R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1",)", "t, document 1: YAML"},
  };
  for (const Bad& bad : all) {
    const Result<Workload> refused = read(bad.text);
    ASSERT_FALSE(refused.has_value()) << bad.text;
    EXPECT_EQ(refused.error().code, Code::BadRequest);
    EXPECT_NE(refused.error().message.find(bad.message), std::string::npos)
        << bad.text << "\n"
        << refused.error().message;
  }
}

TEST(Objects, AGroupWithTooFewPodsIsTold) {
  const Result<Workload> workload = read(
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
      "spec: {minMember: 3}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: "
      "{scheduling.k8s.io/group-name: g}}\nspec: {containers: []}\n");
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  EXPECT_TRUE(noted(*workload, "PodGroup default/g wants 3 pods, 1 are given: it cannot start"));
}

}  // namespace
}  // namespace krater::replay
