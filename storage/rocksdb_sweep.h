// Deletes history that compaction has given up, in small steps. A version is stale when the log up
// to the compaction holds its successor, so the log itself is the work list: no scan over the live
// data. Interrupted anywhere, the next sweep goes on where this one stopped. One thread at a time.
#pragma once

#include "storage/rocksdb_disk.h"

namespace krater::storage {

// From what was swept last up to the disk's compaction.
Result<void> sweep(const std::shared_ptr<Disk>& disk);

}  // namespace krater::storage
