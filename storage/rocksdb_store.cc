#include "storage/rocksdb_store.h"

#include <mutex>
#include <thread>
#include <utility>

#include "base/last_words.h"
#include "base/log.h"
#include "storage/commit_plan.h"
#include "storage/key_codec.h"
#include "storage/rocksdb_disk.h"
#include "storage/rocksdb_history.h"
#include "storage/rocksdb_recovery.h"
#include "storage/rocksdb_sweep.h"
#include "storage/snapshots.h"
#include "storage/watch_hub.h"
#include "storage/write_queue.h"

namespace krater::storage {
namespace {

// Owns the writer's thread. What a write passes, in order: queue -> plan -> disk -> snapshots ->
// watches -> answer.
class RocksdbStore final : public Store {
 public:
  RocksdbStore(const OpenOptions& options, std::shared_ptr<Disk> disk, IndexEditor index,
               Recovered recovered)
      : disk_(std::move(disk)),
        history_(std::make_shared<const DiskHistory>(disk_)),
        lost_(std::move(recovered.lost)),
        index_(std::move(index)),
        head_(recovered.head),
        snapshots_({options.recent_snapshots, options.recent_snapshot_bytes}, index_.freeze(),
                   head_),
        hub_(head_, {options.recent_events, options.recent_event_bytes}, history_),
        queue_({options.queue_transactions, options.queue_bytes, options.group_bytes}),
        threaded_(options.writer_thread) {
    if (threaded_) writer_ = std::thread([this] { run_writer(); });
  }

  ~RocksdbStore() override { stop(); }

  SnapshotPtr snapshot() const override { return snapshots_.newest(); }
  Revision revision() const override { return snapshots_.newest()->revision(); }
  Revision compacted() const override { return disk_->compacted(); }

  Result<SnapshotPtr> snapshot_at(Revision revision) const override {
    TRY(check_revision(revision));
    if (SnapshotPtr recent = snapshots_.at(revision)) return recent;
    return history_->snapshot(revision);
  }

  Result<std::unique_ptr<Watch>> watch(WatchOptions options) override {
    TRY(check_revision(options.after));
    return hub_.watch(std::move(options));
  }

  void commit(Transaction transaction, CommitDone done) override;
  Result<void> compact(Revision revision) override;
  std::optional<std::string> failure() const override;
  void stop() override;

 private:
  Result<void> check_revision(Revision revision) const;
  void run_writer();
  void write_queued();
  void handle(std::vector<PendingCommit> group);
  void write_group(std::vector<PendingCommit> group);
  Result<void> append(const CommitPlan& plan);
  void publish(CommitPlan& plan);
  void fail(const Error& error);
  Error refusal() const;

  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<const DiskHistory> history_;
  const std::vector<LostRevisions> lost_;
  // Writer's thread only.
  IndexEditor index_;
  Revision head_;
  Revision reserved_;  // relaxed writes need no sync up to here
  bool writing_ = false;
  // Any thread.
  Snapshots snapshots_;
  WatchHub hub_;
  WriteQueue queue_;
  std::mutex compacting_;  // one compaction at a time; held across its I/O, by nobody else
  mutable std::mutex failure_mutex_;
  std::optional<std::string> failure_;
  std::once_flag stopped_;
  const bool threaded_;
  std::thread writer_;  // last: it uses all of the above
};

Result<void> RocksdbStore::check_revision(Revision revision) const {
  if (revision < disk_->compacted()) return expired(revision, disk_->compacted());
  if (revision > this->revision()) {
    return make_error(Code::Invalid, "revision " + revision.text() +
                                         " has not happened yet, the newest is " +
                                         this->revision().text());
  }
  for (const LostRevisions& lost : lost_) {
    if (revision > lost.after && revision <= lost.upto) {
      return make_error(Code::Expired, "revision " + revision.text() + " was lost in a crash");
    }
  }
  return {};
}

void RocksdbStore::commit(Transaction transaction, CommitDone done) {
  PendingCommit pending{std::move(transaction), std::move(done)};
  switch (queue_.put(pending)) {
    case WriteQueue::Put::Queued:
      if (!threaded_) write_queued();
      return;
    case WriteQueue::Put::Full:
      pending.done(CommitFailure{make_error(Code::TooManyRequests, "too many writes are waiting")},
                   {});
      return;
    case WriteQueue::Put::Closed:
      pending.done(CommitFailure{refusal()}, {});
      return;
  }
}

void RocksdbStore::run_writer() {
  prepare_thread_for_last_words();
  for (auto group = queue_.take(); !group.empty(); group = queue_.take()) {
    handle(std::move(group));
  }
}

// Without a thread: an answer that commits again finds the outer call at work and leaves it to
// that.
void RocksdbStore::write_queued() {
  if (std::exchange(writing_, true)) return;
  for (auto group = queue_.take_queued(); !group.empty(); group = queue_.take_queued()) {
    handle(std::move(group));
  }
  writing_ = false;
}

void RocksdbStore::handle(std::vector<PendingCommit> group) {
  if (!failure()) return write_group(std::move(group));
  for (PendingCommit& pending : group) pending.done(CommitFailure{refusal()}, {});
}

void RocksdbStore::write_group(std::vector<PendingCommit> group) {
  CommitPlan plan(index_, head_, disk_->decode());
  std::vector<CommitPlan::Outcome> outcomes;
  outcomes.reserve(group.size());
  for (PendingCommit& pending : group) outcomes.push_back(plan.add(std::move(pending.transaction)));
  if (!plan.events().empty()) {
    const auto written = append(plan);
    if (!written) {
      // The index now holds what is not on disk; nobody sees it, for nothing is published any more.
      fail(written.error());
      for (PendingCommit& pending : group) pending.done(CommitFailure{refusal()}, {});
      return;
    }
    publish(plan);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    group[i].done(std::move(outcomes[i].failure), std::move(outcomes[i].committed));
  }
}

// A relaxed group waits for no sync, but the revisions it uses must never be given out again after
// a crash: they are reserved on disk beforehand, many at a time.
Result<void> RocksdbStore::append(const CommitPlan& plan) {
  constexpr std::int64_t kReserve = 10'000;
  if (plan.synced() || plan.head() <= reserved_) {
    return disk_->append(plan.events(), plan.synced(), std::nullopt);
  }
  const Revision reserve(plan.head().number() + kReserve);
  TRY(disk_->append(plan.events(), true, reserve));
  reserved_ = reserve;
  return {};
}

// Readers first: who learns of an event may ask for the state that has it.
void RocksdbStore::publish(CommitPlan& plan) {
  head_ = plan.head();
  const std::size_t replaced = plan.replaced_bytes() + index_.take_replaced_bytes();
  snapshots_.publish(index_.freeze(), head_, replaced);
  hub_.publish(plan.events());
}

Result<void> RocksdbStore::compact(Revision revision) {
  const std::lock_guard lock(compacting_);
  TRY(check_revision(revision));
  if (failure()) return refusal();
  if (revision > disk_->compacted()) {
    TRY(disk_->set_meta(kMetaCompacted, revision.number()));
    disk_->set_compacted(revision);
  }
  return sweep(disk_);
}

void RocksdbStore::fail(const Error& error) {
  log::error("store.failed", {{"why", error.message}});
  {
    const std::lock_guard lock(failure_mutex_);
    failure_ = error.message;
  }
  queue_.close();
}

std::optional<std::string> RocksdbStore::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

Error RocksdbStore::refusal() const {
  const auto why = failure();
  return make_error(Code::Unavailable,
                    why ? "the store accepts no writes: " + *why : "the store has been stopped");
}

void RocksdbStore::stop() {
  std::call_once(stopped_, [this] {
    queue_.close();
    if (writer_.joinable()) writer_.join();
    if (failure()) return;
    if (const auto synced = disk_->settle(head_); !synced) fail(synced.error());
  });
}

}  // namespace

Result<std::unique_ptr<Store>> open_rocksdb(OpenOptions options) {
  TRY_ASSIGN(std::shared_ptr<Disk> disk, Disk::open(options));
  IndexEditor index;
  TRY_ASSIGN(Recovered recovered, recover(*disk, index));
  log::info(
      "store.open",
      {{"path", disk->path()}, {"revision", recovered.head}, {"compacted", disk->compacted()}});
  return std::unique_ptr<Store>(std::make_unique<RocksdbStore>(
      options, std::move(disk), std::move(index), std::move(recovered)));
}

}  // namespace krater::storage
