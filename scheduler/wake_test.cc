// Whatever makes a waiting job possible is noticed in the cycle after it; what is written for
// readers only, and what the scheduler writes itself, wakes nobody.
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "model/keys.h"
#include "scheduler/cache.h"
#include "scheduler/testing/harness.h"

namespace krater::scheduler {
namespace {

constexpr std::string_view kPreempt = R"(
config: |
  actions: "enqueue, allocate, preempt, backfill"
  tiers:
  - plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}, {name: cdp}, {name: pdb}]
  - plugins: [{name: predicates}, {name: proportion}]
classes: [{name: high, value: 100}, {name: low, value: 10}]
)";
constexpr std::string_view kReclaim = R"(
config: |
  actions: "enqueue, allocate, reclaim"
  tiers:
  - plugins: [{name: priority}, {name: gang, enableReclaimable: false}, {name: conformance}]
  - plugins: [{name: predicates}, {name: capacity}]
)";
constexpr std::string_view kPlugins = R"(
config: |
  actions: "enqueue, allocate"
  tiers:
  - plugins: [{name: gang}, {name: predicates}, {name: proportion}, {name: overcommit}, {name: nodegroup, arguments: {strict: false}}, {name: network-topology-aware}, {name: resourcequota}, {name: tdm, arguments: {tdm.revocable-zone.rz1: "00:00-23:58"}}]
)";

struct Change {
  std::string_view what;
  std::string_view config;  // may be empty
  std::string_view before;  // pod `w` waits
  std::string_view change;
  std::string_view evicted{};  // this pod goes; empty: `w` is bound
  friend std::ostream& operator<<(std::ostream& out, const Change& one) { return out << one.what; }
};

// Every node has 4 CPUs and its name as hostname; what takes it all is called `low`.
constexpr Change kChanges[] = {
    {"whom it wants to avoid is labelled otherwise", "",
     R"(
pods:
- {name: foe, cpu: 1, node: n, phase: Running, labels: {app: x}}
- {name: w, cpu: 1, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {app: x}}}]}}}})",
     "pods: [{name: foe, cpu: 1, node: n, phase: Running, labels: {app: y}}]"},
    {"whom others want to avoid is labelled otherwise", "",
     R"(
pods:
- {name: guard, cpu: 1, node: n, phase: Running, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {app: x}}}]}}}}
- {name: w, cpu: 1, labels: {app: x}})",
     "pods: [{name: w, cpu: 1, labels: {app: y}}]"},
    {"whom it wants to be near gets the label, though nobody schedules him", "",
     R"(
pods:
- {name: friend, scheduler: other, cpu: 1, node: n, phase: Running}
- {name: w, cpu: 1, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchLabels: {app: x}}}]}}}})",
     "pods: [{name: friend, scheduler: other, cpu: 1, node: n, phase: Running, labels: {app: x}}]"},
    {"members get the labels of their sub-groups", "",
     R"(
groups: [{name: g, min: 2, subGroups: [{name: part, subGroupSize: 1, minSubGroups: 2, matchLabelKeys: [part]}]}]
pods: [{name: v, group: g, cpu: 1, labels: {part: "0"}}, {name: w, group: g, cpu: 1, labels: {part: "0"}}])",
     R"(pods: [{name: w, group: g, cpu: 1, labels: {part: "1"}}])"},
    {"a pod may be evicted now", kPreempt,
     R"(
groups: [{name: low, min: 1, phase: Running, priorityClass: low}, {name: w, min: 1, priorityClass: high}]
pods:
- {name: low, group: low, cpu: 4, node: n, phase: Running, annotations: {volcano.sh/preemptable: "false"}}
- {name: w, group: w, cpu: 1})",
     "pods: [{name: low, group: low, cpu: 4, node: n, phase: Running}]", "low"},
    {"a PodGroup may be evicted now", kReclaim,
     R"(
queues: [{name: a, deserved: {cpu: 1}}, {name: b, deserved: {cpu: 3}}]
groups:
- {name: low, min: 1, queue: a, phase: Running, annotations: {volcano.sh/preemptable: "false"}}
- {name: w, min: 1, queue: b}
pods: [{name: low, group: low, cpu: 4, node: n, phase: Running}, {name: w, group: w, cpu: 1}])",
     "groups: [{name: low, min: 1, queue: a, phase: Running}]", "low"},
    {"a pod cools down no more", kPreempt,
     R"(
groups: [{name: low, min: 1, phase: Running, priorityClass: low}, {name: w, min: 1, priorityClass: high}]
pods:
- {name: low, group: low, cpu: 4, node: n, phase: Running, placed: "2026-01-01T00:00:00Z", annotations: {volcano.sh/cooldown-time: 1h}}
- {name: w, group: w, cpu: 1})",
     R"(pods: [{name: low, group: low, cpu: 4, node: n, phase: Running, placed: "2026-01-01T00:00:00Z", annotations: {volcano.sh/cooldown-time: 1s}}])",
     "low"},
    {"a disruption budget covers a pod no more", kPreempt,
     R"(
budgets: [{name: b, selector: {app: low}, allowed: 0}]
groups: [{name: low, min: 1, phase: Running, priorityClass: low}, {name: w, min: 1, priorityClass: high}]
pods:
- {name: low, group: low, cpu: 4, node: n, phase: Running, labels: {app: low}}
- {name: w, group: w, cpu: 1})",
     "pods: [{name: low, group: low, cpu: 4, node: n, phase: Running, labels: {app: other}}]",
     "low"},
    {"a disruption budget allows more", kPreempt,
     R"(
budgets: [{name: b, selector: {app: low}, allowed: 0}]
groups: [{name: low, min: 1, phase: Running, priorityClass: low}, {name: w, min: 1, priorityClass: high}]
pods:
- {name: low, group: low, cpu: 4, node: n, phase: Running, labels: {app: low}}
- {name: w, group: w, cpu: 1})",
     "budgets: [{name: b, selector: {app: low}, allowed: 1}]", "low"},
    {"the class of others is worth less", kPreempt,
     R"(
classes: [{name: x, value: 1000}]
groups: [{name: low, min: 1, phase: Running, priorityClass: x}, {name: w, min: 1, priorityClass: high}]
pods: [{name: low, group: low, cpu: 4, node: n, phase: Running}, {name: w, group: w, cpu: 1}])",
     "classes: [{name: x, value: 1}]", "low"},
    {"its own class is worth more", kPreempt,
     R"(
groups: [{name: low, min: 1, phase: Running, priorityClass: low}, {name: w, min: 1, priorityClass: later}]
pods: [{name: low, group: low, cpu: 4, node: n, phase: Running}, {name: w, group: w, cpu: 1}])",
     "classes: [{name: later, value: 1000}]", "low"},
    {"it may use a revocable zone", kPlugins,
     R"(
nodes: [{name: n, cpu: 4, labels: {volcano.sh/revocable-zone: rz1}}]
groups: [{name: w, min: 1}]
pods: [{name: w, group: w, cpu: 1}])",
     R"(pods: [{name: w, group: w, cpu: 1, annotations: {volcano.sh/preemptable: "true"}}])"},
    {"a queue admits more", kPlugins,
     R"(
queues: [{name: q, deserved: {cpu: 2}, annotations: {volcano.sh/overcommit-factor: "1"}}]
groups: [{name: low, min: 1, queue: q, phase: Running, minResources: {cpu: 2}}, {name: w, min: 1, queue: q, minResources: {cpu: 2}}]
pods: [{name: low, group: low, cpu: 2, node: n, phase: Running}, {name: w, group: w, cpu: 2}])",
     R"(queues: [{name: q, deserved: {cpu: 2}, annotations: {volcano.sh/overcommit-factor: "3"}}])"},
    {"a queue may hold more of a node group", kPlugins,
     R"(
nodes: [{name: n, cpu: 4, labels: {volcano.sh/nodegroup-name: g}}]
queues: [{name: q, affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [g]}}, annotations: {volcano.sh/nodegroup-resource-limits: '{"g": {"cpu": "2"}}'}}]
groups: [{name: low, min: 1, queue: q, phase: Running}, {name: w, min: 1, queue: q}]
pods: [{name: low, group: low, cpu: 2, node: n, phase: Running}, {name: w, group: w, cpu: 2}])",
     R"(queues: [{name: q, affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [g]}}, annotations: {volcano.sh/nodegroup-resource-limits: '{"g": {"cpu": "4"}}'}}])"},
    {"a queue may use more", kReclaim,
     R"(
queues: [{name: q, capability: {cpu: 1}}]
groups: [{name: w, min: 1, queue: q}]
pods: [{name: w, group: w, cpu: 2}])",
     "queues: [{name: q, capability: {cpu: 2}}]"},
    {"its queue is opened", "",
     R"(
queues: [{name: q, state: Closed}]
groups: [{name: w, min: 1, queue: q}]
pods: [{name: w, group: w, cpu: 2}])",
     "queues: [{name: q, state: Open}]"},
    {"a quota is raised", kPlugins,
     R"(
quotas: [{name: r, hard: {cpu: 1}}]
groups: [{name: w, min: 1, minResources: {cpu: 2}}]
pods: [{name: w, group: w, cpu: 2}])",
     "quotas: [{name: r, hard: {cpu: 2}}]"},
    {"a HyperNode comes", kPlugins,
     R"(
groups: [{name: w, min: 1, topology: {mode: hard, highestTierAllowed: 1}}]
pods: [{name: w, group: w, cpu: 2}])",
     "hyperNodes: [{name: h, tier: 1, nodes: [n]}]"},
    {"a node is labelled", "", "pods: [{name: w, cpu: 1, selector: {disk: fast}}]",
     "nodes: [{name: n, cpu: 4, labels: {disk: fast}}]"},
    {"a node's taint is gone", "",
     R"(
nodes: [{name: n, cpu: 4, taints: [{key: k, effect: NoSchedule}]}]
pods: [{name: w, cpu: 1}])",
     "nodes: [{name: n, cpu: 4}]"},
    {"a node grows", "", "pods: [{name: w, cpu: 5}]", "nodes: [{name: n, cpu: 8}]"},
    {"a running pod becomes smaller", "",
     R"(
pods: [{name: low, cpu: 4, node: n, phase: Running}, {name: w, cpu: 2}])",
     "pods: [{name: low, cpu: 2, node: n, phase: Running}]"},
    {"another scheduler's pod becomes smaller", "",
     R"(
pods: [{name: low, scheduler: other, cpu: 4, node: n, phase: Running}, {name: w, cpu: 2}])",
     "pods: [{name: low, scheduler: other, cpu: 2, node: n, phase: Running}]"},
    {"it asks for less itself", "", "pods: [{name: w, cpu: 5}]", "pods: [{name: w, cpu: 4}]"},
    {"it bears what keeps others off a node", "",
     R"(
nodes: [{name: n, cpu: 4, taints: [{key: k, effect: NoSchedule}]}]
pods: [{name: w, cpu: 1}])",
     "pods: [{name: w, cpu: 1, tolerations: [{key: k, operator: Exists}]}]"},
    {"its group needs fewer", "",
     R"(
groups: [{name: g, min: 2}]
pods: [{name: w, group: g, cpu: 4}, {name: x, group: g, cpu: 4}])",
     "groups: [{name: g, min: 1}]"},
    {"another configuration is in force", kPlugins,
     R"(
quotas: [{name: r, hard: {cpu: 1}}]
groups: [{name: w, min: 1, minResources: {cpu: 2}}]
pods: [{name: w, group: w, cpu: 2}])",
     kReclaim},
};

// As add, but what is there stays what it is: the same uid, a new generation only with a new spec.
void change(Harness& h, Json things) {
  const std::tuple<std::string_view, Kind, Json (*)(const Json&)> tables[] = {
      {"pods", kinds::kPod, make_pod},
      {"groups", kinds::kPodGroup, make_group},
      {"queues", kinds::kQueue, make_queue}};
  for (const auto& [list, kind, make] : tables) {
    const JsonArray* all = array_at(things, {list});
    for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
      const Result<ObjectPtr> done = h.client.apply(client::UpdateWrite{
          kind, kind.namespaced ? "d" : "", text_at((*all)[i], {"name"}), make((*all)[i])});
      ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    erase_path(things, {list});
  }
  h.add(things);
}

class Wakes : public ::testing::TestWithParam<Change> {};

TEST_P(Wakes, WhoWaitsForItAtOnce) {
  const Change& one = GetParam();
  Harness h;
  h.add(yaml("nodes: [{name: n, cpu: 4, labels: {host: n}}]\nqueues: [{name: default}]"));
  if (!one.config.empty()) h.add(yaml(one.config));
  h.add(yaml(one.before));
  h.settle(std::chrono::seconds(10));
  ASSERT_EQ(h.node_of("w"), "");
  ASSERT_TRUE(h.leaving().empty());
  change(h, yaml(one.change));
  h.settle(std::chrono::milliseconds(100));
  if (one.evicted.empty()) {
    EXPECT_EQ(h.node_of("w"), "n");
  } else {
    EXPECT_EQ(h.leaving(), std::vector<std::string>{std::string(one.evicted)});
  }
}

INSTANTIATE_TEST_SUITE_P(Changes, Wakes, ::testing::ValuesIn(kChanges));

TEST(Wake, ALabelOfANamespace) {
  Harness h;
  h.client.put(kinds::kNamespace, new_object(kinds::kNamespace, "", "d"));
  h.add(yaml(R"(
nodes: [{name: n, cpu: 4, labels: {host: n}}]
queues: [{name: default}]
pods:
- {name: friend, cpu: 1, node: n, phase: Running, labels: {app: x}}
- {name: w, cpu: 1, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, namespaceSelector: {matchLabels: {team: t}}, labelSelector: {matchLabels: {app: x}}}]}}}})"));
  h.settle(std::chrono::seconds(10));
  ASSERT_EQ(h.node_of("w"), "");
  Json labelled = new_object(kinds::kNamespace, "", "d");
  set_path(labelled, {"metadata", "labels", "team"}, "t");
  h.client.put(kinds::kNamespace, std::move(labelled));
  h.settle(std::chrono::milliseconds(100));
  EXPECT_EQ(h.node_of("w"), "n");
}

// One object after the other into a cache, as the watch would bring them.
class NoNews : public ::testing::Test {
 protected:
  ObjectPtr stored(const Kind& kind, Json object) {
    const std::string name = text_at(object, {"metadata", "name"});
    const std::string name_space = kind.namespaced ? "d" : "";
    if (client.read(kind, name_space, name) == nullptr) return client.put(kind, std::move(object));
    return *client.apply(client::UpdateWrite{kind, name_space, name, std::move(object)});
  }
  void set_pod(std::string_view brief) {
    cache.set_pod(stored(kinds::kPod, make_pod(yaml(brief))));
  }
  void set_group(std::string_view brief) {
    cache.set_group(stored(kinds::kPodGroup, make_group(yaml(brief))));
  }
  testing::ManualLoop loop;
  testing::FakeClient client{loop, loop.wall()};
  Cache cache;
};

TEST_F(NoNews, WhatTheSchedulerSaysOfAGroup) {
  set_group("{name: g, min: 1}");
  const std::uint64_t before = cache.help();
  set_group(R"({name: g, min: 1, annotations: {krater.io/why-pending: "{}"}})");
  set_group("{name: g, min: 1, annotations: {volcano.sh/job-allocated-hypernode: h}}");
  EXPECT_EQ(cache.help(), before);
  set_group("{name: g, min: 1, annotations: {volcano.sh/preemptable: 'true'}}");
  EXPECT_GT(cache.help(), before);
}

TEST_F(NoNews, HowFarAPodIs) {
  set_pod("{name: p, cpu: 1, node: n}");
  const std::uint64_t before = cache.help();
  set_pod("{name: p, cpu: 1, node: n, phase: Running}");
  set_pod("{name: p, cpu: 1, node: n, phase: Running, placed: '2026-01-01T00:00:00Z'}");
  EXPECT_EQ(cache.help(), before);
  set_pod("{name: p, cpu: 1, node: n, phase: Running, labels: {app: x}}");
  EXPECT_GT(cache.help(), before);
}

TEST_F(NoNews, ABindAndWhatIsNotedWithIt) {
  cache.set_node(stored(kinds::kNode, make_node(yaml("{name: n, cpu: 4}"))));
  set_pod("{name: p, cpu: 1}");
  const ObjectPtr pod = client.all(kinds::kPod).back();
  const std::uint64_t before = cache.help();
  ASSERT_TRUE(cache.assume({"d", "pod/p"}, "p", pod->uid(), 0));
  set_pod("{name: p, cpu: 1, node: n, annotations: {volcano.sh/gpu-index: '0'}}");
  EXPECT_EQ(cache.help(), before);
}

TEST_F(NoNews, APodThatJoinsItsGroup) {
  set_pod("{name: p, cpu: 1}");
  const std::uint64_t before = cache.help();
  set_pod("{name: p, cpu: 1, group: g}");
  EXPECT_EQ(cache.help(), before);
}

TEST_F(NoNews, WhatAQueueHasInUse) {
  cache.set_queue(stored(kinds::kQueue, make_queue(yaml("{name: q}"))));
  const std::uint64_t before = cache.help();
  Json queue = make_queue(yaml("{name: q}"));
  set_path(queue, {"status", "allocated", "cpu"}, "1");
  cache.set_queue(stored(kinds::kQueue, std::move(queue)));
  EXPECT_EQ(cache.help(), before);
  cache.set_queue(stored(kinds::kQueue, make_queue(yaml("{name: q, annotations: {a: b}}"))));
  EXPECT_GT(cache.help(), before);
}

}  // namespace
}  // namespace krater::scheduler
