#include "api/registry/field_tracking.h"

#include <string>

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
    if (other == nullptr || *other != member.value()) return false;
    ++seen;
  }
  return seen == b.size() - (b.contains(left_out) ? 1 : 0);
}

}  // namespace

FieldWriter field_writer(const RequestInfo& info, std::string_view subresource, WallTime now) {
  return {info.field_manager.empty() ? "unknown" : info.field_manager, std::string(subresource),
          now};
}

FieldManagers managers_of(const Json& object) {
  const Json* list = find(object, {kMetadata, kManagedFields});
  if (list == nullptr) return {};
  return parse_managed_fields(*list).value_or(FieldManagers());
}

FieldManagers managers_sent(const Json& body, const Json* old) {
  if (const Json* list = find(body, {kMetadata, kManagedFields})) {
    if (resets_managed_fields(*list)) return {};
    Result<FieldManagers> sent = parse_managed_fields(*list);
    if (sent && !sent->empty()) return *std::move(sent);
  }
  return old == nullptr ? FieldManagers() : managers_of(*old);
}

void set_managers(Json& object, FieldManagers managers) {
  JsonArray list = to_managed_fields(std::move(managers));
  if (list.empty()) {
    erase_path(object, {kMetadata, kManagedFields});
  } else {
    set_path(object, {kMetadata, kManagedFields}, std::move(list));
  }
}

Json without_managers(Json object) {
  erase_path(object, {kMetadata, kManagedFields});
  return object;
}

bool same_but_managers(const Json& a, const Json& b) {
  const JsonObject* left = object_at(a, {kMetadata});
  const JsonObject* right = object_at(b, {kMetadata});
  return left != nullptr && right != nullptr && same_but(*left, *right, kManagedFields) &&
         same_but(a.get_object(), b.get_object(), kMetadata);
}

}  // namespace krater::api
