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
  for (const auto& [key, object] : pending_) {
    if (range.contains(key)) found.insert_or_assign(key, object);
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
