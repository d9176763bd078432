#include "storage/rocksdb_recovery.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <optional>
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

struct Log {
  Recovered recovered;
  Revision written;  // the last revision that is a write, if one is left in the log
};

// A log must have no holes but those it states itself.
Result<Log> read_log(const Disk& disk, const Rows& rows) {
  Log log;
  log.recovered.head = disk.compacted();
  Revision& head = log.recovered.head;
  Revision hole;
  TRY(rows.log(head, Revision(INT64_MAX), [&](Revision revision, const LogEntry& entry) {
    const bool jump = entry.what == LogEntry::What::Jump;
    if (jump ? entry.previous > head : revision != head.next()) {
      hole = head.next();
      return false;
    }
    if (jump) log.recovered.lost.push_back({entry.previous, Revision(revision.number() - 1)});
    if (!jump) log.written = revision;
    head = revision;
    return true;
  }));
  if (hole != Revision()) return disk.damaged("revision " + hole.text() + " is missing in the log");
  return log;
}

// Relaxed writes were published before they were on disk. What a crash took of them must not be
// given out again: a client may have seen it, and would never learn what stands there now.
Result<void> skip_reserved(Disk& disk, Recovered& recovered) {
  TRY_ASSIGN(const std::int64_t reserved, disk.meta(kMetaReserved, 0));
  if (Revision(reserved) <= recovered.head) return {};
  const Revision to(reserved + 1);
  TRY(disk.jump(recovered.head, to));
  recovered.lost.push_back({recovered.head, Revision(reserved)});
  recovered.head = to;
  return {};
}

}  // namespace

Result<Recovered> recover(Disk& disk, IndexEditor& index) {
  // Not owned: the rows live shorter than the disk.
  const Rows rows(std::shared_ptr<const Disk>(std::shared_ptr<const Disk>(), &disk));
  TRY(check_format(disk, rows));
  TRY_ASSIGN(const std::int64_t compacted, disk.meta(kMetaCompacted, 0));
  disk.set_compacted(Revision(compacted));
  TRY_ASSIGN(Log log, read_log(disk, rows));
  Revision newest;
  std::optional<Error> sealed;
  TRY(rows.newest({}, {}, Revision(INT64_MAX), [&](const DataKey& key, const Version& version) {
    newest = std::max(newest, key.revision);
    if (version.kind != VersionKind::Put) return true;
    Result<RecordPtr> record = make_record(disk, key, version);
    if (record) {
      index.put(*std::move(record));
    } else {
      sealed = std::move(record).error();
    }
    return !sealed;
  }));
  if (sealed) {
    sealed->message = "data directory " + disk.path() + ": " + sealed->message;
    return *std::move(sealed);
  }
  const Revision head = log.recovered.head;
  if (newest > head || (log.written != Revision() && newest != log.written)) {
    return disk.damaged("the log ends at revision " + log.written.text() + ", the data at " +
                        newest.text());
  }
  if (head < disk.durable_mark()) {
    return disk.damaged("revisions up to " + disk.durable_mark().text() +
                        " had been acknowledged, but the write-ahead log can be read up to " +
                        head.text() + " only");
  }
  TRY(skip_reserved(disk, log.recovered));
  return std::move(log.recovered);
}

}  // namespace krater::storage
