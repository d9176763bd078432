// Where a store under test lives: something that can be opened, closed and opened again with its
// content intact.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "storage/rocksdb_store.h"

namespace krater::storage::testing {

class Medium {
 public:
  virtual ~Medium() = default;
  // At most one store at a time. `tuning`: limits and decoder; the medium fills in where.
  virtual Result<std::unique_ptr<Store>> open(OpenOptions tuning) = 0;
};

// A fresh directory, removed at the end.
class DiskMedium final : public Medium {
 public:
  DiskMedium();
  ~DiskMedium() override;
  Result<std::unique_ptr<Store>> open(OpenOptions tuning) override;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// RocksDB's in-memory environment, living longer than the stores on it.
class MemoryMedium final : public Medium {
 public:
  MemoryMedium();
  Result<std::unique_ptr<Store>> open(OpenOptions tuning) override;

 private:
  std::shared_ptr<rocksdb::Env> env_;
};

struct NamedMedium {
  std::string name;
  std::function<std::unique_ptr<Medium>()> make;
  friend void PrintTo(const NamedMedium& medium, std::ostream* out) { *out << medium.name; }
};

}  // namespace krater::storage::testing
