// What a directory holds, read and checked when it is opened.
#pragma once

#include <vector>

#include "storage/index.h"
#include "storage/rocksdb_disk.h"

namespace krater::storage {

// Revisions in (after, upto] were given out by relaxed writes and may have been lost in a crash:
// nobody can resume there.
struct LostRevisions {
  Revision after;
  Revision upto;
};

struct Recovered {
  Revision head;
  std::vector<LostRevisions> lost;
};

// Fills `index` with the newest versions; sets the disk's compaction.
// Code::Internal when the rows contradict each other or the durable mark: better no store than a
// wrong one.
Result<Recovered> recover(Disk& disk, IndexEditor& index);

}  // namespace krater::storage
