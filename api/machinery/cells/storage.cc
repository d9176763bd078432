// Volumes, claims and classes of storage.
#include <array>

#include "api/machinery/cells/cells.h"
#include "base/strings.h"

namespace krater::api::cells {
namespace {

constexpr std::string_view kUnset = "<unset>";

std::string access_modes(const JsonArray* modes) {
  struct Short {
    std::string_view mode, text;
  };
  constexpr std::array kShort{Short{"ReadWriteOnce", "RWO"}, Short{"ReadOnlyMany", "ROX"},
                              Short{"ReadWriteMany", "RWX"}, Short{"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> out;
  for (const Short& one : kShort) {
    for (std::size_t i = 0; modes != nullptr && i < modes->size(); ++i) {
      const Json& mode = (*modes)[i];
      if (!mode.is_string() || view(mode.get_string()) != one.mode) continue;
      out.emplace_back(one.text);
      break;
    }
  }
  return join(out, ",");
}

std::string or_unset(const Json& object, JsonPath path) {
  return std::string(string_at(object, path).value_or(kUnset));
}

std::string phase(const Json& object) {
  const bool leaving = string_at(object, {"metadata", "deletionTimestamp"}).has_value();
  return leaving ? "Terminating" : text_at(object, {"status", "phase"});
}

std::string class_of(const Json& object) {
  constexpr std::string_view kOld = "volume.beta.kubernetes.io/storage-class";
  if (const auto old = string_at(object, {"metadata", "annotations", kOld}))
    return std::string(*old);
  return text_at(object, {"spec", "storageClassName"});
}

Json flag(const Json& object, std::string_view field) {
  return Json(bool_at(object, {"spec", field}).value_or(false));
}

}  // namespace

JsonArray persistent_volume(const Json& object, WallTime now) {
  const Json* claim = find(object, {"spec", "claimRef"});
  std::string holder;
  if (claim != nullptr) holder = text_at(*claim, {"namespace"}) + "/" + text_at(*claim, {"name"});
  return {Json(name(object)),
          Json(text_at(object, {"spec", "capacity", "storage"})),
          Json(access_modes(array_at(object, {"spec", "accessModes"}))),
          Json(text_at(object, {"spec", "persistentVolumeReclaimPolicy"})),
          Json(phase(object)),
          Json(holder),
          Json(class_of(object)),
          Json(or_unset(object, {"spec", "volumeAttributesClassName"})),
          Json(text_at(object, {"status", "reason"})),
          Json(age(object, now)),
          Json(or_unset(object, {"spec", "volumeMode"}))};
}

JsonArray persistent_volume_claim(const Json& object, WallTime now) {
  const std::string volume = text_at(object, {"spec", "volumeName"});
  std::string capacity, modes;
  if (!volume.empty()) {
    capacity = text_at(object, {"status", "capacity", "storage"});
    modes = access_modes(array_at(object, {"status", "accessModes"}));
  }
  return {Json(name(object)),
          Json(phase(object)),
          Json(volume),
          Json(capacity),
          Json(modes),
          Json(class_of(object)),
          Json(or_unset(object, {"spec", "volumeAttributesClassName"})),
          Json(age(object, now)),
          Json(or_unset(object, {"spec", "volumeMode"}))};
}

JsonArray storage_class(const Json& object, WallTime now) {
  std::string shown = name(object);
  for (const std::string_view key : {"storageclass.kubernetes.io/is-default-class",
                                     "storageclass.beta.kubernetes.io/is-default-class"}) {
    if (text_at(object, {"metadata", "annotations", key}) == "true") {
      shown += " (default)";
      break;
    }
  }
  const std::string policy = text_at(object, {"reclaimPolicy"});
  return {Json(shown),
          Json(text_at(object, {"provisioner"})),
          Json(policy.empty() ? "Delete" : policy),
          Json(or_unset(object, {"volumeBindingMode"})),
          Json(bool_at(object, {"allowVolumeExpansion"}).value_or(false)),
          Json(age(object, now))};
}

JsonArray csi_node(const Json& object, WallTime now) {
  const JsonArray* drivers = array_at(object, {"spec", "drivers"});
  return {Json(name(object)), Json(drivers == nullptr ? 0 : std::ssize(*drivers)),
          Json(age(object, now))};
}

JsonArray csi_driver(const Json& object, WallTime now) {
  std::vector<std::string> modes, audiences;
  if (const JsonArray* list = array_at(object, {"spec", "volumeLifecycleModes"})) {
    for (const Json& mode : *list) {
      if (mode.is_string()) modes.emplace_back(view(mode.get_string()));
    }
  }
  if (const JsonArray* list = array_at(object, {"spec", "tokenRequests"})) {
    for (const Json& request : *list) audiences.push_back(text_at(request, {"audience"}));
  }
  return {Json(name(object)),
          flag(object, "attachRequired"),
          flag(object, "podInfoOnMount"),
          flag(object, "storageCapacity"),
          Json(audiences.empty() ? std::string(kUnset) : join(audiences, ",")),
          flag(object, "requiresRepublish"),
          Json(or_none(join(modes, ","))),
          Json(age(object, now))};
}

JsonArray volume_attachment(const Json& object, WallTime now) {
  return {Json(name(object)),
          Json(text_at(object, {"spec", "attacher"})),
          Json(text_at(object, {"spec", "source", "persistentVolumeName"})),
          Json(text_at(object, {"spec", "nodeName"})),
          Json(bool_at(object, {"status", "attached"}).value_or(false)),
          Json(age(object, now))};
}

JsonArray csi_storage_capacity(const Json& object, WallTime /*now*/) {
  return {Json(name(object)), Json(text_at(object, {"storageClassName"})),
          Json(or_unset(object, {"capacity"}))};
}

}  // namespace krater::api::cells
