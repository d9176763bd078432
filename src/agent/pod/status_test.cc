#include "agent/pod/status.h"

#include <gtest/gtest.h>

#include "agent/pod/adopt.h"
#include "agent/testing/pods.h"

namespace krater::agent {
namespace {

using Phase = ContainerState::Phase;
using testing::at;
using testing::ended;
using testing::pod_spec;
using testing::run;

Json status(const PodSpec& spec, const PodState& state, WallTime now = at(1000)) {
  return pod_status(spec, state, Json(JsonObject()), now);
}

std::string condition(const Json& status, std::string_view type,
                      std::string_view field = "status") {
  for (const Json& one : *array_at(status, {"conditions"})) {
    if (text_at(one, {"type"}) == type) return text_at(one, {field});
  }
  return "absent";
}

const Json& container(const Json& status, std::size_t index = 0) {
  return status.at("containerStatuses").at(index);
}

struct PhaseCase {
  const char* name;
  const char* policy;
  std::vector<ContainerState> containers;
  const char* phase;
};

class PodPhases : public ::testing::TestWithParam<PhaseCase> {};

TEST_P(PodPhases, AreAKubelets) {
  std::string list;
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  for (std::size_t i = 0; i < GetParam().containers.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    list += (i == 0 ? "" : ",") + std::string(R"({"name":")") + name + R"("})";
    state.containers[name] = GetParam().containers[i];
  }
  const PodSpec spec = pod_spec(std::string(R"({"restartPolicy":")") + GetParam().policy +
                                R"(","containers":[)" + list + "]}");
  EXPECT_EQ(pod_phase(spec, state), GetParam().phase) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    Table, PodPhases,
    ::testing::Values(PhaseCase{"nothing started", "Always", {{}}, "Pending"},
                      PhaseCase{"one of two waits", "Always", {run(), {}}, "Pending"},
                      PhaseCase{"all run", "Never", {run(), run()}, "Running"},
                      PhaseCase{"one ended, one runs", "Never", {ended(1), run()}, "Running"},
                      PhaseCase{"both ended, one badly", "Never", {ended(0), ended(1)}, "Failed"},
                      PhaseCase{"all ended well", "Never", {ended(0), ended(0)}, "Succeeded"},
                      PhaseCase{"ended well on failure", "OnFailure", {ended(0)}, "Succeeded"},
                      PhaseCase{"restarting on failure", "OnFailure", {ended(7)}, "Running"},
                      PhaseCase{"always restarting", "Always", {ended(0)}, "Running"}));

TEST(Status, APodIsPendingWhileItInitializes) {
  const PodSpec spec = pod_spec(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  state.containers["i"] = run();
  const Json out = status(spec, state);
  EXPECT_EQ(text_at(out, {"phase"}), "Pending");
  EXPECT_EQ(condition(out, "Initialized"), "False");
  EXPECT_EQ(condition(out, "Initialized", "message"), "containers with incomplete status: [i]");
  EXPECT_EQ(text_at(container(out), {"state", "waiting", "reason"}), "PodInitializing");
}

TEST(Status, ReadinessGatesSayWhichConditionIsMissingOrNotTrue) {
  const PodSpec spec = pod_spec(
      R"({"readinessGates":[{"conditionType":"e/a"},{"conditionType":"e/b"},{"conditionType":"e/c"}],"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  state.containers["a"] = run();
  state.containers["a"].ready = true;
  const Json current = *parse_json(
      R"({"status":{"conditions":[{"type":"e/b","status":"Unknown"},{"type":"e/c","status":"True"}]}})");
  const Json out = pod_status(spec, state, current, at(1000));
  EXPECT_EQ(condition(out, "Ready", "reason"), "ReadinessGatesNotReady");
  EXPECT_EQ(condition(out, "Ready", "message"),
            "corresponding condition of pod readiness gate \"e/a\" does not exist., the status of "
            "pod readiness gate \"e/b\" is not \"True\", but Unknown");
}

TEST(Status, AFailedInitContainerFailsAPodThatNeverRestarts) {
  const PodSpec spec = pod_spec(
      R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  PodState state;
  state.containers["i"] = ended(1);
  EXPECT_EQ(pod_phase(spec, state), "Failed");
}

TEST(Status, SuccessIsCompletedAndNotReady) {
  const PodSpec spec = pod_spec(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Removed;
  state.containers["a"] = ended(0);
  const Json out = status(spec, state);
  EXPECT_EQ(text_at(out, {"phase"}), "Succeeded");
  EXPECT_EQ(condition(out, "Ready"), "False");
  EXPECT_EQ(condition(out, "Ready", "reason"), "PodCompleted");
  EXPECT_EQ(condition(out, "PodReadyToStartContainers"), "False");
  EXPECT_EQ(text_at(container(out), {"state", "terminated", "reason"}), "Completed");
  EXPECT_EQ(int_at(container(out), {"state", "terminated", "exitCode"}), 0);
}

TEST(Status, ACrashLoopShowsItsLastRun) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  ContainerState& a = state.containers["a"] = ended(7, at(1000));
  a.restarts = 1;
  a.backoff.step(at(990), at(990));
  const Json out = status(spec, state, at(1001));
  EXPECT_EQ(text_at(out, {"phase"}), "Running");
  EXPECT_EQ(text_at(container(out), {"state", "waiting", "reason"}), "CrashLoopBackOff");
  EXPECT_EQ(text_at(container(out), {"state", "waiting", "message"}),
            "back-off 10s restarting failed container=a pod=p_ns(u-p)");
  EXPECT_EQ(int_at(container(out), {"lastState", "terminated", "exitCode"}), 7);
  EXPECT_EQ(int_at(container(out), {"restartCount"}), 1);
}

TEST(Status, ReadyNeedsEveryContainer) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"},{"name":"b"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  state.containers["a"] = run();
  state.containers["b"] = run();
  EXPECT_EQ(condition(status(spec, state), "Ready"), "True");
  state.containers["b"].ready = false;
  const Json out = status(spec, state);
  EXPECT_EQ(condition(out, "Ready"), "False");
  EXPECT_EQ(condition(out, "ContainersReady", "message"), "containers with unready status: [b]");
}

TEST(Status, KeepsTransitionTimesAndForeignConditions) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  state.containers["a"] = run();
  Json current{{"status", pod_status(spec, state, Json(JsonObject()), at(1000))}};
  current.at("status")
      .at("conditions")
      .get_array()
      .push_back(Json{{"type", "example.com/Mine"}, {"status", "True"}});
  const Json later = pod_status(spec, state, current, at(2000));
  EXPECT_EQ(condition(later, "Ready", "lastTransitionTime"), to_rfc3339(at(1000)));
  EXPECT_EQ(condition(later, "example.com/Mine"), "True");
}

TEST(Status, APodThatIsEndedByItsNodeFailsOnceNothingRunsAnyMore) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  state.failed_reason = "Evicted";
  state.failed_message = "too much";
  state.containers["a"] = run();
  state.containers["a"].phase = Phase::Stopping;
  const Json before = status(spec, state);
  EXPECT_EQ(text_at(before, {"phase"}), "Running");
  EXPECT_EQ(find(before, {"reason"}), nullptr);
  state.containers["a"] = ended(137);
  const Json after = status(spec, state);
  EXPECT_EQ(text_at(after, {"phase"}), "Failed");
  EXPECT_EQ(text_at(after, {"reason"}), "Evicted");
  EXPECT_EQ(bool_at(container(after), {"ready"}), false);
  EXPECT_EQ(condition(after, "Ready", "reason"), "PodFailed");
  EXPECT_EQ(condition(after, "ContainersReady"), "False");
}

TEST(Status, WhatSomebodyElseEndedKeepsItsPhaseAndTellsOfItsContainersEnd) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"},{"name":"b"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  state.containers["a"] = run();
  state.containers["b"] = ended(0);
  Json current{{"status", pod_status(spec, state, Json(JsonObject()), at(1000))}};
  set_path(current, {"status", "phase"}, Json("Failed"));
  set_path(current, {"status", "reason"}, Json("NodeShutdown"));
  state.terminal_in_api = true;
  state.containers["a"] = ended(143);
  state.containers["b"] = ended(9);  // whatever is made of it later
  const Json out = pod_status(spec, state, current, at(1001));
  EXPECT_EQ(text_at(out, {"phase"}), "Failed");
  EXPECT_EQ(text_at(out, {"reason"}), "NodeShutdown");
  EXPECT_EQ(int_at(container(out), {"state", "terminated", "exitCode"}), 143);
  EXPECT_EQ(int_at(container(out, 1), {"state", "terminated", "exitCode"}), 0);
  EXPECT_EQ(condition(out, "Ready"), "False");
  const Json again = pod_status(spec, state, Json{{"status", out}}, at(2000));
  EXPECT_EQ(again, out) << "what is final is not written twice";
}

TEST(Status, ADeletedPodThatNeverRanHasFailed) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.deleting = true;
  state.containers["a"].waiting_reason = "ErrImagePull";
  settle_containers(spec, state);
  const Json out = status(spec, state);
  EXPECT_EQ(text_at(out, {"phase"}), "Failed");
  EXPECT_EQ(text_at(container(out), {"state", "terminated", "reason"}), "ContainerStatusUnknown");
  EXPECT_EQ(int_at(container(out), {"state", "terminated", "exitCode"}), 137);
}

TEST(Status, ADeletedPodThatDidNotGetPastItsInitContainersStillWaits) {
  const PodSpec spec = pod_spec(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  PodState state;
  state.deleting = true;
  state.containers["i"] = ended(1);
  state.containers["a"];
  settle_containers(spec, state);
  const Json out = status(spec, state);
  EXPECT_EQ(text_at(out, {"phase"}), "Failed");
  EXPECT_EQ(text_at(container(out), {"state", "waiting", "reason"}), "PodInitializing");
}

TEST(Status, AContainerIsNotSaidToRunBeforeItsHookHasEnded) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox = PodState::Sandbox::Ready;
  ContainerState& a = state.containers["a"] = run();
  a.hook_runs = true;
  a.started = a.ready = false;
  EXPECT_EQ(text_at(container(status(spec, state)), {"state", "waiting", "reason"}),
            "ContainerCreating");
  EXPECT_EQ(pod_phase(spec, state), "Pending");
  a.last_exit = ended(1).exit;
  EXPECT_EQ(pod_phase(spec, state), "Running") << "as with any other restart";
}

TEST(Status, AFailureOfThePodItselfIsItsReason) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.failed_reason = "DeadlineExceeded";
  state.failed_message = "too long";
  const Json out = status(spec, state);
  EXPECT_EQ(text_at(out, {"phase"}), "Failed");
  EXPECT_EQ(text_at(out, {"reason"}), "DeadlineExceeded");
}

}  // namespace
}  // namespace krater::agent
