#include "api/registry/metadata.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/env.h"
#include "base/json_same.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr std::size_t kGeneratedBase = 58;  // 63 less the suffix
constexpr std::size_t kGeneratedSuffix = 5;

Error bad(std::string message) {
  return make_error(Code::BadRequest, std::move(message));
}

std::set<std::string> strings_at(const Json& object, JsonPath path) {
  std::set<std::string> out;
  if (const JsonArray* entries = array_at(object, path)) {
    for (const Json& entry : *entries) {
      if (entry.is_string()) out.emplace(view(entry.get_string()));
    }
  }
  return out;
}

void copy_member(JsonObject& to, const JsonObject& from, std::string_view key) {
  if (const Json* value = from.if_contains(key)) {
    to[key] = *value;
  } else {
    to.erase(key);
  }
}

// Everything that counts for generation.
bool same_intent(const KindSchema& schema, const Json& object, const Json& old) {
  const JsonObject& now = object.get_object();
  const JsonObject& before = old.get_object();
  // What is null is not there.
  const auto same = [&](std::string_view key) {
    const Json* a = now.if_contains(key);
    const Json* b = before.if_contains(key);
    const bool none = a == nullptr || a->is_null();
    if (none || b == nullptr) return none && (b == nullptr || b->is_null());
    return same_json(*a, *b);
  };
  if (schema.built_in() && (now.contains("spec") || before.contains("spec"))) return same("spec");
  std::set<std::string_view> keys;
  for (const auto& entry : now) keys.insert({entry.key().data(), entry.key().size()});
  for (const auto& entry : before) keys.insert({entry.key().data(), entry.key().size()});
  keys.erase("metadata");
  if (schema.subresources().status) keys.erase("status");
  return std::all_of(keys.begin(), keys.end(), same);
}

}  // namespace

Result<void> place_body(const KindSchema& schema, std::string_view name_space, Json& object) {
  if (!object.is_object())
    return bad("the object provided is unrecognized: it must be a JSON object");
  const Kind& kind = schema.kind();
  JsonObject& root = object.get_object();
  const std::string version = text_at(object, {"apiVersion"});
  const std::string named = text_at(object, {"kind"});
  if (!version.empty() && version != kind.api_version()) {
    return bad("the API version in the data (" + version +
               ") does not match the expected API version (" + kind.api_version() + ")");
  }
  if (!named.empty() && named != kind.kind) {
    return bad("the kind in the data (" + named + ") does not match the expected kind (" +
               kind.kind + ")");
  }
  root["apiVersion"] = kind.api_version();
  root["kind"] = kind.kind;
  Json& metadata = root["metadata"];
  if (metadata.is_null()) metadata = JsonObject();
  if (!metadata.is_object())
    return bad("json: cannot unmarshal metadata into Go value of type v1.ObjectMeta");
  const std::string body_space = text_at(metadata, {"namespace"});
  if (kind.namespaced && !body_space.empty() && body_space != name_space) {
    return bad(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (kind.namespaced) {
    metadata.get_object()["namespace"] = name_space;
  } else {
    metadata.get_object().erase("namespace");
  }
  return {};
}

Result<void> check_body_name(std::string_view name, const Json& object) {
  const std::string in_body = text_at(object, {"metadata", "name"});
  if (in_body.empty()) {
    return bad("the name of the object (" + std::string(name) +
               " based on URL) was undeterminable: name must be provided");
  }
  if (in_body != name) {
    return bad("the name of the object (" + in_body + ") does not match the name on the URL (" +
               std::string(name) + ")");
  }
  return {};
}

Result<void> begin_metadata(const KindSchema& schema, Json& object, std::string_view uid,
                            WallTime now) {
  JsonObject& metadata = object.at("metadata").get_object();
  if (!text_at(object, {"metadata", "resourceVersion"}).empty()) {
    return bad("resourceVersion should not be set on objects to be created");
  }
  for (const std::string_view key : {"resourceVersion", "selfLink", "deletionTimestamp",
                                     "deletionGracePeriodSeconds", "generation", "managedFields"}) {
    metadata.erase(key);
  }
  metadata["uid"] = uid;
  metadata["creationTimestamp"] = to_rfc3339(now);
  if (schema.counts_generation()) metadata["generation"] = 1;
  return {};
}

void keep_metadata(Json& object, const Json& old) {
  JsonObject& metadata = object.at("metadata").get_object();
  const JsonObject& before = old.at("metadata").get_object();
  for (const std::string_view key :
       {"generateName", "uid", "resourceVersion", "generation", "creationTimestamp",
        "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    copy_member(metadata, before, key);
  }
  metadata.erase("selfLink");
  metadata.erase("managedFields");
}

void tidy_metadata(Json& object, std::vector<std::string>& warnings) {
  JsonObject& metadata = object.at("metadata").get_object();
  if (Json* owners = metadata.if_contains("ownerReferences");
      owners != nullptr && owners->is_array() && owners->get_array().size() > 1) {
    JsonArray kept;
    std::unordered_set<std::string> seen;
    for (Json& owner : owners->get_array()) {
      if (seen.insert(to_json(with_sorted_keys(owner))).second) {
        kept.push_back(std::move(owner));
      } else {
        warnings.push_back(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner "
            "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
            "requests; duplicate UID(s) observed: " +
            text_at(owner, {"uid"}));
      }
    }
    *owners = std::move(kept);
  }
  for (const std::string_view key :
       {"labels", "annotations", "ownerReferences", "finalizers", "generateName"}) {
    const Json* value = metadata.if_contains(key);
    if (value == nullptr) continue;
    const bool empty = value->is_null() || (value->is_object() && value->get_object().empty()) ||
                       (value->is_array() && value->get_array().empty()) ||
                       (value->is_string() && value->get_string().empty());
    if (empty) metadata.erase(key);
  }
}

void warn_of_finalizers(const Json& object, const Json* old, std::vector<std::string>& warnings) {
  const std::set<std::string> before =
      old == nullptr ? std::set<std::string>() : strings_at(*old, {"metadata", "finalizers"});
  for (const std::string& name : strings_at(object, {"metadata", "finalizers"})) {
    const bool standard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    if (standard || before.contains(name) || name.find('/') != std::string::npos) continue;
    const std::string path =
        name.find('.') != std::string::npos
            ? "prefer a domain-qualified finalizer name including a path (/) to avoid accidental "
              "conflicts with other finalizer writers"
            : "prefer a domain-qualified finalizer name to avoid accidental conflicts with other "
              "finalizer writers";
    warnings.push_back("metadata.finalizers: " + quoted(name) + ": " + path);
  }
}

std::string generate_name(std::string_view base, Rng& rng) {
  return std::string(base.substr(0, kGeneratedBase)) + rng.suffix(kGeneratedSuffix);
}

void count_generation(const KindSchema& schema, Json& object, const Json& old) {
  if (!schema.counts_generation() || same_intent(schema, object, old)) return;
  const std::int64_t before = int_at(old, {"metadata", "generation"}).value_or(0);
  set_path(object, {"metadata", "generation"}, before + 1);
}

Causes validate_finalizers(const Json& object, const Json* old) {
  if (old == nullptr || !string_at(*old, {"metadata", "deletionTimestamp"})) return {};
  const std::set<std::string> before = strings_at(*old, {"metadata", "finalizers"});
  std::vector<std::string> added;
  for (const std::string& name : strings_at(object, {"metadata", "finalizers"})) {
    if (!before.contains(name)) added.push_back(quoted(name));
  }
  if (added.empty()) return {};
  return {forbidden_value("metadata.finalizers",
                          "no new finalizers can be added if the object is being deleted, found "
                          "new finalizers []string{" +
                              join(added, ", ") + "}")};
}

}  // namespace krater::api
