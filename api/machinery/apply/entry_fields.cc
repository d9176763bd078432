#include "api/machinery/apply/entry_fields.h"

namespace krater::api {
namespace {

bool owns_itself(const JsonObject& fields) {
  return fields.empty() || fields.contains(".");
}

bool any_in(const JsonObject& fields, const FieldSet& paths) {
  for (const FieldSet::Entry& path : paths.entries()) {
    const Json* found = fields.if_contains(path.element);
    if (found == nullptr || !found->is_object()) continue;
    if (path.owned && owns_itself(found->get_object())) return true;
    if (!path.below.empty() && any_in(found->get_object(), path.below)) return true;
  }
  return false;
}

bool all_in(const JsonObject& fields, const FieldSet& paths) {
  for (const FieldSet::Entry& path : paths.entries()) {
    const Json* found = fields.if_contains(path.element);
    if (found == nullptr || !found->is_object()) return false;
    if (path.owned && !owns_itself(found->get_object())) return false;
    if (!path.below.empty() && !all_in(found->get_object(), path.below)) return false;
  }
  return true;
}

}  // namespace

EntryFields EntryFields::unread(Json fields_v1) {
  EntryFields out;
  if (fields_v1.is_object()) out.unread_ = std::move(fields_v1);
  return out;
}

const FieldSet& EntryFields::get() const {
  if (!unread_.is_null()) {
    set_ = parse_fields_v1(unread_).value_or(FieldSet());
    unread_ = nullptr;
  }
  return set_;
}

bool EntryFields::empty() const {
  return unread_.is_null() ? set_.empty() : unread_.get_object().empty();
}

bool EntryFields::holds_any(const FieldSet& paths) const {
  if (unread_.is_null()) return !intersect(set_, paths).empty();
  return any_in(unread_.get_object(), paths);
}

bool EntryFields::holds_all(const FieldSet& paths) const {
  if (unread_.is_null()) return subtract(paths, set_).empty();
  return all_in(unread_.get_object(), paths);
}

Json EntryFields::to_json() const {
  return unread_.is_null() ? to_fields_v1(set_) : unread_;
}

}  // namespace krater::api
