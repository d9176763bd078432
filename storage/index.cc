#include "storage/index.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace krater::storage {

// A leaf holds records in key order; an inner node children and, for each, the smallest key it may
// hold. Nodes that carry the editor's current number are its own; all others are shared and never
// change.
struct Index::Node {
  std::uint64_t edit = 0;
  std::size_t count = 0;  // records below
  std::vector<RecordPtr> records;
  std::vector<NodePtr> children;
  std::vector<std::string> floors;
  bool leaf() const { return children.empty(); }
  std::size_t width() const { return leaf() ? records.size() : children.size(); }
};

namespace {

using Node = Index::Node;
using NodePtr = Index::NodePtr;

constexpr std::size_t kWidthMax = 64;
constexpr std::size_t kWidthMin = 20;

std::size_t slot_of(const Node& leaf, std::string_view key) {
  const auto at =
      std::lower_bound(leaf.records.begin(), leaf.records.end(), key,
                       [](const RecordPtr& r, std::string_view k) { return r->key < k; });
  return static_cast<std::size_t>(at - leaf.records.begin());
}

std::size_t child_of(const Node& inner, std::string_view key) {
  // The first floor stands for "minus infinity".
  const auto at = std::upper_bound(inner.floors.begin() + 1, inner.floors.end(), key);
  return static_cast<std::size_t>(at - inner.floors.begin()) - 1;
}

bool holds(const Node& leaf, std::size_t slot, std::string_view key) {
  return slot < leaf.records.size() && leaf.records[slot]->key == key;
}

void recount(Node& node) {
  node.count = node.records.size();
  for (const NodePtr& child : node.children) node.count += child->count;
}

// Number of records with a key below `key`.
std::size_t rank(const Node* node, std::string_view key) {
  std::size_t below = 0;
  while (node != nullptr && !node->leaf()) {
    const std::size_t at = child_of(*node, key);
    for (std::size_t i = 0; i < at; ++i) below += node->children[i]->count;
    node = node->children[at].get();
  }
  return node == nullptr ? 0 : below + slot_of(*node, key);
}

bool scan_node(const Node& node, std::string_view begin, std::string_view end,
               const std::function<bool(const RecordPtr&)>& visit) {
  if (node.leaf()) {
    for (std::size_t i = slot_of(node, begin); i < node.records.size(); ++i) {
      if (!end.empty() && node.records[i]->key >= end) return true;
      if (!visit(node.records[i])) return false;
    }
    return true;
  }
  for (std::size_t i = child_of(node, begin); i < node.children.size(); ++i) {
    if (i > 0 && !end.empty() && node.floors[i] >= end) return true;
    if (!scan_node(*node.children[i], begin, end, visit)) return false;
  }
  return true;
}

// The first key that is in the range and > after: successors differ by one NUL, which no key holds.
std::string first_key(const KeyRange& range, std::optional<std::string_view> after) {
  if (!after || *after < range.begin) return range.begin;
  std::string first(*after);
  first.push_back('\0');
  return first;
}

// --- editing
// -------------------------------------------------------------------------------------------------

// One allocation of the final size a vector: doubling would leave nodes half empty.
void make_room(Node& node) {
  if (node.leaf()) {
    node.records.reserve(kWidthMax + 1);
  } else {
    node.children.reserve(kWidthMax + 1);
    node.floors.reserve(kWidthMax + 1);
  }
}

NodePtr copy(const Node& node, std::uint64_t edit) {
  auto mine = std::make_shared<Node>();
  mine->edit = edit;
  mine->count = node.count;
  mine->children.reserve(node.leaf() ? 0 : kWidthMax + 1);
  mine->children = node.children;
  make_room(*mine);
  mine->records = node.records;
  mine->floors = node.floors;
  return mine;
}

// What it takes, without what it refers to.
std::size_t bytes_of(const Node& node) {
  std::size_t bytes = sizeof(Node) + node.records.capacity() * sizeof(RecordPtr) +
                      node.children.capacity() * sizeof(NodePtr) +
                      node.floors.capacity() * sizeof(std::string);
  const std::size_t in_place = std::string().capacity();
  for (const std::string& floor : node.floors) {
    if (floor.capacity() > in_place) bytes += floor.capacity() + 1;
  }
  return bytes;
}

Node& own(NodePtr& node, IndexEdit& edit) {
  if (node->edit != edit.number) {
    edit.replaced_bytes += bytes_of(*node);
    node = copy(*node, edit.number);
  }
  return *node;
}

struct Split {
  NodePtr right;
  std::string floor;
};

// Moves [at, end) of a node to a new right sibling.
Split split(Node& node, std::size_t at) {
  auto right = std::make_shared<Node>();
  right->edit = node.edit;
  const auto from = static_cast<std::ptrdiff_t>(at);
  std::string floor;
  if (node.leaf()) {
    floor = node.records[at]->key;
    right->records.reserve(kWidthMax + 1);
    right->records.assign(node.records.begin() + from, node.records.end());
    node.records.erase(node.records.begin() + from, node.records.end());
  } else {
    floor = node.floors[at];
    right->children.assign(node.children.begin() + from, node.children.end());
    right->floors.assign(node.floors.begin() + from, node.floors.end());
    node.children.erase(node.children.begin() + from, node.children.end());
    node.floors.erase(node.floors.begin() + from, node.floors.end());
  }
  recount(node);
  recount(*right);
  return {std::move(right), std::move(floor)};
}

// Too wide: cut in half; but a node that grows at its end is cut there, so that keys loaded in
// order fill nodes.
std::optional<Split> split_if_wide(Node& node, std::size_t grown_at) {
  if (node.width() <= kWidthMax) return std::nullopt;
  return split(node, grown_at + 1 == node.width() ? kWidthMax - 2 : node.width() / 2);
}

std::optional<Split> insert(NodePtr& slot, RecordPtr record, IndexEdit& edit) {
  Node& node = own(slot, edit);
  if (node.leaf()) {
    const std::size_t at = slot_of(node, record->key);
    if (holds(node, at, record->key)) {
      node.records[at] = std::move(record);
      return std::nullopt;
    }
    node.records.insert(node.records.begin() + static_cast<std::ptrdiff_t>(at), std::move(record));
    ++node.count;
    return split_if_wide(node, at);
  }
  const std::size_t at = child_of(node, record->key);
  const std::size_t before = node.children[at]->count;
  auto grown = insert(node.children[at], std::move(record), edit);
  node.count += node.children[at]->count - before;
  if (!grown) return std::nullopt;
  node.count += grown->right->count;
  const auto next = static_cast<std::ptrdiff_t>(at) + 1;
  node.children.insert(node.children.begin() + next, std::move(grown->right));
  node.floors.insert(node.floors.begin() + next, std::move(grown->floor));
  return split_if_wide(node, at + 1);
}

// Joins children `left` and left + 1 of a parent, and cuts them again in the middle when that is
// too wide.
void join(Node& parent, std::size_t left, IndexEdit& edit) {
  Node& into = own(parent.children[left], edit);
  const Node& from = *parent.children[left + 1];
  const auto right = static_cast<std::ptrdiff_t>(left) + 1;
  into.records.insert(into.records.end(), from.records.begin(), from.records.end());
  into.children.insert(into.children.end(), from.children.begin(), from.children.end());
  const std::size_t seam = into.floors.size();
  into.floors.insert(into.floors.end(), from.floors.begin(), from.floors.end());
  if (seam < into.floors.size()) into.floors[seam] = parent.floors[left + 1];
  recount(into);
  if (into.width() > kWidthMax) {
    Split cut = split(into, into.width() / 2);
    parent.children[left + 1] = std::move(cut.right);
    parent.floors[left + 1] = std::move(cut.floor);
    return;
  }
  parent.children.erase(parent.children.begin() + right);
  parent.floors.erase(parent.floors.begin() + right);
}

void remove(NodePtr& slot, std::string_view key, IndexEdit& edit) {
  Node& node = own(slot, edit);
  --node.count;
  if (node.leaf()) {
    const std::size_t at = slot_of(node, key);
    CHECK(holds(node, at, key));
    node.records.erase(node.records.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
  const std::size_t at = child_of(node, key);
  remove(node.children[at], key, edit);
  if (node.children[at]->width() < kWidthMin && node.children.size() > 1) {
    join(node, at > 0 ? at - 1 : at, edit);
  }
}

}  // namespace

RecordPtr Index::find(std::string_view key) const {
  const Node* node = root_.get();
  while (node != nullptr && !node->leaf()) node = node->children[child_of(*node, key)].get();
  if (node == nullptr) return nullptr;
  const std::size_t at = slot_of(*node, key);
  return holds(*node, at, key) ? node->records[at] : nullptr;
}

bool Index::scan(const KeyRange& range, std::optional<std::string_view> after,
                 const std::function<bool(const RecordPtr&)>& visit) const {
  return root_ == nullptr || scan_node(*root_, first_key(range, after), range.end, visit);
}

std::size_t Index::count(const KeyRange& range, std::optional<std::string_view> after) const {
  const std::size_t below = rank(root_.get(), first_key(range, after));
  const std::size_t upto = range.end.empty() ? size() : rank(root_.get(), range.end);
  return upto > below ? upto - below : 0;
}

std::size_t Index::size() const {
  return root_ == nullptr ? 0 : root_->count;
}

void IndexEditor::put(RecordPtr record) {
  if (root_ == nullptr) {
    root_ = std::make_shared<Node>();
    root_->edit = edit_.number;
    make_room(*root_);
  }
  auto grown = insert(root_, std::move(record), edit_);
  if (!grown) return;
  auto root = std::make_shared<Node>();
  root->edit = edit_.number;
  root->children = {std::move(root_), std::move(grown->right)};
  root->floors = {std::string(), std::move(grown->floor)};
  recount(*root);
  root_ = std::move(root);
}

void IndexEditor::erase(std::string_view key) {
  CHECK(root_ != nullptr);
  remove(root_, key, edit_);
  if (!root_->leaf() && root_->children.size() == 1) root_ = NodePtr(root_->children.front());
}

Index IndexEditor::freeze() {
  ++edit_.number;
  return Index(root_);
}

std::size_t IndexEditor::take_replaced_bytes() {
  return std::exchange(edit_.replaced_bytes, 0);
}

}  // namespace krater::storage
