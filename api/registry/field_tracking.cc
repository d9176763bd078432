#include "api/registry/field_tracking.h"

#include <string>

#include "base/json_same.h"

namespace krater::api {
namespace {

constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kManagedFields = "managedFields";

// Equal members, but for one.
bool same_but(const JsonObject& a, const JsonObject& b, std::string_view left_out) {
  std::size_t seen = 0;
  for (const auto& member : a) {
    if (member.key() == left_out) continue;
    const Json* other = b.if_contains(member.key());
    if (other == nullptr || !same_json(*other, member.value())) return false;
    ++seen;
  }
  return seen == b.size() - (b.contains(left_out) ? 1 : 0);
}

}  // namespace

FieldWriter field_writer(const RequestInfo& info, std::string_view subresource, WallTime now) {
  return {info.field_manager.empty() ? "unknown" : info.field_manager, std::string(subresource),
          now};
}

Json take_managed_fields(Json& body) {
  Json* metadata = find(body, {kMetadata});
  JsonObject* members = metadata == nullptr ? nullptr : metadata->if_object();
  Json* list = members == nullptr ? nullptr : members->if_contains(kManagedFields);
  if (list == nullptr) return nullptr;
  Json out = std::move(*list);
  members->stable_erase(kManagedFields);
  return out;
}

Owners owners_sent(Json list, const Json* old, std::string_view subresource) {
  const Json* stored = old == nullptr ? nullptr : find(*old, {kMetadata, kManagedFields});
  const bool untouched = stored == nullptr ? list.is_null() : same_json(list, *stored);
  if (!untouched && subresource.empty()) {
    if (resets_managed_fields(list)) return {};
    Result<FieldManagers> sent = parse_managed_fields(list);
    if (sent && !sent->empty()) return {*std::move(sent)};
  }
  if (stored == nullptr) return {{}, true};
  return {stored_managed_fields(untouched ? std::move(list) : *stored), true};
}

FieldManagers managers_of(const Json& object) {
  const Json* list = find(object, {kMetadata, kManagedFields});
  return list == nullptr ? FieldManagers() : stored_managed_fields(*list);
}

void set_managers(Json& object, FieldManagers managers) {
  JsonArray list = to_managed_fields(std::move(managers));
  if (list.empty()) {
    erase_path(object, {kMetadata, kManagedFields});
  } else {
    set_path(object, {kMetadata, kManagedFields}, std::move(list));
  }
}

Json without_managers(const Json& object) {
  JsonObject out;
  for (const auto& member : object.get_object()) {
    if (member.key() != kMetadata || !member.value().is_object()) {
      out.emplace(member.key(), member.value());
      continue;
    }
    JsonObject metadata;
    for (const auto& field : member.value().get_object()) {
      if (field.key() != kManagedFields) metadata.emplace(field.key(), field.value());
    }
    out.emplace(kMetadata, std::move(metadata));
  }
  return out;
}

bool same_but_managers(const Json& a, const Json& b) {
  const JsonObject* left = object_at(a, {kMetadata});
  const JsonObject* right = object_at(b, {kMetadata});
  return left != nullptr && right != nullptr && same_but(*left, *right, kManagedFields) &&
         same_but(a.get_object(), b.get_object(), kMetadata);
}

}  // namespace krater::api
