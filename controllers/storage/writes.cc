#include "controllers/storage/writes.h"

#include <algorithm>

namespace krater::controllers {

PlannedWrite patch_volume(const Object& volume, Json patch) {
  client::PatchWrite write{kinds::kPersistentVolume, "", volume.name(), client::PatchType::Merge,
                           std::move(patch)};
  write.only_if = volume.revision();
  return {std::move(write), {}, {}, {}};
}

PlannedWrite write_status(const Kind& kind, const Json& document, const Object& object,
                          Json status) {
  // What is no longer said goes.
  const Json* before = find(document, {"status"});
  const Json none((JsonObject()));
  Json patch = merge_difference(before == nullptr ? none : *before, status);
  return {client::PatchWrite{kind, object.name_space(), object.name(), client::PatchType::Merge,
                             JsonObject{{"status", std::move(patch)}}, "status"},
          {},
          {},
          {}};
}

PlannedWrite drop_finalizers(const Kind& kind, const Object& object,
                             const std::vector<std::string_view>& names) {
  JsonArray kept;
  for (const std::string& one : object.finalizers()) {
    if (std::ranges::find(names, one) == names.end()) kept.emplace_back(one);
  }
  client::PatchWrite write{
      kind, object.name_space(), object.name(), client::PatchType::Merge,
      JsonObject{{"metadata", JsonObject{{"finalizers", kept.empty() ? Json() : Json(kept)}}}}};
  write.only_if = object.revision();
  return {std::move(write), Code::NotFound, {}, {}};
}

}  // namespace krater::controllers
