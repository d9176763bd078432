#include "storage/rocksdb_history.h"

#include <utility>

#include "storage/rocksdb_rows.h"

namespace krater::storage {
namespace {

class PastSnapshot final : public Snapshot {
 public:
  PastSnapshot(std::unique_ptr<const Rows> rows, Revision revision)
      : rows_(std::move(rows)), revision_(revision) {}

  Revision revision() const override { return revision_; }

  Result<RecordPtr> get(std::string_view key) const override {
    KeyRange only{std::string(key), std::string(key)};
    only.end.push_back('\1');  // no version of another key lies between
    RecordPtr found;
    TRY(scan(only, std::nullopt, [&](const RecordPtr& record) {
      if (record->key == key) found = record;
      return false;
    }));
    return found;
  }

  Result<void> scan(const KeyRange& range, std::optional<std::string_view> after,
                    const std::function<bool(const RecordPtr&)>& visit) const override {
    std::optional<Error> sealed;
    TRY(rows_->newest(range, after, revision_, [&](const DataKey& key, const Version& version) {
      if (version.kind != VersionKind::Put) return true;
      Result<RecordPtr> record = make_record(rows_->disk(), key, version);
      if (record) return visit(*record);
      sealed = std::move(record).error();
      return false;
    }));
    if (sealed) return *std::move(sealed);
    return {};
  }

  Result<std::size_t> count(const KeyRange& range,
                            std::optional<std::string_view> after) const override {
    std::size_t live = 0;
    TRY(rows_->newest(range, after, revision_, [&live](const DataKey&, const Version& version) {
      live += version.kind == VersionKind::Put ? 1 : 0;
      return true;
    }));
    return live;
  }

 private:
  std::unique_ptr<const Rows> rows_;
  Revision revision_;
};

}  // namespace

Error expired(Revision asked, Revision compacted) {
  return make_error(Code::Expired, "revision " + asked.text() +
                                       " is gone: history has been compacted up to " +
                                       compacted.text());
}

Result<SnapshotPtr> DiskHistory::snapshot(Revision revision) const {
  auto rows = std::make_unique<const Rows>(disk_);
  // In this order: compaction moves `compacted` before it deletes, so a pin taken below it misses
  // nothing.
  if (revision < disk_->compacted()) return expired(revision, disk_->compacted());
  return SnapshotPtr(std::make_shared<const PastSnapshot>(std::move(rows), revision));
}

Result<History::Events> DiskHistory::events(const KeyRange& range, Revision after, Revision upto,
                                            std::size_t limit) const {
  const Rows rows(disk_);
  if (after < disk_->compacted()) return expired(after, disk_->compacted());  // order: as above
  Events found{{}, upto};
  std::optional<Error> failed;
  TRY(rows.log(after, upto, [&](Revision revision, const LogEntry& entry) {
    if (entry.what == LogEntry::What::Jump || !range.contains(entry.key)) return true;
    if (found.events.size() == limit) {
      found.upto = found.events.back()->revision();
      return false;
    }
    auto record = rows.record(entry.key, revision, entry.previous);
    RecordPtr previous;
    if (record && entry.previous != Revision()) {
      auto before = rows.record(entry.key, entry.previous, Revision());
      if (before) {
        previous = *std::move(before);
      } else {
        record = std::move(before).error();
      }
    }
    if (!record) {
      failed = std::move(record).error();
      return false;
    }
    found.events.push_back(std::make_shared<const Event>(
        Event{entry.what == LogEntry::What::Put ? Event::What::Put : Event::What::Delete,
              *std::move(record), std::move(previous)}));
    return true;
  }));
  if (failed) return *std::move(failed);
  return found;
}

}  // namespace krater::storage
