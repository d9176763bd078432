#include "scheduler/plugins/fair_tree.h"

#include <algorithm>

#include "base/quantity.h"
#include "base/strings.h"

namespace krater::scheduler {
namespace {

__extension__ using Wide = __int128;

// "2" and "0.5" in thousandths; what is no positive number weighs one.
std::int64_t thousandths(std::string_view text) {
  const Result<Quantity> read = Quantity::parse(trim(text));
  if (!read || read->sign() <= 0) return 1000;
  return std::max<std::int64_t>(read->milli_value(), 1);
}

}  // namespace

std::vector<FairTree::Step> FairTree::path_of(std::string_view queue, std::string_view hierarchy,
                                              std::string_view weights) {
  std::vector<Step> out;
  if (hierarchy.empty()) {
    out.push_back({"\n" + std::string(queue), 1000});
    return out;
  }
  const auto names = split(hierarchy, '/');
  const auto numbers = split(weights, '/');
  // The first step is root itself.
  for (std::size_t i = 1; i < names.size(); ++i)
    out.push_back({std::string(names[i]), i < numbers.size() ? thousandths(numbers[i]) : 1000});
  // Two queues may end at one step: each is a leaf of its own below it.
  out.push_back({"\n" + std::string(queue), 1000});
  return out;
}

FairTree::Leaf FairTree::add(const std::vector<Step>& path, Resource allocated, Resource request) {
  std::size_t at = 0;
  for (const Step& step : path) {
    const auto known = nodes_[at].children.find(step.name);
    if (known != nodes_[at].children.end()) {
      at = known->second;
      continue;
    }
    const std::size_t fresh = nodes_.size();
    nodes_[at].children.emplace(step.name, fresh);
    Node node;
    node.parent = at;
    node.weight = step.weight;
    nodes_.push_back(std::move(node));
    at = fresh;
  }
  Node& leaf = nodes_[at];
  leaf.leaf = true;
  leaf.allocated = std::move(allocated);
  leaf.request = std::move(request);
  return at;
}

void FairTree::move(Leaf leaf, const Resource& amount, int sign) {
  sign > 0 ? nodes_[leaf].allocated += amount : nodes_[leaf].allocated -= amount;
}

std::int64_t FairTree::dominant(const Resource& allocated) const {
  std::int64_t out = 0;
  for (Dim d = 0; d < total_.dims(); ++d) {
    if (d != kPods && total_.at(d) > 0)
      out = std::max(out, scale(allocated.at(d), kWhole, total_.at(d)));
  }
  return out;
}

void FairTree::weigh() {
  Resource in_use;
  for (const Node& node : nodes_) {
    if (node.leaf) in_use += node.allocated;
  }
  weigh(0, in_use);
}

void FairTree::weigh(std::size_t at, const Resource& in_use) {
  Node& node = nodes_[at];
  if (node.leaf) {
    node.share = dominant(node.allocated);
    node.saturated = false;
    for (Dim d = 0; d < node.request.dims(); ++d) {
      const std::int64_t wanted = node.request.at(d), held = node.allocated.at(d);
      if (d == kPods || wanted <= 0) continue;
      // It has what it asks for, or there is no more of it anywhere.
      if ((held > 0 && held >= wanted) || (held < wanted && in_use.at(d) >= total_.at(d)))
        node.saturated = true;
    }
    return;
  }
  std::int64_t least = kWhole;
  bool all_saturated = true;
  for (const auto& [name, child] : node.children) {
    weigh(child, in_use);
    const Node& one = nodes_[child];
    all_saturated = all_saturated && one.saturated;
    if (one.share > 0 && !one.saturated) least = std::min(least, one.share);
  }
  Resource sum;
  for (const auto& [name, child] : node.children) {
    const Node& one = nodes_[child];
    if (one.share <= 0) continue;
    for (Dim d = 0; d < one.allocated.dims(); ++d) {
      const std::int64_t held = one.allocated.at(d);
      sum.set(d, sum.at(d) + (one.saturated ? held : scale(held, least, one.share)));
    }
  }
  node.allocated = std::move(sum);
  node.share = dominant(node.allocated);
  node.saturated = all_saturated;
}

std::vector<std::size_t> FairTree::way_to(std::size_t node) const {
  std::vector<std::size_t> out;
  for (; node != 0; node = nodes_[node].parent) out.push_back(node);
  std::reverse(out.begin(), out.end());
  return out;
}

int FairTree::compare(Leaf a, Leaf b) const {
  const std::vector<std::size_t> left = way_to(a), right = way_to(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const Node &mine = nodes_[left[i]], &other = nodes_[right[i]];
    if (mine.saturated != other.saturated) return mine.saturated ? 1 : -1;
    const Wide one = static_cast<Wide>(mine.share) * other.weight;
    const Wide two = static_cast<Wide>(other.share) * mine.weight;
    if (one != two) return one < two ? -1 : 1;
  }
  return 0;
}

}  // namespace krater::scheduler
