#include "scheduler/plugins/hyper_tree.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "model/selector.h"

namespace krater::scheduler {
namespace {

// What one member of a HyperNode names: among these names, with these labels.
bool names(const Json& member, const std::string& name, const Labels& labels) {
  if (const auto exact = string_at(member, {"selector", "exactMatch", "name"}))
    return *exact == name;
  if (const auto pattern = string_at(member, {"selector", "regexMatch", "pattern"})) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    const re2::RE2 expression(re2::StringPiece(pattern->data(), pattern->size()), options);
    return expression.ok() && re2::RE2::PartialMatch(name, expression);
  }
  const Json* match = find(member, {"selector", "labelMatch"});
  if (match == nullptr || !match->is_object()) return false;
  const Result<LabelSelector> selector = LabelSelector::from_object(*match);
  return selector && selector->matches(labels);
}

class Filler {
 public:
  Filler(const Session& session, std::map<std::string, const Json*> objects)
      : session_(session), objects_(std::move(objects)) {}

  const std::vector<bool>& nodes_of(const std::string& name) {
    const auto [place, fresh] = done_.try_emplace(name, session_.node_slots(), false);
    if (!fresh) return place->second;  // of a circle: what is known so far
    const JsonArray* members = array_at(*objects_.at(name), {"spec", "members"});
    if (members == nullptr) return place->second;
    for (const Json& member : *members) {
      if (text_at(member, {"type"}) == "HyperNode") {
        add_hyper_nodes(member, name);
      } else {
        add_nodes(member, name);
      }
    }
    return done_.at(name);
  }

 private:
  void add_nodes(const Json& member, const std::string& to) {
    for (const NodeSlot slot : session_.node_order()) {
      const NodeInfo& node = session_.node(slot);
      if (names(member, node.name, node.spec->labels)) done_.at(to)[slot] = true;
    }
  }
  void add_hyper_nodes(const Json& member, const std::string& to) {
    for (const auto& [name, object] : objects_) {
      if (name == to || !names(member, name, {})) continue;
      const std::vector<bool> theirs = nodes_of(name);
      std::vector<bool>& mine = done_.at(to);
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = mine[i] || theirs[i];
    }
  }

  const Session& session_;
  std::map<std::string, const Json*> objects_;
  std::map<std::string, std::vector<bool>> done_;
};

}  // namespace

HyperTree HyperTree::of(const Session& session) {
  HyperTree out;
  std::vector<ObjectView> views;
  for (const auto& [place, object] : session.surroundings().hyper_nodes) views.emplace_back(object);
  if (views.empty()) return out;
  std::map<std::string, const Json*> objects;
  for (const ObjectView& view : views) objects.emplace(view->name(), &view.document());
  Filler filler(session, objects);
  for (const auto& [name, document] : objects) {
    out.all_.push_back({name, text_at(*document, {"spec", "tierName"}),
                        int_at(*document, {"spec", "tier"}).value_or(0), filler.nodes_of(name)});
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
