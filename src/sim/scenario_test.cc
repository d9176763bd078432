#include "sim/scenario.h"

#include <gtest/gtest.h>

namespace krater::sim {
namespace {

TEST(Scenario, IsReadAsWritten) {
  const Result<Scenario> read = parse_scenario("s", R"(
seed: 42
given:   {nodes: 20, cpu: 8, queues: [prod, batch]}
load:    [{submit_rayjobs: {per_second: 5, for: 60s, queue: batch}}, {submit_pods: {every: 300ms}}]
faults:  [{kill_nodes: {every: 7s}}, {slow_store: {chance: 0.1, by: 2s}}]
always:  [no_node_overcommitted]
finally: [every_job_finished]
)");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->seed, 42U);
  EXPECT_EQ(read->nodes, 20);
  EXPECT_EQ(read->queues, (std::vector<std::string>{"prod", "batch"}));
  ASSERT_EQ(read->load.size(), 2U);
  EXPECT_EQ(read->load[0].every, 200ms);
  EXPECT_EQ(read->load[0].queue, "batch");
  EXPECT_EQ(read->load[1].every, 300ms);
  EXPECT_EQ(read->load_for(), 60s);
  ASSERT_EQ(read->faults.size(), 2U);
  EXPECT_EQ(read->faults[1].in_thousand, 100U);
  EXPECT_EQ(read->faults[1].by, 2s);
  EXPECT_TRUE(read->always.contains("no_node_overcommitted"));
}

struct Wrong {
  const char* name;
  const char* yaml;
  const char* word;  // that the message names
};

class WrongScenario : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongScenario, IsRefused) {
  const Result<Scenario> read = parse_scenario("s", GetParam().yaml);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find(GetParam().word), std::string::npos) << read.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongScenario,
    ::testing::Values(Wrong{"Rule", "always: [no_such_rule]", "no_such_rule"},
                      Wrong{"Load", "load: [{submit_cats: {}}]", "submit_cats"},
                      Wrong{"LoadMember", "load: [{submit_pods: {color: red}}]", "color"},
                      Wrong{"Fault", "faults: [{rain: {}}]", "rain"},
                      Wrong{"FaultWithoutMeasure", "faults: [{kill_nodes: {down: 5s}}]", "every"},
                      Wrong{"Chance", "faults: [{drop_watch: {chance: 3}}]", "chance"},
                      Wrong{"Duration", "load: [{submit_pods: {for: soon}}]", "for"},
                      Wrong{"Nodes", "given: {nodes: 0}", "nodes"},
                      Wrong{"TopWord", "sed: 4", "sed"}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace krater::sim
