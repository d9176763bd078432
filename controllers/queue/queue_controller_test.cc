#include "controllers/queue/queue_controller.h"

#include <gtest/gtest.h>

#include "controllers/loop/testing/world.h"
#include "controllers/queue/step.h"
#include "model/volcano_job.h"

namespace krater::controllers {
namespace {

struct QueueTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_queue_controller());
    world.controllers.start();
    world.settle();
  }
  void make(const std::string& name, const std::string& parent = "") {
    world.put(kinds::kQueue, R"({"metadata":{"name":")" + name + R"("},"spec":{"weight":1)" +
                                 (parent.empty() ? "" : R"(,"parent":")" + parent + "\"") + "}}");
    world.settle();
  }
  void group(const std::string& name, const std::string& queue, const std::string& phase) {
    world.put(kinds::kPodGroup, R"({"metadata":{"name":")" + name +
                                    R"(","namespace":"d"},"spec":{"queue":")" + queue +
                                    R"("},"status":{"phase":")" + phase + R"("}})");
    world.settle();
  }
  void command(const std::string& name, const std::string& state) {
    world.patch(*world.get(kinds::kQueue, "", name), kinds::kQueue,
                R"({"status":{"state":")" + state + R"("}})", "status");
    world.settle();
  }
  Json queue(const std::string& name) const {
    return *world.get(kinds::kQueue, "", name)->document();
  }
  std::string state(const std::string& name) const {
    return text_at(queue(name), {"status", "state"});
  }
};

TEST_F(QueueTest, RootAndDefaultAreThere) {
  EXPECT_EQ(state("root"), "Open");
  EXPECT_EQ(state("default"), "Open");
  EXPECT_EQ(text_at(queue("default"), {"spec", "parent"}), "root");
  EXPECT_EQ(bool_at(queue("root"), {"spec", "reclaimable"}), false);
  EXPECT_EQ(bool_at(queue("default"), {"spec", "reclaimable"}), true);
  world.remove(kinds::kQueue, "", "default");
  world.settle();
  EXPECT_EQ(state("default"), "Open");
}

TEST_F(QueueTest, ANewQueueIsOpenUnderRoot) {
  make("q");
  EXPECT_EQ(state("q"), "Open");
  EXPECT_EQ(text_at(queue("q"), {"spec", "parent"}), "root");
  EXPECT_NE(find(queue("q"), {"status", "allocated"}), nullptr);
}

// VC-23, step 1
TEST_F(QueueTest, ClosesWhenItsLastGroupIsGone) {
  make("door");
  group("inside", "door", "Running");
  command("door", "Closed");
  EXPECT_EQ(state("door"), "Closing");
  EXPECT_EQ(world.told("CloseQueue"), 0) << "nobody ordered it";
  world.remove(kinds::kPodGroup, "d", "inside");
  world.settle();
  EXPECT_EQ(state("door"), "Closed");
  command("door", "Open");
  EXPECT_EQ(state("door"), "Open");
  command("door", "Closing");
  EXPECT_EQ(state("door"), "Closed");
}

// VC-24
TEST_F(QueueTest, MadeAnewItKnowsWhatRunsInIt) {
  make("lot");
  group("tenant", "lot", "Running");
  EXPECT_EQ(int_at(queue("lot"), {"status", "running"}), 1);
  world.remove(kinds::kQueue, "", "lot");
  world.settle();
  make("lot");
  EXPECT_EQ(int_at(queue("lot"), {"status", "running"}), 1);
  command("lot", "Closed");
  EXPECT_EQ(state("lot"), "Closing");
  world.remove(kinds::kPodGroup, "d", "tenant");
  world.settle();
  EXPECT_EQ(state("lot"), "Closed");
  EXPECT_EQ(find(queue("lot"), {"status", "running"}), nullptr);
}

TEST_F(QueueTest, CountsFollowPhasesAndLeaveTheSchedulersFieldsAlone) {
  make("q");
  world.patch(*world.get(kinds::kQueue, "", "q"), kinds::kQueue,
              R"({"status":{"allocated":{"cpu":"2"}}})", "status");
  group("a", "q", "Pending");
  group("b", "q", "Inqueue");
  group("a", "q", "Running");
  EXPECT_EQ(int_at(queue("q"), {"status", "pending"}), std::nullopt);
  EXPECT_EQ(int_at(queue("q"), {"status", "running"}), 1);
  EXPECT_EQ(int_at(queue("q"), {"status", "inqueue"}), 1);
  EXPECT_EQ(text_at(queue("q"), {"status", "allocated", "cpu"}), "2");
}

TEST_F(QueueTest, AParentClosesItsOpenChildrenAndReopensExactlyThose) {
  make("top");
  make("was-open", "top");
  make("was-closed", "top");
  make("grandchild", "was-open");
  command("was-closed", "Closed");
  command("top", "Closed");
  EXPECT_EQ(state("was-open"), "Closed");
  EXPECT_EQ(state("grandchild"), "Closed");
  EXPECT_EQ(text_at(queue("was-open"), {"metadata", "annotations", kClosedByParent}), "true");
  command("top", "Open");
  EXPECT_EQ(state("was-open"), "Open");
  EXPECT_EQ(state("grandchild"), "Open");
  EXPECT_EQ(state("was-closed"), "Closed");
  EXPECT_EQ(text_at(queue("was-open"), {"metadata", "annotations", kClosedByParent}), "false");
}

TEST_F(QueueTest, AChildCannotOpenUnderAClosedParent) {
  make("top");
  make("child", "top");
  command("top", "Closed");
  command("child", "Open");
  EXPECT_EQ(state("child"), "Closed");
  make("moved");
  world.patch(*world.get(kinds::kQueue, "", "moved"), kinds::kQueue,
              R"({"spec":{"parent":"top"}})");
  world.settle();
  EXPECT_EQ(state("moved"), "Closed");
}

TEST_F(QueueTest, AChildThatIsClosedByOrderTooStaysClosedWhenItsParentOpens) {
  make("top");
  make("kid", "top");
  make("other", "top");
  command("top", "Closed");
  world.put(kinds::kCommand, R"({"metadata":{"name":"o","namespace":"default"},)"
                             R"("action":"CloseQueue","target":{"kind":"Queue","name":"kid"}})");
  world.settle();
  world.pass(1s);
  EXPECT_EQ(world.get(kinds::kCommand, "default", "o"), nullptr);
  command("top", "Open");
  EXPECT_EQ(state("kid"), "Closed");
  EXPECT_EQ(state("other"), "Open");
  command("kid", "Open");
  EXPECT_EQ(state("kid"), "Open");
}

TEST_F(QueueTest, RootStaysOpen) {
  command("root", "Closed");
  EXPECT_EQ(state("root"), "Open");
}

TEST_F(QueueTest, OrdersOpenAndCloseAndAreTaken) {
  const auto order = [&](const std::string& queue, const std::string& action) {
    world.put(kinds::kCommand, R"({"metadata":{"name":"o","namespace":"default"},"action":")" +
                                   action + R"(","target":{"kind":"Queue","name":")" + queue +
                                   R"(","uid":"x"}})");
    world.settle();
    world.pass(1s);
    EXPECT_EQ(world.get(kinds::kCommand, "default", "o"), nullptr) << action << " " << queue;
  };
  make("q");
  make("kid", "q");
  group("g", "q", "Running");
  order("q", "CloseQueue");
  EXPECT_EQ(state("q"), "Closing");
  EXPECT_EQ(state("kid"), "Closed");
  EXPECT_EQ(world.told("CloseQueue"), 2) << "of each of both";
  order("q", "CloseQueue");
  EXPECT_EQ(world.told("CloseQueue"), 2) << "it is closing already";
  order("kid", "OpenQueue");
  EXPECT_EQ(state("kid"), "Closed") << "its parent is not open";
  EXPECT_EQ(world.told("OpenQueue"), 1);
  order("q", "OpenQueue");
  EXPECT_EQ(state("q"), "Open");
  EXPECT_EQ(state("kid"), "Open");
  EXPECT_EQ(world.told("OpenQueue"), 1) << "only what went wrong is told";
  order("root", "CloseQueue");
  EXPECT_EQ(state("root"), "Open");
  order("nobody", "CloseQueue");
  order("q", "Nonsense");
  EXPECT_EQ(state("q"), "Open");
}

}  // namespace
}  // namespace krater::controllers
