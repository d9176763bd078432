#include "storage/rocksdb_disk.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <utility>

#include "storage/key_codec.h"
#include "storage/rocksdb_call.h"
#include "storage/rocksdb_durable_mark.h"

namespace krater::storage {
namespace {

rocksdb::CompressionType compression() {
  const auto supported = rocksdb::GetSupportedCompressions();
  const bool lz4 =
      std::find(supported.begin(), supported.end(), rocksdb::kLZ4Compression) != supported.end();
  return lz4 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
}

rocksdb::Options database_options(const OpenOptions& options, rocksdb::Env* env) {
  rocksdb::Options o;
  o.env = env;
  o.create_if_missing = true;
  // Ends replay at the first bad record, the only mode that goes together with recycled log files;
  // DurableMark tells a torn tail from damage.
  o.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  o.recycle_log_file_num = 2;  // writing into an existing file: no file size to sync
  o.write_buffer_size = options.write_buffer_bytes;
  o.max_write_buffer_number = 3;
  o.max_background_jobs = 2;
  o.level_compaction_dynamic_level_bytes = true;
  o.compression = compression();
  o.max_open_files = 512;
  o.info_log_level = rocksdb::WARN_LEVEL;
  o.keep_log_file_num = 4;
  o.stats_dump_period_sec = 0;
  o.stats_persist_period_sec = 0;
  o.skip_stats_update_on_db_open = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(8U << 20);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  o.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return o;
}

bool is_lock_failure(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return status.IsIOError() && (text.find("lock file") != std::string::npos ||
                                text.find("lock hold by") != std::string::npos ||
                                text.find("lock is already held") != std::string::npos);
}

VersionKind kind_of(const Event& event) {
  if (event.what == Event::What::Put) return VersionKind::Put;
  return event.record->value == event.previous->value ? VersionKind::Deleted
                                                      : VersionKind::DeletedWithValue;
}

rocksdb::Status add_event(rocksdb::WriteBatch& batch, const Event& event, const Sealer* sealer) {
  const Record& record = *event.record;
  const VersionKind kind = kind_of(event);
  const std::string row = data_key(record.key, record.modified);
  const std::string head = version_head(kind, record.created);
  std::optional<std::string> sealed;
  if (sealer != nullptr && kind != VersionKind::Deleted)
    sealed = sealer->seal(record.key, *record.value);
  const rocksdb::Slice bytes = sealed ? rocksdb::Slice(*sealed) : rocksdb::Slice(*record.value);
  // Parts, so that the value is copied once, into the batch.
  const std::array<rocksdb::Slice, 2> value{
      rocksdb::Slice(head), kind == VersionKind::Deleted ? rocksdb::Slice() : bytes};
  const std::array<rocksdb::Slice, 1> key{rocksdb::Slice(row)};
  rocksdb::Status status =
      batch.Put(rocksdb::SliceParts(key.data(), 1), rocksdb::SliceParts(value.data(), 2));
  if (!status.ok()) return status;
  const Revision previous = event.previous ? event.previous->modified : Revision();
  const auto what = event.what == Event::What::Put ? LogEntry::What::Put : LogEntry::What::Delete;
  return batch.Put(log_key(record.modified), log_value({what, previous, record.key}));
}

}  // namespace

Result<std::shared_ptr<Disk>> Disk::open(const OpenOptions& options) {
  auto disk = std::shared_ptr<Disk>(new Disk());
  disk->path_ = options.in_memory && options.path.empty() ? "/krater" : options.path;
  disk->decode_ = options.decode;
  disk->sealer_ = options.sealer;
  disk->env_ = options.env;
  if (!disk->env_ && options.in_memory) {
    disk->env_.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  }
  rocksdb::Env* env = disk->env_ ? disk->env_.get() : rocksdb::Env::Default();
  const rocksdb::Status made = env->CreateDirIfMissing(disk->path_);
  if (!made.ok()) return disk->error(made, "creating the data directory");
  TRY(disk->check_complete(*env));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = in_rocksdb(
      [&] { return rocksdb::DB::Open(database_options(options, env), disk->path_, &db); });
  disk->db_.reset(db);
  if (is_lock_failure(status)) {
    return make_error(Code::Unavailable, "data directory " + disk->path_ +
                                             " is in use by another process (" + status.ToString() +
                                             ")");
  }
  if (!status.ok()) return disk->error(status, "opening");
  TRY_ASSIGN(disk->mark_, DurableMark::open(*env, disk->path_));
  return disk;
}

// RocksDB takes a directory without CURRENT for a new one, and what lies in it for rubbish. So it
// is where there is neither a log nor a table yet: whoever made it was killed before the end of
// that.
Result<void> Disk::check_complete(rocksdb::Env& env) const {
  std::vector<std::string> files;
  const rocksdb::Status status = env.GetChildren(path_, &files);
  if (!status.ok()) return error(status, "listing");
  const auto has = [&files](auto matches) {
    return std::any_of(files.begin(), files.end(), matches);
  };
  const auto is_content = [](const std::string& name) {
    return name.ends_with(".sst") || name.ends_with(".log");
  };
  if (has(is_content) && !has([](const std::string& name) { return name == "CURRENT"; })) {
    return damaged(path_ + "/CURRENT is missing");
  }
  return {};
}

Disk::~Disk() {
  in_rocksdb([this] { db_.reset(); });
}

Revision Disk::durable_mark() const {
  return mark_->at_open();
}

Result<void> Disk::append(const std::vector<EventPtr>& events, bool synced,
                          std::optional<Revision> reserve) {
  rocksdb::WriteBatch batch;
  rocksdb::Status added;
  for (const EventPtr& event : events) {
    added = add_event(batch, *event, sealer_.get());
    if (!added.ok()) return error(added, "encoding");
  }
  if (reserve) added = batch.Put(kMetaReserved, encode_number(reserve->number()));
  if (!added.ok()) return error(added, "encoding");
  rocksdb::WriteOptions options;
  options.sync = synced;
  const rocksdb::Status status = in_rocksdb([&] { return db_->Write(options, &batch); });
  if (!status.ok()) return error(status, "writing");
  if (synced) mark_->advance(events.back()->revision());
  return {};
}

Result<void> Disk::settle(Revision head) {
  // A synced write takes everything before it along.
  TRY(set_meta(kMetaReserved, head.number()));
  mark_->advance(head);
  return {};
}

Result<void> Disk::jump(Revision head, Revision to) {
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(log_key(to), log_value({LogEntry::What::Jump, head, {}}));
  if (status.ok()) status = batch.Put(kMetaReserved, encode_number(to.number()));
  rocksdb::WriteOptions options;
  options.sync = true;
  if (status.ok()) status = in_rocksdb([&] { return db_->Write(options, &batch); });
  if (!status.ok()) return error(status, "recovering");
  return {};
}

Result<std::int64_t> Disk::meta(std::string_view name, std::int64_t fallback) const {
  std::string bytes;
  const rocksdb::Status status =
      in_rocksdb([&] { return db_->Get(rocksdb::ReadOptions(), name, &bytes); });
  if (status.IsNotFound()) return fallback;
  if (!status.ok()) return error(status, "reading");
  const auto number = decode_number(bytes);
  if (!number) return damaged("meta row " + std::string(name.substr(1)) + " is not a number");
  return *number;
}

Result<void> Disk::set_meta(std::string_view name, std::int64_t number) {
  rocksdb::WriteOptions options;
  options.sync = true;
  const std::string value = encode_number(number);
  const rocksdb::Status status = in_rocksdb([&] { return db_->Put(options, name, value); });
  if (!status.ok()) return error(status, "writing");
  return {};
}

Error Disk::error(const rocksdb::Status& status, std::string_view doing) const {
  const std::string text = status.ToString();
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace) {
    return make_error(Code::Unavailable, "no space left on device: " + path_ + ": " + text);
  }
  if (status.IsCorruption()) return damaged(text);
  return make_error(Code::Internal, std::string(doing) + " " + path_ + " failed: " + text);
}

Error Disk::damaged(std::string_view what) const {
  return make_error(Code::Internal, "data directory " + path_ + " is damaged: " +
                                        std::string(what) + "; restore it from a snapshot");
}

}  // namespace krater::storage
