#include "controllers/raycluster/pods.h"

#include <algorithm>

#include "controllers/ray/gang_size.h"
#include "controllers/ray/names.h"
#include "controllers/raycluster/replicas.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

namespace rk = ray_keys;

PlannedWrite delete_pod(const PodView& pod, std::string done, std::string failed,
                        const std::string& why) {
  client::DeleteWrite write{kinds::kPod, pod->name_space(), pod->name()};
  write.only_uid = pod->uid();
  const std::string what = "Pod " + pod->name_space() + "/" + pod->name();
  return PlannedWrite{
      std::move(write), Code::NotFound,
      EventNote{EventNote::Type::Normal, std::move(done), "Deleted " + what + why, "Delete"},
      EventNote{EventNote::Type::Warning, std::move(failed), "Failed to delete " + what, "Delete"}};
}

class PodPlanner {
 public:
  PodPlanner(const ClusterSeen& seen, const ClusterOptions& options,
             const BatchScheduler& scheduler, WallTime now)
      : seen_(seen),
        context_(context_of(seen.cluster, options)),
        scheduler_(scheduler),
        now_(now) {}

  PodsPlan plan(const RayClusterStatus& status) {
    const Object& cluster = *seen_.cluster.object();
    if (status.is_true("RayClusterSuspending")) {
      delete_all(" because the RayCluster is suspended");
      return std::move(out_);
    }
    if (status.is_true("RayClusterSuspended")) {
      // A suspended cluster holds no share of its queue.
      if (auto write = scheduler_.resize({}, seen_.pod_group))
        out_.steps.push_back({std::move(*write)});
      return std::move(out_);
    }
    if (must_recreate()) {
      delete_all(" because the RayCluster's spec changed");
      return std::move(out_);
    }
    if (cluster.label(rk::kOriginKind) != kinds::kRayJob.kind) {
      auto gang =
          scheduler_.sync(cluster, gang_size(context_, seen_.runtime_class), seen_.pod_group);
      if (!gang) {
        out_.problem = WriteFailure{"", gang.error().message};
        return std::move(out_);
      }
      if (*gang) out_.steps.push_back({std::move(**gang)});
    }
    if (head_comes_once(status)) {
      plan_around_the_only_head();
    } else {
      plan_group(context_.spec.head(), {1, 1});
      plan_all_workers();
    }
    return std::move(out_);
  }

 private:
  void delete_all(const std::string& why) {
    std::vector<PlannedWrite> step;
    for (const PodView& pod : seen_.pods) {
      if (!pod.deleting())
        step.push_back(delete_pod(pod, "DeletedPod", "FailedToDeleteAllPods", why));
    }
    if (!step.empty()) out_.steps.push_back(std::move(step));
  }

  // upgradeStrategy Recreate: the head was made from another spec by this version of ours.
  bool must_recreate() const {
    if (context_.spec.upgrade_type() != "Recreate") return false;
    for (const PodView& pod : seen_.pods) {
      if (!is_head_pod(pod) || pod.deleting()) continue;
      const std::string_view made_from = pod.annotation(rk::kRecreateHash);
      return pod.annotation(rk::kOperatorVersion) == context_.version && !made_from.empty() &&
             made_from != recreate_hash(context_.spec);
    }
    return false;
  }

  bool head_comes_once(const RayClusterStatus& status) const {
    const auto wish = context_.cluster_annotations.find(rk::kDisableHeadRestart);
    return wish != context_.cluster_annotations.end() && wish->second == "true" &&
           status.is_true("RayClusterProvisioned");
  }

  // A head that has ended goes and none follows it; without one, workers are left as they are.
  void plan_around_the_only_head() {
    const ReplicaWish no_more{0, 1, {}, false};
    plan_group(context_.spec.head(), no_more);
    const bool serves = std::ranges::any_of(
        seen_.pods, [](const PodView& pod) { return is_head_pod(pod) && !is_unhealthy(pod); });
    if (serves) plan_all_workers();
  }

  void plan_all_workers() {
    for (const RayGroupSpec& group : context_.spec.workers()) plan_workers(group);
  }

  void plan_workers(const RayGroupSpec& group) {
    ReplicaWish wish{group.suspended() ? 0 : group.clamped_replicas(), group.hosts()};
    for (std::string& name : group.workers_to_delete()) wish.named_away.insert(std::move(name));
    wish.trim = group.suspended() || !context_.spec.autoscaling();
    plan_group(group, wish);
  }

  void plan_group(const RayGroupSpec& group, const ReplicaWish& wish) {
    std::vector<PodView> mine;
    for (const PodView& pod : seen_.pods) {
      const bool belongs = group.is_head()
                               ? is_head_pod(pod)
                               : !is_head_pod(pod) && pod->label(rk::kGroup) == group.name();
      if (belongs) mine.push_back(pod);
    }
    const ReplicaChanges changes = plan_replicas(wish, mine, now_);
    const std::string what = group.is_head() ? "HeadPod" : "WorkerPod";
    std::vector<PlannedWrite> removals, additions;
    for (const PodView& pod : changes.remove) {
      const std::string why =
          is_unhealthy(pod) ? ", which has ended (phase " + std::string(to_text(pod.phase())) + ")"
                            : "";
      removals.push_back(delete_pod(pod, "Deleted" + what, "FailedToDelete" + what, why));
    }
    for (const NewReplica& replica : changes.add) {
      const std::string replica_name =
          wish.hosts > 1 ? group.name() + "-" + suffix(group, replica.index, -1, "") : "";
      for (std::int64_t host = 0; host < wish.hosts; ++host) {
        additions.push_back(
            create(group, {replica.index, host, replica_name}, replica.replacements, what));
      }
    }
    if (!removals.empty()) out_.steps.push_back(std::move(removals));
    if (!additions.empty()) out_.steps.push_back(std::move(additions));
    if (changes.look_again) {
      out_.look_again =
          out_.look_again ? std::min(*out_.look_again, *changes.look_again) : *changes.look_again;
    }
  }

  std::string suffix(const RayGroupSpec& group, std::int64_t index, std::int64_t host,
                     const std::string& salt) const {
    return suffix_of(seen_.cluster->uid().text() + "/" + group.name() + "/" +
                     std::to_string(index) + "/" + std::to_string(host) + "/" +
                     std::to_string(seen_.pods_at) + salt);
  }

  std::string free_name(const RayGroupSpec& group, const ReplicaSlot& slot) {
    const std::string base = group.is_head() ? head_pod_base(context_.cluster)
                                             : worker_pod_base(context_.cluster, group.name());
    std::string name;
    std::string salt;
    do {
      name = base + "-" + suffix(group, slot.index, slot.host, salt);
      salt += "'";
    } while (planned_.contains(name) || (seen_.pod_exists && seen_.pod_exists(name)));
    planned_.insert(name);
    return name;
  }

  PlannedWrite create(const RayGroupSpec& group, const ReplicaSlot& slot, std::int64_t replacements,
                      const std::string& what) {
    const Object& cluster = *seen_.cluster.object();
    Json pod = group.is_head() ? build_head_pod(context_) : build_worker_pod(context_, group, slot);
    const std::string name = free_name(group, slot);
    set_path(pod, {"metadata", "name"}, Json(name));
    set_path(pod, {"metadata", "ownerReferences"}, JsonArray{controller_reference(cluster)});
    if (replacements > 0) {
      set_path(pod, {"metadata", "annotations", rk::kReplacements},
               Json(std::to_string(replacements)));
    }
    scheduler_.mark_child(cluster, ChildKind::Pod, group.name(), pod);
    const std::string text =
        (group.is_head() ? "head Pod " : "worker Pod ") + cluster.name_space() + "/" + name;
    return PlannedWrite{
        client::CreateWrite{kinds::kPod, cluster.name_space(), std::move(pod)}, Code::AlreadyExists,
        EventNote{EventNote::Type::Normal, "Created" + what, "Created " + text, "Create"},
        EventNote{EventNote::Type::Warning, "FailedToCreate" + what, "Failed to create " + text,
                  "Create"}};
  }

  const ClusterSeen& seen_;
  PodContext context_;
  const BatchScheduler& scheduler_;
  WallTime now_;
  std::set<std::string> planned_;
  PodsPlan out_;
};

}  // namespace

PodsPlan plan_pods(const ClusterSeen& seen, const RayClusterStatus& status,
                   const ClusterOptions& options, const BatchScheduler& scheduler, WallTime now) {
  return PodPlanner(seen, options, scheduler, now).plan(status);
}

}  // namespace krater::controllers
