// A small file beside the database that says "revisions up to here were on disk". It is written
// after each sync and never synced itself, so it may lag behind but never runs ahead. Why: after a
// crash the log legitimately ends in a torn write, and RocksDB drops everything from the first bad
// record on. Were that record damaged in the middle of what had been acknowledged, the loss would
// be silent. The mark tells the two apart: recovery below the mark is damage. Writer's thread.
#pragma once

#include <memory>
#include <string>

#include "base/ids.h"
#include "base/result.h"

namespace rocksdb {
class Env;
class RandomRWFile;
}  // namespace rocksdb

namespace krater::storage {

class DurableMark {
 public:
  // Reads the mark, or creates the file. A mark that cannot be read counts as unknown (0): it is a
  // second witness.
  static Result<std::unique_ptr<DurableMark>> open(rocksdb::Env& env, const std::string& directory);
  ~DurableMark();

  Revision at_open() const { return at_open_; }
  void advance(Revision revision);

 private:
  DurableMark() = default;
  std::unique_ptr<rocksdb::RandomRWFile> file_;
  Revision at_open_;
};

}  // namespace krater::storage
