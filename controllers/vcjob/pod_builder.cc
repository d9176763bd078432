#include "controllers/vcjob/pod_builder.h"

#include <set>

#include "base/strings.h"
#include "controllers/vcjob/plugins/plugins.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

void fill_if_empty(Json& pod, std::string_view field, const std::string& value) {
  if (text_at(pod, {"spec", field}).empty() && !value.empty())
    set_path(pod, {"spec", field}, Json(value));
}

void copy_first_of(const Labels& from, std::initializer_list<std::string_view> names, Labels& to) {
  for (const std::string_view name : names) {
    const auto value = from.find(name);
    if (value == from.end()) continue;
    to[std::string(name)] = value->second;
    return;
  }
}

Labels annotations_of(const Observed& seen, const VolcanoTask& task, std::int64_t index,
                      Labels out) {
  const VolcanoJobView& job = seen.job;
  const auto put = [&](std::string_view name, std::string value) {
    out[std::string(name)] = std::move(value);
  };
  put(keys::kTaskIndex, std::to_string(index));
  put(keys::kTaskSpec, task.name);
  put(keys::kGroupName, seen.group ? seen.group->name() : job.pod_group_name());
  put(keys::kVolcanoJobName, job->name());
  put(keys::kVolcanoQueueName, job.queue().text());
  put(keys::kVolcanoJobVersion, std::to_string(seen.status.version));
  put(keys::kVolcanoTemplateUid, job->name() + "-" + task.name);
  put(keys::kVolcanoJobRetryCount, std::to_string(seen.status.retry_count));
  if (!task.topology_policy.empty()) put(keys::kNumaPolicy, task.topology_policy);
  const Labels mine = job.annotations();
  for (const std::string_view name :
       {keys::kPreemptable, keys::kCooldownTime, keys::kRevocableZone})
    copy_first_of(mine, {name}, out);
  copy_first_of(mine, {keys::kJdbMinAvailable, keys::kJdbMaxUnavailable}, out);
  if (seen.forwards) put(keys::kVolcanoForwarding, "true");
  return out;
}

Labels labels_of(const Observed& seen, const VolcanoTask& task, std::int64_t index, Labels out) {
  const VolcanoJobView& job = seen.job;
  const auto put = [&](std::string_view name, std::string value) {
    out[std::string(name)] = std::move(value);
  };
  put(keys::kTaskIndex, std::to_string(index));
  put(keys::kVolcanoJobName, job->name());
  put(keys::kTaskSpec, task.name);
  put(keys::kVolcanoJobNamespace, job->name_space());
  put(keys::kVolcanoQueueName, job.queue().text());
  copy_first_of(job->labels(), {keys::kPreemptable}, out);
  copy_first_of(job->labels(), {keys::kCooldownTime}, out);
  if (seen.forwards) put(keys::kVolcanoForwarding, "true");
  if (task.partition) {
    put(keys::kVolcanoPartition,
        std::to_string(task.partition->size > 0 ? index / task.partition->size : 0));
  }
  return out;
}

std::string volume_name(const std::string& job, const std::string& claim) {
  const std::string hash = std::to_string(fnv1a(job + "/" + claim) % 1'000'000'000'000ULL);
  return job.substr(0, 50) + "-" + hash;
}

void add_claim(const std::string& name, const std::string& claim, Json& pod) {
  Json* volumes = find(pod, {"spec", "volumes"});
  if (volumes == nullptr || !volumes->is_array()) {
    set_path(pod, {"spec", "volumes"}, JsonArray());
    volumes = find(pod, {"spec", "volumes"});
  }
  volumes->get_array().push_back(
      JsonObject{{"name", name}, {"persistentVolumeClaim", JsonObject{{"claimName", claim}}}});
}

void mount_volumes(const VolcanoJobView& job, Json& pod) {
  std::set<std::string> claims;
  for (const VolcanoVolume& volume : job.volumes()) {
    const std::string name = volume_name(job->name(), volume.claim_name);
    // One claim may be mounted at several places.
    if (claims.insert(volume.claim_name).second) add_claim(name, volume.claim_name, pod);
    append_to_containers(pod, "containers", "volumeMounts",
                         {JsonObject{{"mountPath", volume.mount_path}, {"name", name}}});
  }
}

}  // namespace

void append_to_containers(Json& pod, std::string_view containers, std::string_view member,
                          const JsonArray& items) {
  Json* list = find(pod, {"spec", containers});
  if (list == nullptr || !list->is_array()) return;
  for (Json& container : list->get_array()) {
    if (!container.is_object()) continue;
    Json& target = container.get_object()[member];
    if (!target.is_array()) target.emplace_array();
    for (const Json& item : items) target.get_array().push_back(item);
  }
}

Json build_pod(const Observed& seen, const VolcanoTask& task, std::int64_t index) {
  const VolcanoJobView& job = seen.job;
  Json pod =
      new_object(kinds::kPod, job->name_space(), volcano_pod_name(job->name(), task.name, index));
  Labels labels, annotations;
  set_path(pod, {"spec"}, JsonObject());
  if (task.pod_template != nullptr) {
    labels = string_map(find(*task.pod_template, {"metadata", "labels"}));
    annotations = string_map(find(*task.pod_template, {"metadata", "annotations"}));
    if (const Json* spec = find(*task.pod_template, {"spec"})) set_path(pod, {"spec"}, *spec);
  }
  set_path(pod, {"metadata", "labels"},
           to_json_object(labels_of(seen, task, index, std::move(labels))));
  set_path(pod, {"metadata", "annotations"},
           to_json_object(annotations_of(seen, task, index, std::move(annotations))));
  set_path(pod, {"metadata", "ownerReferences"}, JsonArray{controller_reference(*job.object())});
  fill_if_empty(pod, "schedulerName", job.scheduler_name());
  // With a class that is gone no pod could be made.
  if (const std::string name = job.priority_class_name(); !name.empty() && seen.priority(name))
    fill_if_empty(pod, "priorityClassName", name);
  mount_volumes(job, pod);
  apply_plugins(seen, task, index, pod);
  return pod;
}

}  // namespace krater::controllers::vcjob
