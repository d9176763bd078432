#include "storage/rocksdb_rows.h"

#include <rocksdb/db.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "storage/rocksdb_call.h"

namespace krater::storage {
namespace {

// Versions of one key are stepped over; from here on a seek is cheaper.
constexpr int kStepsBeforeSeek = 16;

// An iterator that moves inside RocksDB only.
class Scan {
 public:
  Scan(rocksdb::DB& db, const rocksdb::ReadOptions& options)
      : rows_(in_rocksdb([&] { return db.NewIterator(options); })) {}
  ~Scan() {
    in_rocksdb([this] { rows_.reset(); });
  }
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  void seek(const std::string& row) {
    in_rocksdb([&] { rows_->Seek(row); });
  }
  void next() {
    in_rocksdb([this] { rows_->Next(); });
  }
  const rocksdb::Iterator* operator->() const { return rows_.get(); }

 private:
  std::unique_ptr<rocksdb::Iterator> rows_;
};

// Moves to the first row of the next key.
void skip_key(Scan& rows, const std::string& key) {
  for (int step = 0; step < kStepsBeforeSeek; ++step) {
    rows.next();
    if (!rows->Valid()) return;
    const auto at = parse_data_key(rows->key().ToStringView());
    if (!at || at->key != key) return;
  }
  rows.seek(data_seek_after(key));
}

}  // namespace

Result<RecordPtr> make_record(const Disk& disk, const DataKey& key, const Version& version) {
  std::optional<std::string> opened;
  if (disk.sealer() != nullptr) {
    TRY_ASSIGN(opened, disk.sealer()->open(key.key, version.value));
  }
  auto value = opened ? std::make_shared<const std::string>(*std::move(opened))
                      : std::make_shared<const std::string>(version.value);
  const Decode& decode = disk.decode();
  auto decoded = decode ? decode(key.key, value, version.created, key.revision) : nullptr;
  return RecordPtr(std::make_shared<const Record>(Record{
      std::string(key.key), std::move(value), version.created, key.revision, std::move(decoded)}));
}

Rows::Rows(std::shared_ptr<const Disk> disk)
    : disk_(std::move(disk)), pin_(in_rocksdb([this] { return disk_->db().GetSnapshot(); })) {}

Rows::~Rows() {
  in_rocksdb([this] { disk_->db().ReleaseSnapshot(pin_); });
}

Result<void> Rows::newest(const KeyRange& range, std::optional<std::string_view> after,
                          Revision upto, const Visit& visit) const {
  const std::string end = range.end.empty() ? std::string(kDataEnd) : data_seek(range.end);
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions options;
  options.snapshot = pin_;
  options.iterate_upper_bound = &bound;
  options.fill_cache = false;
  options.readahead_size = 1U << 20;
  Scan rows(disk_->db(), options);
  rows.seek(after && *after >= range.begin ? data_seek_after(*after) : data_seek(range.begin));
  while (rows->Valid()) {
    auto at = parse_data_key(rows->key().ToStringView());
    if (!at) return disk_->damaged("a row of the data table has no revision");
    const std::string key(at->key);
    if (at->revision > upto) {
      // Too new: the first row at or below `upto`, which may belong to the next key.
      rows.seek(data_key(key, upto));
      continue;
    }
    const auto version = parse_version(rows->value().ToStringView());
    if (!version) return disk_->damaged("a version of " + key + " cannot be read");
    if (!visit(*at, *version)) return {};
    skip_key(rows, key);
  }
  if (!rows->status().ok()) return disk_->error(rows->status(), "reading");
  return {};
}

Result<void> Rows::log(Revision after, Revision upto, const VisitLog& visit) const {
  const rocksdb::Slice bound(kLogEnd.data(), kLogEnd.size());
  rocksdb::ReadOptions options;
  options.snapshot = pin_;
  options.iterate_upper_bound = &bound;
  options.fill_cache = false;
  Scan rows(disk_->db(), options);
  for (rows.seek(log_key(after.next())); rows->Valid(); rows.next()) {
    const auto revision = parse_log_key(rows->key().ToStringView());
    const auto entry = parse_log_value(rows->value().ToStringView());
    if (!revision || !entry) return disk_->damaged("a row of the log cannot be read");
    if (*revision > upto) break;
    if (!visit(*revision, *entry)) return {};
  }
  if (!rows->status().ok()) return disk_->error(rows->status(), "reading");
  return {};
}

Result<RecordPtr> Rows::record(std::string_view key, Revision revision, Revision previous) const {
  rocksdb::ReadOptions options;
  options.snapshot = pin_;
  rocksdb::PinnableSlice bytes, last;
  auto& db = disk_->db();
  const auto fetch = [&](Revision at, rocksdb::PinnableSlice& into) {
    const std::string row = data_key(key, at);
    return in_rocksdb([&] { return db.Get(options, db.DefaultColumnFamily(), row, &into); });
  };
  rocksdb::Status status = fetch(revision, bytes);
  if (!status.ok() && !status.IsNotFound()) return disk_->error(status, "reading");
  auto version = status.ok() ? parse_version(bytes.ToStringView()) : std::nullopt;
  if (version && version->kind == VersionKind::Deleted) {
    status = fetch(previous, last);
    if (!status.ok() && !status.IsNotFound()) return disk_->error(status, "reading");
    const auto before = status.ok() ? parse_version(last.ToStringView()) : std::nullopt;
    if (before) {
      version->value = before->value;
    } else {
      version.reset();
    }
  }
  if (!version) {
    return disk_->damaged("the log names revision " + revision.text() + " of " + std::string(key) +
                          ", which is missing");
  }
  return make_record(*disk_, {key, revision}, *version);
}

}  // namespace krater::storage
