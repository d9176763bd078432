// Who depends on whom: an index by the owners' uids over everything the cache shows, kept up with
// each change, and the answer to "who must look again because of this change?". Control loop only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/object.h"

namespace krater::controllers {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

bool has_finalizer(const Object& object, std::string_view finalizer);
// Being deleted, and staying until its dependents are gone.
bool waits_for_dependents(const Object& object);

// Kinds by group and kind: any served version of an owner is the same object.
class KindTable {
 public:
  void add(const Kind& kind);
  void remove(const Kind& kind);
  const Kind* find(std::string_view api_version, std::string_view kind) const;
  std::vector<Kind> all() const;

 private:
  std::map<std::string, Kind> kinds_;  // "group/Kind"
};

class OwnerGraph {
 public:
  explicit OwnerGraph(const KindTable& kinds) : kinds_(kinds) {}

  // Exactly one of the two may be null. Returns the keys to reconcile.
  std::vector<ObjectKey> observe(const ObjectPtr& before, const ObjectPtr& after);
  // In order of keys.
  const std::set<ObjectKey>& dependents_of(const Uid& owner) const;

 private:
  void add_owners_of(const Object& object, std::vector<ObjectKey>& out) const;

  const KindTable& kinds_;
  std::unordered_map<Uid, std::set<ObjectKey>> dependents_;
};

}  // namespace krater::controllers
