#include "agent/simulated/simulated_runtime.h"

#include <gtest/gtest.h>

#include "model/keys.h"
#include "testing/manual_loop.h"

namespace krater::agent {
namespace {

TEST(SimulatedRuntime, AContainerWhoseSandboxIsForgottenWhileItStartsNeverRuns) {
  krater::testing::ManualLoop loop;
  SimulatedRuntime runtime(loop, loop.wall());
  SandboxSpec spec;
  spec.uid = "u";
  spec.annotations = {{std::string(keys::kSimStartDelay), "2s"}};
  runtime.create_sandbox(spec, [](const Result<Sandbox>&) {});
  ContainerRun run;
  run.name = "main";
  bool started = false;
  runtime.start_container("u", run, [&](const Result<Started>&) { started = true; });
  runtime.forget("u");
  loop.advance(std::chrono::seconds(10));
  EXPECT_FALSE(started);
  EXPECT_EQ(runtime.sandboxes(), 0U);
}

}  // namespace
}  // namespace krater::agent
