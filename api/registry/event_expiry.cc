#include "api/registry/event_expiry.h"

#include <algorithm>
#include <utility>

#include "api/registry/encode.h"
#include "api/registry/keys.h"
#include "base/log.h"

namespace krater::api {
namespace {

constexpr Duration kKept = 1h;
constexpr std::size_t kTransactionSize = 256;

// The newest of the times an event carries. Documents are parsed only of events made long enough
// ago.
WallTime last_seen(const Object& event) {
  WallTime out = event.created().value_or(WallTime());
  const std::shared_ptr<const Json> document = event.document();
  for (const auto& text :
       {string_at(*document, {"lastTimestamp"}), string_at(*document, {"eventTime"}),
        string_at(*document, {"series", "lastObservedTime"})}) {
    if (!text) continue;
    if (const auto time = parse_rfc3339(*text)) out = std::max(out, *time);
  }
  return out;
}

void remove(storage::Store& store, std::vector<storage::Op>& ops) {
  if (ops.empty()) return;
  storage::Transaction transaction{std::exchange(ops, {}), storage::Durability::Relaxed};
  store.commit(std::move(transaction),
               [](std::optional<storage::CommitFailure> failure, storage::Committed) {
                 // An event of the bunch was touched or removed meanwhile: the next pass looks
                 // again.
                 if (failure)
                   log::debug("events.expiry_deferred", {{"why", failure->error.message}});
               });
}

}  // namespace

void delete_old_events(storage::Store& store, WallTime now) {
  const WallTime before = now - kKept;
  std::vector<storage::Op> ops;
  const Result<void> scanned = store.snapshot()->scan(
      store_range(kinds::kEvent.resource(), ""), std::nullopt,
      [&](const storage::RecordPtr& record) {
        const ObjectPtr event = object_of(record);
        if (event->created().value_or(now) >= before || last_seen(*event) >= before) return true;
        Encoded last = encode_object(*event->document());
        storage::Op op;
        op.what = storage::Op::What::Delete;
        op.key = record->key;
        op.expect = storage::Expect::exactly(record->modified);
        op.value = std::move(last.bytes);
        op.revision_at = last.revision_at;
        ops.push_back(std::move(op));
        if (ops.size() == kTransactionSize) remove(store, ops);
        return true;
      });
  if (!scanned) log::warn("events.expiry_failed", {{"why", scanned.error().message}});
  remove(store, ops);
}

}  // namespace krater::api
