#include "storage/rocksdb_recovery.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <string>

#include "storage/key_codec.h"
#include "storage/rocksdb_rows.h"

namespace krater::storage {
namespace {

// A new directory gets its format row first, so a directory with rows but without it is not ours,
// or damaged.
Result<void> check_format(Disk& disk, const Rows& rows) {
  TRY_ASSIGN(const std::int64_t format, disk.meta(kMetaFormat, 0));
  if (format == kFormatVersion) return {};
  if (format != 0) {
    return make_error(Code::Internal, "data directory " + disk.path() + " has format " +
                                          std::to_string(format) + ", this version reads format " +
                                          std::to_string(kFormatVersion) + " only");
  }
  bool empty = true;
  TRY(rows.log(Revision(), Revision(INT64_MAX),
               [&empty](Revision, const LogEntry&) { return empty = false; }));
  if (!empty) return disk.damaged("its format row is missing");
  return disk.set_meta(kMetaFormat, kFormatVersion);
}

// The last revision of a log that must not have holes.
Result<Revision> log_head(const Disk& disk, const Rows& rows, Revision compacted) {
  Revision head = compacted;
  Revision hole;
  TRY(rows.log(compacted, Revision(INT64_MAX), [&](Revision revision, const LogEntry&) {
    if (revision != head.next()) {
      hole = head.next();
      return false;
    }
    head = revision;
    return true;
  }));
  if (hole != Revision()) return disk.damaged("revision " + hole.text() + " is missing in the log");
  return head;
}

}  // namespace

Result<Revision> recover(Disk& disk, IndexEditor& index) {
  // Not owned: the rows live shorter than the disk.
  const Rows rows(std::shared_ptr<const Disk>(std::shared_ptr<const Disk>(), &disk));
  TRY(check_format(disk, rows));
  TRY_ASSIGN(const std::int64_t compacted, disk.meta(kMetaCompacted, 0));
  disk.set_compacted(Revision(compacted));
  TRY_ASSIGN(const Revision head, log_head(disk, rows, disk.compacted()));
  Revision newest;
  TRY(rows.newest({}, {}, Revision(INT64_MAX), [&](const DataKey& key, const Version& version) {
    newest = std::max(newest, key.revision);
    if (version.kind == VersionKind::Put) index.put(make_record(disk.decode(), key, version));
    return true;
  }));
  if (newest > head || (head > disk.compacted() && newest != head)) {
    return disk.damaged("the log ends at revision " + head.text() + ", the data at " +
                        newest.text());
  }
  if (head < disk.durable_mark()) {
    return disk.damaged("revisions up to " + disk.durable_mark().text() +
                        " had been acknowledged, but the write-ahead log can be read up to " +
                        head.text() + " only");
  }
  return head;
}

}  // namespace krater::storage
