#include <map>

#include "controllers/storage/claim_step.h"
#include "controllers/storage/storage_controllers.h"
#include "model/pod.h"

namespace krater::controllers {
namespace {

ObjectKey claim_key(const std::string& name_space, const std::string& name) {
  return ObjectKey::of(kinds::kPersistentVolumeClaim, name_space, name);
}

class ClaimController final : public Reconciler {
 public:
  std::string_view name() const override { return "persistentvolume-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kPersistentVolumeClaim,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               see(before, after);
               return std::vector<ObjectKey>{(after ? after : before)->key()};
             }},
            {kinds::kPersistentVolume,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               return of_volume(before, after);
             }},
            {kinds::kStorageClass,
             [this](const ObjectPtr&, const ObjectPtr& after) {
               return after ? waiting_for(after->name()) : std::vector<ObjectKey>();
             }},
            {kinds::kNode,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               // Coming or going; what happens on it is no matter.
               return before && after ? std::vector<ObjectKey>()
                                      : waiting_on((after ? after : before)->name());
             }},
            {kinds::kPod, [](const ObjectPtr& before, const ObjectPtr& after) {
               return after ? std::vector<ObjectKey>() : claims_of(*before);
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime /*now*/) override {
    ClaimSeen seen;
    seen.claim = PersistentVolumeClaimView(cache.get(key));
    if (!seen.claim) return {};
    if (seen.claim->deletion()) {
      seen.in_use = is_used(*seen.claim.object(), cache);
      return claim_step(seen);
    }
    seen.storage_class =
        StorageClassView(cache.get(kinds::kStorageClass, "", seen.claim.class_name()));
    if (const std::string volume = seen.claim.volume_name(); !volume.empty()) {
      seen.volume = PersistentVolumeView(cache.get(kinds::kPersistentVolume, "", volume));
      return claim_step(seen);
    }
    for (const ObjectPtr& volume : cache.list(kinds::kPersistentVolume))
      seen.volumes.emplace_back(volume);
    if (const std::string node = seen.claim.selected_node(); !node.empty())
      seen.node = cache.get(kinds::kNode, "", node);
    return claim_step(seen);
  }

 private:
  struct Waiting {
    std::string class_name, node;
  };

  // Pods on a node hold what they use until they are gone, whatever has become of them.
  static bool is_used(const Object& claim, const client::Cache& cache) {
    for (const ObjectPtr& pod : cache.list(kinds::kPod, claim.name_space())) {
      const std::shared_ptr<const Json> document = pod->document();
      if (text_at(*document, {"spec", "nodeName"}).empty()) continue;
      for (const PodClaim& one : pod_claims(*document)) {
        if (one.claim == claim.name()) return true;
      }
    }
    return false;
  }

  static std::vector<ObjectKey> claims_of(const Object& pod) {
    std::vector<ObjectKey> out;
    for (const PodClaim& one : pod_claims(*pod.document()))
      out.push_back(claim_key(pod.name_space(), one.claim));
    return out;
  }

  void see(const ObjectPtr& before, const ObjectPtr& after) const {
    const ObjectKey& key = (after ? after : before)->key();
    const PersistentVolumeClaimView claim(after);
    if (after && claim.volume_name().empty()) {
      waiting_.insert_or_assign(key, Waiting{claim.class_name(), claim.selected_node()});
    } else {
      waiting_.erase(key);
    }
  }

  std::vector<ObjectKey> waiting_for(const std::string& class_name) const {
    std::vector<ObjectKey> out;
    for (const auto& [key, waiting] : waiting_) {
      if (waiting.class_name == class_name) out.push_back(key);
    }
    return out;
  }

  std::vector<ObjectKey> waiting_on(const std::string& node) const {
    std::vector<ObjectKey> out;
    for (const auto& [key, waiting] : waiting_) {
      if (waiting.node == node) out.push_back(key);
    }
    return out;
  }

  std::vector<ObjectKey> of_volume(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    for (const ObjectPtr& object : {before, after}) {
      const PersistentVolumeView volume(object);
      if (volume && volume.claim_ref() != nullptr)
        out.push_back(claim_key(volume.claim_namespace(), volume.claim_name()));
    }
    const PersistentVolumeView volume(after);
    if (volume && volume.claim_ref() == nullptr && volume.phase() == "Available") {
      for (ObjectKey& key : waiting_for(volume.class_name())) out.push_back(std::move(key));
    }
    return out;
  }

  mutable std::map<ObjectKey, Waiting> waiting_;  // claims without a volume
};

}  // namespace

std::unique_ptr<Reconciler> make_claim_controller() {
  return std::make_unique<ClaimController>();
}

}  // namespace krater::controllers
