#include "api/registry/projection.h"

#include "api/registry/encode.h"
#include "base/check.h"

namespace krater::api {
namespace {

ObjectPtr made(const ObjectKey& key, Revision revision, std::string bytes) {
  Result<ObjectPtr> object =
      Object::parse(key, revision, std::make_shared<const std::string>(std::move(bytes)));
  CHECK_MSG(object.has_value(), key.text());
  return *std::move(object);
}

}  // namespace

ObjectPtr projected(const KindSchema& schema, const ObjectPtr& object) {
  if (object == nullptr || schema.stored_kind() == schema.kind()) return object;
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
