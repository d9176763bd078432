#include "api/machinery/custom/correlate.h"

namespace krater::api {

const Json* old_member(const Structural& schema, const Json* old, std::string_view name) {
  if (old == nullptr || schema.atomic_map) return nullptr;
  const JsonObject* members = old->if_object();
  return members == nullptr ? nullptr : members->if_contains(name);
}

std::string list_key(const Structural& list, const Json& item) {
  JsonObject keys;
  if (const JsonObject* fields = item.if_object()) {
    for (const std::string& name : list.map_keys) {
      if (const Json* value = fields->if_contains(name)) keys.emplace(name, *value);
    }
  }
  return to_json(Json(std::move(keys)));
}

OldItems::OldItems(const Structural& list, const Json* old) : list_(list) {
  const JsonArray* items = old == nullptr ? nullptr : old->if_array();
  if (items == nullptr || list.list != ListKind::Map) return;
  for (const Json& item : *items) by_key_.emplace(list_key(list, item), &item);
}

const Json* OldItems::of(const Json& item) const {
  if (by_key_.empty()) return nullptr;
  const auto found = by_key_.find(list_key(list_, item));
  return found == by_key_.end() ? nullptr : found->second;
}

}  // namespace krater::api
