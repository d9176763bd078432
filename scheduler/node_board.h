// The nodes as one pod shape sees them within a session: who may take it for good, who can take it
// now, who is best. Filters and fixed scores are worked out once; after that only nodes whose load
// changed are looked at again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/hooks.h"
#include "scheduler/neighbours.h"

namespace krater::scheduler {

// The node that lacks least among those large enough, and what it lacks; where nothing is lacking
// something else keeps the shape away from it. No name: no node is large enough, or may take it.
struct NearestNode {
  std::string name{};
  std::vector<std::pair<std::string, std::int64_t>> lacking{};
};

// Why no node takes a shape.
struct FitError {
  std::string hyper_node{};  // none but its nodes were looked at; "": all were
  std::size_t nodes = 0;     // looked at
  std::map<std::string, std::int64_t>
      reasons{};          // how many nodes for each; a node may give several
  std::string figures{};  // "requested cpu 4; most free on one node: cpu 1500m"
  // The figures, for programs. Of the nodes that may take it at all.
  struct Room {
    std::string resource;
    std::int64_t requested = 0, most_on_one = 0, free = 0;
  };
  std::size_t usable = 0;  // nodes that may take it at all
  std::vector<Room> room{};
  NearestNode nearest{};
  // "0/3 nodes are unavailable: 1 Insufficient memory, 3 Insufficient cpu.", after "In hyperNode
  // NAME: " where that is all it may use.
  std::string text() const;
};
using FitErrorPtr = std::shared_ptr<const FitError>;

class NodeBoard {
 public:
  // `among`: the task among others, where they have a say in where it may go; else null. Then, and
  // with `of_others` (Likeness), nothing that was found is kept, as every placement may change it
  // for any node.
  NodeBoard(const Session& session, TaskRef task, const TaskSpecPtr& among, bool of_others);

  // The best node with room now; kNoNode. Equal scores go by node name.
  NodeSlot best_idle();
  // The best node with room once what is leaving has left.
  NodeSlot best_future();
  bool fits_idle(NodeSlot slot) const;
  bool fits_future(NodeSlot slot) const;
  // Whether the node may take the shape at all, whatever runs there.
  bool may_take(NodeSlot slot) const { return rejected_[slot] == 0; }
  std::int64_t score(NodeSlot slot) const;
  FitErrorPtr explain();
  // As it looks to one more of a gang, whose other members keep what they have of the nodes.
  NearestNode nearest_for(JobId job);
  const PodShape& shape() const { return *shape_; }

 private:
  struct Entry {
    std::int64_t score = 0;
    std::uint32_t rank = 0;  // by node name, smaller first
    NodeSlot slot = kNoNode;
    std::uint32_t stamp = 0;
  };
  static bool worse(const Entry& a, const Entry& b);
  bool passes_filters(NodeSlot slot, bool future) const;
  // In the domain that its job is confined to.
  bool in_reach(NodeSlot slot) const;
  std::string load_reason(NodeSlot slot, bool future) const;
  NodeSlot best_of(const std::vector<NodeSlot>& fitting) const;
  void study_nodes();
  void consider(NodeSlot slot);
  void catch_up();
  void add_figures(FitError& out) const;
  NearestNode nearest(const std::map<NodeSlot, Resource>& kept) const;

  const Session& session_;
  const TaskRef task_;  // one of those it is for
  ShapePtr shape_;
  std::unique_ptr<Neighbours> neighbours_;  // null: none that matter
  std::vector<FilterHook*> load_filters_;
  std::vector<const TaskFilterHook*> task_filters_;
  std::vector<const TaskScoreHook*> task_scores_;
  const bool of_others_, confined_;      // the task's job was confined when this was made
  std::vector<std::uint16_t> rejected_;  // by slot: 0 passes for good, else reasons_[n - 1]
  std::vector<std::string> reasons_;
  std::vector<std::int64_t> fixed_scores_;  // by slot
  std::vector<std::uint32_t> stamps_;       // by slot: entries with an older stamp are void
  std::vector<Entry> heap_;
  std::size_t seen_changes_ = 0;
  FitErrorPtr explained_;
  std::size_t explained_at_ = 0;
};

}  // namespace krater::scheduler
