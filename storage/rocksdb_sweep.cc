#include "storage/rocksdb_sweep.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>

#include "storage/key_codec.h"
#include "storage/rocksdb_call.h"
#include "storage/rocksdb_rows.h"

namespace krater::storage {
namespace {

// Log rows a step: the writer waits behind one step's write at most.
constexpr std::int64_t kStep = 1000;

// Log rows (after, upto] and the versions they made stale, in one atomic write together with the
// new mark.
Result<void> step(const std::shared_ptr<Disk>& disk, Revision after, Revision upto) {
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  const Rows rows(disk);
  TRY(rows.log(after, upto, [&](Revision revision, const LogEntry& entry) {
    if (entry.what != LogEntry::What::Jump && entry.previous != Revision()) {
      status = batch.Delete(data_key(entry.key, entry.previous));
    }
    if (status.ok() && entry.what == LogEntry::What::Delete) {
      status = batch.Delete(data_key(entry.key, revision));
    }
    if (status.ok()) status = batch.Delete(log_key(revision));
    return status.ok();
  }));
  if (status.ok()) status = batch.Put(kMetaSwept, encode_number(upto.number()));
  // Not synced: what a crash forgets is swept again.
  if (status.ok()) {
    status = in_rocksdb([&] { return disk->db().Write(rocksdb::WriteOptions(), &batch); });
  }
  if (!status.ok()) return disk->error(status, "compacting");
  return {};
}

}  // namespace

Result<void> sweep(const std::shared_ptr<Disk>& disk) {
  TRY_ASSIGN(const std::int64_t swept, disk->meta(kMetaSwept, 0));
  Revision done(swept);
  while (done < disk->compacted()) {
    const Revision upto = std::min(Revision(done.number() + kStep), disk->compacted());
    TRY(step(disk, done, upto));
    done = upto;
  }
  return {};
}

}  // namespace krater::storage
