// Hierarchical dominant-resource fairness: queues in the tree that their annotations describe
// (volcano.sh/hierarchy "root/sci/dev", volcano.sh/hierarchy-weights "1/100/50"). A group of queues
// counts for what its neediest member has; who has all he asks for does not hold the others back
// (volcano.md 4.7). Shares are kept in parts of a thousand million. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/resource.h"

namespace krater::scheduler {

class FairTree {
 public:
  // One step of a path, and its weight in thousandths.
  struct Step {
    std::string name;
    std::int64_t weight = 1000;
  };
  // Steps of the two annotations; a queue without them hangs right below root by its own name.
  static std::vector<Step> path_of(std::string_view queue, std::string_view hierarchy,
                                   std::string_view weights);

  using Leaf = std::size_t;
  explicit FairTree(Resource total) : total_(std::move(total)) { nodes_.emplace_back(); }
  Leaf add(const std::vector<Step>& path, Resource allocated, Resource request);
  void move(Leaf leaf, const Resource& amount, int sign);
  // Brings all shares up to date. Before the first compare and after every move.
  void weigh();

  // <0: a is served first.
  int compare(Leaf a, Leaf b) const;

 private:
  struct Node {
    std::size_t parent = 0;
    std::map<std::string, std::size_t> children{};
    std::int64_t weight = 1000;
    Resource allocated{}, request{};  // of leaves; of others the scaled sum
    std::int64_t share = 0;           // dominant, of kWhole
    bool saturated = false, leaf = false;
  };
  static constexpr std::int64_t kWhole = 1'000'000'000;
  std::int64_t dominant(const Resource& allocated) const;
  void weigh(std::size_t at, const Resource& in_use);
  std::vector<std::size_t> way_to(std::size_t node) const;

  Resource total_;
  std::vector<Node> nodes_;  // root first
};

}  // namespace krater::scheduler
