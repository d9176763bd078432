#include "sim/store_layers.h"

#include "base/check.h"

namespace krater::sim {

ObservedStore::ObservedStore(std::unique_ptr<storage::Store> inner, Eyes eyes)
    : inner_(std::move(inner)), eyes_(std::move(eyes)) {
  auto watch = inner_->watch({storage::KeyRange{}, inner_->revision(), [] {}});
  CHECK(watch.has_value());
  all_ = *std::move(watch);
}

void ObservedStore::commit(storage::Transaction transaction, storage::CommitDone done) {
  inner_->commit(std::move(transaction),
                 [this, done = std::move(done)](auto failure, auto committed) {
                   look();
                   done(std::move(failure), std::move(committed));
                 });
}

void ObservedStore::look() {
  constexpr std::size_t kBatch = 256;
  bool any = false;
  for (;;) {
    const auto events = all_->next(kBatch);
    CHECK(events.has_value());
    if (events->empty()) break;
    for (const storage::EventPtr& event : *events) eyes_.event(*event);
    any = true;
  }
  if (any) eyes_.transaction();
}

void MortalStore::commit(storage::Transaction transaction, storage::CommitDone done) {
  if (!*alive_) return;
  inner_.commit(std::move(transaction),
                [alive = alive_, done = std::move(done)](auto failure, auto committed) {
                  if (*alive) done(std::move(failure), std::move(committed));
                });
}

}  // namespace krater::sim
