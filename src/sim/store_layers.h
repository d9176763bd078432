// Two layers around the store of a simulated world. From below: RocksDB, ObservedStore (the judge
// sees every transaction), FaultyStore (storage/), MortalStore (one life of the server).
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "storage/store.h"

namespace krater::sim {

// Shows every event, in order, before its writer is answered. Of a store without a writer's thread.
class ObservedStore final : public storage::Store {
 public:
  struct Eyes {
    std::function<void(const storage::Event&)> event;
    std::function<void()> transaction;  // all events of one or more transactions have been shown
  };
  ObservedStore(std::unique_ptr<storage::Store> inner, Eyes eyes);

  void commit(storage::Transaction transaction, storage::CommitDone done) override;
  storage::SnapshotPtr snapshot() const override { return inner_->snapshot(); }
  Result<storage::SnapshotPtr> snapshot_at(Revision revision) const override {
    return inner_->snapshot_at(revision);
  }
  Revision revision() const override { return inner_->revision(); }
  Revision compacted() const override { return inner_->compacted(); }
  Result<std::unique_ptr<storage::Watch>> watch(storage::WatchOptions options) override {
    return inner_->watch(std::move(options));
  }
  Result<void> compact(Revision revision) override { return inner_->compact(revision); }
  std::optional<std::string> failure() const override { return inner_->failure(); }
  void stop() override { inner_->stop(); }

 private:
  void look();

  std::unique_ptr<storage::Store> inner_;
  Eyes eyes_;
  std::unique_ptr<storage::Watch> all_;  // after inner_: goes first
};

// The store as one server process sees it. When it goes, answers under way reach nobody, and what
// was not yet handed over is never written.
class MortalStore final : public storage::Store {
 public:
  explicit MortalStore(storage::Store& inner) : inner_(inner) {}
  ~MortalStore() override { die(); }
  MortalStore(const MortalStore&) = delete;
  MortalStore& operator=(const MortalStore&) = delete;

  void die() { *alive_ = false; }
  void commit(storage::Transaction transaction, storage::CommitDone done) override;
  storage::SnapshotPtr snapshot() const override { return inner_.snapshot(); }
  Result<storage::SnapshotPtr> snapshot_at(Revision revision) const override {
    return inner_.snapshot_at(revision);
  }
  Revision revision() const override { return inner_.revision(); }
  Revision compacted() const override { return inner_.compacted(); }
  Result<std::unique_ptr<storage::Watch>> watch(storage::WatchOptions options) override {
    return inner_.watch(std::move(options));
  }
  Result<void> compact(Revision revision) override { return inner_.compact(revision); }
  std::optional<std::string> failure() const override { return inner_.failure(); }
  void stop() override { die(); }

 private:
  storage::Store& inner_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::sim
