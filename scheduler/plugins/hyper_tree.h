// The HyperNodes of a session as a tree of node sets: which real nodes each holds, by tier. Pure.
//
// Always holds: a member that does not exist, and a circle of members, adds no nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

struct HyperNode {
  std::string name, tier_name;
  std::int64_t tier = 0;
  std::vector<bool> nodes{};  // by slot
};

class HyperTree {
 public:
  static HyperTree of(const Session& session);

  // By tier, then by name.
  const std::vector<HyperNode>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  // Of a tier by its name; nullopt: there is none.
  std::optional<std::int64_t> tier_named(const std::string& name) const;

 private:
  std::vector<HyperNode> all_;
};

}  // namespace krater::scheduler
