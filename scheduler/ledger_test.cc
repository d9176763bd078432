// The sums that are kept by difference against sums made from scratch, through a long random
// history.
#include "scheduler/ledger.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "scheduler/cache.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

class History {
 public:
  explicit History(std::uint64_t seed) : rng_(seed) {}

  Cache cache;

  void step() {
    const std::string number = std::to_string(rng_.below(6));
    const std::string group = "g" + number;
    const std::string pod = group + "-w-" + std::to_string(rng_.below(4));
    const std::string node = "n" + std::to_string(rng_.below(4));
    switch (rng_.below(9)) {
      case 0:
        return cache.set_node(stored(
            kinds::kNode, make_node(*parse_yaml("{name: " + node + ", cpu: " + amount() + "}"))));
      case 1:
        return cache.remove_node(node);
      case 2:
        return cache.set_group(stored(
            kinds::kPodGroup, make_group(*parse_yaml("{name: " + group + ", min: 2, queue: q" +
                                                     std::to_string(rng_.below(3)) +
                                                     ", minResources: {cpu: " + amount() + "}}"))));
      case 3:
        return cache.remove_group("d", group);
      case 4:
        return cache.set_pod(
            stored(kinds::kPod, make_pod(*parse_yaml("{name: " + pod + ", group: " + group +
                                                     ", cpu: " + amount() + "}"))));
      case 5:
        return cache.set_pod(stored(
            kinds::kPod,
            make_pod(*parse_yaml("{name: " + pod + ", group: " + group + ", cpu: " + amount() +
                                 ", node: " + node + ", phase: Running}"))));
      case 6:
        return cache.remove_pod("d", pod);
      case 7:
        return cache.set_phase(
            {"d", group}, rng_.below(2) == 0 ? PodGroupPhase::Inqueue : PodGroupPhase::Running);
      default:
        return assume_or_forget(group, pod, node);
    }
  }

  void check() {
    const Snapshot all = cache.snapshot(Scope::All);
    Resource total, used, admitted;
    for (const NodeSlot slot : all.order) {
      total += all.nodes[slot]->spec->allocatable;
      used += all.nodes[slot]->used;
      EXPECT_EQ(all.order[all.rank[slot]], slot);
    }
    std::map<QueueName, QueueSums> sums;
    std::set<JobKey> open;
    for (const JobPtr& job : all.jobs) {
      if (job->open() && !job->is_bare()) open.insert(job->key);
      if (!job->known) continue;
      QueueSums& sum = sums[job->queue];
      ++sum.jobs;
      sum.allocated += job->allocated;
      sum.request += job->allocated + job->pending;
      sum.inqueue += job->admitted_in_queue();
      sum.elastic += job->elastic();
      admitted += job->admitted_in_cluster();
    }
    EXPECT_EQ(all.total, total);
    EXPECT_EQ(all.used, used);
    EXPECT_EQ(all.admitted, admitted);
    const auto& kept = cache.queue_sums();
    ASSERT_EQ(kept.size(), sums.size());
    for (const auto& [name, sum] : sums) {
      const QueueSums& mine = kept.at(name);
      EXPECT_EQ(mine.jobs, sum.jobs);
      EXPECT_EQ(mine.allocated, sum.allocated);
      EXPECT_EQ(mine.request, sum.request);
      EXPECT_EQ(mine.inqueue, sum.inqueue);
      EXPECT_EQ(mine.elastic, sum.elastic);
    }
    cache.take_changed_jobs();
    std::set<JobKey> offered;
    for (const JobPtr& job : cache.snapshot(Scope::Open).jobs) offered.insert(job->key);
    EXPECT_EQ(offered, open);
  }

 private:
  std::string amount() { return std::to_string(1 + rng_.below(5)); }

  ObjectPtr stored(const Kind& kind, Json object) {
    const std::string name = text_at(object, {"metadata", "name"});
    set_path(object, {"metadata", "uid"}, Json("uid-" + name));
    ++revision_;
    return *Object::parse(ObjectKey::of(kind, kind.namespaced ? "d" : "", name),
                          Revision(revision_),
                          std::make_shared<const std::string>(to_json(object)));
  }

  void assume_or_forget(const std::string& group, const std::string& pod, const std::string& node) {
    const Snapshot now = cache.snapshot(Scope::All);
    for (const NodeSlot slot : now.order) {
      if (now.nodes[slot]->name != node) continue;
      if (!cache.assume({"d", group}, pod, Uid("uid-" + pod), slot))
        cache.forget({"d", group}, pod, Uid("uid-" + pod));
    }
  }

  SeededRng rng_;
  std::int64_t revision_ = 0;
};

TEST(Ledger, SumsKeptByDifferenceAreTheSumsFromScratch) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    History history(seed);
    for (int i = 0; i < 200; ++i) {
      history.step();
      if (i % 7 == 0) history.check();
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Ledger, ASettledJobIsInNoCycle) {
  Cache cache;
  const auto stored = [](const Kind& kind, Json object, std::int64_t revision) {
    const std::string name = text_at(object, {"metadata", "name"});
    set_path(object, {"metadata", "uid"}, Json(name));
    return *Object::parse(ObjectKey::of(kind, "d", name), Revision(revision),
                          std::make_shared<const std::string>(to_json(object)));
  };
  cache.set_group(
      stored(kinds::kPodGroup, make_group(*parse_yaml("{name: g, min: 1, phase: Running}")), 1));
  cache.set_pod(
      stored(kinds::kPod,
             make_pod(*parse_yaml("{name: w, group: g, cpu: 1, node: n, phase: Running}")), 2));
  EXPECT_EQ(cache.snapshot(Scope::Open).jobs.size(), 1u) << "it is new";
  cache.take_changed_jobs();
  EXPECT_EQ(cache.snapshot(Scope::Open).jobs.size(), 0u);
  EXPECT_EQ(cache.snapshot(Scope::All).jobs.size(), 1u);
}

}  // namespace
}  // namespace krater::scheduler
