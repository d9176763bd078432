// Jobs of a size that nobody means: a pass over them costs what it does, not what was asked for.
#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/vcjob/children.h"
#include "controllers/vcjob/min_resources.h"
#include "controllers/vcjob/occurrence.h"
#include "controllers/vcjob/plugins/plugins.h"
#include "controllers/vcjob/step.h"
#include "controllers/vcjob/tally.h"

namespace krater::controllers::vcjob {
namespace {

ObjectPtr object_of(const Kind& kind, const std::string& name, const std::string& rest) {
  const std::string text = R"({"apiVersion":")" + kind.api_version() + R"(","kind":")" + kind.kind +
                           R"(","metadata":{"name":")" + name + R"(","namespace":"n","uid":"u"})" +
                           rest + "}";
  const Result<ObjectPtr> object = Object::parse(ObjectKey::of(kind, "n", name), Revision(1),
                                                 std::make_shared<const std::string>(text));
  EXPECT_TRUE(object.has_value()) << text;
  return *object;
}

// One task "w" of so many pods, all of them needed, with a policy on its end and these plugins.
Observed job_of(std::int64_t replicas, const std::string& plugins = "{}",
                const std::string& phase = "Running") {
  const std::string number = std::to_string(replicas);
  Observed seen;
  seen.job = VolcanoJobView(object_of(
      kinds::kVolcanoJob, "j",
      R"(,"spec":{"queue":"q","minAvailable":)" + number + R"(,"plugins":)" + plugins +
          R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],"tasks":[{"name":"w",)"
          R"("replicas":)" +
          number + R"(,"minAvailable":)" + number +
          R"(,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]},)"
          R"("status":{"state":{"phase":")" +
          phase + R"("},"controlledResources":{"succeeded-w":"0-4"}})"));
  seen.tasks = seen.job.tasks();
  seen.policies = seen.job.policies();
  seen.stored = seen.status = Status::of(seen.job);
  seen.group = PodGroupView(object_of(kinds::kPodGroup, "j-u", R"(,"status":{"phase":"Inqueue"})"));
  seen.queue_exists = true;
  seen.child = [](const Kind&, const std::string&) { return ObjectPtr(); };
  seen.served = [](const Kind&) { return false; };
  seen.priority = [](const std::string&) -> std::int64_t { return 0; };
  return seen;
}

void add_pods(Observed& seen, std::int64_t first, std::int64_t end) {
  for (std::int64_t index = first; index < end; ++index) {
    PodFact pod;
    pod.object = object_of(kinds::kPod, volcano_pod_name("j", "w", index), "");
    pod.task = "w";
    pod.index = index;
    seen.pods.push_back(std::move(pod));
  }
}

template <typename Write>
std::size_t pods_in(const Plan& plan) {
  std::size_t out = 0;
  for (const auto& step : plan.steps) {
    for (const PlannedWrite& planned : step) {
      const auto* write = std::get_if<Write>(&planned.write);
      out += write != nullptr && write->kind == kinds::kPod ? 1 : 0;
    }
  }
  return out;
}

constexpr std::int64_t kMost = 2147483647;

TEST(Sizes, NoCountIsMadeOnFingers) {
  Observed seen = job_of(kMost);
  add_pods(seen, 5, 8);
  seen.pods[0].phase = PodPhase::Succeeded;
  const Counts counts = count(seen, seen.status, {});
  EXPECT_EQ(counts.of("w", PodPhase::Succeeded), 6);
  EXPECT_EQ(counts.of("w", PodPhase::Pending), 2);
  EXPECT_TRUE(std::ranges::none_of(standing_occurrences(seen), [](const Occurrence& one) {
    return one.event == VolcanoEvent::TaskCompleted;
  }));
  // Five are done and gone.
  EXPECT_EQ(text_at(min_resources(seen), {"pods"}), std::to_string(kMost - 5));
}

TEST(Sizes, APassMakesAThousandPodsAndComesBackForMore) {
  const Observed nothing = job_of(100'000);
  const Plan first = settle(nothing, WallTime()).plan;
  EXPECT_EQ(pods_in<client::CreateWrite>(first), 1000U);
  EXPECT_EQ(first.outcome.what, Outcome::What::RequeueAfter);
  Observed nearly = job_of(100'000);
  add_pods(nearly, 0, 99'500);
  const Plan last = settle(nearly, WallTime()).plan;
  EXPECT_EQ(pods_in<client::CreateWrite>(last), 500U);
  EXPECT_EQ(last.outcome.what, Outcome::What::Done);
  EXPECT_EQ(missing_pods(job_of(kMost), Status()).places.size(), 1000U);
}

TEST(Sizes, APassTakesAThousandPodsAwayAndComesBackForMore) {
  Observed seen = job_of(100'000, "{}", "Aborting");
  add_pods(seen, 0, 3'000);
  const Plan plan = settle(seen, WallTime()).plan;
  EXPECT_EQ(pods_in<client::DeleteWrite>(plan), 1000U);
  EXPECT_EQ(plan.outcome.what, Outcome::What::RequeueAfter);
  Observed smaller = job_of(10, "{}", "Running");
  add_pods(smaller, 0, 3'000);
  EXPECT_EQ(pods_in<client::DeleteWrite>(settle(smaller, WallTime()).plan), 1000U);
}

// What lists all hosts ends where it would be refused: no object and no variable is that long.
TEST(Sizes, ListsOfHostsEndWhereNobodyTakesThem) {
  const Observed seen = job_of(
      kMost,
      R"({"svc":[],"ssh":["--ssh-private-key=k"],"tensorflow":[],"mpi":["--worker=w","--master=w"]})");
  const PluginPlan objects = sync_plugin_objects(seen);
  ASSERT_FALSE(objects.writes.empty());
  std::size_t largest = 0;
  for (const PlannedWrite& planned : objects.writes) {
    const auto* create = std::get_if<client::CreateWrite>(&planned.write);
    ASSERT_NE(create, nullptr);
    largest = std::max(largest, to_json(create->object).size());
  }
  EXPECT_GT(largest, std::size_t{1} << 20);
  EXPECT_LT(largest, std::size_t{8} << 20);
  Json pod = *parse_json(R"({"metadata":{},"spec":{"containers":[{"name":"c"}]}})");
  apply_plugins(seen, seen.tasks[0], 0, pod);
  EXPECT_GT(to_json(pod).size(), std::size_t{128} << 10);
  EXPECT_LT(to_json(pod).size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace krater::controllers::vcjob
