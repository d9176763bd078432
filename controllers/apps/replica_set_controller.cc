#include "controllers/apps/replica_set_controller.h"

#include "controllers/apps/claim.h"
#include "controllers/apps/replica_set_step.h"
#include "model/mirror.h"

namespace krater::controllers {
namespace {

class ReplicaSetController final : public Reconciler {
 public:
  ReplicaSetController(std::string_view name, const Kind& kind)
      : name_(name), kind_(kind), index_(kind) {}

  std::string_view name() const override { return name_; }

  std::vector<Interest> interests() const override {
    return {{kind_,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               index_.see(before, after);
               const ObjectKey& key = (after ? after : before)->key();
               if (after == nullptr) failures_.erase(key);
               return std::vector<ObjectKey>{key};
             }},
            {kinds::kPod, [this](const ObjectPtr& before, const ObjectPtr& after) {
               return index_.owners_of(before, after);
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ReplicaSetView set(cache.get(key));
    if (!set || is_mirror(*set.object())) return {};
    const std::optional<LabelSelector> selector = set.selector();
    if (!selector) return {};
    // What has ended already is nobody's to take.
    std::vector<ObjectPtr> candidates = cache.list(kinds::kPod, key.name_space);
    std::erase_if(candidates, [](const ObjectPtr& pod) {
      return pod->controller() == nullptr && PodView(pod).finished();
    });
    Plan claims;
    claims.steps.push_back(claim(*set.object(), *selector, kinds::kPod, candidates));
    if (!claims.steps[0].empty()) return claims;

    ReplicaSetSeen seen{set,
                        {},
                        [&] { return related_pods(*set.object(), cache); },
                        [&](const std::string& pod) {
                          return cache.get(kinds::kPod, key.name_space, pod) != nullptr;
                        }};
    for (const ObjectPtr& pod : cache.controlled_by(kinds::kPod, set->uid()))
      seen.pods.push_back(app_pod_of(pod));
    if (const auto failure = failures_.extract(key); !failure.empty())
      seen.failure = failure.mapped();
    return replica_set_step(seen, now);
  }

  void write_failed(const ObjectKey& key, const PlannedWrite& planned,
                    const Error& error) override {
    const bool created = std::holds_alternative<client::CreateWrite>(planned.write);
    const bool removed = std::holds_alternative<client::DeleteWrite>(planned.write);
    if (created) failures_[key] = {"FailedCreate", error.message};
    if (removed) failures_[key] = {"FailedDelete", error.message};
  }

 private:
  // Active pods of all sets with the same controller, its own included.
  static PodsByNode related_pods(const Object& set, const client::Cache& cache) {
    PodsByNode out;
    const auto count = [&](const Object& owner) {
      for (const ObjectPtr& object : cache.controlled_by(kinds::kPod, owner.uid())) {
        const AppPod pod = app_pod_of(object);
        if (pod.active() && pod.assigned) ++out[pod.node];
      }
    };
    const OwnerReference* deployment = set.controller();
    if (deployment == nullptr) {
      count(set);
      return out;
    }
    for (const ObjectPtr& sibling : cache.controlled_by(kinds::kReplicaSet, deployment->uid))
      count(*sibling);
    return out;
  }

  std::string_view name_;
  const Kind& kind_;
  mutable SelectorIndex index_;
  mutable std::map<ObjectKey, ReplicaFailure> failures_;  // of the last pass
};

}  // namespace

std::unique_ptr<Reconciler> make_replica_set_controller() {
  return std::make_unique<ReplicaSetController>("replicaset-controller", kinds::kReplicaSet);
}
std::unique_ptr<Reconciler> make_replication_controller() {
  return std::make_unique<ReplicaSetController>("replicationcontroller-controller",
                                                kinds::kReplicationController);
}

}  // namespace krater::controllers
