// The open database: one directory, its lock, its error vocabulary, and the two things every part
// of the backend asks of it (append a group, how far compaction has got). Any thread, except where
// said.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/rocksdb_store.h"
#include "storage/store.h"

namespace rocksdb {
class DB;
class Status;
}  // namespace rocksdb

namespace krater::storage {

class DurableMark;

class Disk {
 public:
  static Result<std::shared_ptr<Disk>> open(const OpenOptions& options);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // Writer's thread. All of the events in one atomic write; `synced`: on disk when this returns.
  // `reserve`: relaxed writes may use revisions up to here; takes a synced write.
  Result<void> append(const std::vector<EventPtr>& events, bool synced,
                      std::optional<Revision> reserve);
  // Writer's thread, at the end: everything is on disk when this returns, and nothing more is
  // reserved.
  Result<void> settle(Revision head);
  // Recovery: what lies between `head` and `to` was given out and lost; the log says so from now
  // on.
  Result<void> jump(Revision head, Revision to);

  rocksdb::DB& db() const { return *db_; }
  const std::string& path() const { return path_; }
  const Decode& decode() const { return decode_; }
  const Sealer* sealer() const { return sealer_.get(); }  // null: values are written as they are
  // The revision that was certainly on disk when this directory was last written to; 0 when not
  // known.
  Revision durable_mark() const;

  // History up to here is gone. Set (and persisted) before the first row is deleted.
  Revision compacted() const { return Revision(compacted_.load(std::memory_order_acquire)); }
  void set_compacted(Revision revision) {
    compacted_.store(revision.number(), std::memory_order_release);
  }

  // A meta row; `fallback` when it has never been written.
  Result<std::int64_t> meta(std::string_view name, std::int64_t fallback) const;
  Result<void> set_meta(std::string_view name, std::int64_t number);

  // What the operator should read.
  Error error(const rocksdb::Status& status, std::string_view doing) const;
  Error damaged(std::string_view what) const;

 private:
  Disk() = default;
  Result<void> check_complete(rocksdb::Env& env) const;
  // In order of construction; the environment outlives the database.
  std::shared_ptr<rocksdb::Env> env_;
  std::string path_;
  Decode decode_;
  std::shared_ptr<const Sealer> sealer_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<DurableMark> mark_;
  std::atomic<std::int64_t> compacted_{0};
};

}  // namespace krater::storage
