#include "storage/rocksdb_rows.h"

#include <rocksdb/db.h>

#include <string>
#include <utility>

namespace krater::storage {
namespace {

// Versions of one key are stepped over; from here on a seek is cheaper.
constexpr int kStepsBeforeSeek = 16;

// Moves to the first row of the next key.
void skip_key(rocksdb::Iterator& rows, const std::string& key) {
  for (int step = 0; step < kStepsBeforeSeek; ++step) {
    rows.Next();
    if (!rows.Valid()) return;
    const auto at = parse_data_key(rows.key().ToStringView());
    if (!at || at->key != key) return;
  }
  rows.Seek(data_seek_after(key));
}

}  // namespace

RecordPtr make_record(const Decode& decode, const DataKey& key, const Version& version) {
  auto value = std::make_shared<const std::string>(version.value);
  auto decoded = decode ? decode(key.key, value, version.created, key.revision) : nullptr;
  return std::make_shared<const Record>(Record{std::string(key.key), std::move(value),
                                               version.created, key.revision, std::move(decoded)});
}

Rows::Rows(std::shared_ptr<const Disk> disk)
    : disk_(std::move(disk)), pin_(disk_->db().GetSnapshot()) {}

Rows::~Rows() {
  disk_->db().ReleaseSnapshot(pin_);
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
  const std::unique_ptr<rocksdb::Iterator> rows(disk_->db().NewIterator(options));
  rows->Seek(after && *after >= range.begin ? data_seek_after(*after) : data_seek(range.begin));
  while (rows->Valid()) {
    auto at = parse_data_key(rows->key().ToStringView());
    if (!at) return disk_->damaged("a row of the data table has no revision");
    const std::string key(at->key);
    if (at->revision > upto) {
      // Too new: the first row at or below `upto`, which may belong to the next key.
      rows->Seek(data_key(key, upto));
      continue;
    }
    const auto version = parse_version(rows->value().ToStringView());
    if (!version) return disk_->damaged("a version of " + key + " cannot be read");
    if (!visit(*at, *version)) return {};
    skip_key(*rows, key);
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
  const std::unique_ptr<rocksdb::Iterator> rows(disk_->db().NewIterator(options));
  for (rows->Seek(log_key(after.next())); rows->Valid(); rows->Next()) {
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
    return db.Get(options, db.DefaultColumnFamily(), data_key(key, at), &into);
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
  return make_record(disk_->decode(), {key, revision}, *version);
}

}  // namespace krater::storage
