#include "api/machinery/patch.h"

namespace krater::api {
namespace {

void merge(Json& target, const Json& patch) {
  const JsonObject* changes = patch.if_object();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = JsonObject();
  JsonObject& object = target.get_object();
  for (const auto& entry : *changes) {
    if (entry.value().is_null()) {
      object.stable_erase(entry.key());
    } else {
      merge(object[entry.key()], entry.value());
    }
  }
}

}  // namespace

Result<void> merge_patch(Json& target, const Json& patch) {
  if (!patch.is_object()) return make_error(Code::BadRequest, "a merge patch is a JSON object");
  merge(target, patch);
  return {};
}

}  // namespace krater::api
