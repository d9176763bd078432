#include "controllers/apps/set_claims.h"

#include <algorithm>

#include "model/pod.h"
#include "model/storage_kinds.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

const JsonArray& templates_of(const StatefulSetView& set) {
  static const JsonArray kNone;
  const JsonArray* list = array_at(set.document(), {"spec", "volumeClaimTemplates"});
  return list == nullptr ? kNone : *list;
}

std::string claim_name(const StatefulSetView& set, const Json& wanted, std::int64_t ordinal) {
  return text_at(wanted, {"metadata", "name"}) + "-" + set->name() + "-" + std::to_string(ordinal);
}

Json claim_of(const StatefulSetView& set, const Json& wanted, const std::string& name) {
  Json out = new_object(kinds::kPersistentVolumeClaim, set->name_space(), name);
  Labels labels = string_map(find(wanted, {"metadata", "labels"}));
  for (const auto& [key, value] :
       string_map(find(set.document(), {"spec", "selector", "matchLabels"})))
    labels[key] = value;
  if (!labels.empty()) set_path(out, {"metadata", "labels"}, to_json_object(labels));
  if (const Json* annotations = find(wanted, {"metadata", "annotations"}))
    set_path(out, {"metadata", "annotations"}, *annotations);
  if (const Json* spec = find(wanted, {"spec"})) set_path(out, {"spec"}, *spec);
  return out;
}

Json reference_to(const Object& owner) {
  return JsonObject{{"apiVersion", owner.api_version()},
                    {"kind", owner.kind()},
                    {"name", owner.name()},
                    {"uid", owner.uid().text()}};
}

bool deletes_when(const StatefulSetView& set, std::string_view moment) {
  return text_at(set.document(), {"spec", "persistentVolumeClaimRetentionPolicy", moment}) ==
         "Delete";
}

}  // namespace

std::vector<PlannedWrite> missing_claims(const StatefulSetView& set, std::int64_t ordinal,
                                         const FindClaim& find_claim) {
  std::vector<PlannedWrite> out;
  for (const Json& wanted : templates_of(set)) {
    const std::string name = claim_name(set, wanted, ordinal);
    if (find_claim(name) != nullptr) continue;
    const std::string what = "create Claim " + name + " Pod " + set->name() + "-" +
                             std::to_string(ordinal) + " in StatefulSet " + set->name();
    out.push_back({client::CreateWrite{kinds::kPersistentVolumeClaim, set->name_space(),
                                       claim_of(set, wanted, name)},
                   Code::AlreadyExists,
                   EventNote{Type::Normal, "SuccessfulCreate", what + " success"},
                   EventNote{Type::Warning, "FailedCreate", what + " failed error"}});
  }
  return out;
}

void mount_claims(const StatefulSetView& set, std::int64_t ordinal, Json& pod) {
  const JsonArray& templates = templates_of(set);
  if (templates.empty()) return;
  JsonArray volumes;
  for (const Json& wanted : templates) {
    volumes.push_back(JsonObject{
        {"name", text_at(wanted, {"metadata", "name"})},
        {"persistentVolumeClaim", JsonObject{{"claimName", claim_name(set, wanted, ordinal)}}}});
  }
  if (const JsonArray* own = array_at(pod, {"spec", "volumes"})) {
    for (const Json& volume : *own) {
      const std::string name = text_at(volume, {"name"});
      const bool taken = std::ranges::any_of(templates, [&](const Json& wanted) {
        return text_at(wanted, {"metadata", "name"}) == name;
      });
      if (!taken) volumes.push_back(volume);
    }
  }
  set_path(pod, {"spec", "volumes"}, std::move(volumes));
}

std::vector<PlannedWrite> own_claims(const StatefulSetView& set, std::int64_t ordinal,
                                     const Object& pod, bool condemned,
                                     const FindClaim& find_claim) {
  std::vector<PlannedWrite> out;
  const bool of_pod = condemned && deletes_when(set, "whenScaled");
  const bool of_set = !of_pod && deletes_when(set, "whenDeleted");
  for (const Json& wanted : templates_of(set)) {
    const ObjectPtr claim = find_claim(claim_name(set, wanted, ordinal));
    if (claim == nullptr || claim->deletion()) continue;
    const std::shared_ptr<const Json> document = claim->document();
    JsonArray owners;
    const JsonArray* before = array_at(*document, {"metadata", "ownerReferences"});
    for (std::size_t i = 0; before != nullptr && i < before->size(); ++i) {
      const std::string uid = text_at((*before)[i], {"uid"});
      const bool ours = uid == set->uid().text() || uid == pod.uid().text();
      if (!ours || (uid == set->uid().text() && of_set) || (uid == pod.uid().text() && of_pod))
        owners.push_back((*before)[i]);
    }
    const auto has = [&](const Object& owner) {
      return std::ranges::any_of(
          owners, [&](const Json& one) { return text_at(one, {"uid"}) == owner.uid().text(); });
    };
    if (of_set && !has(*set.object())) owners.push_back(reference_to(*set.object()));
    if (of_pod && !has(pod)) owners.push_back(reference_to(pod));
    if (before == nullptr ? owners.empty() : *before == owners) continue;
    client::PatchWrite write{
        kinds::kPersistentVolumeClaim, claim->name_space(), claim->name(), client::PatchType::Merge,
        JsonObject{
            {"metadata", JsonObject{{"ownerReferences", owners.empty() ? Json() : Json(owners)}}}}};
    write.only_if = claim->revision();
    out.push_back({std::move(write), Code::NotFound, {}, {}});
  }
  return out;
}

}  // namespace krater::controllers
