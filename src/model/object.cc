#include "model/object.h"

#include <array>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/json_fields.h"
#include "model/document_shelf.h"

namespace krater {
namespace {

std::mutex& stripe_for(const void* address) {
  // Never destroyed: threads may hold objects until the very end.
  static std::array<std::mutex, 64>& stripes = *new std::array<std::mutex, 64>;
  return stripes[(reinterpret_cast<std::uintptr_t>(address) >> 6) % stripes.size()];
}

// What an object is indexed by.
const std::vector<JsonFieldPath>& head_paths() {
  static const std::vector<JsonFieldPath> paths{{"apiVersion"},
                                                {"kind"},
                                                {"metadata", "uid"},
                                                {"metadata", "labels"},
                                                {"metadata", "ownerReferences"},
                                                {"metadata", "finalizers"},
                                                {"metadata", "generation"},
                                                {"metadata", "creationTimestamp"},
                                                {"metadata", "deletionTimestamp"}};
  return paths;
}

std::optional<WallTime> time_field(const Json& document, JsonPath path) {
  const auto text = string_at(document, path);
  return text ? parse_rfc3339(*text) : std::nullopt;
}

OwnerReference owner_from(const Json& json) {
  return {text_at(json, {"apiVersion"}),
          text_at(json, {"kind"}),
          text_at(json, {"name"}),
          Uid(text_at(json, {"uid"})),
          bool_at(json, {"controller"}).value_or(false),
          bool_at(json, {"blockOwnerDeletion"}).value_or(false)};
}

}  // namespace

std::string ObjectKey::text() const {
  return name_space.empty() ? resource + "/" + name : resource + "/" + name_space + "/" + name;
}

Result<ObjectPtr> Object::parse(ObjectKey key, Revision revision, Bytes bytes) {
  TRY_ASSIGN(Json parsed, parse_json_fields(*bytes, head_paths()));
  if (object_at(parsed, {"metadata"}) == nullptr)
    return make_error(Code::Invalid, "object has no metadata");
  std::shared_ptr<Object> out(new Object());
  out->key_ = std::move(key);
  out->revision_ = revision;
  out->api_version_ = text_at(parsed, {"apiVersion"});
  out->kind_ = text_at(parsed, {"kind"});
  out->uid_ = Uid(text_at(parsed, {"metadata", "uid"}));
  out->labels_ = string_map(find(parsed, {"metadata", "labels"}));
  if (const JsonArray* owners = array_at(parsed, {"metadata", "ownerReferences"})) {
    for (const Json& owner : *owners) out->owners_.push_back(owner_from(owner));
  }
  if (const JsonArray* finalizers = array_at(parsed, {"metadata", "finalizers"})) {
    for (const Json& finalizer : *finalizers) {
      if (finalizer.is_string()) out->finalizers_.emplace_back(view(finalizer.get_string()));
    }
  }
  out->generation_ = int_at(parsed, {"metadata", "generation"}).value_or(0);
  out->created_ = time_field(parsed, {"metadata", "creationTimestamp"});
  out->deletion_ = time_field(parsed, {"metadata", "deletionTimestamp"});
  out->bytes_ = std::move(bytes);
  return ObjectPtr(std::move(out));
}

const OwnerReference* Object::controller() const {
  for (const OwnerReference& owner : owners_) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

std::string_view Object::label(std::string_view name) const {
  const auto place = labels_.find(name);
  return place == labels_.end() ? std::string_view() : std::string_view(place->second);
}

std::shared_ptr<const Json> Object::document() const {
  std::mutex& stripe = stripe_for(this);
  {
    const std::lock_guard lock(stripe);
    if (auto shared = document_.lock()) return shared;
  }
  Result<Json> parsed = parse_json(*bytes_);
  CHECK_MSG(parsed.has_value(), key_.text());
  auto made = std::make_shared<const Json>(*std::move(parsed));
  {
    const std::lock_guard lock(stripe);
    document_ = made;
  }
  document_shelf().keep(made, bytes_->size());
  return made;
}

const Json& ObjectView::document() const {
  static const Json empty(boost::json::object_kind);
  return document_ ? *document_ : empty;
}

std::string_view ObjectView::annotation(std::string_view name) const {
  return string_at(document(), {"metadata", "annotations", name}).value_or("");
}

Labels ObjectView::annotations() const {
  return string_map(find(document(), {"metadata", "annotations"}));
}

std::optional<WallTime> ObjectView::time(JsonPath path) const {
  return time_field(document(), path);
}

Json new_object(const Kind& kind, std::string_view name_space, std::string_view name) {
  JsonObject metadata;
  metadata["name"] = name;
  if (kind.namespaced) metadata["namespace"] = name_space;
  JsonObject out;
  out["apiVersion"] = kind.api_version();
  out["kind"] = kind.kind;
  out["metadata"] = std::move(metadata);
  return out;
}

Json controller_reference(const Object& owner) {
  JsonObject out;
  out["apiVersion"] = owner.api_version();
  out["kind"] = owner.kind();
  out["name"] = owner.name();
  out["uid"] = owner.uid().text();
  out["controller"] = true;
  out["blockOwnerDeletion"] = true;
  return out;
}

Labels string_map(const Json* object) {
  Labels out;
  if (object == nullptr || !object->is_object()) return out;
  for (const auto& member : object->get_object()) {
    if (member.value().is_string()) {
      out.emplace(std::string(member.key().data(), member.key().size()),
                  std::string(view(member.value().get_string())));
    }
  }
  return out;
}

Json to_json_object(const Labels& map) {
  JsonObject out;
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

}  // namespace krater
