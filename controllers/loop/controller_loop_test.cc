#include "controllers/loop/controller_loop.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::controllers {
namespace {

// A controller whose decision is a lambda, over config maps.
class Scripted final : public Reconciler {
 public:
  using Decide = std::function<Plan(const ObjectKey&, const client::Cache&, WallTime)>;
  explicit Scripted(Decide decide) : decide_(std::move(decide)) {}
  std::string_view name() const override { return "scripted"; }
  std::vector<Interest> interests() const override {
    return {{kinds::kConfigMap}, {kinds::kPod, no_keys}};
  }
  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    return decide_(key, cache, now);
  }

 private:
  static std::vector<ObjectKey> no_keys(const ObjectPtr&, const ObjectPtr&) { return {}; }
  Decide decide_;
};

struct ControllerLoopTest : ::testing::Test {
  testing::ManualLoop loop;
  testing::FakeClient fake{loop, loop.wall()};
  ControllerLoop controllers{loop, loop.wall(), fake};
  int passes = 0;

  void start(Scripted::Decide decide) {
    controllers.add(std::make_unique<Scripted>(
        [this, decide = std::move(decide)](const auto& key, const auto& cache, WallTime now) {
          ++passes;
          return decide(key, cache, now);
        }));
    controllers.start();
    loop.run_ready();
  }
  static PlannedWrite make_pod(const std::string& name) {
    return {client::CreateWrite{kinds::kPod, "d", new_object(kinds::kPod, "d", name)}, {}, {}, {}};
  }
  ObjectPtr config(const std::string& name) {
    return fake.put(kinds::kConfigMap, new_object(kinds::kConfigMap, "d", name));
  }
};

TEST_F(ControllerLoopTest, CarriesOutStepsInOrderThenTells) {
  config("a");
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    plan.steps = {{make_pod("p1"), make_pod("p2")}, {}, {make_pod("p3")}};
    plan.events.push_back({EventNote::Type::Normal, "Made", "three pods"});
    return plan;
  });
  ASSERT_EQ(fake.writes.size(), 4U);
  EXPECT_EQ(client::key_of(fake.writes[0]).name, "p1");
  EXPECT_EQ(client::key_of(fake.writes[1]).name, "p2");
  EXPECT_EQ(client::key_of(fake.writes[2]).name, "p3");
  EXPECT_EQ(fake.all(kinds::kEvent).size(), 1U);
  EXPECT_TRUE(controllers.quiet());
}

TEST_F(ControllerLoopTest, PhasesAndEventsAreLoggedWhereThatIsAskedFor) {
  std::vector<std::string> lines;
  ControllerLoop::Options options;
  options.log_of = [&](std::string_view controller) -> DecisionLog {
    EXPECT_EQ(controller, "scripted");
    return [&](std::string line) { lines.push_back(std::move(line)); };
  };
  ControllerLoop logging(loop, loop.wall(), fake, options);
  config("a");
  logging.add(
      std::make_unique<Scripted>([this](const ObjectKey& key, const client::Cache&, WallTime) {
        Plan plan;
        if (++passes > 1) return plan;
        for (const std::string_view phase : {"Pending", "Pending", "Running"}) {
          client::PatchWrite write{kinds::kConfigMap, key.name_space, key.name};
          write.patch = JsonObject();
          set_path(write.patch, {"status", "state", "phase"}, Json(phase));
          plan.then({std::move(write), {}, {}, {}});
        }
        plan.then(make_pod("p"));
        plan.events.push_back({EventNote::Type::Normal, "Made", "a \"pod\""});
        return plan;
      }));
  logging.start();
  loop.run_ready();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "controller=scripted object=configmaps/d/a phase=Pending");
  EXPECT_EQ(lines[1], "controller=scripted object=configmaps/d/a phase=Running before=Pending");
  EXPECT_EQ(lines[2],
            "controller=scripted object=configmaps/d/a event=Made message=\"a \\\"pod\\\"\"");
}

TEST_F(ControllerLoopTest, TheNextPassSeesWhatTheLastOneWrote) {
  const ObjectPtr a = config("a");
  std::vector<std::size_t> seen;
  start([&](const ObjectKey& key, const client::Cache& cache, WallTime) {
    seen.push_back(cache.count(kinds::kPod));
    if (seen.size() < 4) controllers.enqueue("scripted", key);  // wakes itself while in its pass
    Plan plan;
    plan.then(make_pod("p" + std::to_string(seen.size())));
    return plan;
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST_F(ControllerLoopTest, WaitingToSeeIsBounded) {
  // A client that watches another store than it writes to: its writes are never seen.
  testing::FakeClient elsewhere(loop, loop.wall());
  for (int i = 0; i < 9; ++i)
    elsewhere.put(kinds::kNode, new_object(kinds::kNode, "", "n" + std::to_string(i)));
  config("a");
  controllers.add(
      std::make_unique<Scripted>([&](const ObjectKey& key, const client::Cache&, WallTime) {
        Plan plan;
        plan.then(make_pod("p" + std::to_string(++passes)));
        if (passes == 1) controllers.enqueue("scripted", key);
        return plan;
      }),
      &elsewhere);
  controllers.start();
  loop.run_ready();
  EXPECT_EQ(passes, 1);
  loop.advance(4999ms);
  EXPECT_EQ(passes, 1);
  loop.advance(1ms);
  EXPECT_EQ(passes, 2);
  EXPECT_EQ(controllers.counters()[0].unseen, 1U);
}

TEST_F(ControllerLoopTest, AFailedWriteEndsThePlanAndBacksOff) {
  config("a");
  fake.fail = [](const client::Write& write) -> std::optional<Error> {
    if (client::key_of(write).name == "p1") return make_error(Code::Unavailable, "store is full");
    return std::nullopt;
  };
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    PlannedWrite first = make_pod("p1");
    first.on_failed = EventNote{EventNote::Type::Warning, "FailedCreate", "Error creating"};
    plan.then(std::move(first)).then(make_pod("p2"));
    return plan;
  });
  EXPECT_EQ(passes, 1);
  EXPECT_EQ(fake.read(kinds::kPod, "d", "p2"), nullptr);
  loop.advance(5ms);
  EXPECT_EQ(passes, 2);
  loop.advance(9ms);
  EXPECT_EQ(passes, 2);
  loop.advance(1ms);
  EXPECT_EQ(passes, 3);
  fake.fail = nullptr;
  loop.advance(20ms);
  EXPECT_NE(fake.read(kinds::kPod, "d", "p2"), nullptr);
  EXPECT_EQ(controllers.counters()[0].failures, 3U);
  ASSERT_EQ(fake.all(kinds::kEvent).size(), 1U);
  EXPECT_EQ(text_at(*fake.all(kinds::kEvent)[0]->document(), {"message"}),
            "Error creating: store is full");
}

TEST_F(ControllerLoopTest, WhatIsFineDoesNotFail) {
  config("a");
  fake.put(kinds::kPod, new_object(kinds::kPod, "d", "p1"));
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    PlannedWrite first = make_pod("p1");
    first.fine_if = Code::AlreadyExists;
    PlannedWrite second{client::DeleteWrite{kinds::kPod, "d", "none"}, Code::NotFound, {}, {}};
    plan.then(std::move(first)).then(std::move(second)).then(make_pod("p2"));
    return plan;
  });
  EXPECT_NE(fake.read(kinds::kPod, "d", "p2"), nullptr);
  EXPECT_EQ(controllers.counters()[0].retries, 0U);
}

TEST_F(ControllerLoopTest, AConflictRetriesQuietly) {
  config("a");
  bool once = true;
  fake.fail = [&](const client::Write&) -> std::optional<Error> {
    if (std::exchange(once, false)) return make_error(Code::Conflict, "newer");
    return std::nullopt;
  };
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    plan.then(make_pod("p1"));
    plan.steps[0][0].on_failed = EventNote{EventNote::Type::Warning, "Failed", ""};
    return plan;
  });
  loop.advance(5ms);
  EXPECT_NE(fake.read(kinds::kPod, "d", "p1"), nullptr);
  EXPECT_EQ(controllers.counters()[0].conflicts, 1U);
  EXPECT_EQ(controllers.counters()[0].failures, 0U);
  EXPECT_TRUE(fake.all(kinds::kEvent).empty());
}

TEST_F(ControllerLoopTest, ACreateInANamespaceThatEndsIsNotTriedOverAndOver) {
  config("a");
  fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    if (client::key_of(write).resource != "pods") return std::nullopt;
    Error out = make_error(Code::Forbidden, "pods \"p1\" is forbidden: it is being terminated");
    out.causes = {
        {"NamespaceTerminating", "namespace d is being terminated", "metadata.namespace"}};
    return out;
  };
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    plan.then(make_pod("p1"));
    plan.steps[0][0].on_failed = EventNote{EventNote::Type::Warning, "FailedCreate", "Error"};
    plan.steps[0].push_back(make_pod("p2"));
    return plan;
  });
  loop.advance(29s);
  EXPECT_EQ(passes, 1);
  EXPECT_TRUE(fake.all(kinds::kEvent).empty());
  EXPECT_EQ(controllers.counters()[0].failures, 0U);
  EXPECT_EQ(controllers.counters()[0].retries, 0U);
  config("a");  // any change of the object wakes it as ever
  loop.run_ready();
  EXPECT_EQ(passes, 2);
  loop.advance(1min);
  EXPECT_EQ(passes, 4);
}

TEST_F(ControllerLoopTest, AnExceptionFailsOnlyItsPass) {
  config("a");
  config("b");
  start([](const ObjectKey& key, const client::Cache&, WallTime) -> Plan {
    if (key.name == "a") throw std::runtime_error("boom");
    Plan plan;
    plan.then(make_pod("p-" + key.name));
    return plan;
  });
  EXPECT_NE(fake.read(kinds::kPod, "d", "p-b"), nullptr);
  EXPECT_EQ(controllers.counters()[0].failures, 1U);
}

TEST_F(ControllerLoopTest, WhatAPlanDeletesCanStillBeToldAbout) {
  config("a");
  start([](const ObjectKey& key, const client::Cache& cache, WallTime) {
    Plan plan;
    if (cache.get(key) == nullptr) return plan;
    plan.then({client::DeleteWrite{kinds::kConfigMap, "d", "a"}, {}, {}, {}});
    plan.events.push_back({EventNote::Type::Normal, "Gone", "bye"});
    return plan;
  });
  ASSERT_EQ(fake.all(kinds::kEvent).size(), 1U);
  EXPECT_EQ(text_at(*fake.all(kinds::kEvent)[0]->document(), {"involvedObject", "name"}), "a");
}

TEST_F(ControllerLoopTest, RequeuesAfterTheDelay) {
  config("a");
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    plan.outcome = Outcome::requeue_after(10s);
    return plan;
  });
  EXPECT_EQ(passes, 1);
  loop.advance(9999ms);
  EXPECT_EQ(passes, 1);
  loop.advance(10s);
  EXPECT_EQ(passes, 2);
}

TEST_F(ControllerLoopTest, AStepOfManyWritesKeepsABoundedNumberInFlight) {
  config("a");
  start([](const ObjectKey&, const client::Cache& cache, WallTime) {
    Plan plan;
    if (cache.count(kinds::kPod) > 0) return plan;
    plan.steps.emplace_back();
    for (int i = 0; i < 1000; ++i) plan.steps[0].push_back(make_pod("p" + std::to_string(i)));
    return plan;
  });
  EXPECT_EQ(fake.all(kinds::kPod).size(), 1000U);
  EXPECT_TRUE(controllers.quiet());
}

TEST_F(ControllerLoopTest, ALongPlanMakesNothingForWhatHasGoneMeanwhile) {
  config("a");
  std::size_t asked = 0;
  fake.fail = [&](const client::Write& write) -> std::optional<Error> {
    if (std::holds_alternative<client::CreateWrite>(write) && ++asked == 10)
      fake.write(client::DeleteWrite{kinds::kConfigMap, "d", "a"}, [](const auto&) {});
    return std::nullopt;
  };
  start([](const ObjectKey& key, const client::Cache& cache, WallTime) {
    Plan plan;
    if (cache.get(key) == nullptr) return plan;
    plan.steps.emplace_back();
    for (int i = 0; i < 1000; ++i) plan.steps[0].push_back(make_pod("p" + std::to_string(i)));
    return plan;
  });
  EXPECT_GE(fake.all(kinds::kPod).size(), 10U);
  EXPECT_LT(fake.all(kinds::kPod).size(), 200U);
  EXPECT_TRUE(controllers.quiet());
}

TEST_F(ControllerLoopTest, AStepThatKeepsFailingIsCutShort) {
  config("a");
  fake.fail = [](const client::Write&) -> std::optional<Error> {
    return make_error(Code::Forbidden, "quota");
  };
  start([](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    plan.steps.emplace_back();
    for (int i = 0; i < 1000; ++i) plan.steps[0].push_back(make_pod("p" + std::to_string(i)));
    return plan;
  });
  EXPECT_LT(fake.writes.size(), 100U);
}

TEST_F(ControllerLoopTest, ThousandsOfKeysAreInFlightAtOnce) {
  for (int i = 0; i < 5000; ++i) config("c" + std::to_string(i));
  std::size_t most = 0;
  start([&](const ObjectKey& key, const client::Cache&, WallTime) {
    most = std::max(most, controllers.counters()[0].pending);
    Plan plan;
    plan.then(make_pod("p-" + key.name));
    return plan;
  });
  EXPECT_EQ(fake.all(kinds::kPod).size(), 5000U);
  EXPECT_EQ(most, 5000U);
  EXPECT_EQ(passes, 5000);
  EXPECT_TRUE(controllers.quiet());
}

TEST_F(ControllerLoopTest, NothingGoesOnAfterStop) {
  config("a");
  controllers.add(std::make_unique<Scripted>([&](const ObjectKey&, const client::Cache&, WallTime) {
    Plan plan;
    plan.then(make_pod("p1")).then(make_pod("p2"));
    controllers.stop();
    return plan;
  }));
  controllers.start();
  loop.run_ready();
  loop.advance(1min);
  EXPECT_EQ(fake.read(kinds::kPod, "d", "p2"), nullptr);
}

TEST_F(ControllerLoopTest, KindsCanBeAddedLater) {
  int secrets = 0;
  start([&](const ObjectKey& key, const client::Cache&, WallTime) {
    secrets += key.resource == "secrets" ? 1 : 0;
    return Plan();
  });
  fake.put(kinds::kSecret, new_object(kinds::kSecret, "d", "s"));
  controllers.add_interest("scripted", {kinds::kSecret});
  loop.run_ready();
  EXPECT_EQ(secrets, 1);
}

TEST_F(ControllerLoopTest, AKindThatNobodyLooksAtIsNotFollowed) {
  start([](const ObjectKey&, const client::Cache&, WallTime) { return Plan(); });
  controllers.follow_kind(kinds::kSecret);
  controllers.drop_kind(kinds::kSecret);
  EXPECT_TRUE(controllers.quiet());
}

}  // namespace
}  // namespace krater::controllers
