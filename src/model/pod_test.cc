#include "model/pod.h"

#include <gtest/gtest.h>

#include "model/pod_resources.h"
#include "model/podgroup.h"
#include "model/queue.h"

namespace krater {
namespace {

Json json(std::string_view text) {
  Result<Json> out = parse_json(text);
  EXPECT_TRUE(out) << text;
  return *out;
}

ObjectPtr object(std::string_view text) {
  return *Object::parse({"x", "d", "n"}, Revision(1), std::make_shared<const std::string>(text));
}

struct RequestCase {
  const char* rule;
  const char* spec;
  ResourceList want;
};

TEST(PodRequests, CountWhatTheNodeMustHold) {
  const RequestCase cases[] = {
      {"containers add up; a limit stands in for a missing request",
       R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"100m","memory":"1Gi"}}},
           {"name":"b","resources":{"limits":{"cpu":1,"nvidia.com/gpu":"2"}}}]})",
       {{"cpu", 1100}, {"memory", 1LL << 30}, {"nvidia.com/gpu", 2}}},
      {"the hungriest init step counts when it is above the steady state",
       R"({"initContainers":[{"name":"i","resources":{"requests":{"cpu":"6"}}},
           {"name":"j","resources":{"requests":{"cpu":"2"}}}],
          "containers":[{"name":"a","resources":{"requests":{"cpu":"100m"}}}]})",
       {{"cpu", 6000}}},
      {"a pod that asks in its init step only",
       R"({"initContainers":[{"name":"i","resources":{"requests":{"cpu":"1"}}}],"containers":[{"name":"a"}]})",
       {{"cpu", 1000}}},
      {"a sidecar adds to the steady state and to the steps after it, not to those before",
       R"({"initContainers":[{"name":"i","resources":{"requests":{"cpu":"5"}}},
           {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}},
           {"name":"j","resources":{"requests":{"cpu":"4"}}}],
          "containers":[{"name":"a","resources":{"requests":{"cpu":"3"}}}]})",
       {{"cpu", 7000}}},
      {"pod-level amounts override, extended resources do not exist there, overhead is added",
       R"({"resources":{"requests":{"cpu":"2","example.com/x":"9"}},"overhead":{"cpu":"250m","memory":"1Mi"},
          "containers":[{"name":"a","resources":{"requests":{"cpu":"3","example.com/x":"1"}}}]})",
       {{"cpu", 2250}, {"example.com/x", 1}, {"memory", 1 << 20}}},
  };
  for (const RequestCase& one : cases)
    EXPECT_EQ(pod_spec_requests(json(one.spec)), one.want) << one.rule;
}

TEST(PodRequests, OfAPodIncludeItselfAndAResizeInFlight) {
  const PodView pod(object(
      R"({"metadata":{},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
    "status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"2"}}]}})"));
  EXPECT_EQ(pod_requests(pod), (ResourceList{{"cpu", 2000}, {"pods", 1}}));
}

TEST(ResourceListText, IsCanonical) {
  EXPECT_EQ(to_json((ResourceList{{"cpu", 1500}, {"memory", 3LL << 30}, {"nvidia.com/gpu", 2}})
                        .to_json_object()),
            R"({"cpu":"1500m","memory":"3Gi","nvidia.com/gpu":"2"})");
  EXPECT_EQ((ResourceList{{"memory", INT64_MAX}}).times(3).at("memory"), INT64_MAX);
}

TEST(ResourceListText, NamesOfQuotasAreCountedAsTheirResources) {
  const Json given = *parse_json(R"({"limits.cpu":"1500m","requests.memory":"1Gi","pods":"4"})");
  const ResourceList list = ResourceList::from(&given);
  EXPECT_EQ(list,
            (ResourceList{{"limits.cpu", 1500}, {"pods", 4}, {"requests.memory", 1LL << 30}}));
  EXPECT_EQ(list.to_json_object(), given);
}

TEST(Pod, ReadsAsTheApiServerWouldDefaultIt) {
  const PodView pod(object(R"({"metadata":{},"spec":{"containers":[
    {"name":"a","ports":[{"containerPort":80},{"containerPort":81,"hostPort":8081,"protocol":"UDP","hostIP":"10.0.0.1"}]}],
    "schedulingGates":[{"name":"g"}]}})"));
  EXPECT_EQ(pod.scheduler_name(), "default-scheduler");
  EXPECT_EQ(pod.phase(), PodPhase::Pending);
  EXPECT_EQ(pod.restart_policy(), "Always");
  EXPECT_EQ(pod.host_ports(), (std::vector<HostPort>{{"10.0.0.1", "UDP", 8081}}));
  EXPECT_EQ(pod.scheduling_gates(), std::vector<std::string>{"g"});
  EXPECT_FALSE(pod.finished() || pod.ready() || pod.deleting());
}

TEST(Pod, ReadsContainerStates) {
  const PodView pod(object(R"({"metadata":{},"status":{"phase":"Failed","containerStatuses":[
    {"name":"a","restartCount":2,"state":{"terminated":{"exitCode":137,"signal":9,"reason":"OOMKilled"}}},
    {"name":"b","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1}}}]}})"));
  EXPECT_TRUE(pod.finished());
  const auto statuses = pod.container_statuses();
  ASSERT_EQ(statuses.size(), 2U);
  EXPECT_EQ(statuses[0].exit->code, 137);
  EXPECT_EQ(statuses[0].restarts, 2);
  EXPECT_EQ(statuses[1].state, ContainerStatus::State::Waiting);
  EXPECT_EQ(statuses[1].waiting_reason, "CrashLoopBackOff");
  EXPECT_EQ(statuses[1].last_exit->code, 1);
}

TEST(Toleration, MatchesAsKubernetesDoes) {
  const Taint taint{"k", "v", "NoSchedule"};
  EXPECT_TRUE((Toleration{"", "Exists", "", ""}).tolerates(taint));
  EXPECT_TRUE((Toleration{"k", "Equal", "v", "NoSchedule"}).tolerates(taint));
  EXPECT_TRUE((Toleration{"k", "Exists", "", ""}).tolerates(taint));
  EXPECT_FALSE((Toleration{"k", "Equal", "w", ""}).tolerates(taint));
  EXPECT_FALSE((Toleration{"k", "Exists", "", "NoExecute"}).tolerates(taint));
  EXPECT_FALSE((Toleration{"", "Equal", "v", ""}).tolerates(taint));
}

TEST(PodGroup, StatusRoundTripsAndKnowsWhatIsNews) {
  const PodGroupView group(object(R"({"metadata":{},"spec":{"minMember":3,"minTaskMember":{"w":2}},
    "status":{"phase":"Inqueue","running":1,"conditions":[{"type":"Unschedulable","status":"True","transitionID":"1",
    "lastTransitionTime":"2026-01-01T00:00:00Z","reason":"NotEnoughResources","message":"m"}]}})"));
  EXPECT_EQ(group.queue(), QueueName("default"));
  EXPECT_FALSE(group.min_resources().has_value());
  EXPECT_EQ(group.min_task_member().at("w"), 2);
  PodGroupStatus status = group.status();
  EXPECT_EQ(status.to_json_value(), *find(group.document(), {"status"}));
  status.set({"Unschedulable", "True", "2", WallTime(), "NotEnoughResources", "m"});
  EXPECT_TRUE(status.same_news(group.status()));
  EXPECT_EQ(status.conditions[0].last_transition, group.status().conditions[0].last_transition);
  status.set({"Unschedulable", "True", "2", WallTime(), "NotEnoughResources", "other"});
  EXPECT_FALSE(status.same_news(group.status()));
}

TEST(Queue, WithoutAStateIsOpenAndReclaimable) {
  const QueueView queue(object(R"({"metadata":{},"spec":{"capability":{"cpu":"2"}}})"));
  EXPECT_EQ(queue.state(), QueueState::Open);
  EXPECT_TRUE(queue.reclaimable());
  EXPECT_EQ(queue.weight(), 1);
  EXPECT_EQ(queue.capability(), (ResourceList{{"cpu", 2000}}));
}

}  // namespace
}  // namespace krater
