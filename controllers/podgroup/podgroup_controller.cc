#include "controllers/podgroup/podgroup_controller.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "controllers/podgroup/build.h"
#include "controllers/podgroup/size.h"
#include "model/keys.h"
#include "model/pod.h"
#include "model/podgroup.h"
#include "model/queue.h"
#include "model/queue_choice.h"

namespace krater::controllers {
namespace {

using podgroup::build_group;
using podgroup::difference;
using podgroup::group_name;
using podgroup::group_size;
using podgroup::names_size;
using podgroup::next_size;
using podgroup::queue_of;

// So long a pod's controller may take to be known: its pods wait for the group that it asks for.
constexpr Duration kOwnerWithin = 5s;
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
        {kinds::kNamespace,
         [this](const ObjectPtr& before, const ObjectPtr& after) -> Keys {
           return on_namespace(before, after);
         }},
        {kinds::kPodGroup, [](const ObjectPtr&, const ObjectPtr&) -> Keys { return {}; }},
        {kinds::kJob}};
    for (const Kind& kind : kWorkloads) {
      if (deps_.served(kind)) out.push_back({kind});
    }
    return out;
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    const ObjectPtr object = cache.get(key);
    if (object == nullptr) return {};
    return key.resource == kinds::kPod.resource() ? on_plain_pod(object, cache, now)
                                                  : on_workload(*object, cache);
  }

 private:
  std::vector<ObjectKey> on_pod(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    if (after == nullptr) {
      forget(before->key());
    } else if (is_ours(after)) {
      const std::string_view group = PodView(after).annotation(keys::kGroupName);
      if (group.empty() || group == group_name(*after)) {
        out.push_back(after->key());
      } else {
        forget(after->key());  // somebody else has put it into a group
      }
    }
    if (before == nullptr || after == nullptr || on_node(before) != on_node(after))
      add_workload(*(after == nullptr ? before : after), out);
    return out;
  }

  // Those who wait for the queue that it preferred may go to another.
  std::vector<ObjectKey> on_namespace(const ObjectPtr& before, const ObjectPtr& after) const {
    std::vector<ObjectKey> out;
    if (before == nullptr || after == nullptr ||
        ObjectView(before).annotation(keys::kQueueName) ==
            ObjectView(after).annotation(keys::kQueueName))
      return out;
    for (const auto& [queue, pods] : waiting_) {
      for (const ObjectKey& pod : pods) {
        if (pod.name_space == after->name()) out.push_back(pod);
      }
    }
    return out;
  }

  bool is_ours(const ObjectPtr& pod) const {
    const auto& names = deps_.scheduler_names;
    return std::find(names.begin(), names.end(), PodView(pod).scheduler_name()) != names.end();
  }

  // Alive, and has got its place.
  static bool on_node(const ObjectPtr& object) {
    const PodView pod(object);
    return !pod.deleting() && !pod.finished() && !pod.node_name().empty();
  }

  void add_workload(const Object& pod, std::vector<ObjectKey>& out) const {
    const OwnerReference* owner = pod.controller();
    if (owner == nullptr) return;
    for (const Kind& kind : kWorkloads) {
      if (kind.kind == owner->kind && kind.api_version() == owner->api_version &&
          deps_.served(kind)) {
        out.push_back(ObjectKey::of(kind, pod.name_space(), owner->name));
      }
    }
  }

  void forget(const ObjectKey& pod) const {
    for (auto& [queue, pods] : waiting_) pods.erase(pod);
  }

  Plan on_plain_pod(const ObjectPtr& object, const client::Cache& cache, WallTime now) {
    const PodView pod(object);
    Plan plan;
    forget(object->key());
    const std::string name = group_name(*object);
    // Of a gang's pods it is said from the start.
    const bool joined = pod.annotation(keys::kGroupName) == name;
    if (pod.deleting() || pod.finished()) return plan;
    if (!pod.annotation(keys::kGroupName).empty() && !joined) return plan;
    const PodGroupView group(cache.get(kinds::kPodGroup, object->name_space(), name));
    if (group && joined) return plan;
    auto owner = owner_of(*object, cache);
    // The group of a controller that is gone stays as it is.
    const bool group_stays = group && !owner;
    if (!owner && !group && now - object->created().value_or(WallTime()) < kOwnerWithin) {
      plan.outcome = Outcome::requeue_after(kLookAgain);
      return plan;
    }
    if (!owner) owner.emplace();
    const std::string named = queue_of(pod, owner->annotations);
    const std::string queue = queue_in(object->name_space(), named, group, cache);
    if (!group_stays && !may_enter(queue, group, cache)) {
      waiting_[queue].insert(object->key());
      return plan;
    }
    if (group && !group_stays) {
      follow(group, pod, group.min_member(), queue, plan);
    } else if (!group) {
      plan.then({client::CreateWrite{kinds::kPodGroup, object->name_space(),
                                     build_group(pod, owner->annotations, owner->size, queue)},
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

  // What a pod's controller says about its group.
  struct Owner {
    Labels annotations{};
    std::int64_t size = 1;
  };

  // nullopt: it has a controller that is not known yet.
  static std::optional<Owner> owner_of(const Object& pod, const client::Cache& cache) {
    const OwnerReference* owner = pod.controller();
    if (owner == nullptr) return Owner();
    std::vector<Kind> kinds(kWorkloads.begin(), kWorkloads.end());
    kinds.push_back(kinds::kJob);
    for (const Kind& kind : kinds) {
      if (kind.kind != owner->kind || kind.api_version() != owner->api_version) continue;
      if (!cache.watches(kind.resource())) return Owner();
      const ObjectPtr object = cache.get(kind, pod.name_space(), owner->name);
      if (object == nullptr || object->uid() != owner->uid) return std::nullopt;
      return Owner{annotations_of(*object),
                   group_size(*object, cache.controlled_by(kinds::kPod, object->uid()))};
    }
    return Owner();
  }

  static Labels annotations_of(const Object& object) {
    return string_map(find(*object.document(), {"metadata", "annotations"}));
  }

  Plan on_workload(const Object& workload, const client::Cache& cache) const {
    Plan plan;
    const std::string name = "podgroup-" + workload.uid().text();
    const ObjectPtr group = cache.get(kinds::kPodGroup, workload.name_space(), name);
    if (group == nullptr || group->deletion()) return plan;
    if (int_at(*workload.document(), {"spec", "replicas"}) != 0)
      return resize(workload, group, cache);
    // Scaled to nothing, its group asks for nothing.
    client::DeleteWrite gone{kinds::kPodGroup, workload.name_space(), name};
    gone.only_uid = group->uid();
    return std::move(plan.then({std::move(gone), Code::NotFound, {}, {}}));
  }

  // Its group follows what it asks for, and what its newest pod is like.
  Plan resize(const Object& workload, const ObjectPtr& group, const client::Cache& cache) const {
    Plan plan;
    const Labels annotations = annotations_of(workload);
    const bool sized = names_size(annotations);
    if (!sized && !annotations.contains(keys::kQueueName)) return plan;
    const std::vector<ObjectPtr> pods = cache.controlled_by(kinds::kPod, workload.uid());
    if (pods.empty()) return plan;
    const PodGroupView now(group);
    const std::int64_t size =
        sized ? next_size(now.min_member(), group_size(workload, pods), pods) : now.min_member();
    const PodView newest(*std::max_element(
        pods.begin(), pods.end(),
        [](const ObjectPtr& a, const ObjectPtr& b) { return a->created() < b->created(); }));
    const std::string queue =
        queue_in(workload.name_space(), queue_of(newest, annotations), now, cache);
    if (may_enter(queue, now, cache)) follow(now, newest, size, queue, plan);
    return plan;
  }

  // Where it names none a group stays where it is; so does one that may have gone by its namespace.
  std::string queue_in(const std::string& name_space, const std::string& named,
                       const PodGroupView& group, const client::Cache& cache) const {
    const ObjectView space(cache.get(kinds::kNamespace, "", name_space));
    const std::string_view preferred = space.annotation(keys::kQueueName);
    const bool names_none = named.empty() || (named == keys::kDefaultQueue && !preferred.empty());
    if (names_none && group) return group.queue().text();
    return queue_for(named, preferred, deps_.default_queue).text();
  }

  // A queue that is not open takes no new group: the pod waits on its own until it opens.
  bool may_enter(const std::string& queue, const PodGroupView& group,
                 const client::Cache& cache) const {
    if (group && group.queue() == QueueName(queue)) return true;
    const ObjectPtr mine = cache.get(kinds::kQueue, "", queue);
    // The default queue is made right after the first start.
    if (mine == nullptr) return queue == deps_.default_queue;
    return QueueView(mine).state() == QueueState::Open;
  }

  // What a rollout changes is true of the group too.
  static void follow(const PodGroupView& group, const PodView& pod, std::int64_t members,
                     const std::string& queue, Plan& plan) {
    Json patch = difference(group, pod, members, queue);
    if (group->deletion() || patch.get_object().empty()) return;
    client::PatchWrite write{kinds::kPodGroup, group->name_space(), group->name(),
                             client::PatchType::Merge, JsonObject{{"spec", std::move(patch)}}};
    write.only_if = group->revision();
    plan.then({std::move(write), Code::NotFound, {}, {}});
  }

  PodGroupDeps deps_;
  mutable std::map<std::string, std::set<ObjectKey>> waiting_;  // pods by queue
};

}  // namespace

std::unique_ptr<Reconciler> make_pod_group_controller(PodGroupDeps deps) {
  return std::make_unique<PodGroupController>(std::move(deps));
}

}  // namespace krater::controllers
