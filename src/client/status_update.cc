#include "client/status_update.h"

#include <utility>

namespace krater::client {

UpdateWrite status_update(const Kind& kind, const Object& object, Json status) {
  Json body = new_object(kind, object.name_space(), object.name());
  set_path(body, {"metadata", "uid"}, Json(object.uid().text()));
  set_path(body, {"metadata", "resourceVersion"}, Json(object.revision().text()));
  set_path(body, {"status"}, std::move(status));
  return {kind, object.name_space(), object.name(), std::move(body), "status"};
}

}  // namespace krater::client
