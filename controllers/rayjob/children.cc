#include "controllers/rayjob/children.h"

#include "controllers/ray/gang_size.h"
#include "controllers/ray/services.h"
#include "controllers/rayjob/submit_command.h"
#include "model/condition.h"
#include "model/ray_keys.h"

namespace krater::controllers {
namespace {

namespace rk = ray_keys;
using Type = EventNote::Type;

// kubectl's own bookkeeping about the RayJob; it would mislead a later apply of the child.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

void label_origin(const RayJobView& job, Json& object) {
  set_path(object, {"metadata", "labels", rk::kOriginName}, Json(job->name()));
  set_path(object, {"metadata", "labels", rk::kOriginKind}, Json(kinds::kRayJob.kind));
}

std::string full_name(const RayJobView& job, const std::string& name) {
  return job->name_space() + "/" + name;
}

// The context of the cluster that this RayJob's spec describes.
PodContext context_of_job(const RayJobView& job, const std::string& cluster,
                          const JobRules& rules) {
  return PodContext{.cluster = cluster,
                    .name_space = job->name_space(),
                    .cluster_annotations = job.annotations(),
                    .origin_kind = kinds::kRayJob.kind,
                    .cluster_domain = rules.cluster.cluster_domain,
                    .version = rules.cluster.version,
                    .spec = job.cluster_spec()};
}

}  // namespace

EventNote job_event(EventNote::Type type, std::string reason, std::string message,
                    std::string action) {
  return {type, std::move(reason), std::move(message), std::move(action)};
}

GangSize job_gang_size(const JobSeen& seen, const JobRules& rules) {
  const RayJobView& job = seen.job;
  GangSize size = gang_size(context_of_job(job, job->name() + "-xxxxx", rules), seen.runtime_class);
  if (job.mode() == SubmissionMode::K8sJob)
    size.resources += template_requests(submitter_template(job), seen.runtime_class);
  return size;
}

PlannedWrite create_cluster(const JobSeen& seen, const JobRules& rules) {
  const RayJobView& job = seen.job;
  const std::string& name = seen.status.cluster_name;
  Json cluster = new_object(kinds::kRayCluster, job->name_space(), name);
  set_path(cluster, {"metadata", "labels"}, to_json_object(job->labels()));
  label_origin(job, cluster);
  set_path(cluster, {"metadata", "labels", rk::kSubmissionMode}, Json(job.mode_text()));
  Labels annotations = job.annotations();
  annotations.erase(std::string(kLastApplied));
  set_path(cluster, {"metadata", "annotations"}, to_json_object(annotations));
  set_path(cluster, {"metadata", "ownerReferences"},
           JsonArray{controller_reference(*job.object())});
  set_path(cluster, {"spec"}, job.cluster_spec().json());
  if (job.mode() == SubmissionMode::K8sJob) {
    rules.scheduler.mark_child(*job.object(), ChildKind::RayCluster, "", cluster);
  }
  const std::string what = "RayCluster " + full_name(job, name);
  return PlannedWrite{
      client::CreateWrite{kinds::kRayCluster, job->name_space(), std::move(cluster)},
      Code::AlreadyExists,
      job_event(Type::Normal, "CreatedRayCluster", "Created " + what, "Create"),
      job_event(Type::Warning, "FailedToCreateRayCluster", "Failed to create " + what, "Create")};
}

Json submitter_template(const RayJobView& job) {
  if (const Json* own = job.submitter_template()) {
    Json out = *own;
    // A Job takes no other; without one the API server would refuse it where nobody looks.
    if (text_at(out, {"spec", "restartPolicy"}).empty())
      set_path(out, {"spec", "restartPolicy"}, "Never");
    return out;
  }
  JsonObject container{{"name", rk::kSubmitterContainer}};
  const Json& ray = job.cluster_spec().head().ray_container();
  if (const Json* image = find(ray, {"image"})) container["image"] = *image;
  container["resources"] =
      JsonObject{{"limits", JsonObject{{"cpu", "1"}, {"memory", "1Gi"}}},
                 {"requests", JsonObject{{"cpu", "500m"}, {"memory", "200Mi"}}}};
  return JsonObject{{"spec", JsonObject{{"containers", JsonArray{std::move(container)}},
                                        {"restartPolicy", "Never"}}}};
}

Result<PlannedWrite> create_submitter(const JobSeen& seen, const RayJobStatus& status,
                                      const JobRules& rules) {
  const RayJobView& job = seen.job;
  Json pod = submitter_template(job);
  Json* containers = find(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->get_array().empty() ||
      !containers->get_array().front().is_object()) {
    return make_error(Code::Invalid,
                      "submitterPodTemplate.spec.containers must have at least one container");
  }
  JsonObject& container = containers->get_array().front().get_object();
  // A selected cluster's image is the right one when none is given.
  if (!container.contains("image") && seen.cluster) {
    if (const Json* image = find(seen.cluster.spec().head().ray_container(), {"image"}))
      container["image"] = *image;
  }
  if (const Json* own = container.if_contains("command");
      own == nullptr || !own->is_array() || own->get_array().empty()) {
    TRY_ASSIGN(const std::string command, submit_command(job, status.dashboard_url, status.job_id));
    container["command"] = JsonArray{"/bin/bash", "-ce", "--"};
    container["args"] = JsonArray{Json(command)};
  }
  Json& env = container["env"];
  if (!env.is_array()) env.emplace_array();
  const auto add = [&env](std::string_view name, std::string_view value) {
    env.get_array().push_back(JsonObject{{"name", name}, {"value", value}});
  };
  add("PYTHONUNBUFFERED", "1");
  add("RAY_DASHBOARD_ADDRESS", status.dashboard_url);
  add("RAY_JOB_SUBMISSION_ID", status.job_id);

  Json out = new_object(kinds::kJob, job->name_space(), job->name());
  for (Json* object : {&out, &pod}) {
    label_origin(job, *object);
    set_path(*object, {"metadata", "labels", rk::kCreatedBy}, Json(rk::kCreatedByValue));
  }
  // A selected cluster is no part of a gang of this job, so its submitter is scheduled alone.
  if (!job.has_selector())
    rules.scheduler.mark_child(*job.object(), ChildKind::PodTemplate, rk::kSubmitterGroup, pod);
  set_path(out, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*job.object())});
  set_path(
      out, {"spec"},
      JsonObject{{"backoffLimit", job.submitter_backoff_limit()}, {"template", std::move(pod)}});
  const std::string what = "submitter Job " + full_name(job, job->name());
  return PlannedWrite{
      client::CreateWrite{kinds::kJob, job->name_space(), std::move(out)}, std::nullopt,
      job_event(Type::Normal, "CreatedRayJobSubmitter", "Created " + what, "Create"),
      job_event(Type::Warning, "FailedToCreateRayJobSubmitter", "Failed to create " + what,
                "Create")};
}

std::optional<PlannedWrite> ensure_head_service(const JobSeen& seen, const JobRules& rules) {
  const RayJobView& job = seen.job;
  if (job.has_selector() || !seen.cluster) return std::nullopt;
  const PodContext context = context_of(seen.cluster, rules.cluster);
  const std::string name = job->name() + "-head-svc";
  const std::string what = "service " + full_name(job, name);
  Json spec = head_service_spec(context);
  if (seen.head_service) {
    const auto stored = seen.head_service->document();
    if (text_at(*stored, {"spec", "selector", rk::kCluster}) == seen.cluster->name())
      return std::nullopt;
    client::PatchWrite write{
        kinds::kService, job->name_space(), name, client::PatchType::Merge,
        JsonObject{{"spec", JsonObject{{"selector", *find(spec, {"selector"})}}}}};
    write.only_if = seen.head_service->revision();
    return PlannedWrite{
        std::move(write), std::nullopt,
        job_event(Type::Normal, "UpdatedService", "Updated " + what, "Update"),
        job_event(Type::Warning, "FailedToUpdateService", "Failed to update " + what, "Update")};
  }
  Json service = new_object(kinds::kService, job->name_space(), name);
  label_origin(job, service);
  set_path(service, {"metadata", "labels", rk::kNodeType}, Json(rk::kHead));
  set_path(service, {"metadata", "labels", rk::kIdentifier}, Json(job->name() + "-head"));
  set_path(service, {"metadata", "ownerReferences"},
           JsonArray{controller_reference(*job.object())});
  set_path(service, {"spec"}, std::move(spec));
  return PlannedWrite{
      client::CreateWrite{kinds::kService, job->name_space(), std::move(service)}, std::nullopt,
      job_event(Type::Normal, "CreatedService", "Created " + what, "Create"),
      job_event(Type::Warning, "FailedToCreateService", "Failed to create " + what, "Create")};
}

std::optional<SubmitterEnd> submitter_end(const ObjectPtr& submitter) {
  if (!submitter) return std::nullopt;
  const auto document = submitter->document();
  for (const std::string_view type : {"Failed", "Complete"}) {
    const auto condition = condition_of(*document, type);
    if (!condition || !condition->is_true()) continue;
    return SubmitterEnd{type == "Failed", condition->last_transition.value_or(WallTime()),
                        condition->reason, condition->message};
  }
  return std::nullopt;
}

}  // namespace krater::controllers
