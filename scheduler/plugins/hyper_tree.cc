#include "scheduler/plugins/hyper_tree.h"

#include <algorithm>

namespace krater::scheduler {

void HyperTree::follow(const Session& session) {
  bool changed = follow_hyper_nodes(session);
  if (!hyper_nodes_.empty()) {
    changed = follow_nodes(session) || changed;
  } else if (!nodes_.empty()) {
    // Nobody asks for them.
    book_ = HyperNodeBook();
    nodes_.clear();
  }
  if (changed) build(session);
}

bool HyperTree::follow_hyper_nodes(const Session& session) {
  const auto& now = session.surroundings().hyper_nodes;
  if (now == hyper_nodes_) return false;
  for (const auto& [place, object] : hyper_nodes_) {
    if (!now.contains(place)) book_.remove(object->name());
  }
  for (const auto& [place, object] : now) {
    const auto known = hyper_nodes_.find(place);
    if (known == hyper_nodes_.end() || known->second != object)
      book_.put(object->name(), *object->document());
  }
  hyper_nodes_ = now;
  return true;
}

bool HyperTree::follow_nodes(const Session& session) {
  bool changed = slots_ != session.node_slots();
  slots_ = session.node_slots();
  for (const NodeSlot slot : session.node_order()) {
    const NodeInfo& node = session.node(slot);
    KnownNode& known = nodes_[node.name];
    if (known.spec == node.spec && known.slot == slot) continue;
    const bool same = known.spec && known.slot == slot && known.spec->labels == node.spec->labels;
    if (!same) book_.put_node(node.name, node.spec->labels);
    known = {node.spec, slot};
    changed = changed || !same;
  }
  if (nodes_.size() == session.node_order().size()) return changed;
  for (auto one = nodes_.begin(); one != nodes_.end();) {
    if (session.find_node(NodeName(one->first)) != kNoNode) {
      ++one;
      continue;
    }
    book_.remove_node(one->first);
    one = nodes_.erase(one);
  }
  return true;
}

void HyperTree::build(const Session& session) {
  all_.clear();
  for (const auto& [place, object] : hyper_nodes_) {
    const auto document = object->document();
    std::vector<bool> within(slots_, false);
    const HyperNodeBook::Nodes nodes = book_.nodes_within(object->name());
    for (auto bit = nodes.find_first(); bit != HyperNodeBook::Nodes::npos;
         bit = nodes.find_next(bit)) {
      within[nodes_.at(book_.node_name(bit)).slot] = true;
    }
    all_.push_back({object->name(), text_at(*document, {"spec", "tierName"}),
                    int_at(*document, {"spec", "tier"}).value_or(0), std::move(within)});
  }
  std::stable_sort(all_.begin(), all_.end(),
                   [](const HyperNode& a, const HyperNode& b) { return a.tier < b.tier; });
  around_.assign(slots_, {});
  tiers_.clear();
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    if (tiers_.empty() || tiers_.back() != all_[i].tier) tiers_.push_back(all_[i].tier);
    for (const NodeSlot slot : session.node_order()) {
      if (all_[i].nodes[slot]) around_[slot].push_back(i);
    }
  }
}

const std::vector<std::uint32_t>& HyperTree::around(NodeSlot slot) const {
  static const std::vector<std::uint32_t> kNone;
  return slot < around_.size() ? around_[slot] : kNone;
}

std::optional<std::int64_t> HyperTree::tier_named(const std::string& name) const {
  for (const HyperNode& one : all_) {
    if (one.tier_name == name) return one.tier;
  }
  return std::nullopt;
}

}  // namespace krater::scheduler
