// One kind of pod among all others within a session: where affinity, anti-affinity (its own and
// that of those already placed) and topology spread let it go, and where they draw it. Counted by
// domain once, then by difference. Semantics are kube-scheduler's; arithmetic is in integers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/hooks.h"
#include "scheduler/pod_terms.h"

namespace krater::scheduler {

// What the configuration asks of neighbours, and how much its scores weigh.
struct NeighbourRules {
  bool affinity = false, spread = false;
  std::int64_t affinity_weight = 0, spread_weight = 0;
};

// Values of one node label, numbered.
struct Domains {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> of_slot{};
  std::uint32_t count = 0;
};

class Neighbours {
 public:
  Neighbours(const Session& session, TaskSpecPtr task);

  // Takes in what was placed and taken back since.
  void catch_up();
  // Why the node cannot take it; "".
  std::string_view reject(NodeSlot node) const;
  // Adds the weighted scores (0 .. 100 * kPoint each) of nodes that are not rejected.
  void add_scores(const std::vector<NodeSlot>& nodes, std::vector<std::int64_t>& scores) const;

 private:
  // How many of those who count are in each domain.
  struct Tally {
    const Domains* domains = nullptr;
    std::vector<std::int64_t> counts{};
    std::int64_t all = 0;
    std::int64_t at(NodeSlot node) const;
    bool has(NodeSlot node) const;
  };
  struct Spread {
    const SpreadConstraint* rule = nullptr;
    Tally tally{};
    std::vector<bool> counts_node{};    // by slot
    std::vector<bool> counts_domain{};  // some node of it counts
    std::int64_t domains = 0;           // nodes without the label are one
    bool bare = false;                  // some node that counts has no such label
    // Of the domains that count: what the emptiest have, and how many those are.
    std::int64_t fewest = 0, emptiest = 0;
    bool counts_itself = false;
  };

  Tally tally_of(const std::string& topology_key) const;
  void start_spread();
  void count(const TaskSpec& pod, NodeSlot node, int sign, bool leaving);
  void count_existing(const TaskSpec& pod, NodeSlot node, int sign);
  static void add(Tally& tally, NodeSlot node, std::int64_t amount);
  static void add(Spread& spread, NodeSlot node, int sign);
  static void find_emptiest(Spread& spread);
  Tally& tally_for(std::map<std::string, Tally>& tallies, const PodTerm& term) const;
  bool affinity_holds(NodeSlot node) const;
  std::string_view spread_rejects(NodeSlot node) const;
  void add_affinity_scores(const std::vector<NodeSlot>& nodes,
                           std::vector<std::int64_t>& scores) const;
  void add_spread_scores(const std::vector<NodeSlot>& nodes,
                         std::vector<std::int64_t>& scores) const;

  const Session& session_;
  TaskSpecPtr task_;
  NeighbourRules rules_;
  bool matches_itself_ = false;                      // its own affinity terms
  std::vector<Tally> affinity_{}, anti_affinity_{};  // by its own term
  std::map<std::string, Tally> existing_anti_{};     // by topology key: terms of others against it
  std::map<std::string, Tally> attraction_{};        // by topology key: sums of weights
  std::vector<Spread> spread_{};
  std::size_t seen_moves_ = 0;
};

}  // namespace krater::scheduler
