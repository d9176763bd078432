#include "storage/testing/rocksdb_faulty_disk.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace krater::storage::testing {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// Hands out files that hold back what has not been synced.
class FaultyDisk::FileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using rocksdb::FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "FaultyDisk"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    return wrap([&] { return target()->NewWritableFile(name, options, file, debug); }, file);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file,
                              IODebugContext* debug) override {
    return wrap([&] { return target()->ReopenWritableFile(name, options, file, debug); }, file);
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
    return wrap([&] { return target()->ReuseWritableFile(name, old, options, file, debug); }, file);
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    return powered() ? target()->DeleteFile(name, options, debug) : no_power();
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    return powered() ? target()->RenameFile(from, to, options, debug) : no_power();
  }

  bool powered() {
    const std::lock_guard lock(mutex);
    return power;
  }
  static IOStatus no_power() { return IOStatus::IOError("the disk has lost power"); }

  // Takes `bytes` from what is left.
  bool take_space(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    if (space_left < 0) return true;
    if (static_cast<std::int64_t>(bytes) > space_left) return false;
    space_left -= static_cast<std::int64_t>(bytes);
    return true;
  }

  std::mutex mutex;  // also every file's buffer: a power cut sees all files at one moment
  std::set<File*> open;
  std::int64_t space_left = -1;
  bool power = true;

 private:
  template <typename Open>
  IOStatus wrap(Open open_file, std::unique_ptr<FSWritableFile>* file);
};

class FaultyDisk::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(std::unique_ptr<FSWritableFile>&& inner, FileSystem& files)
      : FSWritableFileOwnerWrapper(std::move(inner)), files_(files) {
    const std::lock_guard lock(files_.mutex);
    files_.open.insert(this);
  }
  ~File() override {
    const std::lock_guard lock(files_.mutex);
    files_.open.erase(this);
  }

  IOStatus Append(const rocksdb::Slice& data, const IOOptions&, IODebugContext*) override {
    if (!files_.take_space(data.size())) return IOStatus::NoSpace("No space left on device");
    const std::lock_guard lock(files_.mutex);
    if (dead_) return gone();
    unsynced_.append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo&, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    const std::lock_guard lock(files_.mutex);
    return dead_ ? gone() : IOStatus::OK();
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return settle([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return settle([&] { return target()->Fsync(options, debug); });
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    return settle([&] { return target()->Truncate(size, options, debug); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return settle([&] { return target()->Close(options, debug); });
  }
  std::uint64_t GetFileSize(const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(files_.mutex);
    return target()->GetFileSize(options, debug) + unsynced_.size();
  }
  bool IsSyncThreadSafe() const override { return true; }

  // Under the mutex.
  void die(Rng& rng) {
    unsynced_.resize(rng.below(unsynced_.size() + 1));
    if (!unsynced_.empty())
      target()->Append(unsynced_, IOOptions(), nullptr).PermitUncheckedError();
    target()->Flush(IOOptions(), nullptr).PermitUncheckedError();
    unsynced_.clear();
    dead_ = true;
  }

 private:
  static IOStatus gone() { return FileSystem::no_power(); }

  template <typename Then>
  IOStatus settle(Then then) {
    const std::lock_guard lock(files_.mutex);
    if (dead_) return gone();
    if (!unsynced_.empty()) {
      IOStatus status = target()->Append(unsynced_, IOOptions(), nullptr);
      unsynced_.clear();
      if (!status.ok()) return status;
    }
    return then();
  }

  FileSystem& files_;
  std::string unsynced_;  // guarded by the file system's mutex
  bool dead_ = false;
};

template <typename Open>
IOStatus FaultyDisk::FileSystem::wrap(Open open_file, std::unique_ptr<FSWritableFile>* file) {
  if (!powered()) return no_power();
  IOStatus status = open_file();
  if (status.ok()) *file = std::make_unique<File>(std::move(*file), *this);
  return status;
}

FaultyDisk::FaultyDisk()
    : files_(std::make_shared<FileSystem>(rocksdb::FileSystem::Default())),
      env_(rocksdb::NewCompositeEnv(files_)) {}

FaultyDisk::~FaultyDisk() = default;

std::shared_ptr<rocksdb::Env> FaultyDisk::env() const {
  return env_;
}

void FaultyDisk::lose_power(Rng& rng) {
  const std::lock_guard lock(files_->mutex);
  for (File* file : files_->open) file->die(rng);
  files_->power = false;
}

void FaultyDisk::restore_power() {
  const std::lock_guard lock(files_->mutex);
  files_->power = true;
}

void FaultyDisk::set_space_left(std::int64_t bytes) {
  const std::lock_guard lock(files_->mutex);
  files_->space_left = bytes;
}

}  // namespace krater::storage::testing
