#include "storage/snapshots.h"

#include <algorithm>
#include <utility>

namespace krater::storage {
namespace {

class IndexSnapshot final : public Snapshot {
 public:
  IndexSnapshot(Index index, Revision revision) : index_(std::move(index)), revision_(revision) {}

  Revision revision() const override { return revision_; }
  Result<RecordPtr> get(std::string_view key) const override { return index_.find(key); }
  Result<void> scan(const KeyRange& range, std::optional<std::string_view> after,
                    const std::function<bool(const RecordPtr&)>& visit) const override {
    index_.scan(range, after, visit);
    return {};
  }
  Result<std::size_t> count(const KeyRange& range,
                            std::optional<std::string_view> after) const override {
    return index_.count(range, after);
  }

 private:
  Index index_;
  Revision revision_;
};

}  // namespace

Snapshots::Snapshots(Limits limits, Index index, Revision revision) : limits_(limits) {
  states_.push_back({std::make_shared<const IndexSnapshot>(std::move(index), revision), 0});
}

SnapshotPtr Snapshots::newest() const {
  const std::lock_guard lock(mutex_);
  return states_.back().snapshot;
}

SnapshotPtr Snapshots::at(Revision revision) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::lower_bound(
      states_.begin(), states_.end(), revision,
      [](const State& state, Revision r) { return state.snapshot->revision() < r; });
  return at != states_.end() && at->snapshot->revision() == revision ? at->snapshot : nullptr;
}

void Snapshots::publish(Index index, Revision revision, std::size_t replaced_bytes) {
  State state{std::make_shared<const IndexSnapshot>(std::move(index), revision),
              replaced_bytes};
  std::vector<State> forgotten;  // destroyed outside the lock: that may free many nodes
  const std::lock_guard lock(mutex_);
  bytes_ += state.replaced_bytes;
  states_.push_back(std::move(state));
  while (states_.size() > 1 && (states_.size() > limits_.states || bytes_ > limits_.bytes)) {
    forgotten.push_back(std::move(states_.front()));
    states_.pop_front();
    // The oldest state that is left keeps nothing for anybody older.
    bytes_ -= states_.front().replaced_bytes;
    states_.front().replaced_bytes = 0;
  }
}

}  // namespace krater::storage
