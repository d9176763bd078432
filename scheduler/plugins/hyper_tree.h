// The HyperNodes of the cluster as node sets: which real nodes each holds, by tier. What did not
// change from one session to the next is not looked at again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/hyper_node_book.h"
#include "scheduler/session.h"

namespace krater::scheduler {

struct HyperNode {
  std::string name, tier_name;
  std::int64_t tier = 0;
  std::vector<bool> nodes{};  // by slot
};

class HyperTree {
 public:
  // As it is in this session.
  void follow(const Session& session);

  // By tier, then by name.
  const std::vector<HyperNode>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  // The places in all() of those that hold the node, the lowest tier first.
  const std::vector<std::uint32_t>& around(NodeSlot slot) const;
  // All there are, from the lowest.
  const std::vector<std::int64_t>& tiers() const { return tiers_; }
  // Of a tier by its name; nullopt: there is none.
  std::optional<std::int64_t> tier_named(const std::string& name) const;

 private:
  bool follow_hyper_nodes(const Session& session);
  bool follow_nodes(const Session& session);
  void build(const Session& session);

  struct KnownNode {
    std::shared_ptr<const NodeSpec> spec;
    NodeSlot slot = kNoNode;
  };
  HyperNodeBook book_;
  std::map<Surroundings::Place, ObjectPtr> hyper_nodes_;
  std::map<std::string, KnownNode> nodes_;
  std::size_t slots_ = 0;
  std::vector<HyperNode> all_;
  std::vector<std::vector<std::uint32_t>> around_;  // by slot
  std::vector<std::int64_t> tiers_;
};

}  // namespace krater::scheduler
