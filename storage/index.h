// The newest version of every live key, as a persistent (copy-on-write) B+tree: an Index is a value
// that never changes, so a reader's snapshot is one pointer copy and the writer never waits for
// readers. Any thread.
//
// IndexEditor is the writer's working copy. It copies a node the first time it touches it after a
// freeze() and edits it in place from then on: a batch of n writes copies each path once, not n
// times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/store.h"

namespace krater::storage {

class Index {
 public:
  Index() = default;
  RecordPtr find(std::string_view key) const;  // null when absent
  // As Snapshot::scan. False when `visit` stopped it.
  bool scan(const KeyRange& range, std::optional<std::string_view> after,
            const std::function<bool(const RecordPtr&)>& visit) const;
  // O(log n).
  std::size_t count(const KeyRange& range, std::optional<std::string_view> after) const;
  std::size_t size() const;

  struct Node;
  using NodePtr = std::shared_ptr<Node>;

 private:
  friend class IndexEditor;
  explicit Index(NodePtr root) : root_(std::move(root)) {}
  NodePtr root_;
};

// One round of editing: nodes carrying its number are not published yet.
struct IndexEdit {
  std::uint64_t number = 1;
  std::size_t replaced_bytes = 0;  // of published nodes that were copied
};

// One thread. At most one editor works on a line of indexes.
class IndexEditor {
 public:
  RecordPtr find(std::string_view key) const { return Index(root_).find(key); }
  void put(RecordPtr record);        // replaces the version of the same key
  void erase(std::string_view key);  // must be present
  // What has been edited so far, from now on immutable.
  Index freeze();
  // The nodes that only indexes frozen before still hold, since it was last asked. Records not
  // counted.
  std::size_t take_replaced_bytes();

 private:
  Index::NodePtr root_;
  IndexEdit edit_;
};

}  // namespace krater::storage
