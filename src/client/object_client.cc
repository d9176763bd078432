#include "client/object_client.h"

namespace krater::client {
namespace {

struct KeyOf {
  ObjectKey operator()(const CreateWrite& w) const {
    return ObjectKey::of(w.kind, w.name_space, text_at(w.object, {"metadata", "name"}));
  }
  ObjectKey operator()(const BindWrite& w) const {
    return ObjectKey::of(kinds::kPod, w.name_space, w.pod);
  }
  template <typename Named>
  ObjectKey operator()(const Named& w) const {
    return ObjectKey::of(w.kind, w.name_space, w.name);
  }
};

}  // namespace

ObjectKey key_of(const Write& write) {
  return std::visit(KeyOf(), write);
}

}  // namespace krater::client
