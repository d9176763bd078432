#include "api/registry/view.h"

#include "api/registry/keys.h"

namespace krater::api {

Result<ObjectPtr> View::get(const Kind& kind, std::string_view name_space,
                            std::string_view name) const {
  const std::string key = store_key(kind, name_space, name);
  if (const auto place = pending_.find(key); place != pending_.end()) return place->second;
  TRY_ASSIGN(const storage::RecordPtr record, snapshot_->get(key));
  return record ? object_of(record) : nullptr;
}

Result<std::vector<ObjectPtr>> View::list(const Kind& kind, std::string_view name_space) const {
  const storage::KeyRange range =
      store_range(kind.resource(), kind.namespaced ? name_space : std::string_view());
  std::map<std::string, ObjectPtr> found;
  TRY(snapshot_->scan(range, std::nullopt, [&](const storage::RecordPtr& record) {
    found.emplace(record->key, object_of(record));
    return true;
  }));
  // Not all that is pending: a transaction of thousands looks at a few lists for each of its
  // writes.
  for (auto at = pending_.lower_bound(range.begin);
       at != pending_.end() && range.contains(at->first); ++at) {
    found.insert_or_assign(at->first, at->second);
  }
  std::vector<ObjectPtr> out;
  for (auto& [key, object] : found) {
    if (object) out.push_back(std::move(object));
  }
  return out;
}

Result<bool> View::claimed(std::string_view claim) const {
  if (claims_.contains(claim)) return true;
  TRY_ASSIGN(const storage::RecordPtr record, snapshot_->get(claim_key(claim)));
  return record != nullptr;
}

}  // namespace krater::api
