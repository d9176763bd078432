#include "controllers/storage/storage_controllers.h"
#include "model/pod.h"
#include "model/storage.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

const Json* template_of(const Json& pod, const std::string& volume) {
  const JsonArray* volumes = array_at(pod, {"spec", "volumes"});
  for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    if (text_at((*volumes)[i], {"name"}) == volume)
      return find((*volumes)[i], {"ephemeral", "volumeClaimTemplate"});
  }
  return nullptr;
}

Json claim_of(const Object& pod, const Json& wanted, const std::string& name) {
  Json out = new_object(kinds::kPersistentVolumeClaim, pod.name_space(), name);
  for (const std::string_view field : {"labels", "annotations"}) {
    if (const Json* given = find(wanted, {"metadata", field}))
      set_path(out, {"metadata", field}, *given);
  }
  set_path(out, {"metadata", "ownerReferences"}, JsonArray{controller_reference(pod)});
  if (const Json* spec = find(wanted, {"spec"})) set_path(out, {"spec"}, *spec);
  return out;
}

class EphemeralVolumeController final : public Reconciler {
 public:
  std::string_view name() const override { return "ephemeral-volume-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kPod,
             [](const ObjectPtr& before, const ObjectPtr& after) {
               // A pod's volumes never change.
               return before == nullptr && needs_claims(*after)
                          ? std::vector<ObjectKey>{after->key()}
                          : std::vector<ObjectKey>();
             }},
            {kinds::kPersistentVolumeClaim, [](const ObjectPtr& before, const ObjectPtr& after) {
               if (after != nullptr || before->controller() == nullptr)
                 return std::vector<ObjectKey>();
               const OwnerReference& owner = *before->controller();
               return owner.kind == kinds::kPod.kind
                          ? std::vector<ObjectKey>{ObjectKey::of(kinds::kPod, before->name_space(),
                                                                 owner.name)}
                          : std::vector<ObjectKey>();
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime /*now*/) override {
    Plan plan;
    const ObjectPtr pod = cache.get(key);
    if (pod == nullptr || pod->deletion() || PodView(pod).finished()) return plan;
    const std::shared_ptr<const Json> document = pod->document();
    std::vector<PlannedWrite> claims;
    for (const PodClaim& one : pod_claims(*document)) {
      const Json* wanted = one.ephemeral ? template_of(*document, one.volume) : nullptr;
      if (wanted == nullptr) continue;
      const ObjectPtr there = cache.get(kinds::kPersistentVolumeClaim, key.name_space, one.claim);
      const OwnerReference* owner = there == nullptr ? nullptr : there->controller();
      if (there != nullptr && (owner == nullptr || owner->uid != pod->uid())) {
        plan.events.push_back({Type::Warning, "FailedBinding",
                               "ephemeral volume: PVC " + key.name_space + "/" + one.claim +
                                   " was not created for pod " + key.name_space + "/" + key.name +
                                   " (pod is not owner)"});
      }
      if (there != nullptr) continue;
      claims.push_back({client::CreateWrite{kinds::kPersistentVolumeClaim, key.name_space,
                                            claim_of(*pod, *wanted, one.claim)},
                        Code::AlreadyExists,
                        {},
                        EventNote{Type::Warning, "FailedBinding", "ephemeral volume"}});
    }
    plan.steps.push_back(std::move(claims));
    return plan;
  }

 private:
  static bool needs_claims(const Object& pod) {
    for (const PodClaim& one : pod_claims(*pod.document())) {
      if (one.ephemeral) return true;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Reconciler> make_ephemeral_volume_controller() {
  return std::make_unique<EphemeralVolumeController>();
}

}  // namespace krater::controllers
