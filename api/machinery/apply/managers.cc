#include "api/machinery/apply/managers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace krater::api {
namespace {

constexpr std::size_t kMaxUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

bool stands_before(const FieldManager& a, const FieldManager& b) {
  if (a.applied != b.applied) return a.applied;
  return std::tie(a.time, a.name, a.api_version, a.subresource) <
         std::tie(b.time, b.name, b.api_version, b.subresource);
}

// All but the fields.
FieldManager head_of(const Json& entry) {
  FieldManager out;
  out.name = text_at(entry, {"manager"});
  out.applied = text_at(entry, {"operation"}) == "Apply";
  out.api_version = text_at(entry, {"apiVersion"});
  out.subresource = text_at(entry, {"subresource"});
  out.time = text_at(entry, {"time"});
  return out;
}

Result<FieldManager> parse_entry(const Json& entry) {
  FieldManager out = head_of(entry);
  const std::string operation = text_at(entry, {"operation"});
  if (!out.applied && operation != "Update")
    return make_error(Code::BadRequest, "operation must be `Apply` or `Update`");
  if (out.api_version.empty()) return make_error(Code::BadRequest, "apiVersion must not be empty");
  if (text_at(entry, {"fieldsType"}) != "FieldsV1")
    return make_error(Code::BadRequest, "fieldsType must be `FieldsV1`");
  if (const Json* fields = find(entry, {"fieldsV1"})) {
    TRY_ASSIGN(FieldSet read, parse_fields_v1(*fields));
    out.fields = std::move(read);
  }
  return out;
}

Json to_entry(const FieldManager& manager) {
  JsonObject out{{"manager", manager.name},
                 {"operation", manager.applied ? "Apply" : "Update"},
                 {"apiVersion", manager.api_version}};
  if (!manager.time.empty()) out["time"] = manager.time;
  out["fieldsType"] = "FieldsV1";
  out["fieldsV1"] = manager.fields.to_json();
  if (!manager.subresource.empty()) out["subresource"] = manager.subresource;
  return out;
}

}  // namespace

bool FieldManager::is_same(const FieldManager& other) const {
  return applied == other.applied && name == other.name && subresource == other.subresource &&
         (applied || api_version == other.api_version);
}

Result<FieldManagers> parse_managed_fields(const Json& list) {
  FieldManagers out;
  if (list.is_null()) return out;
  if (!list.is_array()) return make_error(Code::BadRequest, "managedFields must be a list");
  for (const Json& entry : list.get_array()) {
    TRY_ASSIGN(FieldManager manager, parse_entry(entry));
    out.push_back(std::move(manager));
  }
  return out;
}

FieldManagers stored_managed_fields(Json list) {
  FieldManagers out;
  JsonArray* entries = list.if_array();
  if (entries == nullptr) return out;
  out.reserve(entries->size());
  for (Json& entry : *entries) {
    out.push_back(head_of(entry));
    if (Json* fields = find(entry, {"fieldsV1"}))
      out.back().fields = EntryFields::unread(std::move(*fields));
  }
  return out;
}

JsonArray to_managed_fields(FieldManagers managers) {
  std::erase_if(managers, [](const FieldManager& manager) { return manager.fields.empty(); });
  std::sort(managers.begin(), managers.end(), stands_before);
  JsonArray out;
  out.reserve(managers.size());
  for (const FieldManager& manager : managers) out.push_back(to_entry(manager));
  return out;
}

bool resets_managed_fields(const Json& list) {
  return list.is_array() && list.get_array().size() == 1 && list.get_array().front().is_object() &&
         list.get_array().front().get_object().empty();
}

bool same_but_times(const FieldManagers& a, const FieldManagers& b) {
  const auto timeless = [](FieldManagers managers) {
    for (FieldManager& manager : managers) manager.time.clear();
    std::erase_if(managers, [](const FieldManager& manager) { return manager.fields.empty(); });
    std::sort(managers.begin(), managers.end(), stands_before);
    return managers;
  };
  return timeless(a) == timeless(b);
}

void cap_updaters(FieldManagers& managers) {
  const auto updaters = static_cast<std::size_t>(std::count_if(
      managers.begin(), managers.end(), [](const FieldManager& m) { return !m.applied; }));
  if (updaters <= kMaxUpdaters) return;
  std::sort(managers.begin(), managers.end(), stands_before);
  std::size_t left = updaters;
  std::map<std::string, std::size_t> bucket_of;  // version -> the entry that takes the others in
  for (std::size_t i = 0; i < managers.size() && left > kMaxUpdaters; ++i) {
    FieldManager& manager = managers[i];
    if (manager.applied) continue;
    const auto [bucket, first] = bucket_of.try_emplace(manager.api_version, i);
    if (first) continue;
    FieldManager& into = managers[bucket->second];
    into.name = kAncient;
    into.subresource.clear();
    into.time = manager.time;
    into.fields = unite(into.fields.get(), manager.fields.get());
    manager.fields = FieldSet();
    --left;
  }
  std::erase_if(managers, [](const FieldManager& manager) { return manager.fields.empty(); });
}

std::string describe(const FieldManager& manager) {
  std::string out = quoted(manager.name);
  if (!manager.subresource.empty()) out += " with subresource " + quoted(manager.subresource);
  if (!manager.applied) out += " using " + manager.api_version;
  return out;
}

}  // namespace krater::api
