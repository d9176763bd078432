#include "controllers/apps/deployment_controller.h"

#include <algorithm>

#include "controllers/apps/app_pod.h"
#include "controllers/apps/claim.h"
#include "controllers/apps/deployment_step.h"
#include "model/mirror.h"

namespace krater::controllers {
namespace {

class DeploymentController final : public Reconciler {
 public:
  std::string_view name() const override { return "deployment-controller"; }

  std::vector<Interest> interests() const override {
    return {{kinds::kDeployment,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               index_.see(before, after);
               const ObjectKey& key = (after ? after : before)->key();
               if (after == nullptr) errors_.erase(key);
               return std::vector<ObjectKey>{key};
             }},
            {kinds::kReplicaSet,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               remember(before, after);
               return index_.owners_of(before, after);
             }},
            {kinds::kPod, [this](const ObjectPtr& before, const ObjectPtr& after) {
               return owner_of_ended(before, after);
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const DeploymentView deployment(cache.get(key));
    if (!deployment || is_mirror(*deployment.object())) return {};
    const std::optional<LabelSelector> selector = deployment.selector();
    if (!selector) return {};
    Plan claims;
    claims.steps.push_back(claim(*deployment.object(), *selector, kinds::kReplicaSet,
                                 cache.list(kinds::kReplicaSet, key.name_space)));
    if (!claims.steps[0].empty()) return claims;

    DeploymentSeen seen{deployment,
                        {},
                        [&](const std::string& set) {
                          return cache.get(kinds::kReplicaSet, key.name_space, set) != nullptr;
                        },
                        [&](const ReplicaSetView& set) { return has_pods(set, cache); }};
    for (const ObjectPtr& set : cache.controlled_by(kinds::kReplicaSet, deployment->uid()))
      seen.sets.emplace_back(ReplicaSetView(set));
    if (const auto error = errors_.extract(key); !error.empty()) seen.create_error = error.mapped();
    return deployment_step(std::move(seen), now);
  }

  void write_failed(const ObjectKey& key, const PlannedWrite& planned,
                    const Error& error) override {
    if (std::holds_alternative<client::CreateWrite>(planned.write)) errors_[key] = error.message;
  }

 private:
  // Pods come and go through the status of their sets; only that the last one is really gone is
  // seen at the pod itself, and Recreate waits for it.
  std::vector<ObjectKey> owner_of_ended(const ObjectPtr& before, const ObjectPtr& after) const {
    if (before == nullptr || (after != nullptr && !PodView(after).finished())) return {};
    const OwnerReference* set = before->controller();
    if (set == nullptr || set->kind != kinds::kReplicaSet.kind) return {};
    const auto place =
        deployments_.find(ObjectKey::of(kinds::kReplicaSet, before->name_space(), set->name));
    if (place == deployments_.end()) return {};
    return {place->second};
  }

  void remember(const ObjectPtr& before, const ObjectPtr& after) const {
    const ObjectKey& key = (after ? after : before)->key();
    const OwnerReference* owner = after ? after->controller() : nullptr;
    if (owner == nullptr || owner->kind != kinds::kDeployment.kind) {
      deployments_.erase(key);
    } else {
      deployments_[key] = ObjectKey::of(kinds::kDeployment, key.name_space, owner->name);
    }
  }

  static bool has_pods(const ReplicaSetView& set, const client::Cache& cache) {
    const std::vector<ObjectPtr> pods = cache.controlled_by(kinds::kPod, set->uid());
    return std::ranges::any_of(pods, [](const ObjectPtr& pod) { return !app_pod_of(pod).ended(); });
  }

  mutable SelectorIndex index_{kinds::kDeployment};
  mutable std::map<ObjectKey, ObjectKey> deployments_;  // of ReplicaSets
  mutable std::map<ObjectKey, std::string> errors_;     // of the last pass
};

}  // namespace

std::unique_ptr<Reconciler> make_deployment_controller() {
  return std::make_unique<DeploymentController>();
}

}  // namespace krater::controllers
