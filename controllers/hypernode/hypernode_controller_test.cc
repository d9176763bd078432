#include "controllers/hypernode/hypernode_controller.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/hypernode/discovery.h"
#include "controllers/loop/testing/world.h"
#include "model/hyper_node.h"

namespace krater::controllers {
namespace {

struct HyperNodeTest : ::testing::Test {
  testing::World world;

  void SetUp() override {
    world.controllers.add(make_hyper_node_controller());
    world.controllers.start();
    world.settle();
  }
  void node(const std::string& name, const std::string& labels = "{}") {
    world.put(kinds::kNode, R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}");
    world.settle();
  }
  void hyper(const std::string& name, const std::string& members) {
    world.put(kinds::kHyperNode, R"({"metadata":{"name":")" + name +
                                     R"("},"spec":{"tier":1,"members":)" + members + "}}");
    world.settle();
  }
  void configure(const std::string& text) {
    Json map = new_object(kinds::kConfigMap, "volcano-system", "volcano-controller-configmap");
    set_path(map, {"data", "volcano-controller.conf"}, Json(text));
    world.fake.put(kinds::kConfigMap, std::move(map));
    world.settle();
  }
  std::int64_t nodes_in(const std::string& name) const {
    return int_at(*world.get(kinds::kHyperNode, "", name)->document(), {"status", "nodeCount"})
        .value_or(0);
  }
  // "tier of label=value: members", by name of the HyperNode.
  std::vector<std::string> discovered() const {
    std::vector<std::string> out;
    for (const ObjectPtr& one : world.fake.all(kinds::kHyperNode)) {
      const auto document = one->document();
      const std::string label = text_at(*document, {"spec", "tierName"});
      std::string text = std::to_string(*int_at(*document, {"spec", "tier"})) + " of " + label +
                         "=" + std::string(one->label(label)) + ":";
      for (const Json& member : *array_at(*document, {"spec", "members"})) {
        const bool is_node = text_at(member, {"type"}) == "Node";
        const std::string name = text_at(member, {"selector", "exactMatch", "name"});
        text += " " + (is_node ? name : name.substr(0, name.rfind('-')));
      }
      out.push_back(std::move(text));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

constexpr auto kNode = [](const std::string& selector) {
  return R"([{"type":"Node","selector":)" + selector + "}]";
};

TEST_F(HyperNodeTest, CountsTheNodesThatAreThere) {
  node("a-0", R"({"rack":"a"})");
  node("a-1", R"({"rack":"a"})");
  node("b-0", R"({"rack":"b"})");
  hyper("exact", kNode(R"({"exactMatch":{"name":"a-0"}})"));
  hyper("pattern", kNode(R"({"regexMatch":{"pattern":"^a-"}})"));
  hyper("labels", kNode(R"({"labelMatch":{"matchLabels":{"rack":"b"}}})"));
  hyper("nobody", kNode(R"({"exactMatch":{"name":"c-0"}})"));
  hyper("around", R"([{"type":"HyperNode","selector":{"exactMatch":{"name":"pattern"}}},
                      {"type":"HyperNode","selector":{"exactMatch":{"name":"labels"}}},
                      {"type":"HyperNode","selector":{"exactMatch":{"name":"around"}}}])");
  EXPECT_EQ(nodes_in("exact"), 1);
  EXPECT_EQ(nodes_in("pattern"), 2);
  EXPECT_EQ(nodes_in("labels"), 1);
  EXPECT_EQ(nodes_in("nobody"), 0);
  EXPECT_EQ(nodes_in("around"), 3);
  node("a-2");
  EXPECT_EQ(nodes_in("around"), 4);
  node("b-1", R"({"rack":"b"})");
  EXPECT_EQ(nodes_in("labels"), 2);
  world.remove(kinds::kNode, "", "a-0");
  world.settle();
  EXPECT_EQ(nodes_in("exact"), 0);
  EXPECT_EQ(nodes_in("around"), 4);
  world.remove(kinds::kHyperNode, "", "pattern");
  world.settle();
  EXPECT_EQ(nodes_in("around"), 2);
}

TEST_F(HyperNodeTest, OfManyOnlyThoseAreCountedAgainThatAChangeConcerns) {
  constexpr int kRacks = 300;
  for (int i = 0; i < kRacks; ++i) {
    const std::string number = std::to_string(i);
    world.put(kinds::kNode, R"({"metadata":{"name":"n)" + number + R"("}})");
    world.put(kinds::kHyperNode,
              R"({"metadata":{"name":"rack)" + number + R"("},"spec":{"tier":1,"members":)" +
                  kNode(R"({"regexMatch":{"pattern":"^n)" + number + R"($"}})") + "}}");
  }
  world.settle();
  hyper("top", R"([{"type":"HyperNode","selector":{"regexMatch":{"pattern":"^rack"}}}])");
  EXPECT_EQ(nodes_in("top"), kRacks);
  const auto passes = [&] { return world.controllers.counters().front().passes; };
  std::uint64_t before = passes();
  world.remove(kinds::kNode, "", "n7");
  world.settle();
  EXPECT_EQ(nodes_in("rack7"), 0);
  EXPECT_EQ(nodes_in("top"), kRacks - 1);
  // The rack and the top, once for the change and once for what was written; the configuration.
  EXPECT_LE(passes() - before, 5U);
  before = passes();
  hyper("rack9", kNode(R"({"regexMatch":{"pattern":"^n(9|10)$"}})"));
  EXPECT_EQ(nodes_in("rack9"), 2);
  EXPECT_EQ(nodes_in("top"), kRacks - 1);
  EXPECT_LE(passes() - before, 5U);
}

const char* const kTwoTiers = R"(
networkTopologyDiscovery:
- source: label
  enabled: true
  config:
    networkTopologyTypes:
      topologyA3:
      - nodeLabel: "net/spine"
      - nodeLabel: "net/rack"
      - nodeLabel: "kubernetes.io/hostname"
)";

TEST_F(HyperNodeTest, LabelsOfNodesMakeTiers) {
  node("n0", R"({"net/rack":"r0","net/spine":"s"})");
  node("n1", R"({"net/rack":"r1","net/spine":"s"})");
  node("n2", R"({"net/rack":"r1"})");
  node("n3", R"({"net/spine":"s"})");
  EXPECT_TRUE(discovered().empty());
  configure(kTwoTiers);
  const std::vector<std::string> racks{
      "1 of net/rack=r0: n0", "1 of net/rack=r1: n1 n2",
      "2 of net/spine=s: hypernode-topologya3-tier1 hypernode-topologya3-tier1"};
  EXPECT_EQ(discovered(), racks);
  for (const ObjectPtr& one : world.fake.all(kinds::kHyperNode)) {
    EXPECT_EQ(one->label("volcano.sh/network-topology-source"), "label");
    if (one->label("net/spine") == "s") {
      EXPECT_EQ(nodes_in(one->name()), 3);
    }
  }
}

TEST_F(HyperNodeTest, FollowsTheNodesAndKeepsNames) {
  node("n0", R"({"net/rack":"r0"})");
  node("n1", R"({"net/rack":"r1"})");
  configure(kTwoTiers);
  const auto of_r1 = [&] {
    for (const ObjectPtr& one : world.fake.all(kinds::kHyperNode)) {
      if (one->label("net/rack") == "r1") return one->name();
    }
    return std::string();
  };
  const std::string name = of_r1();
  ASSERT_FALSE(name.empty());
  world.remove(kinds::kNode, "", "n0");
  node("n1", R"({"net/rack":"r1"})");
  node("n2", R"({"net/rack":"r1"})");
  EXPECT_EQ(discovered(), std::vector<std::string>{"1 of net/rack=r1: n1 n2"});
  EXPECT_EQ(of_r1(), name);
  world.remove(kinds::kHyperNode, "", name);
  world.settle();
  EXPECT_EQ(of_r1(), name) << "made again";
}

TEST_F(HyperNodeTest, LeavesAloneWhatOthersMadeAndWhatIsNoLongerConfigured) {
  hyper("by-hand", kNode(R"({"exactMatch":{"name":"n0"}})"));
  node("n0", R"({"net/rack":"r0"})");
  configure(kTwoTiers);
  EXPECT_EQ(world.fake.all(kinds::kHyperNode).size(), 2U);
  configure("networkTopologyDiscovery: []\n");
  node("n1", R"({"net/rack":"r1"})");
  EXPECT_EQ(world.fake.all(kinds::kHyperNode).size(), 2U);
}

TEST_F(HyperNodeTest, SaysWhatItDoesNotTake) {
  configure(R"(
networkTopologyDiscovery:
- {source: ufm, enabled: true}
- {source: roce, enabled: false}
- source: label
  enabled: true
  config:
    networkTopologyTypes:
      aNameOfMoreThanTwentyLetters: [{nodeLabel: x}, {nodeLabel: y}]
      twice: [{nodeLabel: x}, {nodeLabel: x}, {nodeLabel: z}]
)");
  EXPECT_EQ(world.told("InvalidNetworkTopologyDiscovery"), 3);
  configure("networkTopologyDiscovery: 7\n");
  EXPECT_EQ(world.told("InvalidNetworkTopologyDiscovery"), 4);
  node("n0", R"({"x":"1","y":"2"})");
  EXPECT_EQ(world.told("InvalidNetworkTopologyDiscovery"), 4);
  EXPECT_TRUE(discovered().empty());
}

}  // namespace
}  // namespace krater::controllers
