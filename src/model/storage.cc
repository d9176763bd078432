#include "model/storage.h"

#include <algorithm>

#include "base/strings.h"
#include "model/selector.h"

namespace krater {
namespace {

constexpr std::string_view kOldClass = "volume.beta.kubernetes.io/storage-class";

Quantity amount(const Json& object, JsonPath path) {
  const auto text = string_at(object, path);
  const Result<Quantity> parsed = text ? Quantity::parse(*text) : Quantity();
  return parsed ? *parsed : Quantity();
}

ReclaimPolicy policy_of(const std::string& text, ReclaimPolicy otherwise) {
  if (text == "Retain") return ReclaimPolicy::Retain;
  if (text == "Delete") return ReclaimPolicy::Delete;
  if (text == "Recycle") return ReclaimPolicy::Recycle;
  return otherwise;
}

bool holds(const Object& object, std::string_view finalizer) {
  return std::ranges::find(object.finalizers(), finalizer) != object.finalizers().end();
}

bool listed(const JsonArray* values, const std::string& wanted) {
  return values != nullptr && std::ranges::any_of(*values, [&](const Json& value) {
           return value.is_string() && view(value.get_string()) == wanted;
         });
}

}  // namespace

std::string StorageView::class_name() const {
  const std::string_view old = annotation(kOldClass);
  return old.empty() ? text({"spec", "storageClassName"}) : std::string(old);
}

std::vector<std::string> StorageView::access_modes() const {
  std::vector<std::string> out;
  if (const JsonArray* modes = array_at(document(), {"spec", "accessModes"})) {
    for (const Json& mode : *modes) {
      if (mode.is_string()) out.emplace_back(view(mode.get_string()));
    }
  }
  return out;
}

Quantity PersistentVolumeView::capacity() const {
  return amount(document(), {"spec", "capacity", "storage"});
}

ReclaimPolicy PersistentVolumeView::reclaim_policy() const {
  return policy_of(text({"spec", "persistentVolumeReclaimPolicy"}), ReclaimPolicy::Retain);
}

NodeAffinity PersistentVolumeView::affinity() const {
  const Json* required = find(document(), {"spec", "nodeAffinity", "required"});
  if (required == nullptr) return {};
  const Json wrapped(JsonObject{{"requiredDuringSchedulingIgnoredDuringExecution", *required}});
  return NodeAffinity::from(&wrapped);
}

std::string PersistentVolumeView::node_path() const {
  const std::string path = text({"spec", "hostPath", "path"});
  return path.empty() ? text({"spec", "local", "path"}) : path;
}

bool PersistentVolumeView::has_finalizer(std::string_view name) const {
  return object() != nullptr && holds(*object(), name);
}

Quantity PersistentVolumeClaimView::request() const {
  return amount(document(), {"spec", "resources", "requests", "storage"});
}

bool PersistentVolumeClaimView::is_exclusive() const {
  const std::vector<std::string> modes = access_modes();
  return std::ranges::find(modes, "ReadWriteOncePod") != modes.end();
}

bool PersistentVolumeClaimView::has_finalizer(std::string_view name) const {
  return object() != nullptr && holds(*object(), name);
}

bool StorageClassView::is_default() const {
  return annotation(keys::kDefaultClass) == "true" || annotation(keys::kOldDefaultClass) == "true";
}

ReclaimPolicy StorageClassView::reclaim_policy() const {
  return policy_of(text({"reclaimPolicy"}), ReclaimPolicy::Delete);
}

bool StorageClassView::allows(const Labels& node) const {
  const JsonArray* terms = array_at(document(), {"allowedTopologies"});
  if (terms == nullptr || terms->empty()) return true;
  return std::ranges::any_of(*terms, [&](const Json& term) {
    const JsonArray* expressions = array_at(term, {"matchLabelExpressions"});
    return expressions != nullptr && std::ranges::all_of(*expressions, [&](const Json& one) {
             const auto label = node.find(text_at(one, {"key"}));
             return label != node.end() && listed(array_at(one, {"values"}), label->second);
           });
  });
}

bool is_reserved_for(const PersistentVolumeView& volume, const PersistentVolumeClaimView& claim) {
  return volume.claim_ref() != nullptr && volume.claim_name() == claim->name() &&
         volume.claim_namespace() == claim->name_space() &&
         (volume.claim_uid().empty() || volume.claim_uid() == claim->uid());
}

bool fits(const PersistentVolumeView& volume, const PersistentVolumeClaimView& claim) {
  if (volume->deletion() || volume.is_block() != claim.is_block()) return false;
  if (volume.class_name() != claim.class_name() || volume.capacity() < claim.request())
    return false;
  const std::vector<std::string> offered = volume.access_modes();
  for (const std::string& mode : claim.access_modes()) {
    if (std::ranges::find(offered, mode) == offered.end()) return false;
  }
  if (claim.selector() == nullptr) return true;
  const Result<LabelSelector> selector = LabelSelector::from_object(*claim.selector());
  return selector && selector->matches(volume->labels());
}

const PersistentVolumeView* choose_volume(const std::vector<PersistentVolumeView>& volumes,
                                          const PersistentVolumeClaimView& claim,
                                          const NodePlace* node) {
  const PersistentVolumeView* best = nullptr;
  for (const PersistentVolumeView& volume : volumes) {
    const bool reserved = is_reserved_for(volume, claim);
    if (volume.claim_ref() != nullptr && !reserved) continue;
    // What somebody reserved for the claim need not fit it as to class and labels.
    if (!reserved && (volume.phase() != "Available" || !fits(volume, claim))) continue;
    if (reserved && (volume->deletion() || volume.is_block() != claim.is_block())) continue;
    if (node != nullptr && !volume.affinity().allows(node->name, node->labels)) continue;
    if (reserved) return &volume;
    if (best == nullptr || volume.capacity() < best->capacity() ||
        (volume.capacity() == best->capacity() && volume->name() < (*best)->name()))
      best = &volume;
  }
  return best;
}

ObjectPtr default_class(const std::vector<ObjectPtr>& classes) {
  ObjectPtr best;
  for (const ObjectPtr& one : classes) {
    if (!StorageClassView(one).is_default()) continue;
    if (!best || one->created() > best->created() ||
        (one->created() == best->created() && one->name() < best->name()))
      best = one;
  }
  return best;
}

std::vector<PodClaim> pod_claims(const Json& pod) {
  std::vector<PodClaim> out;
  const JsonArray* volumes = array_at(pod, {"spec", "volumes"});
  if (volumes == nullptr) return out;
  for (const Json& volume : *volumes) {
    const std::string name = text_at(volume, {"name"});
    if (const auto claim = string_at(volume, {"persistentVolumeClaim", "claimName"})) {
      out.push_back({name, std::string(*claim), false});
    } else if (find(volume, {"ephemeral", "volumeClaimTemplate"}) != nullptr) {
      out.push_back({name, text_at(pod, {"metadata", "name"}) + "-" + name, true});
    }
  }
  return out;
}

Json claim_reference(const Object& claim) {
  return JsonObject{{"kind", kinds::kPersistentVolumeClaim.kind},
                    {"namespace", claim.name_space()},
                    {"name", claim.name()},
                    {"uid", claim.uid().text()},
                    {"apiVersion", kinds::kPersistentVolumeClaim.api_version()},
                    {"resourceVersion", claim.revision().text()}};
}

}  // namespace krater
