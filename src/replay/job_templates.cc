#include "replay/job_templates.h"

#include <algorithm>

#include "model/keys.h"
#include "model/pod_resources.h"
#include "model/workload_kinds.h"

namespace krater::replay {
namespace {

constexpr Duration kMostTime = std::chrono::hours(100 * 365 * 24);

Json pod_from(const Json& pod_template, const std::string& name_space, const std::string& name) {
  Json pod = new_object(kinds::kPod, name_space, name);
  for (const std::string_view part : {"labels", "annotations"}) {
    if (const Json* given = find(pod_template, {"metadata", part}))
      set_path(pod, {"metadata", part}, *given);
  }
  if (const Json* spec = find(pod_template, {"spec"})) set_path(pod, {"spec"}, *spec);
  return pod;
}

}  // namespace

Submission from_volcano_job(const Json& job, const std::string& name_space, const RunOf& run_of) {
  const std::string name = text_at(job, {"metadata", "name"});
  Submission one{name_space + "/" + name, text_at(job, {"spec", "queue"})};
  one.pods_wait = true;
  Json group = new_object(kinds::kPodGroup, name_space, name);
  if (const Json* given = find(job, {"metadata", "labels"}))
    set_path(group, {"metadata", "labels"}, *given);
  for (const std::string_view field : {"queue", "priorityClassName", "networkTopology"}) {
    if (const Json* given = find(job, {"spec", field})) set_path(group, {"spec", field}, *given);
  }
  if (const Json* given = find(job, {"metadata", "annotations"}))
    set_path(group, {"metadata", "annotations"}, *given);
  std::int64_t least = 0;
  const JsonArray* tasks = array_at(job, {"spec", "tasks"});
  for (std::size_t i = 0; tasks != nullptr && i < tasks->size(); ++i) {
    const Json& task = (*tasks)[i];
    std::string role = text_at(task, {"name"});
    if (role.empty()) role = "default" + std::to_string(i);
    const std::int64_t replicas = int_at(task, {"replicas"}).value_or(1);
    const std::int64_t minimum = int_at(task, {"minAvailable"}).value_or(replicas);
    least += minimum;
    set_path(group, {"spec", "minTaskMember", role}, Json(minimum));
    const Json* pod_template = find(task, {"template"});
    if (pod_template == nullptr) continue;
    for (std::int64_t k = 0; k < replicas; ++k) {
      Json pod = pod_from(*pod_template, name_space, name + "-" + role + "-" + std::to_string(k));
      set_path(pod, {"metadata", "annotations", keys::kGroupName}, Json(name));
      set_path(pod, {"metadata", "annotations", keys::kTaskSpec}, Json(role));
      set_path(pod, {"spec", "schedulerName"}, Json(keys::kVolcanoScheduler));
      const std::optional<Duration> run = run_of(pod);
      one.pods.push_back({std::move(pod), run});
    }
  }
  one.min = int_at(job, {"spec", "minAvailable"}).value_or(0);
  if (one.min <= 0) one.min = least;
  set_path(group, {"spec", "minMember"}, Json(one.min));
  ResourceList sum;
  for (std::size_t i = 0; i < one.pods.size() && static_cast<std::int64_t>(i) < one.min; ++i) {
    if (const Json* spec = find(one.pods[i].pod, {"spec"})) sum += pod_spec_requests(*spec);
  }
  set_path(group, {"spec", "minResources"}, sum.to_json_object());
  one.group = std::move(group);
  return one;
}

Submission from_batch_job(const Json& job, const std::string& name_space, const RunOf& run_of) {
  const std::string name = text_at(job, {"metadata", "name"});
  Submission one{name_space + "/" + name, ""};
  const std::int64_t parallel = int_at(job, {"spec", "parallelism"}).value_or(1);
  const std::int64_t all = int_at(job, {"spec", "completions"}).value_or(parallel);
  const std::int64_t count = std::min(parallel, all);
  const Json* pod_template = find(job, {"spec", "template"});
  if (pod_template == nullptr) return one;
  for (std::int64_t k = 0; k < count; ++k) {
    Json pod = pod_from(*pod_template, name_space, name + "-" + std::to_string(k));
    std::optional<Duration> run = run_of(pod);
    if (run && *run > Duration(0))
      *run *= std::min((all + count - 1) / count, kMostTime / *run + 1);
    one.queue = text_at(pod, {"metadata", "annotations", keys::kQueueName});
    one.pods.push_back({std::move(pod), run});
  }
  return one;
}

}  // namespace krater::replay
