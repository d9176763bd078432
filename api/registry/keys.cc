#include "api/registry/keys.h"

#include "api/registry/registry.h"
#include "base/check.h"

namespace krater::api {

std::string store_key(const ObjectKey& key) {
  std::string out = "/" + key.resource + "/";
  if (!key.name_space.empty()) out += key.name_space + "/";
  return out + key.name;
}

std::string store_key(const Kind& kind, std::string_view name_space, std::string_view name) {
  return store_key(ObjectKey::of(kind, name_space, name));
}

storage::KeyRange store_range(std::string_view resource, std::string_view name_space) {
  std::string prefix = "/" + std::string(resource) + "/";
  if (!name_space.empty()) prefix.append(name_space).append("/");
  return storage::KeyRange::prefix(prefix);
}

std::optional<ObjectKey> object_key(std::string_view store_key) {
  if (!store_key.starts_with('/')) return std::nullopt;
  const std::size_t first = store_key.find('/', 1);
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = store_key.find('/', first + 1);
  ObjectKey out;
  out.resource = store_key.substr(1, first - 1);
  if (second == std::string_view::npos) {
    out.name = store_key.substr(first + 1);
  } else {
    out.name_space = store_key.substr(first + 1, second - first - 1);
    out.name = store_key.substr(second + 1);
  }
  return out;
}

std::string claim_key(std::string_view claim) {
  return "!claim/" + std::string(claim);
}

ObjectPtr object_of(const storage::RecordPtr& record) {
  CHECK(record != nullptr);
  if (record->decoded != nullptr) return std::static_pointer_cast<const Object>(record->decoded);
  // Read from history, where no decoder ran.
  return std::static_pointer_cast<const Object>(
      object_decoder()(record->key, record->value, record->created, record->modified));
}

storage::Decode object_decoder() {
  return [](std::string_view key, const storage::Bytes& value, Revision /*created*/,
            Revision modified) -> std::shared_ptr<const void> {
    const std::optional<ObjectKey> place = object_key(key);
    if (!place) return nullptr;
    Result<ObjectPtr> object = Object::parse(*place, modified, value);
    // Only what encode_object() wrote is stored, so this is a broken invariant or a damaged disk.
    CHECK_MSG(object.has_value(), place->text());
    return *std::move(object);
  };
}

}  // namespace krater::api
