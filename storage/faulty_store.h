// A store that misbehaves as real ones do, from a seed: refuses, loses answers, answers late, ends
// watches. Wraps any Store; with all chances at 0 it is transparent. For tests and simulation.
#pragma once

#include <memory>
#include <mutex>

#include "base/env.h"
#include "storage/store.h"

namespace krater::storage {

// Chances in a thousand.
struct Faults {
  unsigned fail_before = 0;  // Code::Unavailable, and nothing was written
  unsigned fail_after = 0;   // Code::Timeout, but it was written: the client cannot tell
  unsigned delay = 0;        // the answer comes up to `delay_max` later, on the loop
  Duration delay_max = std::chrono::milliseconds(100);
  unsigned expire_watch = 0;  // next() answers Code::Expired, from then on always
};

class FaultyStore final : public Store {
 public:
  // `loop` is needed for delays only; without one there are none. It and `rng` outlive the store.
  FaultyStore(std::unique_ptr<Store> inner, Rng& rng, Faults faults, Loop* loop = nullptr);

  // Any thread; holds for what comes next.
  void set_faults(Faults faults);

  SnapshotPtr snapshot() const override { return inner_->snapshot(); }
  Result<SnapshotPtr> snapshot_at(Revision revision) const override {
    return inner_->snapshot_at(revision);
  }
  Revision revision() const override { return inner_->revision(); }
  Revision compacted() const override { return inner_->compacted(); }
  void commit(Transaction transaction, CommitDone done) override;
  Result<std::unique_ptr<Watch>> watch(WatchOptions options) override;
  Result<void> compact(Revision revision) override { return inner_->compact(revision); }
  std::optional<std::string> failure() const override { return inner_->failure(); }
  void stop() override { inner_->stop(); }

 private:
  class FaultyWatch;
  Faults faults() const;
  bool happens(unsigned chance) const { return chance > 0 && rng_.below(1000) < chance; }
  CommitDone lose_answer(CommitDone done) const;
  CommitDone delay_answer(CommitDone done, Duration by) const;

  std::unique_ptr<Store> inner_;
  Rng& rng_;
  Loop* loop_;
  mutable std::mutex mutex_;
  Faults faults_;
};

}  // namespace krater::storage
