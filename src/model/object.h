// An object as everybody holds it: immutable, shared, its exact JSON bytes and the few fields it is
// indexed by. Bytes are held, trees are not: document() parses on demand and shares the tree while
// somebody uses it. Whoever changes an object builds a new one. Any thread.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/time.h"
#include "model/kinds.h"

namespace krater {

struct ObjectKey {
  std::string resource;    // Kind::resource(): "pods", "rayjobs.ray.io"
  std::string name_space;  // "" for cluster scope
  std::string name;

  static ObjectKey of(const Kind& kind, std::string_view name_space, std::string_view name) {
    return {kind.resource(), std::string(kind.namespaced ? name_space : std::string_view()),
            std::string(name)};
  }
  std::string text() const;  // "pods/default/p1", for logs
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

struct OwnerReference {
  std::string api_version, kind, name;
  Uid uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

using Bytes = std::shared_ptr<const std::string>;
using Labels = std::map<std::string, std::string, std::less<>>;

class Object {
 public:
  // Reads the indexed fields out of `bytes` (one JSON object with apiVersion, kind and metadata).
  // Code::Invalid when there are none. `revision` is the object's resourceVersion.
  static Result<std::shared_ptr<const Object>> parse(ObjectKey key, Revision revision, Bytes bytes);

  const ObjectKey& key() const { return key_; }
  const std::string& name() const { return key_.name; }
  const std::string& name_space() const { return key_.name_space; }
  Revision revision() const { return revision_; }
  const Bytes& bytes() const { return bytes_; }
  const std::string& api_version() const { return api_version_; }
  const std::string& kind() const { return kind_; }
  const Uid& uid() const { return uid_; }
  const Labels& labels() const { return labels_; }
  const std::vector<OwnerReference>& owners() const { return owners_; }
  const std::vector<std::string>& finalizers() const { return finalizers_; }
  std::int64_t generation() const { return generation_; }
  std::optional<WallTime> created() const { return created_; }
  std::optional<WallTime> deletion() const { return deletion_; }
  // The owner reference with controller: true, or nullptr.
  const OwnerReference* controller() const;
  std::string_view label(std::string_view name) const;  // "" when absent

  // Never null. The bytes were JSON when the object was made, so this cannot fail.
  std::shared_ptr<const Json> document() const;

 private:
  Object() = default;

  ObjectKey key_;
  Revision revision_;
  Bytes bytes_;
  std::string api_version_, kind_;
  Uid uid_;
  Labels labels_;
  std::vector<OwnerReference> owners_;
  std::vector<std::string> finalizers_;
  std::int64_t generation_ = 0;
  std::optional<WallTime> created_, deletion_;
  mutable std::weak_ptr<const Json> document_;  // guarded by a striped mutex in object.cc
};

using ObjectPtr = std::shared_ptr<const Object>;

// Base of the views: thin typed readers over a document, which they keep alive. A view over a null
// object reads as an empty one. Field paths stand in views and nowhere else.
class ObjectView {
 public:
  ObjectView() = default;
  explicit ObjectView(ObjectPtr object)
      : object_(std::move(object)), document_(object_ ? object_->document() : nullptr) {}

  explicit operator bool() const { return object_ != nullptr; }
  const ObjectPtr& object() const { return object_; }
  const Object* operator->() const { return object_.get(); }
  const Json& document() const;                              // an empty object when there is none
  std::string_view annotation(std::string_view name) const;  // "" when absent
  Labels annotations() const;

 protected:
  std::optional<std::string_view> string(JsonPath path) const {
    return string_at(document(), path);
  }
  std::string text(JsonPath path) const { return text_at(document(), path); }
  std::optional<std::int64_t> integer(JsonPath path) const { return int_at(document(), path); }
  std::optional<bool> boolean(JsonPath path) const { return bool_at(document(), path); }
  std::optional<WallTime> time(JsonPath path) const;

 private:
  ObjectPtr object_;
  std::shared_ptr<const Json> document_;
};

// {"apiVersion":…,"kind":…,"metadata":{"name":…,"namespace":…}}
Json new_object(const Kind& kind, std::string_view name_space, std::string_view name);
// Controller owner reference (controller and blockOwnerDeletion true) to `owner`.
Json controller_reference(const Object& owner);
Labels string_map(const Json* object);  // non-string values are left out; nullptr gives {}
Json to_json_object(const Labels& map);

}  // namespace krater
