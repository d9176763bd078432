// The objects as one write sees them: a snapshot, and on top of it what the same transaction has
// decided so far. Used by one thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/admission/admission.h"
#include "storage/store.h"

namespace krater::api {

class View final : public ObjectReader {
 public:
  explicit View(storage::SnapshotPtr snapshot) : snapshot_(std::move(snapshot)) {}

  Result<ObjectPtr> get(const Kind& kind, std::string_view name_space,
                        std::string_view name) const override;
  Result<std::vector<ObjectPtr>> list(const Kind& kind, std::string_view name_space) const override;
  Result<bool> claimed(std::string_view claim) const override;

  // Null: removed.
  void set(std::string key, ObjectPtr object) { pending_[std::move(key)] = std::move(object); }
  void claim(const std::string& claim) { claims_.insert(claim); }

 private:
  storage::SnapshotPtr snapshot_;
  std::map<std::string, ObjectPtr, std::less<>> pending_;
  std::set<std::string, std::less<>> claims_;
};

}  // namespace krater::api
