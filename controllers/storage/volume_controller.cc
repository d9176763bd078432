#include <map>
#include <set>

#include "controllers/storage/storage_controllers.h"
#include "controllers/storage/volume_step.h"

namespace krater::controllers {
namespace {

class VolumeController final : public Reconciler {
 public:
  std::string_view name() const override { return "persistentvolume-reclaim-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kPersistentVolume,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               see(before, after);
               return std::vector<ObjectKey>{(after ? after : before)->key()};
             }},
            {kinds::kPersistentVolumeClaim,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               const ObjectKey& key = (after ? after : before)->key();
               return keys_of(by_claim_, Place{key.name_space, key.name});
             }},
            {kinds::kNode, [this](const ObjectPtr& before, const ObjectPtr& after) {
               return after ? std::vector<ObjectKey>() : keys_of(by_node_, before->name());
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    VolumeSeen seen;
    seen.volume = PersistentVolumeView(cache.get(key));
    if (!seen.volume) return {};
    if (seen.volume.claim_ref() != nullptr) {
      seen.claim = PersistentVolumeClaimView(cache.get(
          kinds::kPersistentVolumeClaim, seen.volume.claim_namespace(), seen.volume.claim_name()));
    }
    const std::string node(seen.volume.annotation(keys::kVolumeNode));
    seen.node_gone = !node.empty() && cache.get(kinds::kNode, "", node) == nullptr;
    return volume_step(seen, now);
  }

 private:
  using Place = std::pair<std::string, std::string>;

  template <typename Key>
  static std::vector<ObjectKey> keys_of(const std::map<Key, std::set<std::string>>& index,
                                        const Key& key) {
    std::vector<ObjectKey> out;
    const auto place = index.find(key);
    if (place == index.end()) return out;
    for (const std::string& name : place->second)
      out.push_back(ObjectKey::of(kinds::kPersistentVolume, "", name));
    return out;
  }

  template <typename Key>
  static void count(std::map<Key, std::set<std::string>>& index, const Key& key,
                    const std::string& name, bool present) {
    if (present) {
      index[key].insert(name);
    } else if (const auto place = index.find(key); place != index.end()) {
      place->second.erase(name);
      if (place->second.empty()) index.erase(place);
    }
  }

  void see(const ObjectPtr& before, const ObjectPtr& after) const {
    for (const auto& [object, present] : {std::pair(before, false), std::pair(after, true)}) {
      const PersistentVolumeView volume(object);
      if (!volume) continue;
      if (volume.claim_ref() != nullptr) {
        count(by_claim_, Place{volume.claim_namespace(), volume.claim_name()}, volume->name(),
              present);
      }
      const std::string node(volume.annotation(keys::kVolumeNode));
      if (!node.empty()) count(by_node_, node, volume->name(), present);
    }
  }

  mutable std::map<Place, std::set<std::string>> by_claim_;
  mutable std::map<std::string, std::set<std::string>> by_node_;
};

}  // namespace

std::unique_ptr<Reconciler> make_volume_controller() {
  return std::make_unique<VolumeController>();
}

}  // namespace krater::controllers
