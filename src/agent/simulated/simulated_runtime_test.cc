#include "agent/simulated/simulated_runtime.h"

#include <gtest/gtest.h>

#include <set>

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

struct Exits : RuntimeListener {
  void on_container_exit(const std::string&, const std::string& container, int,
                         const ExitInfo& exit) override {
    seen.push_back(container + " " + std::to_string(exit.code));
  }
  void on_sandbox_lost(const std::string&) override {}
  std::vector<std::string> seen;
};

struct OnePod {
  OnePod() {
    runtime.set_listener(&exits);
    SandboxSpec spec;
    spec.uid = "u";
    runtime.create_sandbox(spec, [](const Result<Sandbox>&) {});
  }
  void start(const std::string& script, Role role = Role::Main) {
    ContainerRun run;
    run.name = "main";
    run.role = role;
    run.argv = {"sh", "-c", script};
    runtime.start_container("u", run, [](const Result<Started>&) {});
    loop.advance(std::chrono::milliseconds(1));
  }
  std::vector<std::string> after(int seconds) {
    loop.advance(std::chrono::seconds(seconds));
    return exits.seen;
  }
  krater::testing::ManualLoop loop;
  SimulatedRuntime runtime{loop, loop.wall()};
  Exits exits;
};

using Seen = std::vector<std::string>;

TEST(SimulatedRuntime, AContainerEndsAsItsCommandSays) {
  OnePod pod;
  pod.start("sleep 10 && exit 3");
  EXPECT_EQ(pod.after(9), Seen{});
  EXPECT_EQ(pod.after(1), Seen{"main 3"});
}

TEST(SimulatedRuntime, AnInitContainerTakesItsTimeWhenItIsKnown) {
  OnePod pod;
  pod.start("sleep 2; exit 1", Role::Init);
  EXPECT_EQ(pod.after(1), Seen{});
  EXPECT_EQ(pod.after(1), Seen{"main 1"});
  OnePod other;
  other.start("prepare everything", Role::Init);
  EXPECT_EQ(other.after(0), Seen{"main 0"});
}

TEST(SimulatedRuntime, WhatIgnoresTermIsKilledAfterItsGrace) {
  OnePod pod;
  pod.start("trap '' TERM; sleep 999999");
  pod.runtime.stop_container("u", "main", 30);
  EXPECT_EQ(pod.after(20), Seen{});
  pod.runtime.stop_container("u", "main", 60);  // no later than was said first
  EXPECT_EQ(pod.after(9), Seen{});
  EXPECT_EQ(pod.after(1), Seen{"main 137"});

  OnePod hurried;
  hurried.start("trap '' TERM; sleep 999999");
  hurried.runtime.stop_container("u", "main", 30);
  EXPECT_EQ(hurried.after(5), Seen{});
  hurried.runtime.stop_container("u", "main", 1);
  EXPECT_EQ(hurried.after(1), Seen{"main 137"});
}

TEST(SimulatedRuntime, AgentsGiveTheirPodsAddressesOfTheirOwn) {
  krater::testing::ManualLoop loop;
  std::set<std::string> all;
  for (const char* node : {"sim", "kwok-node", "krater", "a", "b"}) {
    SimulatedRuntime runtime(loop, loop.wall(), first_address_of(node));
    const auto next = [&](const std::string& uid) {
      std::string ip;
      SandboxSpec spec;
      spec.uid = uid;
      runtime.create_sandbox(spec, [&](const Result<Sandbox>& made) { ip = made->ip; });
      loop.advance(std::chrono::milliseconds(1));
      EXPECT_TRUE(all.insert(ip).second) << node << " gives " << ip << " again";
      return ip;
    };
    next("u");
    const std::string second = next("v");
    // Started anew, it gives none of those that its pods have.
    SimulatedRuntime again(loop, loop.wall(), first_address_of(node));
    SandboxSpec spec;
    spec.uid = "v";
    again.recall(spec, second, {});
    spec.uid = "w";
    again.create_sandbox(spec, [&](const Result<Sandbox>& made) { all.insert(made->ip); });
    loop.advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(all.size(), 15U);
}

TEST(SimulatedRuntime, BehindTheLastAddressItBeginsAgain) {
  krater::testing::ManualLoop loop;
  SimulatedRuntime runtime(loop, loop.wall(), (192U << 16) - 2);
  std::vector<std::string> given;
  for (const char* uid : {"u", "v"}) {
    SandboxSpec spec;
    spec.uid = uid;
    runtime.create_sandbox(spec, [&](const Result<Sandbox>& made) { given.push_back(made->ip); });
    loop.advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(given, (std::vector<std::string>{"10.255.255.255", "10.128.0.1"}));
}

TEST(SimulatedRuntime, WhatItIsRecalledWithEndsWhenItWouldHave) {
  OnePod pod;
  Recalled one;
  one.run.name = "main";
  one.run.argv = {"sleep", "10"};
  one.started.at = pod.loop.wall().now();
  pod.after(6);
  SandboxSpec spec;
  spec.uid = "v";
  pod.runtime.recall(spec, "10.64.0.9", {one});
  EXPECT_EQ(pod.after(3), Seen{});
  EXPECT_EQ(pod.after(1), Seen{"main 0"});
}

}  // namespace
}  // namespace krater::agent
