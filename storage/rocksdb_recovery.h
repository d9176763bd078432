// What a directory holds, read and checked when it is opened.
#pragma once

#include "storage/index.h"
#include "storage/rocksdb_disk.h"

namespace krater::storage {

// Fills `index` with the newest versions and returns the head revision; sets the disk's compaction.
// Code::Internal when the rows contradict each other or the durable mark: better no store than a
// wrong one.
Result<Revision> recover(Disk& disk, IndexEditor& index);

}  // namespace krater::storage
