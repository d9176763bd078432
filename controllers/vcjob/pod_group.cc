#include "controllers/vcjob/pod_group.h"

#include "base/strings.h"
#include "controllers/vcjob/min_resources.h"
#include "controllers/vcjob/needs.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

// kubectl's own bookkeeping about the job; it would mislead a later apply of the copy.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

Json sub_group(const VolcanoTask& task) {
  JsonObject out;
  out["name"] = task.name;
  out["subGroupSize"] = task.partition->size;
  out["minSubGroups"] = task.partition->minimum;
  out["labelSelector"] = JsonObject{{"matchLabels", JsonObject{{keys::kTaskSpec, task.name}}}};
  out["matchLabelKeys"] = JsonArray{Json(keys::kVolcanoPartition)};
  if (task.partition->network_topology != nullptr)
    out["networkTopology"] = *task.partition->network_topology;
  return out;
}

JsonArray sub_groups(const Observed& seen) {
  JsonArray out;
  for (const VolcanoTask& task : seen.tasks) {
    if (task.partition) out.push_back(sub_group(task));
  }
  return out;
}

// Of the sub-groups only how much is needed follows; what they are stays.
void follow_partitions(const GangNeeds& gang, Json& spec) {
  Json* groups = find(spec, {"subGroupPolicy"});
  if (groups == nullptr || !groups->is_array()) return;
  for (Json& group : groups->get_array()) {
    for (const TaskNeeds& needs : gang.tasks) {
      if (!needs.partitions || text_at(group, {"name"}) != needs.task->name) continue;
      set_path(group, {"subGroupSize"}, needs.partitions->size);
      set_path(group, {"minSubGroups"}, needs.partitions->minimum);
    }
  }
}

// What follows the job as long as it lives.
void follow_job(const Observed& seen, Json& spec) {
  const GangNeeds gang = needs_of(seen);
  set_path(spec, {"minMember"}, gang.min_member);
  JsonObject roles;
  for (const TaskNeeds& needs : gang.tasks) roles[needs.task->name] = needs.minimum;
  set_path(spec, {"minTaskMember"}, std::move(roles));
  follow_partitions(gang, spec);
  // Equal amounts in another spelling are left as they are.
  const Json resources = min_resources(seen);
  const Json* stored = find(spec, {"minResources"});
  if (stored == nullptr || ResourceList::from(stored) != ResourceList::from(&resources))
    set_path(spec, {"minResources"}, resources);
  if (const std::string priority = seen.job.priority_class_name(); !priority.empty())
    set_path(spec, {"priorityClassName"}, Json(priority));
  else
    erase_path(spec, {"priorityClassName"});
}

EventNote failed(std::string_view what) {
  return {EventNote::Type::Warning, "PodGroupError",
          "Failed to " + std::string(what) + " PodGroup, err"};
}

PlannedWrite create(const Observed& seen) {
  const VolcanoJobView& job = seen.job;
  Json out = new_object(kinds::kPodGroup, job->name_space(), job.pod_group_name());
  Labels annotations = job.annotations();
  annotations.erase(std::string(kLastApplied));
  if (!annotations.empty()) set_path(out, {"metadata", "annotations"}, to_json_object(annotations));
  if (!job->labels().empty()) set_path(out, {"metadata", "labels"}, to_json_object(job->labels()));
  set_path(out, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*job.object())});
  Json spec(boost::json::object_kind);
  if (JsonArray groups = sub_groups(seen); !groups.empty())
    set_path(spec, {"subGroupPolicy"}, std::move(groups));
  follow_job(seen, spec);
  set_path(spec, {"queue"}, Json(job.queue().text()));
  if (const Json* topology = job.network_topology(); topology != nullptr && topology->is_object())
    set_path(spec, {"networkTopology"}, *topology);
  set_path(out, {"spec"}, std::move(spec));
  set_path(out, {"status", "phase"}, "Pending");
  return {client::CreateWrite{kinds::kPodGroup, job->name_space(), std::move(out)},
          Code::AlreadyExists,
          {},
          failed("create")};
}

}  // namespace

std::optional<PlannedWrite> sync_pod_group(const Observed& seen) {
  if (!seen.group) return create(seen);
  if (seen.group->deletion()) return std::nullopt;
  const Json* stored = find(seen.group.document(), {"spec"});
  const Json before = stored == nullptr ? Json(boost::json::object_kind) : *stored;
  Json after = before;
  follow_job(seen, after);
  Json patch = merge_difference(before, after);
  if (patch.get_object().empty()) return std::nullopt;
  client::PatchWrite write{kinds::kPodGroup, seen.group->name_space(), seen.group->name(),
                           client::PatchType::Merge, JsonObject{{"spec", std::move(patch)}}};
  return PlannedWrite{std::move(write), Code::NotFound, {}, failed("update")};
}

std::string why_group_waits(const PodGroupView& group) {
  if (!group) return {};
  const PodGroupStatus status = group.status();
  const PodGroupCondition* newest = nullptr;
  for (const PodGroupCondition& condition : status.conditions) {
    if (condition.status != "True") continue;
    if (newest == nullptr || condition.last_transition > newest->last_transition)
      newest = &condition;
  }
  if (newest == nullptr || newest->type == "Scheduled") return {};
  return to_lower(newest->type) + ", reason: " + newest->message;
}

}  // namespace krater::controllers::vcjob
