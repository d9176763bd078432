#include "cli/mirror_objects.h"

#include <array>

#include "base/log.h"
#include "model/mirror.h"
#include "model/workload_kinds.h"

namespace krater::cli {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(30);
constexpr Duration kRetryAfter = std::chrono::seconds(1);
constexpr std::string_view kHash = "6c9f8b7d54";  // one form, one hash

Json labels(const MirroredPart& part, bool of_set) {
  JsonObject out;
  out["app"] = part.app;
  out[kMirrorLabel] = part.name;
  if (of_set) out["pod-template-hash"] = kHash;
  return out;
}

Json pod_spec(const MirroredPart& part) {
  JsonObject container, out;
  container["name"] = part.name;
  container["image"] = "krater";
  out["containers"] = JsonArray{std::move(container)};
  // Not for any scheduler: what it stands for runs already.
  out["schedulerName"] = "krater";
  out["automountServiceAccountToken"] = false;
  return out;
}

Json workload_spec(const MirroredPart& part, bool of_set) {
  JsonObject out;
  out["replicas"] = 1;
  Json selector(boost::json::object_kind), pods(boost::json::object_kind);
  set_path(selector, {"matchLabels"}, labels(part, of_set));
  set_path(pods, {"metadata", "labels"}, labels(part, of_set));
  set_path(pods, {"spec"}, pod_spec(part));
  out["selector"] = std::move(selector);
  out["template"] = std::move(pods);
  return out;
}

Json condition(std::string_view type, std::string_view reason, WallTime since) {
  JsonObject out;
  out["type"] = type;
  out["status"] = "True";
  out["lastTransitionTime"] = to_rfc3339(since);
  if (!reason.empty()) out["reason"] = reason;
  return out;
}

Json replicas_status(std::int64_t generation) {
  JsonObject out;
  for (const std::string_view count : {"replicas", "readyReplicas", "availableReplicas"})
    out[count] = 1;
  out["observedGeneration"] = generation;
  return out;
}

Json deployment_status(const MirroredPart&, const Object& object, WallTime since) {
  Json out = replicas_status(object.generation());
  out.get_object()["updatedReplicas"] = 1;
  out.get_object()["conditions"] =
      JsonArray{condition("Available", "MinimumReplicasAvailable", since),
                condition("Progressing", "NewReplicaSetAvailable", since)};
  return out;
}
Json set_status(const MirroredPart&, const Object& object, WallTime) {
  Json out = replicas_status(object.generation());
  out.get_object()["fullyLabeledReplicas"] = 1;
  return out;
}
Json pod_status(const MirroredPart& part, const Object&, WallTime since) {
  JsonObject container, out;
  container["name"] = part.name;
  container["image"] = "krater";
  container["imageID"] = "";
  container["ready"] = true;
  container["started"] = true;
  container["restartCount"] = 0;
  container["state"] = JsonObject{{"running", JsonObject{{"startedAt", to_rfc3339(since)}}}};
  out["phase"] = "Running";
  out["startTime"] = to_rfc3339(since);
  out["conditions"] =
      JsonArray{condition("Ready", "", since), condition("ContainersReady", "", since),
                condition("Initialized", "", since), condition("PodScheduled", "", since)};
  out["containerStatuses"] = JsonArray{std::move(container)};
  return out;
}

}  // namespace

// Each is owned by the one before.
struct MirrorObjects::Step {
  const Kind& kind;
  std::string name;
  Json spec;
  bool of_set;
  Json (*status)(const MirroredPart& part, const Object& object, WallTime since);
};

namespace {

std::vector<MirrorObjects::Step> steps(const MirroredPart& part) {
  const std::string set = part.name + "-" + std::string(kHash);
  return {{kinds::kDeployment, part.name, workload_spec(part, false), false, deployment_status},
          {kinds::kReplicaSet, set, workload_spec(part, true), true, set_status},
          {kinds::kPod, set + "-krate", pod_spec(part), true, pod_status}};
}

}  // namespace

MirrorObjects::~MirrorObjects() {
  *alive_ = false;
  if (timer_ != 0) loop_.cancel(timer_);
}

void MirrorObjects::look() {
  timer_ = 0;
  ensure(0, Json());
}

void MirrorObjects::again(Duration after) {
  if (timer_ == 0) timer_ = loop_.after(after, [this] { look(); });
}

void MirrorObjects::ensure(std::size_t at, Json owner) {
  std::vector<Step> all = steps(part_);
  if (at == all.size()) return again(kLookEvery);
  const Step step = std::move(all[at]);
  client_.get(
      step.kind, std::string(kMirrorNamespace), step.name,
      [this, alive = alive_, at, step, owner](const Result<ObjectPtr>& there) {
        if (!*alive) return;
        if (there) {
          // Of a server that ran before: it says since when this one does.
          if ((*there)->created() < started_) show(step, *there);
          return ensure(at + 1, controller_reference(**there));
        }
        if (there.error().code != Code::NotFound) return again(kRetryAfter);
        Json object = new_object(step.kind, kMirrorNamespace, step.name);
        set_path(object, {"metadata", "labels"}, labels(part_, step.of_set));
        if (!owner.is_null()) set_path(object, {"metadata", "ownerReferences"}, JsonArray{owner});
        set_path(object, {"spec"}, step.spec);
        client_.write(
            client::CreateWrite{step.kind, std::string(kMirrorNamespace), std::move(object)},
            [this, alive, at, step](const Result<ObjectPtr>& made) {
              if (!*alive) return;
              if (!made) {
                // At first there may be no service account yet.
                log::debug("mirror.create", {{"name", step.name}, {"why", made.error().message}});
                return again(kRetryAfter);
              }
              show(step, *made);
              ensure(at + 1, controller_reference(**made));
            });
      });
}

void MirrorObjects::show(const Step& step, const ObjectPtr& object) {
  JsonObject patch;
  patch["status"] = step.status(part_, *object, started_);
  // A race is made good when it is looked at the next time.
  client_.write(client::PatchWrite{step.kind, std::string(kMirrorNamespace), step.name,
                                   client::PatchType::Merge, Json(std::move(patch)), "status"},
                [](const Result<ObjectPtr>&) {});
}

}  // namespace krater::cli
