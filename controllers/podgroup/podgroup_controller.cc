#include "controllers/podgroup/podgroup_controller.h"

#include <array>
#include <map>
#include <set>

#include "controllers/podgroup/build.h"
#include "model/keys.h"
#include "model/pod.h"
#include "model/queue.h"

namespace krater::controllers {
namespace {

using podgroup::build_group;
using podgroup::group_name;

constexpr Duration kLookAgain = 1s;

const std::array<Kind, 3> kWorkloads{{{"apps", "v1", "ReplicaSet", "replicasets", true},
                                      {"apps", "v1", "StatefulSet", "statefulsets", true},
                                      {"apps", "v1", "DaemonSet", "daemonsets", true}}};

class PodGroupController final : public Reconciler {
 public:
  explicit PodGroupController(PodGroupDeps deps) : deps_(std::move(deps)) {}

  std::string_view name() const override { return "pg-controller"; }

  std::vector<Interest> interests() const override {
    using Keys = std::vector<ObjectKey>;
    std::vector<Interest> out{
        {kinds::kPod,
         [this](const ObjectPtr& before, const ObjectPtr& after) -> Keys {
           return on_pod(before, after);
         }},
        {kinds::kQueue,
         [this](const ObjectPtr&, const ObjectPtr& after) -> Keys {
           if (after == nullptr) return {};
           const std::set<ObjectKey>& pods = waiting_[after->name()];
           return {pods.begin(), pods.end()};
         }},
        {kinds::kPodGroup, [](const ObjectPtr&, const ObjectPtr&) -> Keys { return {}; }},
        {kinds::kJob, [](const ObjectPtr&, const ObjectPtr&) -> Keys { return {}; }}};
    for (const Kind& kind : kWorkloads) {
      if (deps_.served(kind)) out.push_back({kind});
    }
    return out;
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime) override {
    const ObjectPtr object = cache.get(key);
    if (object == nullptr) return {};
    return key.resource == kinds::kPod.resource() ? on_plain_pod(object, cache)
                                                  : on_workload(*object, cache);
  }

 private:
  std::vector<ObjectKey> on_pod(const ObjectPtr& before, const ObjectPtr& after) const {
    if (after == nullptr) {
      forget(before->key());
      return {};
    }
    const PodView pod(after);
    if (pod.scheduler_name() != deps_.scheduler_name) return {};
    // Somebody else has put it into a group.
    const std::string_view group = pod.annotation(keys::kGroupName);
    if (!group.empty() && group != group_name(*after)) {
      forget(after->key());
      return {};
    }
    return {after->key()};
  }

  void forget(const ObjectKey& pod) const {
    for (auto& [queue, pods] : waiting_) pods.erase(pod);
  }

  Plan on_plain_pod(const ObjectPtr& object, const client::Cache& cache) {
    const PodView pod(object);
    Plan plan;
    forget(object->key());
    const std::string name = group_name(*object);
    // Of a gang's pods it is said from the start.
    const bool joined = pod.annotation(keys::kGroupName) == name;
    if (pod.deleting() || pod.finished()) return plan;
    if (!pod.annotation(keys::kGroupName).empty() && !joined) return plan;
    if (cache.get(kinds::kPodGroup, object->name_space(), name) == nullptr) {
      // A queue that is not open takes no new group: the pod waits on its own until it opens.
      const std::string queue(pod.annotation(keys::kQueueName));
      const ObjectPtr mine = cache.get(kinds::kQueue, "", queue);
      if (!queue.empty() && (mine == nullptr || QueueView(mine).state() != QueueState::Open)) {
        waiting_[queue].insert(object->key());
        return plan;
      }
      const auto owner = annotations_of_owner(*object, cache);
      if (!owner) {
        plan.outcome = Outcome::requeue_after(kLookAgain);
        return plan;
      }
      plan.then(
          {client::CreateWrite{kinds::kPodGroup, object->name_space(), build_group(pod, *owner)},
           Code::AlreadyExists,
           {},
           {}});
    }
    if (joined) return plan;
    Json patch(boost::json::object_kind);
    set_path(patch, {"metadata", "annotations", keys::kGroupName}, Json(name));
    client::PatchWrite join{kinds::kPod, object->name_space(), object->name(),
                            client::PatchType::Merge, std::move(patch)};
    join.only_if = object->revision();  // somebody else may put it into a group
    return std::move(plan.then({std::move(join), Code::NotFound, {}, {}}));
  }

  // nullopt: it has a controller that is not known yet.
  static std::optional<Labels> annotations_of_owner(const Object& pod, const client::Cache& cache) {
    const OwnerReference* owner = pod.controller();
    if (owner == nullptr) return Labels();
    std::vector<Kind> kinds(kWorkloads.begin(), kWorkloads.end());
    kinds.push_back(kinds::kJob);
    for (const Kind& kind : kinds) {
      if (kind.kind != owner->kind || kind.api_version() != owner->api_version) continue;
      if (!cache.watches(kind.resource())) return Labels();
      const ObjectPtr object = cache.get(kind, pod.name_space(), owner->name);
      if (object == nullptr || object->uid() != owner->uid) return std::nullopt;
      return string_map(find(*object->document(), {"metadata", "annotations"}));
    }
    return Labels();
  }

  // Scaled to nothing, its group asks for nothing.
  static Plan on_workload(const Object& workload, const client::Cache& cache) {
    Plan plan;
    if (int_at(*workload.document(), {"spec", "replicas"}) != 0) return plan;
    const std::string name = "podgroup-" + workload.uid().text();
    const ObjectPtr group = cache.get(kinds::kPodGroup, workload.name_space(), name);
    if (group == nullptr || group->deletion()) return plan;
    client::DeleteWrite gone{kinds::kPodGroup, workload.name_space(), name};
    gone.only_uid = group->uid();
    return std::move(plan.then({std::move(gone), Code::NotFound, {}, {}}));
  }

  PodGroupDeps deps_;
  mutable std::map<std::string, std::set<ObjectKey>> waiting_;  // pods by queue
};

}  // namespace

std::unique_ptr<Reconciler> make_pod_group_controller(PodGroupDeps deps) {
  return std::make_unique<PodGroupController>(std::move(deps));
}

}  // namespace krater::controllers
