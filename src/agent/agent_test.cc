#include "agent/agent.h"

#include <gtest/gtest.h>

#include "agent/simulated/simulated_runtime.h"
#include "agent/testing/pods.h"
#include "model/condition.h"
#include "model/pod.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::agent {
namespace {

using krater::testing::FakeClient;
using krater::testing::ManualLoop;

class AgentTest : public ::testing::Test {
 protected:
  void start(std::vector<std::string> names = {"n1"}) {
    std::vector<NodeFacts> nodes;
    for (const std::string& name : names)
      nodes.push_back({name, "10.0.0.1", 4000, std::int64_t{8} << 30, std::int64_t{100} << 30});
    agent.emplace(AgentDeps{client, loop, loop.wall(), rng, runtime}, std::move(nodes), NodeInfo{});
    agent->start();
    loop.run_ready();
  }
  ObjectPtr put_pod(const std::string& name, const std::string& spec,
                    const Labels& annotations = {}, const std::string& node = "n1") {
    Json pod = testing::pod_json(spec, name);
    set_path(pod, {"spec", "nodeName"}, Json(node));
    for (const auto& [key, value] : annotations)
      set_path(pod, {"metadata", "annotations", key}, Json(value));
    return client.put(kinds::kPod, std::move(pod));
  }
  PodView pod(const std::string& name) { return PodView(client.read(kinds::kPod, "ns", name)); }
  void remove(const std::string& name, std::int64_t grace_seconds) {
    // What a graceful delete leaves in the store.
    Json next = *client.read(kinds::kPod, "ns", name)->document();
    set_path(next, {"metadata", "deletionTimestamp"}, Json(to_rfc3339(loop.wall().now())));
    set_path(next, {"metadata", "deletionGracePeriodSeconds"}, Json(grace_seconds));
    set_path(next, {"metadata", "finalizers"}, Json(JsonArray{"test/hold"}));
    client.put(kinds::kPod, std::move(next));
  }
  void let_go(const std::string& name) {
    Json next = *client.read(kinds::kPod, "ns", name)->document();
    erase_path(next, {"metadata", "finalizers"});
    client.put(kinds::kPod, std::move(next));
  }

  ManualLoop loop;
  FakeClient client{loop, loop.wall()};
  SeededRng rng{1};
  struct TestRuntime : SimulatedRuntime {
    using SimulatedRuntime::SimulatedRuntime;
    bool forgetful = false;  // as a real one whose shims are gone
    bool recall(const SandboxSpec& spec, const std::string& ip,
                const std::vector<Recalled>& running) override {
      return !forgetful && SimulatedRuntime::recall(spec, ip, running);
    }
  };
  TestRuntime runtime{loop, loop.wall()};
  std::optional<Agent> agent;
};

TEST_F(AgentTest, RegistersTheNodeAndKeepsItsLease) {
  start();
  loop.advance(1s);
  const ObjectPtr node = client.read(kinds::kNode, "", "n1");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->label("kubernetes.io/hostname"), "n1");
  EXPECT_EQ(text_at(*node->document(), {"status", "capacity", "cpu"}), "4");
  EXPECT_EQ(text_at(*node->document(), {"status", "allocatable", "memory"}), "8Gi");
  EXPECT_EQ(text_at(*node->document(), {"status", "allocatable", "pods"}), "110");
  const auto renewed = [&] {
    return text_at(*client.read(kinds::kLease, "kube-node-lease", "n1")->document(),
                   {"spec", "renewTime"});
  };
  const std::string first = renewed();
  loop.advance(10s);
  EXPECT_GT(renewed(), first);
}

TEST_F(AgentTest, SaysAgainThatItIsReadyWhenSomebodyDoubtsIt) {
  start();
  loop.advance(1s);
  Json doubted = *client.read(kinds::kNode, "", "n1")->document();
  doubted.at("status").at("conditions").at(3).at("status") = "Unknown";
  client.put(kinds::kNode, std::move(doubted));
  loop.advance(1s);
  EXPECT_EQ(view(client.read(kinds::kNode, "", "n1")
                     ->document()
                     ->at("status")
                     .at("conditions")
                     .at(3)
                     .at("status")
                     .get_string()),
            "True");
}

TEST_F(AgentTest, TellsOfAShortageAtOnceAndOfItsEndAfterAWhile) {
  struct Script final : FigureSource {
    std::int64_t memory = std::int64_t{4} << 30;
    Figures read() override { return {Figure{memory, std::int64_t{8} << 30}}; }
  } script;
  AgentDeps deps{client, loop, loop.wall(), rng, runtime};
  deps.node_watch = {&script, *parse_thresholds(kDefaultThresholds)};
  agent.emplace(deps, std::vector<NodeFacts>{{"n1", "10.0.0.1", 4000}}, NodeInfo{});
  agent->start();
  loop.advance(1s);
  const auto memory = [&] {
    return *condition_of(*client.read(kinds::kNode, "", "n1")->document(), "MemoryPressure");
  };
  EXPECT_EQ(memory().status, "False");
  EXPECT_EQ(memory().reason, "KubeletHasSufficientMemory");
  script.memory = 1;
  loop.advance(11s);
  EXPECT_EQ(memory().status, "True");
  EXPECT_EQ(memory().reason, "KubeletHasInsufficientMemory");
  EXPECT_EQ(memory().message, "kubelet has insufficient memory available");
  script.memory = std::int64_t{4} << 30;
  loop.advance(4min);
  EXPECT_EQ(memory().status, "True");
  loop.advance(2min);
  EXPECT_EQ(memory().status, "False");
  std::vector<std::string> told;
  for (const ObjectPtr& event : client.all(kinds::kEvent))
    told.push_back(text_at(*event->document(), {"reason"}));
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told,
            (std::vector<std::string>{"NodeHasInsufficientMemory", "NodeHasSufficientMemory"}));
  agent.reset();
}

TEST_F(AgentTest, TellsHowBusyItsMachineIs) {
  struct Script final : FigureSource {
    std::int64_t seconds = 0, busy = 0;
    Figures read() override { return {}; }
    // As many processors as it takes to be half busy.
    std::optional<UsageSample> usage() override {
      seconds += 10;
      busy += 5;
      return UsageSample{busy, seconds, 250};
    }
  } script;
  AgentDeps deps{client, loop, loop.wall(), rng, runtime};
  deps.node_watch = {&script, {}};
  agent.emplace(deps, std::vector<NodeFacts>{{"n1", "10.0.0.1", 4000}}, NodeInfo{});
  agent->start();
  const auto told = [&] {
    const auto document = client.read(kinds::kNode, "", "n1")->document();
    const Result<Json> usage =
        parse_json(text_at(*document, {"metadata", "annotations", "krater.io/node-usage"}));
    return usage ? *usage : Json();
  };
  loop.advance(1s);
  EXPECT_TRUE(told().is_null()) << "a second says nothing";
  loop.advance(20s);
  EXPECT_EQ(int_at(told(), {"cpu"}), 500);
  EXPECT_EQ(int_at(told(), {"memory"}), 250);
  const std::string first = text_at(told(), {"time"});
  loop.advance(1min);
  EXPECT_EQ(text_at(told(), {"time"}), first) << "nothing has changed";
  loop.advance(2min);
  EXPECT_NE(text_at(told(), {"time"}), first);
  agent.reset();
}

TEST_F(AgentTest, RegistersAgainWhenItsNodeIsDeleted) {
  start();
  loop.advance(1s);
  const Uid before = client.read(kinds::kNode, "", "n1")->uid();
  ASSERT_TRUE(client.apply(client::DeleteWrite{kinds::kNode, "", "n1"}));
  loop.advance(3s);
  ASSERT_NE(client.read(kinds::kNode, "", "n1"), nullptr);
  EXPECT_NE(client.read(kinds::kNode, "", "n1")->uid(), before);
}

TEST_F(AgentTest, RunsAPodToItsEnd) {
  start();
  put_pod("p", R"({"restartPolicy":"Never","containers":[{"name":"a"}]})",
          {{"krater.io/sim-start-delay", "2s"}, {"krater.io/sim-run-time", "30s"}});
  loop.advance(1s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Pending);
  EXPECT_EQ(pod("p").container_statuses().at(0).waiting_reason, "ContainerCreating");
  loop.advance(2s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Running);
  EXPECT_TRUE(pod("p").ready());
  EXPECT_FALSE(pod("p").pod_ip().empty());
  loop.advance(30s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Succeeded);
  EXPECT_EQ(pod("p").container_statuses().at(0).exit->reason, "Completed");
  EXPECT_EQ(runtime.sandboxes(), 0U);
}

TEST_F(AgentTest, RestartsAFailingContainerWithDelays) {
  start();
  put_pod("p", R"({"restartPolicy":"OnFailure","containers":[{"name":"a"}]})",
          {{"krater.io/sim-run-time", "1s"}, {"krater.io/sim-exit-code", "7"}});
  loop.advance(1500ms);
  EXPECT_EQ(pod("p").container_statuses().at(0).restarts, 1) << "the first restart is immediate";
  loop.advance(1s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Running);
  EXPECT_EQ(pod("p").container_statuses().at(0).waiting_reason, "CrashLoopBackOff");
  EXPECT_EQ(pod("p").container_statuses().at(0).last_exit->code, 7);
  loop.advance(10s);
  EXPECT_EQ(pod("p").container_statuses().at(0).restarts, 2);
}

TEST_F(AgentTest, ADeletedPodIsStoppedAndThenRemovedFromTheApi) {
  start();
  put_pod("p", R"({"containers":[{"name":"a"}]})");
  loop.advance(1s);
  ASSERT_EQ(pod("p").phase(), PodPhase::Running);
  remove("p", 30);
  loop.advance(1s);
  EXPECT_EQ(runtime.sandboxes(), 0U);
  EXPECT_EQ(pod("p").phase(), PodPhase::Failed);
  EXPECT_EQ(pod("p").container_statuses().at(0).exit->code, 143);
  const auto& last = std::get<client::DeleteWrite>(client.writes.back());
  EXPECT_EQ(last.grace_seconds, 0);
  let_go("p");
  loop.advance(1s);
  EXPECT_EQ(agent->pods(), 0U);
}

TEST_F(AgentTest, WhatSomebodyElseFailedEndsAsAKubeletReportsIt) {
  start();
  put_pod("p", R"({"containers":[{"name":"a"}]})");
  loop.advance(1s);
  ASSERT_TRUE(pod("p").container_statuses().at(0).ready);
  Json failed = *client.read(kinds::kPod, "ns", "p")->document();
  set_path(failed, {"status", "phase"}, Json("Failed"));
  set_path(failed, {"status", "reason"}, Json("Preempting"));
  client.put(kinds::kPod, std::move(failed));
  loop.advance(1s);
  EXPECT_EQ(runtime.sandboxes(), 0U);
  EXPECT_EQ(pod("p").phase(), PodPhase::Failed);
  EXPECT_EQ(pod("p").status_reason(), "Preempting");
  EXPECT_FALSE(pod("p").ready());
  EXPECT_FALSE(pod("p").container_statuses().at(0).ready);
  EXPECT_EQ(pod("p").container_statuses().at(0).exit->code, 143);
  const std::size_t writes = client.writes.size();
  agent.reset();
  start();
  loop.advance(5s);
  for (std::size_t i = writes; i < client.writes.size(); ++i)
    EXPECT_NE(client::key_of(client.writes[i]).resource, "pods") << "a new agent leaves it alone";
}

TEST_F(AgentTest, APodWhoseObjectVanishesIsStopped) {
  start();
  put_pod("p", R"({"containers":[{"name":"a"}]})");
  loop.advance(1s);
  ASSERT_TRUE(client.apply(client::DeleteWrite{kinds::kPod, "ns", "p"}));
  loop.advance(1s);
  EXPECT_EQ(runtime.sandboxes(), 0U);
  EXPECT_EQ(agent->pods(), 0U);
}

TEST_F(AgentTest, AFinishedPodIsNotRunAgainByANewAgent) {
  Json done = testing::pod_json(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  set_path(done, {"status", "phase"}, Json("Succeeded"));
  client.put(kinds::kPod, std::move(done));
  start();
  loop.advance(10s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Succeeded);
  EXPECT_EQ(runtime.sandboxes(), 0U);
}

TEST_F(AgentTest, SimulatedPodsGoOnUnderANewAgent) {
  start();
  put_pod("p", R"({"restartPolicy":"Never","containers":[{"name":"a"}]})",
          {{"krater.io/sim-run-time", "60s"}});
  loop.advance(20s);
  const std::string ip = pod("p").pod_ip();
  agent.reset();
  SimulatedRuntime next(loop, loop.wall());
  agent.emplace(AgentDeps{client, loop, loop.wall(), rng, next},
                std::vector<NodeFacts>{{"n1", "10.0.0.1", 4000}}, NodeInfo{});
  agent->start();
  loop.advance(30s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Running);
  EXPECT_EQ(pod("p").pod_ip(), ip);
  loop.advance(20s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Succeeded) << "the run time counts from its start";
  agent.reset();
}

TEST_F(AgentTest, AnEndThatIsToldBeforeTheFirstListIsNotLost) {
  put_pod("p", R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  Json running = *client.read(kinds::kPod, "ns", "p")->document();
  set_path(running, {"status"},
           *parse_json(R"({"phase":"Running","containerStatuses":[{"name":"a","restartCount":0,
    "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]})"));
  const std::string uid = client.put(kinds::kPod, std::move(running))->uid().text();
  agent.emplace(AgentDeps{client, loop, loop.wall(), rng, runtime},
                std::vector<NodeFacts>{{"n1", "10.0.0.1", 4000}}, NodeInfo{});
  agent->start();
  ExitInfo exit;
  exit.code = 3;
  exit.reason = "Error";
  agent->on_container_exit(uid, "a", 0, exit);
  loop.advance(1s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Failed);
  EXPECT_EQ(pod("p").container_statuses().at(0).exit->code, 3);
}

TEST_F(AgentTest, ARunThatCannotBeFoundAgainHasEnded) {
  runtime.forgetful = true;
  Json lost = testing::pod_json(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  set_path(lost, {"status"},
           *parse_json(R"({"phase":"Running","containerStatuses":[{"name":"a","restartCount":0,
    "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]})"));
  client.put(kinds::kPod, std::move(lost));
  start();
  loop.advance(1s);
  EXPECT_EQ(pod("p").phase(), PodPhase::Failed);
  EXPECT_EQ(pod("p").container_statuses().at(0).exit->reason, "ContainerStatusUnknown");
  EXPECT_EQ(pod("p").container_statuses().at(0).exit->code, 137);
}

TEST_F(AgentTest, EndsItsPodsWhenAskedToAndLeavesTheirObjects) {
  start();
  put_pod("p", R"({"containers":[{"name":"a"}]})");
  put_pod("q", R"({"containers":[{"name":"a"}]})");
  loop.advance(1s);
  bool ended = false;
  agent->end_pods([&] { ended = true; });
  loop.advance(2s);
  EXPECT_TRUE(ended);
  EXPECT_EQ(runtime.sandboxes(), 0U);
  EXPECT_NE(client.read(kinds::kPod, "ns", "p"), nullptr);
}

TEST_F(AgentTest, AStatusWriteThatFailsIsRepeated) {
  start();
  int failures = 3;
  client.fail = [&](const client::Write& write) -> std::optional<Error> {
    const auto* patch = std::get_if<client::PatchWrite>(&write);
    if (patch == nullptr || patch->kind != kinds::kPod || failures == 0) return std::nullopt;
    --failures;
    return make_error(failures == 1 ? Code::Conflict : Code::Unavailable, "not now");
  };
  put_pod("p", R"({"containers":[{"name":"a"}]})");
  loop.advance(5s);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(pod("p").phase(), PodPhase::Running);
}

TEST_F(AgentTest, ManyNodesShareOneAgent) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("sim-" + std::to_string(i));
  start(names);
  put_pod("mine", R"({"containers":[{"name":"a"}]})", {}, "sim-7");
  put_pod("other", R"({"containers":[{"name":"a"}]})", {}, "elsewhere");
  loop.advance(11s);
  EXPECT_EQ(client.all(kinds::kNode).size(), 50U);
  EXPECT_EQ(client.all(kinds::kLease).size(), 50U);
  EXPECT_EQ(pod("mine").phase(), PodPhase::Running);
  EXPECT_TRUE(pod("other").container_statuses().empty());
}

TEST_F(AgentTest, ProbesOverTheNetworkSucceedWhereContainersAreSimulated) {
  start();
  put_pod("p", R"({"containers":[{"name":"c","image":"sim",
      "readinessProbe":{"httpGet":{"path":"/","port":80},"periodSeconds":1},
      "livenessProbe":{"tcpSocket":{"port":80},"periodSeconds":1,"failureThreshold":1}}]})");
  loop.advance(5s);
  EXPECT_TRUE(pod("p").ready());
  EXPECT_EQ(pod("p").container_statuses().at(0).restarts, 0);
}

}  // namespace
}  // namespace krater::agent
