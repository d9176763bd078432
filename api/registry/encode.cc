#include "api/registry/encode.h"

#include <array>

#include "base/check.h"

namespace krater::api {
namespace {

constexpr std::string_view kRevisionMember = "\"resourceVersion\":\"";
constexpr std::array<std::string_view, 4> kBeforeRevision{"name", "generateName", "namespace",
                                                          "uid"};
constexpr std::array<std::string_view, 9> kAfterRevision{
    "generation",   "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "labels",       "annotations",       "ownerReferences",   "finalizers",
    "managedFields"};

void append_member(std::string& out, std::string_view key, const Json& value) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
  append_json(out, value);
}

std::size_t append_metadata(std::string& out, const JsonObject& metadata) {
  out += '{';
  for (const std::string_view key : kBeforeRevision) {
    if (const Json* value = metadata.if_contains(key)) append_member(out, key, *value);
  }
  if (out.back() != '{') out += ',';
  out += kRevisionMember;
  const std::size_t revision_at = out.size();
  out += '"';
  for (const std::string_view key : kAfterRevision) {
    if (const Json* value = metadata.if_contains(key)) append_member(out, key, *value);
  }
  out += '}';
  return revision_at;
}

}  // namespace

Encoded encode_object(const Json& object) {
  const JsonObject* metadata = object_at(object, {"metadata"});
  CHECK(metadata != nullptr);
  Encoded out;
  out.bytes = "{";
  for (const std::string_view key : {"apiVersion", "kind"}) {
    if (const Json* value = object.get_object().if_contains(key))
      append_member(out.bytes, key, *value);
  }
  if (out.bytes.back() != '{') out.bytes += ',';
  out.bytes += "\"metadata\":";
  out.revision_at = append_metadata(out.bytes, *metadata);
  for (const auto& member : object.get_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key == "apiVersion" || key == "kind" || key == "metadata") continue;
    append_member(out.bytes, key, member.value());
  }
  out.bytes += '}';
  return out;
}

std::string at_revision(const std::string& bytes, Revision revision) {
  // Nothing before it can hold this text: names and uids contain no quotes.
  const std::size_t member = bytes.find(kRevisionMember);
  CHECK(member != std::string::npos);
  const std::size_t begin = member + kRevisionMember.size();
  const std::size_t end = bytes.find('"', begin);
  return bytes.substr(0, begin) + revision.text() + bytes.substr(end);
}

}  // namespace krater::api
