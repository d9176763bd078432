#include "agent/pod/decide.h"

#include <gtest/gtest.h>

#include "agent/testing/pods.h"

namespace krater::agent {
namespace {

using Do = Action::Do;
using Phase = ContainerState::Phase;
using testing::at;
using testing::ended;
using testing::pod_spec;
using testing::run;

std::vector<Action> due(const PodSpec& spec, const PodState& state, WallTime now = at(1000)) {
  return decide(spec, state, now).actions;
}

PodState ready_sandbox() {
  PodState out;
  out.sandbox = PodState::Sandbox::Ready;
  out.started_at = at(900);
  return out;
}

TEST(Decide, TheSandboxComesFirst) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  EXPECT_EQ(due(spec, PodState()), (std::vector<Action>{{Do::CreateSandbox}}));
}

TEST(Decide, WaitsBeforeItTriesASandboxAgain) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state;
  state.sandbox_retry_at = at(1005);
  EXPECT_TRUE(due(spec, state).empty());
  EXPECT_EQ(decide(spec, state, at(1000)).again_at, at(1005));
}

TEST(Decide, InitContainersRunOneByOneAndBeforeTheOthers) {
  const PodSpec spec = pod_spec(
      R"({"initContainers":[{"name":"i1"},{"name":"i2"}],"containers":[{"name":"a"},{"name":"b"}]})");
  PodState state = ready_sandbox();
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StartContainer, "i1"}}));
  state.containers["i1"] = run();
  EXPECT_TRUE(due(spec, state).empty());
  state.containers["i1"] = ended(0);
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StartContainer, "i2"}}));
  state.containers["i2"] = ended(0);
  EXPECT_EQ(due(spec, state),
            (std::vector<Action>{{Do::StartContainer, "a"}, {Do::StartContainer, "b"}}));
}

TEST(Decide, AContainerWaitsForTheHookOfTheOneBeforeIt) {
  const PodSpec spec = pod_spec(
      R"({"containers":[{"name":"a","lifecycle":{"postStart":{"exec":{"command":["x"]}}}},{"name":"b"}]})");
  PodState state = ready_sandbox();
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StartContainer, "a"}}));
  state.containers["a"].phase = Phase::Starting;
  EXPECT_TRUE(due(spec, state).empty());
  state.containers["a"] = run();
  state.containers["a"].hook_runs = true;
  EXPECT_TRUE(due(spec, state).empty());
  state.containers["a"].hook_runs = false;
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StartContainer, "b"}}));
  // Only while it starts: one that waits for its next try does not hold up the others.
  state.containers["a"] = ended(1, at(995));
  state.containers["a"].backoff.step(at(990), at(990));
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StartContainer, "b"}}));
}

TEST(Decide, AnEvictedPodGetsTheGraceOfItsEviction) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  state.containers["a"] = run();
  state.failed_reason = "Evicted";
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StopContainer, "a", 30}}));
  state.failed_grace_seconds = 1;
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StopContainer, "a", 1}}));
}

TEST(Decide, AFailedInitContainerEndsAPodThatNeverRestarts) {
  const PodSpec spec = pod_spec(
      R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  state.containers["i"] = ended(1);
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::RemoveSandbox}}));
}

TEST(Decide, ASidecarMustHaveStartedAndDoesNotHoldThePodUp) {
  const PodSpec spec = pod_spec(
      R"({"restartPolicy":"Never","initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  state.containers["s"] = run();
  state.containers["s"].started = false;
  EXPECT_TRUE(due(spec, state).empty());
  state.containers["s"].started = true;
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StartContainer, "a"}}));
  state.containers["a"] = ended(0);
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StopContainer, "s", 30}}));
  state.containers["s"] = ended(143);
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::RemoveSandbox}}));
}

TEST(Decide, SidecarsAreStoppedInReverseOrderAfterTheMainContainers) {
  const PodSpec spec = pod_spec(
      R"({"initContainers":[{"name":"s1","restartPolicy":"Always"},{"name":"s2","restartPolicy":"Always"}],"containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  state.deleting = true;
  state.grace_seconds = 7;
  for (const char* name : {"s1", "s2", "a"}) state.containers[name] = run();
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StopContainer, "a", 7}}));
  state.containers["a"] = ended(143);
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StopContainer, "s2", 7}}));
  state.containers["s2"].phase = Phase::Stopping;
  EXPECT_TRUE(due(spec, state).empty());
  state.containers["s2"] = ended(143);
  EXPECT_EQ(due(spec, state), (std::vector<Action>{{Do::StopContainer, "s1", 7}}));
}

struct RestartCase {
  const char* policy;
  int code;
  bool again;
};

class Restart : public ::testing::TestWithParam<RestartCase> {};

TEST_P(Restart, FollowsThePolicy) {
  const PodSpec spec = pod_spec(std::string(R"({"restartPolicy":")") + GetParam().policy +
                                R"(","containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  state.containers["a"] = ended(GetParam().code);
  const Action expected =
      GetParam().again ? Action{Do::StartContainer, "a"} : Action{Do::RemoveSandbox};
  EXPECT_EQ(due(spec, state), (std::vector<Action>{expected}));
}

INSTANTIATE_TEST_SUITE_P(
    Policies, Restart,
    ::testing::Values(RestartCase{"Always", 0, true}, RestartCase{"Always", 1, true},
                      RestartCase{"OnFailure", 0, false}, RestartCase{"OnFailure", 7, true},
                      RestartCase{"Never", 0, false}, RestartCase{"Never", 7, false}));

TEST(Decide, APodWaitsUntilAllItsContainersHaveEnded) {
  const PodSpec spec =
      pod_spec(R"({"restartPolicy":"Never","containers":[{"name":"a"},{"name":"b"}]})");
  PodState state = ready_sandbox();
  state.containers["a"] = ended(0);
  state.containers["b"] = run();
  EXPECT_TRUE(due(spec, state).empty());
}

TEST(Decide, ACrashLoopWaitsLongerEachTime) {
  const PodSpec spec = pod_spec(R"({"containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  ContainerState& a = state.containers["a"] = ended(1, at(1000));
  EXPECT_EQ(due(spec, state, at(1000)).size(), 1U) << "the first restart is immediate";
  for (const int delay : {10, 20, 40, 80, 160, 300, 300}) {
    a.backoff.step(a.exit->finished, a.exit->finished);
    EXPECT_TRUE(in_backoff(spec, spec.containers[0], a, a.exit->finished));
    const Decision waiting = decide(spec, state, a.exit->finished);
    EXPECT_TRUE(waiting.actions.empty());
    EXPECT_EQ(waiting.again_at, a.exit->finished + std::chrono::seconds(delay));
  }
  a.exit->finished = a.exit->finished + std::chrono::minutes(11);
  EXPECT_FALSE(in_backoff(spec, spec.containers[0], a, a.exit->finished))
      << "ten quiet minutes forget the delay";
}

TEST(Decide, ADeadlineEndsThePod) {
  const PodSpec spec = pod_spec(R"({"activeDeadlineSeconds":60,"containers":[{"name":"a"}]})");
  PodState state = ready_sandbox();
  state.containers["a"] = run();
  EXPECT_EQ(decide(spec, state, at(959)).again_at, at(960));
  EXPECT_TRUE(decide(spec, state, at(960)).deadline_exceeded);
  state.failed_reason = "DeadlineExceeded";
  EXPECT_EQ(due(spec, state, at(960)), (std::vector<Action>{{Do::StopContainer, "a", 30}}));
}

TEST(Decide, AFinishedPodIsNotStartedAgain) {
  const PodSpec spec = pod_spec(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");
  PodState state;
  state.terminal_in_api = true;
  const Decision decision = decide(spec, state, at(1000));
  EXPECT_TRUE(decision.actions.empty());
  EXPECT_TRUE(decision.finished);
}

}  // namespace
}  // namespace krater::agent
