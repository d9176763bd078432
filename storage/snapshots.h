// The published states: the newest, and those of the recent past for as long as they are cheap to
// keep. A list that pages over a recent revision costs no disk read. Any thread; the mutex is held
// for pointer copies only.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "storage/index.h"
#include "storage/store.h"

namespace krater::storage {

class Snapshots {
 public:
  struct Limits {
    std::size_t states;
    std::size_t bytes;  // kept alive by old states only
  };
  Snapshots(Limits limits, Index index, Revision revision);

  SnapshotPtr newest() const;
  // Null when the revision is not the end of a remembered group.
  SnapshotPtr at(Revision revision) const;
  // `replaced_bytes`: what the state before holds and this one does not.
  void publish(Index index, Revision revision, std::size_t replaced_bytes);

 private:
  struct State {
    SnapshotPtr snapshot;
    std::size_t replaced_bytes;  // by this state, hence kept by those before it
  };
  const Limits limits_;
  mutable std::mutex mutex_;
  std::deque<State> states_;  // never empty, oldest first
  std::size_t bytes_ = 0;
};

}  // namespace krater::storage
