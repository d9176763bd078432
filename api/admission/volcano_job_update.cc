// What of a Volcano job may change: its size.
#include "api/admission/volcano_job_parts.h"
#include "api/admission/volcano_job_shape.h"

namespace krater::api {
namespace {

// Without what an update may touch. The controller names the claims that it makes.
Json fixed_part(const Json& job) {
  Json out = job;
  erase_path(out, {"spec", "minAvailable"});
  erase_path(out, {"spec", "priorityClassName"});
  for (const std::string_view list : {"tasks", "volumes"}) {
    Json* items = find(out, {"spec", list});
    if (items == nullptr || !items->is_array()) continue;
    for (Json& item : items->get_array()) {
      if (list == "tasks") {
        for (const std::string_view key : {"replicas", "minAvailable"}) erase_path(item, {key});
      } else if (object_at(item, {"volumeClaim"}) != nullptr) {
        erase_path(item, {"volumeClaimName"});
      }
    }
  }
  const Json* spec = find(out, {"spec"});
  return spec == nullptr ? Json(nullptr) : volcano_job_shape(*spec);
}

}  // namespace

void check_partitions(const Json& task, std::string_view path, Problems& problems) {
  if (object_at(task, {"partitionPolicy"}) == nullptr) return;
  const auto total = int_at(task, {"partitionPolicy", "totalPartitions"}).value_or(0);
  const auto size = int_at(task, {"partitionPolicy", "partitionSize"}).value_or(0);
  const auto least = int_at(task, {"partitionPolicy", "minPartitions"}).value_or(0);
  const auto problem = [&](std::string_view text) {
    problems.push_back(std::string(text) + " in task: " + std::string(path));
  };
  if (total <= 0) problem("'TotalPartitions' must be greater than 0");
  if (size <= 0) problem("'PartitionSize' must be greater than 0");
  if (replicas_of(task) != total * size)
    problem("'Replicas' are not equal to TotalPartitions*PartitionSize");
  if (least > 0 && minimum_of(task) != least * size)
    problem("'MinAvailable' is not equal to MinPartitions*PartitionSize");
}

void check_job_update(const Admission& admission, Problems& problems) {
  const JsonArray& tasks = tasks_of(admission.object);
  std::int64_t total = 0;
  for (const Json& task : tasks) {
    const std::string name = text_at(task, {"name"});
    const std::int64_t least = minimum_of(task);
    total += replicas_of(task);
    if (replicas_of(task) < 0) problems.push_back("'replicas' must be >= 0 in task: " + name);
    if (least < 0 || least > replicas_of(task))
      problems.push_back("'minAvailable' must be <= 'replicas' in task: " + name);
    check_partitions(task, name, problems);
  }
  if (*object_at(admission.object, {"spec"}) != *object_at(*admission.old, {"spec"}))
    check_host_names(admission, problems);
  const auto least = int_at(admission.object, {"spec", "minAvailable"}).value_or(0);
  if (least > total)
    problems.emplace_back("job 'minAvailable' must not be greater than total replicas");
  if (least < 0) problems.emplace_back("job 'minAvailable' must be >= 0");
  if (tasks.size() != tasks_of(*admission.old).size()) {
    problems.emplace_back("job updates may not add or remove tasks");
  } else if (fixed_part(admission.object) != fixed_part(*admission.old)) {
    problems.emplace_back(
        "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under "
        "spec` and `PriorityClassName`");
  }
}

}  // namespace krater::api
