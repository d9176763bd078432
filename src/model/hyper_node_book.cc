#include "model/hyper_node_book.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "model/selector.h"

namespace krater {

// What one entry of spec.members names.
class HyperNodeBook::Member {
 public:
  explicit Member(const Json& given) : of_hyper_nodes_(text_at(given, {"type"}) == "HyperNode") {
    if (const auto name = string_at(given, {"selector", "exactMatch", "name"})) {
      exact_ = std::string(*name);
    } else if (const auto text = string_at(given, {"selector", "regexMatch", "pattern"})) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      pattern_ = std::make_unique<re2::RE2>(re2::StringPiece(text->data(), text->size()), options);
    } else if (const Json* match = find(given, {"selector", "labelMatch"});
               match != nullptr && match->is_object()) {
      const Result<LabelSelector> selector = LabelSelector::from_object(*match);
      if (selector && !selector->empty()) labels_ = *selector;
    }
  }

  bool of_hyper_nodes() const { return of_hyper_nodes_; }
  // The only one that it can mean; null: it has to be looked for.
  const std::string* exact() const { return exact_ ? &*exact_ : nullptr; }
  bool means(const std::string& name, const Labels& labels) const {
    if (pattern_ != nullptr) return pattern_->ok() && re2::RE2::PartialMatch(name, *pattern_);
    return labels_ && labels_->matches(labels);
  }

 private:
  bool of_hyper_nodes_;
  std::optional<std::string> exact_;
  std::unique_ptr<re2::RE2> pattern_;
  std::optional<LabelSelector> labels_;
};

struct HyperNodeBook::HyperNode {
  Names exact_nodes{};
  std::vector<Member> node_searches{}, group_searches{};
  Nodes nodes{};   // its own
  Names groups{};  // HyperNodes that are members, there or not
};

HyperNodeBook::HyperNodeBook() = default;
HyperNodeBook::~HyperNodeBook() = default;
HyperNodeBook::HyperNodeBook(HyperNodeBook&&) noexcept = default;
HyperNodeBook& HyperNodeBook::operator=(HyperNodeBook&&) noexcept = default;

bool HyperNodeBook::holds(const HyperNode& one, const std::string& node, const Labels& labels) {
  if (one.exact_nodes.contains(node)) return true;
  return std::any_of(one.node_searches.begin(), one.node_searches.end(), [&](const Member& member) {
    ++evaluations_;
    return member.means(node, labels);
  });
}

bool HyperNodeBook::holds_group(const HyperNode& one, const std::string& group) {
  return std::any_of(one.group_searches.begin(), one.group_searches.end(),
                     [&](const Member& member) {
                       ++evaluations_;
                       return member.means(group, {});
                     });
}

HyperNodeBook::Names HyperNodeBook::around(const Names& names) const {
  Names out;
  std::vector<std::string> next(names.begin(), names.end());
  while (!next.empty()) {
    std::string name = std::move(next.back());
    next.pop_back();
    const auto [place, fresh] = out.insert(std::move(name));
    if (!fresh) continue;
    const auto namers = namers_of_group_.find(*place);
    if (namers != namers_of_group_.end())
      next.insert(next.end(), namers->second.begin(), namers->second.end());
  }
  return out;
}

void HyperNodeBook::link(const std::string& name, const std::string& child) {
  hyper_nodes_.at(name)->groups.insert(child);
  namers_of_group_[child].insert(name);
}

void HyperNodeBook::forget(const std::string& name) {
  const auto place = hyper_nodes_.find(name);
  if (place == hyper_nodes_.end()) return;
  const auto unname = [&](std::map<std::string, Names>& index, const std::string& whom) {
    const auto namers = index.find(whom);
    namers->second.erase(name);
    if (namers->second.empty()) index.erase(namers);
  };
  for (const std::string& node : place->second->exact_nodes) unname(namers_of_node_, node);
  for (const std::string& group : place->second->groups) unname(namers_of_group_, group);
  look_for_nodes_.erase(name);
  look_for_groups_.erase(name);
  hyper_nodes_.erase(place);
}

void HyperNodeBook::fill(const std::string& name, HyperNode& one) {
  one.nodes.resize(room_);
  for (const std::string& node : one.exact_nodes) {
    namers_of_node_[node].insert(name);
    if (const auto place = nodes_.find(node); place != nodes_.end())
      one.nodes.set(place->second.number);
  }
  if (!one.node_searches.empty()) {
    look_for_nodes_.insert(name);
    for (const auto& [node, known] : nodes_) {
      if (holds(one, node, known.labels)) one.nodes.set(known.number);
    }
  }
  if (one.group_searches.empty()) return;
  look_for_groups_.insert(name);
  for (const auto& [group, known] : hyper_nodes_) {
    if (holds_group(one, group)) link(name, group);
  }
}

HyperNodeBook::Names HyperNodeBook::put(const std::string& hyper_node, const Json& object) {
  Names out = around({hyper_node});
  forget(hyper_node);
  HyperNode& one = *(hyper_nodes_[hyper_node] = std::make_unique<HyperNode>());
  const JsonArray* members = array_at(object, {"spec", "members"});
  for (std::size_t i = 0; members != nullptr && i < members->size(); ++i) {
    Member member((*members)[i]);
    if (const std::string* exact = member.exact()) {
      member.of_hyper_nodes() ? link(hyper_node, *exact) : void(one.exact_nodes.insert(*exact));
    } else {
      (member.of_hyper_nodes() ? one.group_searches : one.node_searches)
          .push_back(std::move(member));
    }
  }
  fill(hyper_node, one);
  for (const std::string& other : look_for_groups_) {
    if (other != hyper_node && holds_group(*hyper_nodes_.at(other), hyper_node))
      link(other, hyper_node);
  }
  out.merge(around({hyper_node}));
  return out;
}

HyperNodeBook::Names HyperNodeBook::remove(const std::string& hyper_node) {
  Names out = around({hyper_node});
  forget(hyper_node);
  return out;
}

std::size_t HyperNodeBook::number_of_new(const std::string& node) {
  if (!free_.empty()) {
    const std::size_t number = free_.back();
    free_.pop_back();
    node_names_[number] = node;
    return number;
  }
  node_names_.push_back(node);
  if (node_names_.size() > room_) {
    room_ = std::max<std::size_t>(64, 2 * room_);
    for (const auto& [name, one] : hyper_nodes_) one->nodes.resize(room_);
  }
  return node_names_.size() - 1;
}

HyperNodeBook::Names HyperNodeBook::put_node(const std::string& node, const Labels& labels) {
  const auto [place, fresh] = nodes_.try_emplace(node);
  if (!fresh && place->second.labels == labels) return {};
  if (fresh) place->second.number = number_of_new(node);
  place->second.labels = labels;
  const std::size_t number = place->second.number;
  Names touched;
  const auto look_at = [&](const std::string& name) {
    HyperNode& one = *hyper_nodes_.at(name);
    const bool within = holds(one, node, labels);
    if (one.nodes.test(number) == within) return;
    one.nodes.set(number, within);
    touched.insert(name);
  };
  if (const auto namers = namers_of_node_.find(node); fresh && namers != namers_of_node_.end())
    std::for_each(namers->second.begin(), namers->second.end(), look_at);
  std::for_each(look_for_nodes_.begin(), look_for_nodes_.end(), look_at);
  return around(touched);
}

HyperNodeBook::Names HyperNodeBook::remove_node(const std::string& node) {
  const auto place = nodes_.find(node);
  if (place == nodes_.end()) return {};
  const std::size_t number = place->second.number;
  nodes_.erase(place);
  free_.push_back(number);
  Names touched;
  for (const auto& [name, one] : hyper_nodes_) {
    if (!one->nodes.test(number)) continue;
    one->nodes.reset(number);
    touched.insert(name);
  }
  return around(touched);
}

HyperNodeBook::Nodes HyperNodeBook::nodes_within(const std::string& hyper_node) const {
  Nodes out(room_);
  std::set<std::string> seen;
  std::vector<std::string> next{hyper_node};
  while (!next.empty()) {
    std::string name = std::move(next.back());
    next.pop_back();
    const auto place = hyper_nodes_.find(name);
    if (place == hyper_nodes_.end() || !seen.insert(std::move(name)).second) continue;
    const HyperNode& one = *place->second;
    out |= one.nodes;
    next.insert(next.end(), one.groups.begin(), one.groups.end());
  }
  return out;
}

std::int64_t HyperNodeBook::count(const std::string& hyper_node) const {
  return static_cast<std::int64_t>(nodes_within(hyper_node).count());
}

std::set<std::string> HyperNodeBook::names_within(const std::string& hyper_node) const {
  const Nodes nodes = nodes_within(hyper_node);
  std::set<std::string> out;
  for (auto bit = nodes.find_first(); bit != Nodes::npos; bit = nodes.find_next(bit))
    out.insert(node_names_[bit]);
  return out;
}

}  // namespace krater
