// The past, read from disk: states at old revisions, and events that memory has forgotten. Any
// thread.
#pragma once

#include <memory>

#include "storage/history.h"
#include "storage/rocksdb_disk.h"

namespace krater::storage {

class DiskHistory final : public History {
 public:
  explicit DiskHistory(std::shared_ptr<const Disk> disk) : disk_(std::move(disk)) {}

  Result<Events> events(const KeyRange& range, Revision after, Revision upto,
                        std::size_t limit) const override;
  // The state at a revision that has happened. Code::Expired below the compaction. What it returns
  // stays readable whatever is compacted later.
  Result<SnapshotPtr> snapshot(Revision revision) const;

 private:
  std::shared_ptr<const Disk> disk_;
};

// How an answer words that history is gone.
Error expired(Revision asked, Revision compacted);

}  // namespace krater::storage
