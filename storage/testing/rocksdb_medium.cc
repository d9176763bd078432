#include <rocksdb/env.h>
#include <stdlib.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "storage/testing/medium.h"

namespace krater::storage::testing {

DiskMedium::DiskMedium() {
  std::string pattern = std::filesystem::temp_directory_path() / "krater-store-XXXXXX";
  CHECK(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

DiskMedium::~DiskMedium() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<std::unique_ptr<Store>> DiskMedium::open(OpenOptions tuning) {
  tuning.path = path_;
  return open_rocksdb(std::move(tuning));
}

MemoryMedium::MemoryMedium() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {}

Result<std::unique_ptr<Store>> MemoryMedium::open(OpenOptions tuning) {
  tuning.path = "/krater";
  tuning.env = env_;
  return open_rocksdb(std::move(tuning));
}

}  // namespace krater::storage::testing
