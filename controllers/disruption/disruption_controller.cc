#include "controllers/disruption/disruption_controller.h"

#include <map>

#include "controllers/disruption/budget_step.h"
#include "model/workload.h"

namespace krater::controllers {
namespace {

// What of a pod a budget counts. Everything else that happens to a pod wakes none.
bool counts_the_same(const PodView& a, const PodView& b) {
  return a->labels() == b->labels() && a.ready() == b.ready() && a.deleting() == b.deleting() &&
         a.phase() == b.phase() && a->uid() == b->uid();
}

class DisruptionController final : public Reconciler {
 public:
  explicit DisruptionController(std::vector<Kind> scaled) : scaled_(std::move(scaled)) {
    for (const Kind* own : {&kinds::kReplicaSet, &kinds::kDeployment, &kinds::kStatefulSet})
      std::erase(scaled_, *own);
  }
  std::string_view name() const override { return "disruption-controller"; }

  std::vector<Interest> interests() const override {
    const auto of_workload = [this](const ObjectPtr& before, const ObjectPtr& after) {
      const bool resized = before == nullptr || after == nullptr ||
                           WorkloadView(before).replicas() != WorkloadView(after).replicas();
      return resized ? all_in((after ? after : before)->name_space()) : std::vector<ObjectKey>();
    };
    std::vector<Interest> out{
        {kinds::kPodDisruptionBudget,
         [this](const ObjectPtr& before, const ObjectPtr& after) {
           const ObjectKey& key = (after ? after : before)->key();
           if (after != nullptr) {
             budgets_[key.name_space].insert_or_assign(key.name, DisruptionBudgetView(after));
           } else {
             budgets_[key.name_space].erase(key.name);
           }
           return std::vector<ObjectKey>{key};
         }},
        {kinds::kPod,
         [this](const ObjectPtr& before, const ObjectPtr& after) { return of_pod(before, after); }},
        {kinds::kReplicaSet, of_workload},
        {kinds::kDeployment, of_workload},
        {kinds::kStatefulSet, of_workload}};
    for (const Kind& kind : scaled_) out.push_back({kind, of_workload});
    return out;
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    BudgetSeen seen{DisruptionBudgetView(cache.get(key)), {}, [&](const PodView& pod) {
                      return scale_of(pod, cache);
                    }};
    if (!seen.budget || seen.budget->deletion()) return {};
    for (const ObjectPtr& object : cache.list(kinds::kPod, key.name_space)) {
      if (!seen.budget.covers(object->labels())) continue;
      const PodView pod(object);
      if (!pod.finished()) seen.pods.push_back(pod);
    }
    return budget_step(seen, now);
  }

 private:
  std::vector<Kind> scaled_;

  std::vector<ObjectKey> all_in(const std::string& name_space) const {
    std::vector<ObjectKey> out;
    const auto place = budgets_.find(name_space);
    if (place == budgets_.end()) return out;
    for (const auto& [name, budget] : place->second) out.push_back(budget->key());
    return out;
  }

  std::vector<ObjectKey> of_pod(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    const auto place = budgets_.find((after ? after : before)->name_space());
    if (place == budgets_.end()) return out;
    if (before && after && counts_the_same(PodView(before), PodView(after))) return out;
    for (const auto& [name, budget] : place->second) {
      const bool was = before && budget.covers(before->labels());
      const bool is = after && budget.covers(after->labels());
      if (was || is) out.push_back(budget->key());
    }
    return out;
  }

  // A Deployment's pods are counted by the Deployment, whatever its sets do meanwhile.
  Result<std::optional<PodScale>> scale_of(const PodView& pod, const client::Cache& cache) const {
    const OwnerReference* owner = pod->controller();
    if (owner == nullptr) return std::optional<PodScale>();
    const std::string& name_space = pod->name_space();
    if (owner->kind == kinds::kReplicaSet.kind) {
      const ObjectPtr set = cache.get(kinds::kReplicaSet, name_space, owner->name);
      if (set == nullptr || set->uid() != owner->uid) return std::optional<PodScale>();
      const OwnerReference* above = set->controller();
      if (above == nullptr || above->kind != kinds::kDeployment.kind)
        return std::optional(PodScale{set->uid(), WorkloadView(set).replicas()});
      return scale_in(kinds::kDeployment, name_space, *above, cache);
    }
    if (owner->kind == kinds::kStatefulSet.kind)
      return scale_in(kinds::kStatefulSet, name_space, *owner, cache);
    for (const Kind& kind : scaled_) {
      if (kind.kind == owner->kind && kind.api_version() == owner->api_version)
        return scale_in(kind, name_space, *owner, cache);
    }
    return make_error(Code::NotFound, owner->kind + "." + owner->api_version + " \"" + owner->name +
                                          "\" does not implement the scale subresource");
  }

  static Result<std::optional<PodScale>> scale_in(const Kind& kind, const std::string& name_space,
                                                  const OwnerReference& owner,
                                                  const client::Cache& cache) {
    const WorkloadView workload(cache.get(kind, name_space, owner.name));
    if (!workload || workload->uid() != owner.uid) return std::optional<PodScale>();
    return std::optional(PodScale{workload->uid(), workload.replicas()});
  }

  // By namespace, then name: what the cache shows.
  mutable std::map<std::string, std::map<std::string, DisruptionBudgetView>> budgets_;
};

}  // namespace

std::unique_ptr<Reconciler> make_disruption_controller(std::vector<Kind> scaled) {
  return std::make_unique<DisruptionController>(std::move(scaled));
}

}  // namespace krater::controllers
