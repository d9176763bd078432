#include "scheduler/plugins/numa_topology.h"

#include <gtest/gtest.h>

namespace krater::scheduler {
namespace {

// Two NUMA nodes, one a socket, of two cores with two processors each.
NumaTopology machine(const std::string& policy, const std::string& free) {
  NumaTopology out;
  out.cpu_policy = "static";
  out.topology_policy = policy;
  for (int cpu = 0; cpu < 8; ++cpu) out.cpus[cpu] = {cpu / 4, cpu / 4, cpu / 2};
  out.free = *parse_cpu_set(free);
  return out;
}

std::optional<CpuSet> assign(const std::string& policy, const std::string& free,
                             std::vector<std::int64_t> containers) {
  std::size_t refused = 0;
  return numa_assignment(machine(policy, free), containers, refused);
}

TEST(CpuSets, AreListsOfNumbersAndRanges) {
  EXPECT_EQ(parse_cpu_set("0-2, 5"), (CpuSet{0, 1, 2, 5}));
  EXPECT_EQ(parse_cpu_set(""), CpuSet());
  for (const char* wrong : {"a", "3-1", "-1", "0-", "0-9999999"})
    EXPECT_FALSE(parse_cpu_set(wrong)) << wrong;
}

TEST(TakeCpus, TakesWholeSocketsThenWholeCoresThenWhatIsLeft) {
  const NumaTopology all = machine("restricted", "0-7");
  EXPECT_EQ(take_cpus(all, all.free, 4), (CpuSet{0, 1, 2, 3}));
  EXPECT_EQ(take_cpus(all, {1, 4, 5, 6, 7}, 4), (CpuSet{4, 5, 6, 7}));
  EXPECT_EQ(take_cpus(all, {1, 2, 3, 5}, 2), (CpuSet{2, 3}));
  EXPECT_EQ(take_cpus(all, {1, 2, 3, 5}, 3), (CpuSet{1, 2, 3}));
  EXPECT_EQ(take_cpus(all, {1, 2}, 0), CpuSet());
  EXPECT_FALSE(take_cpus(all, {1, 2}, 3));
}

TEST(NumaAssignment, ASingleNodeIsOne) {
  EXPECT_EQ(assign("single-numa-node", "0-7", {4}), (CpuSet{0, 1, 2, 3}));
  EXPECT_EQ(assign("single-numa-node", "2-7", {3}), (CpuSet{4, 5, 6}));
  EXPECT_FALSE(assign("single-numa-node", "2-5", {3}));
  EXPECT_FALSE(assign("single-numa-node", "0-7", {5}));
  EXPECT_EQ(assign("single-numa-node", "0-7", {3, 3}), (CpuSet{0, 1, 2, 4, 5, 6}));
}

TEST(NumaAssignment, RestrictedTakesAsFewAsAnEmptyMachineWould) {
  EXPECT_TRUE(assign("restricted", "0-7", {5}));
  EXPECT_FALSE(assign("restricted", "2-5", {3})) << "on an empty machine one would do";
  EXPECT_EQ(assign("restricted", "2-7", {4}), (CpuSet{4, 5, 6, 7}));
}

TEST(NumaAssignment, BestEffortAndNoneAdmitAnything) {
  EXPECT_EQ(assign("best-effort", "2-5", {3})->size(), 3U);
  EXPECT_EQ(assign("best-effort", "0,1,4-7", {4}), (CpuSet{4, 5, 6, 7}));
  EXPECT_EQ(assign("none", "2-5", {3})->size(), 3U);
  EXPECT_TRUE(assign("best-effort", "", {3})->empty());
}

TEST(NumaAssignment, ContainersWithoutWholeProcessorsDoNotMatter) {
  EXPECT_EQ(assign("single-numa-node", "0-7", {0, 2}), (CpuSet{0, 1}));
  std::size_t refused = 0;
  EXPECT_FALSE(numa_assignment(machine("single-numa-node", "0-7"), {2, 0, 5}, refused));
  EXPECT_EQ(refused, 2U);
  EXPECT_FALSE(numa_assignment(NumaTopology(), {1}, refused)) << "nothing is known of it";
}

TEST(NumaTopology, ReadsWhatTheNodeTells) {
  const Json object = *parse_json(
      R"({"spec":{"policies":{"CPUManagerPolicy":"static","TopologyManagerPolicy":"restricted"},
          "resReserved":{"cpu":"1500m"},"numares":{"cpu":{"allocatable":"0-7","capacity":8}},
          "cpuDetail":{"0":{"core":0},"1":{"core":0},"2":{"core":1},"3":{"core":1},
                       "4":{"numa":1,"socket":1,"core":2},"x":{"numa":7}},
          "podAllocations":[{"uid":"u-1","name":"p","namespace":"d"}]}})");
  const NumaTopology read = NumaTopology::from(object);
  EXPECT_EQ(read.cpu_policy, "static");
  EXPECT_EQ(read.topology_policy, "restricted");
  EXPECT_EQ(read.cpus.size(), 5U);
  EXPECT_EQ(read.reserved.size(), 2U) << "no part of a processor is given away";
  EXPECT_EQ(read.free.size(), 6U);
  EXPECT_EQ(read.numa_nodes(), (std::set<int>{0, 1}));
  EXPECT_EQ(read.spread({0, 4}), 2);
  EXPECT_TRUE(read.told.contains("u-1") && read.told.contains("d/p"));
  EXPECT_TRUE(
      NumaTopology::from(*parse_json(R"({"spec":{"policies":7,"cpuDetail":[]}})")).cpus.empty());
}

}  // namespace
}  // namespace krater::scheduler
