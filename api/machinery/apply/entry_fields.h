// The fields of one entry of managedFields, read from their stored form when first asked for: most
// writes touch few entries, and the others pass through as they are. A value; one thread at a time.
#pragma once

#include "api/machinery/apply/field_set.h"
#include "base/json.h"

namespace krater::api {

class EntryFields {
 public:
  EntryFields() = default;
  EntryFields(FieldSet set) : set_(std::move(set)) {}  // NOLINT(google-explicit-constructor)
  // FieldsV1 as to_fields_v1() wrote it; anything else reads as nothing.
  static EntryFields unread(Json fields_v1);

  const FieldSet& get() const;
  bool empty() const;
  // Whether any, or all, of the paths are owned here. Reads nothing.
  bool holds_any(const FieldSet& paths) const;
  bool holds_all(const FieldSet& paths) const;
  Json to_json() const;

  friend bool operator==(const EntryFields& a, const EntryFields& b) { return a.get() == b.get(); }

 private:
  mutable FieldSet set_;
  mutable Json unread_;  // null once read
};

}  // namespace krater::api
