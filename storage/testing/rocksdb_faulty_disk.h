// A disk below RocksDB that loses power and fills up, without a process having to die. Any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "base/env.h"

namespace rocksdb {
class Env;
}

namespace krater::storage::testing {

class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();

  // For OpenOptions::env; the same for every life of a store on this disk.
  std::shared_ptr<rocksdb::Env> env() const;

  // Power is lost: of what was written and never synced, each file keeps a random beginning, and
  // nothing can be changed until it is back. Files opened before stay dead; the next store starts
  // from what is left.
  void lose_power(Rng& rng);
  void restore_power();
  // From now on only so many bytes can be written; more fails for want of space. Negative: no
  // limit.
  void set_space_left(std::int64_t bytes);

 private:
  class FileSystem;
  class File;
  std::shared_ptr<FileSystem> files_;
  std::shared_ptr<rocksdb::Env> env_;
};

}  // namespace krater::storage::testing
