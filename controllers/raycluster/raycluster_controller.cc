#include "controllers/raycluster/raycluster_controller.h"

#include <map>

#include "controllers/ray/services.h"
#include "controllers/ray/validate_cluster.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/status.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

constexpr std::string_view kName = "raycluster-controller";

EventNote warning(std::string reason, std::string message, std::string action) {
  return {EventNote::Type::Warning, std::move(reason), std::move(message), std::move(action)};
}

PlannedWrite create_service(const Object& cluster, Json service) {
  set_path(service, {"metadata", "ownerReferences"}, JsonArray{controller_reference(cluster)});
  const std::string name = cluster.name_space() + "/" + text_at(service, {"metadata", "name"});
  return PlannedWrite{
      client::CreateWrite{kinds::kService, cluster.name_space(), std::move(service)}, std::nullopt,
      EventNote{EventNote::Type::Normal, "CreatedService", "Created service " + name, "Create"},
      warning("FailedToCreateService", "Failed to create service " + name, "Create")};
}

// Everything that must be right before anything is made. The first problem, with its event's
// reason.
std::optional<EventNote> first_problem(const RayClusterView& cluster) {
  const auto note = [](std::string reason, const Result<void>& result) -> std::optional<EventNote> {
    if (result) return std::nullopt;
    return warning(std::move(reason), result.error().message, "Validate");
  };
  if (auto problem =
          note("InvalidRayClusterMetadata", validate_cluster_metadata(*cluster.object())))
    return problem;
  if (auto problem = note("InvalidRayClusterSpec",
                          validate_cluster_spec(cluster.spec(), cluster.annotations())))
    return problem;
  if (auto problem = note("InvalidRayClusterSpec", validate_upgrade_strategy(cluster)))
    return problem;
  return note("InvalidRayClusterStatus", validate_cluster_status(cluster.status()));
}

std::optional<PlannedWrite> write_status(const ClusterSeen& seen, const RayClusterStatus& status) {
  const Json& before = seen.cluster.status_json();
  if (status.same_news(seen.cluster.status()) && !before.get_object().empty()) return std::nullopt;
  Json patch = merge_difference(before, status.to_json_value(before));
  if (patch.get_object().empty()) return std::nullopt;
  client::PatchWrite write{kinds::kRayCluster,
                           seen.cluster->name_space(),
                           seen.cluster->name(),
                           client::PatchType::Merge,
                           JsonObject{{"status", std::move(patch)}},
                           "status"};
  write.only_if = seen.cluster->revision();
  return PlannedWrite{std::move(write)};
}

void plan_services(const ClusterSeen& seen, const PodContext& context, Plan& plan) {
  const Object& cluster = *seen.cluster.object();
  std::vector<PlannedWrite> step;
  if (!seen.head_service) {
    step.push_back(create_service(cluster, head_service(context)));
    if (context.spec.head().ingress()) {
      plan.events.push_back(warning(
          "IngressNotSupported",
          "headGroupSpec.enableIngress has no effect: this cluster has no Ingress controller; "
          "reach the dashboard through service " +
              cluster.name_space() + "/" + text_at(head_service(context), {"metadata", "name"}),
          "Create"));
    }
  }
  if (!seen.headless_service && wants_headless_service(context.spec)) {
    step.push_back(create_service(cluster, headless_service(context)));
  }
  const auto serve = context.cluster_annotations.find(ray_keys::kEnableServeService);
  if (!seen.serve_service && serve != context.cluster_annotations.end() &&
      serve->second == "true") {
    if (Result<Json> service = serve_service(context)) {
      step.push_back(create_service(cluster, std::move(*service)));
    } else {
      plan.events.push_back(warning("FailedToCreateService", service.error().message, "Create"));
    }
  }
  if (!step.empty()) plan.steps.push_back(std::move(step));
}

class RayClusterController final : public Reconciler {
 public:
  explicit RayClusterController(RayClusterDeps deps) : deps_(std::move(deps)) {}

  std::string_view name() const override { return kName; }

  std::vector<Interest> interests() const override {
    std::vector<Interest> out{{kinds::kRayCluster, {}},
                              owned_by(kinds::kPod, kinds::kRayCluster),
                              owned_by(kinds::kService, kinds::kRayCluster),
                              {kRuntimeClassKind, [](const ObjectPtr&, const ObjectPtr&) {
                                 return std::vector<ObjectKey>();
                               }}};
    if (const Kind* gang = deps_.scheduler.gang_kind())
      out.push_back(owned_by(*gang, kinds::kRayCluster));
    return out;
  }

  Plan reconcile(const ObjectKey& key, const client::Cache& cache, WallTime now) override {
    ClusterSeen seen = observe_cluster(key, cache, deps_.scheduler);
    // A failure is told by the pass after it and forgotten unless it happens again.
    if (const auto failed = failures_.find(key); failed != failures_.end()) {
      seen.failure = std::move(failed->second);
      failures_.erase(failed);
    }
    return plan_cluster(seen, deps_.options, deps_.scheduler, now);
  }

  void write_failed(const ObjectKey& key, const PlannedWrite& write, const Error& error) override {
    std::string mark = write.on_failed ? write.on_failed->reason : "";
    // "FailedToCreateHeadPod" is the event, "FailedCreateHeadPod" the condition's reason.
    constexpr std::string_view kEvent = "FailedTo";
    const bool about_pods = mark.ends_with("Pod") || mark.ends_with("Pods");
    if (!mark.starts_with(kEvent) || !about_pods) mark.clear();
    if (!mark.empty()) mark.replace(0, kEvent.size(), "Failed");
    failures_.insert_or_assign(key, WriteFailure{std::move(mark), error.message});
  }

 private:
  RayClusterDeps deps_;
  std::map<ObjectKey, WriteFailure> failures_;
};

}  // namespace

Plan plan_cluster(const ClusterSeen& seen, const ClusterOptions& options,
                  const BatchScheduler& scheduler, WallTime now) {
  Plan plan;
  if (!seen.cluster || !seen.cluster.managed_here() || seen.cluster.deleting()) return plan;
  if (auto problem = first_problem(seen.cluster)) {
    plan.events.push_back(std::move(*problem));
    return plan;
  }
  const RayClusterStatus status = next_cluster_status(seen, now);
  if (auto write = write_status(seen, status)) plan.then(std::move(*write));
  plan_services(seen, context_of(seen.cluster, options), plan);
  PodsPlan pods = plan_pods(seen, status, options, scheduler, now);
  for (auto& step : pods.steps) plan.steps.push_back(std::move(step));
  if (pods.problem) {
    plan.events.push_back(warning("FailedToReconcilePods", pods.problem->message, "Reconcile"));
    plan.outcome = Outcome::retry(pods.problem->message);
  } else if (pods.look_again) {
    plan.outcome = Outcome::requeue_after(*pods.look_again);
  } else if (seen.failure) {
    // One more look, without the failure, to take its condition back.
    plan.outcome = Outcome::requeue_after(1s);
  }
  return plan;
}

std::unique_ptr<Reconciler> make_raycluster_controller(RayClusterDeps deps) {
  return std::make_unique<RayClusterController>(std::move(deps));
}

}  // namespace krater::controllers
