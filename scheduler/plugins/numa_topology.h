// A node's processors as its Numatopology tells of them, and which of them a container would be
// given: the hints and policies of a kubelet's topology manager. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace krater::scheduler {

using CpuSet = std::set<int>;
// "0-3,7"; nullopt: it is no such list.
std::optional<CpuSet> parse_cpu_set(std::string_view text);

struct NumaTopology {
  // A node of NUMA nodes beyond this, or a processor beyond the other, is not believed.
  static constexpr int kMostNodes = 16, kMostCpus = 65536;

  struct Place {
    int numa = 0, socket = 0, core = 0;
  };
  std::string cpu_policy, topology_policy;
  std::map<int, Place> cpus{};
  CpuSet free{};                 // neither given away nor kept for the system
  CpuSet reserved{};             // kept for the system
  std::set<std::string> told{};  // of which pods it knows: uids, and "namespace/name"

  static NumaTopology from(const Json& numatopology);
  std::set<int> numa_nodes() const;
  // How many NUMA nodes these are on.
  std::int64_t spread(const CpuSet& some) const;
};

// `count` of `from`: whole sockets first, then whole cores, then single processors. nullopt: there
// are not so many.
std::optional<CpuSet> take_cpus(const NumaTopology& topology, const CpuSet& from,
                                std::int64_t count);

// What the node's policy gives containers that ask for so many whole processors each (0: it does
// not concern one); nullopt, and the place of the first that is not admitted, when it does not
// admit them.
std::optional<CpuSet> numa_assignment(const NumaTopology& topology,
                                      const std::vector<std::int64_t>& containers,
                                      std::size_t& refused);

}  // namespace krater::scheduler
