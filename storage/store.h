// The store's contract: etcd's, on keys and bytes. It never knows a kind.
//
// - One global revision. Every put or delete consumes one; a transaction of n writes consumes n
// consecutive ones and
//   becomes visible, durable and watchable as a whole, or not at all.
// - commit() answers only after the batch is synced to disk and published to readers
// (Durability::Synced).
// - Readers take O(1) snapshots and never block the writer. A snapshot is one revision for ever.
// - A watch delivers every event after its start revision exactly once, in revision order. Slow
// watchers are not cut
//   off: they pull, from memory or from the log on disk. Only compaction ends them (Code::Expired).
// - Keys are not empty and hold no NUL byte. One transaction names a key in at most one put or
// delete.
// - compact(r) drops history up to r: snapshot_at and watches below it answer Code::Expired.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace krater::storage {

using Bytes = std::shared_ptr<const std::string>;

// One version of one key, immutable and shared by the index, readers and watchers.
struct Record {
  std::string key;
  Bytes value;
  Revision created;   // revision of the put that brought the key into being
  Revision modified;  // revision of this version
  // What OpenOptions::decode made of it, once, when the version was published (or loaded). Null
  // without a decoder.
  std::shared_ptr<const void> decoded;
};
using RecordPtr = std::shared_ptr<const Record>;

// What must hold for a key before its write: the whole of concurrency control.
struct Expect {
  enum class What { Any, Absent, Present, Exactly };
  What what = What::Any;
  Revision revision{};  // for Exactly: the version's `modified`

  static Expect any() { return {}; }
  static Expect absent() { return {What::Absent, {}}; }
  static Expect present() { return {What::Present, {}}; }
  static Expect exactly(Revision revision) { return {What::Exactly, revision}; }
};

// Preconditions are judged on the state before the transaction. Deleting what is absent is NotFound
// whatever is expected.
struct Op {
  enum class What { Put, Delete, Check };  // Check writes nothing and consumes no revision
  What what = What::Put;
  std::string key;
  Expect expect{};
  std::string value{};  // Put; Delete may carry the last value its event shows (empty: the value it
                        // deletes)
  // Where in `value` the decimal revision of this write is inserted before it is stored: objects
  // carry their own revision in their bytes, and only the writer knows it. nullopt: stored as it
  // is.
  std::optional<std::size_t> revision_at{};
};

enum class Durability {
  Synced,   // answered after the WAL is on disk
  Relaxed,  // answered once published; a crash may lose it (leases, events)
};

struct Transaction {
  std::vector<Op> ops;
  Durability durability = Durability::Synced;
};

struct Committed {
  Revision revision;  // of the last write; the store's revision when nothing was written
  std::vector<RecordPtr> records;  // one per op: the new version; for a delete its last value at
                                   // the deletion's revision; null for a check
};

// A failed precondition: Code::AlreadyExists (Absent), NotFound (Present, Exactly on nothing) or
// Conflict (Exactly). Code::Invalid: a key, a `revision_at` or a repeated key against the contract.
struct CommitFailure {
  Error error;
  std::size_t op = 0;   // index of the op that failed
  RecordPtr current{};  // what stands there now, if anything
};

// Called once, on the writer's thread, or on the caller's when the queue refuses: hand over, do not
// work there.
using CommitDone = std::function<void(std::optional<CommitFailure> failure, Committed committed)>;

struct Event {
  enum class What { Put, Delete };
  What what = What::Put;
  RecordPtr record;  // the new version; for a delete: key, last value, `modified` = revision of the
                     // deletion
  RecordPtr previous;  // the version before; null for a creation
  Revision revision() const { return record->modified; }
};
using EventPtr = std::shared_ptr<const Event>;

// Half-open range of keys; an empty end means "to the last key".
struct KeyRange {
  std::string begin;
  std::string end;
  static KeyRange prefix(std::string_view prefix);
  bool contains(std::string_view key) const { return key >= begin && (end.empty() || key < end); }
};

// The state at one revision. Any thread. Cheap to hold, cheap to copy the pointer.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Revision revision() const = 0;
  // Null when absent. Code::Internal when the disk lets us down.
  virtual Result<RecordPtr> get(std::string_view key) const = 0;
  // In key order from the first key of the range that is > `after` (when given); stops when `visit`
  // returns false.
  virtual Result<void> scan(const KeyRange& range, std::optional<std::string_view> after,
                            const std::function<bool(const RecordPtr&)>& visit) const = 0;
  virtual Result<std::size_t> count(const KeyRange& range,
                                    std::optional<std::string_view> after = {}) const = 0;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// A cursor over the event log. One reader thread at a time. Dropping it ends the watch: once the
// destructor has returned `notify` is not running and will not be called. Drop it before the store.
class Watch {
 public:
  virtual ~Watch() = default;
  // Up to `limit` events after the cursor, which moves past them. Empty: nothing yet, `notify` will
  // be called once when there is. Code::Expired when compaction overtook the cursor. Never blocks
  // on the writer.
  virtual Result<std::vector<EventPtr>> next(std::size_t limit) = 0;
  // Everything of the range up to here has been returned by next(): what a bookmark may claim.
  virtual Revision progress() const = 0;
};

struct WatchOptions {
  KeyRange range;
  Revision after;  // deliver revisions > after
  std::function<void()>
      notify{};  // called on the writer's thread, after an empty next(), at most once each
};

class Store {
 public:
  virtual ~Store() = default;
  virtual SnapshotPtr snapshot() const = 0;
  // Code::Expired below the compaction (or lost with a relaxed write in a crash), Code::Invalid for
  // a revision that has not happened.
  virtual Result<SnapshotPtr> snapshot_at(Revision revision) const = 0;
  virtual Revision revision() const = 0;
  virtual Revision compacted() const = 0;
  // Queues the transaction; `done` is always called, Code::Unavailable once the store has stopped
  // or failed (disk full, I/O error: the message says which; nothing is acknowledged that is not
  // durable), Code::TooManyRequests when the queue is full.
  virtual void commit(Transaction transaction, CommitDone done) = 0;
  // Code::Expired when `after` is below the compaction, Code::Invalid when it is in the future.
  virtual Result<std::unique_ptr<Watch>> watch(WatchOptions options) = 0;
  // Code::Expired if already compacted further, Code::Invalid for the future. Works on the caller's
  // thread, in small steps between the writer's batches, and returns when the space is released:
  // never call it on a loop.
  virtual Result<void> compact(Revision revision) = 0;
  // Why no write is accepted any more, or nothing while all is well (readyz).
  virtual std::optional<std::string> failure() const = 0;
  // Finishes queued commits, then refuses. Idempotent. Called before destruction.
  virtual void stop() = 0;
};

// Made once for each version that is published (on the writer's thread, so keep it lean) or loaded
// from history (on the reader's thread, so keep it free of shared state).
using Decode = std::function<std::shared_ptr<const void>(std::string_view key, const Bytes& value,
                                                         Revision created, Revision modified)>;

// Blocking convenience over commit() for tests and tools; never on a loop.
Result<Committed> commit_and_wait(Store& store, Transaction transaction);

}  // namespace krater::storage
