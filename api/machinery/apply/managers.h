// metadata.managedFields: who owns which fields of an object. Values, any thread.
#pragma once

#include <string>
#include <vector>

#include "api/machinery/apply/entry_fields.h"
#include "base/json.h"
#include "base/result.h"

namespace krater::api {

// One entry. Two with the same identity are never kept: an Update is told apart by manager,
// subresource and version, an Apply by manager and subresource.
struct FieldManager {
  std::string name;
  bool applied = false;  // Apply; else Update
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339; "" for none
  EntryFields fields;

  bool is_same(const FieldManager& other) const;
  friend bool operator==(const FieldManager&, const FieldManager&) = default;
};
using FieldManagers = std::vector<FieldManager>;

// A client's list. Code::BadRequest when it is none.
Result<FieldManagers> parse_managed_fields(const Json& list);
// A list as to_managed_fields() made it, its fields not read yet.
FieldManagers stored_managed_fields(Json list);
// Applies first, then by time, then by name, as upstream orders them. Entries that own nothing are
// left out.
JsonArray to_managed_fields(FieldManagers managers);

// The list a client sends to have everything forgotten: one empty entry.
bool resets_managed_fields(const Json& list);
// Equal but for when.
bool same_but_times(const FieldManagers& a, const FieldManagers& b);

// Keeps at most ten Update entries: the oldest of a version become one, "ancient-changes".
void cap_updaters(FieldManagers& managers);

// `"m" using v1`: how an entry is told to people.
std::string describe(const FieldManager& manager);

}  // namespace krater::api
