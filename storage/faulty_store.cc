#include "storage/faulty_store.h"

#include <utility>

namespace krater::storage {

class FaultyStore::FaultyWatch final : public Watch {
 public:
  FaultyWatch(const FaultyStore& store, std::unique_ptr<Watch> inner)
      : store_(store), inner_(std::move(inner)) {}

  Result<std::vector<EventPtr>> next(std::size_t limit) override {
    expired_ = expired_ || store_.happens(store_.faults().expire_watch);
    if (expired_) return make_error(Code::Expired, "injected: the watch has expired");
    return inner_->next(limit);
  }
  Revision progress() const override { return inner_->progress(); }

 private:
  const FaultyStore& store_;
  std::unique_ptr<Watch> inner_;
  bool expired_ = false;
};

FaultyStore::FaultyStore(std::unique_ptr<Store> inner, Rng& rng, Faults faults, Loop* loop)
    : inner_(std::move(inner)), rng_(rng), loop_(loop), faults_(faults) {}

void FaultyStore::set_faults(Faults faults) {
  const std::lock_guard lock(mutex_);
  faults_ = faults;
}

Faults FaultyStore::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

// All dice are thrown here, on the caller's thread: their order is the order of commits.
void FaultyStore::commit(Transaction transaction, CommitDone done) {
  const Faults now = faults();
  if (loop_ != nullptr && happens(now.delay)) {
    const auto bound = static_cast<std::uint64_t>(now.delay_max.count()) + 1;
    done = delay_answer(std::move(done), Duration(rng_.below(bound)));
  }
  if (happens(now.fail_before)) {
    done(CommitFailure{make_error(Code::Unavailable, "injected: the write was refused")}, {});
    return;
  }
  if (happens(now.fail_after)) done = lose_answer(std::move(done));
  inner_->commit(std::move(transaction), std::move(done));
}

Result<std::unique_ptr<Watch>> FaultyStore::watch(WatchOptions options) {
  TRY_ASSIGN(std::unique_ptr<Watch> inner, inner_->watch(std::move(options)));
  return std::unique_ptr<Watch>(std::make_unique<FaultyWatch>(*this, std::move(inner)));
}

CommitDone FaultyStore::lose_answer(CommitDone done) const {
  return [done = std::move(done)](std::optional<CommitFailure> failure, Committed committed) {
    // A refusal is passed on: only the outcome of a write can be in doubt.
    if (failure) return done(std::move(failure), std::move(committed));
    done(CommitFailure{make_error(Code::Timeout, "injected: the answer was lost")}, {});
  };
}

CommitDone FaultyStore::delay_answer(CommitDone done, Duration by) const {
  return [loop = loop_, done = std::move(done), by](std::optional<CommitFailure> failure,
                                                    Committed committed) {
    loop->post(
        [loop, done, by, failure = std::move(failure), committed = std::move(committed)]() mutable {
          loop->after(by, [done, failure = std::move(failure), committed = std::move(committed)]() {
            done(failure, committed);
          });
        });
  };
}

}  // namespace krater::storage
