#include "controllers/apps/stateful_set_controller.h"

#include <algorithm>

#include "controllers/apps/claim.h"
#include "controllers/apps/stateful_set_step.h"
#include "model/storage_kinds.h"

namespace krater::controllers {
namespace {

class StatefulSetController final : public Reconciler {
 public:
  std::string_view name() const override { return "statefulset-controller"; }

  std::vector<Interest> interests() const override {
    const auto of_owner = [this](const ObjectPtr& before, const ObjectPtr& after) {
      return index_.owners_of(before, after);
    };
    return {{kinds::kStatefulSet,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               index_.see(before, after);
               return std::vector<ObjectKey>{(after ? after : before)->key()};
             }},
            {kinds::kPod, of_owner},
            {kinds::kControllerRevision, of_owner},
            // Read, but nothing to act on.
            {kinds::kPersistentVolumeClaim,
             [](const ObjectPtr&, const ObjectPtr&) { return std::vector<ObjectKey>(); }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const StatefulSetView set(cache.get(key));
    if (!set) return {};
    const std::optional<LabelSelector> selector = set.selector();
    if (!selector) return {};
    // Only pods with its name and a number can be its own.
    std::vector<ObjectPtr> candidates = cache.list(kinds::kPod, key.name_space);
    std::erase_if(candidates, [&](const ObjectPtr& pod) {
      return pod->controller() == nullptr && !ordinal_of(set->name(), pod->name());
    });
    Plan claims;
    claims.steps.push_back(claim(*set.object(), *selector, kinds::kPod, candidates));
    if (!claims.steps[0].empty()) return claims;

    StatefulSetSeen seen{set,
                         {},
                         cache.controlled_by(kinds::kControllerRevision, set->uid()),
                         [&](const std::string& revision) {
                           return cache.get(kinds::kControllerRevision, key.name_space, revision) !=
                                  nullptr;
                         },
                         [&](const std::string& claim) {
                           return cache.get(kinds::kPersistentVolumeClaim, key.name_space, claim);
                         }};
    for (const ObjectPtr& pod : cache.controlled_by(kinds::kPod, set->uid()))
      seen.pods.push_back(app_pod_of(pod));
    return stateful_set_step(seen, now);
  }

 private:
  mutable SelectorIndex index_{kinds::kStatefulSet};
};

}  // namespace

std::unique_ptr<Reconciler> make_stateful_set_controller() {
  return std::make_unique<StatefulSetController>();
}

}  // namespace krater::controllers
