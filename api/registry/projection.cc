#include "api/registry/projection.h"

#include "api/machinery/custom/custom_kind.h"
#include "api/registry/encode.h"
#include "base/check.h"

namespace krater::api {
namespace {

constexpr std::string_view kNoRevision = "\"resourceVersion\":\"\",";

ObjectPtr made(const ObjectKey& key, Revision revision, std::string bytes) {
  Result<ObjectPtr> object =
      Object::parse(key, revision, std::make_shared<const std::string>(std::move(bytes)));
  CHECK_MSG(object.has_value(), key.text());
  return *std::move(object);
}

// Conversion between versions is a matter of their name alone.
ObjectPtr as_version(const CustomKind& kind, const ObjectPtr& object) {
  const bool shaped = object->revision() > kind.since();
  if (shaped && object->api_version() == kind.kind().api_version()) return object;
  Json document = *object->document();
  set_path(document, {"apiVersion"}, Json(kind.kind().api_version()));
  kind.reshape(document);
  std::string bytes = encode_object(document).bytes;
  if (object->revision() != Revision()) {
    bytes = at_revision(bytes, object->revision());
  } else if (const std::size_t at = bytes.find(kNoRevision); at != std::string::npos) {
    bytes.erase(at, kNoRevision.size());  // of a dry run: it was never stored
  }
  if (bytes == *object->bytes()) return object;
  return made(object->key(), object->revision(), std::move(bytes));
}

}  // namespace

ObjectPtr projected(const KindSchema& schema, const ObjectPtr& object) {
  if (object == nullptr) return object;
  if (const CustomKind* custom = as_custom(schema)) return as_version(*custom, object);
  if (schema.stored_kind() == schema.kind()) return object;
  Json document = *object->document();
  schema.from_stored(document);
  set_path(document, {"apiVersion"}, Json(schema.kind().api_version()));
  set_path(document, {"kind"}, Json(schema.kind().kind));
  return made(object->key(), object->revision(),
              at_revision(encode_object(document).bytes, object->revision()));
}

ObjectPtr with_revision(const ObjectPtr& object, Revision revision) {
  return made(object->key(), revision, at_revision(*object->bytes(), revision));
}

}  // namespace krater::api
