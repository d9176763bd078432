#include "controllers/apps/daemon_set_controller.h"

#include <set>

#include "controllers/apps/claim.h"
#include "controllers/apps/daemon_set_step.h"

namespace krater::controllers {
namespace {

class DaemonSetController final : public Reconciler {
 public:
  std::string_view name() const override { return "daemonset-controller"; }

  std::vector<Interest> interests() const override {
    const auto of_owner = [this](const ObjectPtr& before, const ObjectPtr& after) {
      return index_.owners_of(before, after);
    };
    return {{kinds::kDaemonSet,
             [this](const ObjectPtr& before, const ObjectPtr& after) {
               index_.see(before, after);
               const ObjectKey& key = (after ? after : before)->key();
               if (after != nullptr) {
                 all_.insert(key);
               } else {
                 all_.erase(key);
               }
               return std::vector<ObjectKey>{key};
             }},
            {kinds::kPod, of_owner},
            {kinds::kControllerRevision, of_owner},
            {kinds::kNode, [this](const ObjectPtr& before, const ObjectPtr& after) {
               if (before && after && same_place(NodeView(before), NodeView(after)))
                 return std::vector<ObjectKey>();
               return std::vector<ObjectKey>(all_.begin(), all_.end());
             }}};
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const DaemonSetView set(cache.get(key));
    if (!set) return {};
    const std::optional<LabelSelector> selector = set.selector();
    if (!selector) return {};
    Plan claims;
    claims.steps.push_back(
        claim(*set.object(), *selector, kinds::kPod, cache.list(kinds::kPod, key.name_space)));
    if (!claims.steps[0].empty()) return claims;

    DaemonSetSeen seen{set,
                       {},
                       {},
                       cache.controlled_by(kinds::kControllerRevision, set->uid()),
                       [&](const std::string& revision) {
                         return cache.get(kinds::kControllerRevision, key.name_space, revision) !=
                                nullptr;
                       },
                       [&](const std::string& pod) {
                         return cache.get(kinds::kPod, key.name_space, pod) != nullptr;
                       }};
    for (const ObjectPtr& node : cache.list(kinds::kNode)) {
      if (!node->deletion()) seen.nodes.emplace_back(node);
    }
    for (const ObjectPtr& pod : cache.controlled_by(kinds::kPod, set->uid()))
      seen.pods.push_back(app_pod_of(pod));
    return daemon_set_step(seen, now);
  }

 private:
  // What of a node decides on daemons. Heartbeats wake nobody.
  static bool same_place(const NodeView& a, const NodeView& b) {
    return a->labels() == b->labels() && a.taints() == b.taints() &&
           a->deletion().has_value() == b->deletion().has_value();
  }

  mutable SelectorIndex index_{kinds::kDaemonSet};
  mutable std::set<ObjectKey> all_;
};

}  // namespace

std::unique_ptr<Reconciler> make_daemon_set_controller() {
  return std::make_unique<DaemonSetController>();
}

}  // namespace krater::controllers
