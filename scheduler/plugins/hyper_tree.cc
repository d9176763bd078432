#include "scheduler/plugins/hyper_tree.h"

#include <algorithm>

#include "model/hyper_node.h"

namespace krater::scheduler {

HyperTree HyperTree::of(const Session& session) {
  HyperTree out;
  std::map<std::string, std::shared_ptr<const Json>> documents;
  for (const auto& [place, object] : session.surroundings().hyper_nodes)
    documents.emplace(object->name(), object->document());
  if (documents.empty()) return out;
  std::map<std::string, const Labels*> nodes;
  std::map<std::string, NodeSlot> slots;
  for (const NodeSlot slot : session.node_order()) {
    nodes.emplace(session.node(slot).name, &session.node(slot).spec->labels);
    slots.emplace(session.node(slot).name, slot);
  }
  for (const auto& [name, document] : documents) {
    std::vector<bool> within(session.node_slots(), false);
    for (const std::string& node : nodes_within(name, documents, nodes))
      within[slots.at(node)] = true;
    out.all_.push_back({name, text_at(*document, {"spec", "tierName"}),
                        int_at(*document, {"spec", "tier"}).value_or(0), std::move(within)});
  }
  std::stable_sort(out.all_.begin(), out.all_.end(),
                   [](const HyperNode& a, const HyperNode& b) { return a.tier < b.tier; });
  return out;
}

std::optional<std::int64_t> HyperTree::tier_named(const std::string& name) const {
  for (const HyperNode& one : all_) {
    if (one.tier_name == name) return one.tier;
  }
  return std::nullopt;
}

}  // namespace krater::scheduler
