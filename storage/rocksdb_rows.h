// Rows of the data and log tables turned into records and events, at one point of the database's
// own history. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "storage/key_codec.h"
#include "storage/rocksdb_disk.h"

namespace rocksdb {
class Snapshot;
}

namespace krater::storage {

// A pinned view of the database: rows that a later compaction deletes stay readable through it.
class Rows {
 public:
  explicit Rows(std::shared_ptr<const Disk> disk);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  const Disk& disk() const { return *disk_; }

  // For each key of [range] after `after`, the newest version <= `upto`, deletions included, in key
  // order. `visit` returns false to stop.
  using Visit = std::function<bool(const DataKey& key, const Version& version)>;
  Result<void> newest(const KeyRange& range, std::optional<std::string_view> after, Revision upto,
                      const Visit& visit) const;
  // The log with after < revision <= upto, in order. `visit` returns false to stop.
  using VisitLog = std::function<bool(Revision revision, const LogEntry& entry)>;
  Result<void> log(Revision after, Revision upto, const VisitLog& visit) const;

  // The version of a key at exactly this revision; it must exist. A deletion's value is filled in.
  Result<RecordPtr> record(std::string_view key, Revision revision, Revision previous) const;

 private:
  std::shared_ptr<const Disk> disk_;
  const rocksdb::Snapshot* pin_;
};

// The error is the sealer's: the value cannot be opened.
Result<RecordPtr> make_record(const Disk& disk, const DataKey& key, const Version& version);

}  // namespace krater::storage
