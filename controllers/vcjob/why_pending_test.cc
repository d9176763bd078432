#include "controllers/vcjob/why_pending.h"

#include "controllers/vcjob/testing/job_test.h"

namespace krater::controllers::vcjob {
namespace {

using testing::VolcanoJobTest;

struct WhyPending : VolcanoJobTest {
  void waits(const std::string& message) {
    world.patch(*group(), kinds::kPodGroup,
                R"({"status":{"phase":"Pending","conditions":[{"type":"Unschedulable",)"
                R"("status":"True","message":")" +
                    message + R"("}]}})");
    world.settle();
  }
};

TEST_F(WhyPending, StandsInTheStatusOfAJobThatWaits) {
  make(task("w", 3), 3);
  waits("3 wanted, 2 free");
  EXPECT_EQ(status().message, "") << "it may pass";
  world.pass(2s);
  EXPECT_EQ(status().reason, "PodGroupPending");
  EXPECT_EQ(status().message, "PodGroup d:j unschedulable, reason: 3 wanted, 2 free");
  const auto told_at = status().transition;
  waits("3 wanted, 1 free");
  world.pass(30s);
  EXPECT_EQ(status().message, "PodGroup d:j unschedulable, reason: 3 wanted, 1 free");
  EXPECT_EQ(status().transition, told_at) << "that of the phase";
  world.patch(*group(), kinds::kPodGroup, R"({"status":{"conditions":null}})");
  admit();
  EXPECT_EQ(status().message, "") << "admitted, its pods are on their way";
  run_all();
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(status().reason, "");
}

TEST_F(WhyPending, IsWrittenNowAndThen) {
  make(task("w", 3), 3);
  waits("at first");
  world.pass(3s);
  const Revision told = job()->revision();
  int written = 0;
  for (int i = 0; i < 20; ++i) {
    const Revision before = job()->revision();
    waits(std::to_string(i));
    world.pass(500ms);
    if (job()->revision() != before) ++written;
  }
  EXPECT_GT(written, 0);
  EXPECT_LE(written, 4) << "in ten seconds";
  EXPECT_NE(job()->revision(), told);
}

TEST_F(WhyPending, NamesAQueueThatIsNotThere) {
  world.remove(kinds::kQueue, "", "default");
  make(task("w", 1), 1);
  world.pass(2s);
  EXPECT_EQ(status().message, "queue default does not exist");
  world.put(kinds::kQueue, R"({"metadata":{"name":"default"},"spec":{}})");
  world.settle();
  EXPECT_EQ(status().message, "");
}

}  // namespace
}  // namespace krater::controllers::vcjob
