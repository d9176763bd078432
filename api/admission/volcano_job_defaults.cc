// What Volcano's job webhook fills in, and what of it an update need not repeat: tasks, volumes and
// plugins are replaced whole by whoever applies his file again, where it never stood.
#include <algorithm>

#include "api/admission/volcano_job_parts.h"

namespace krater::api {
namespace {

void keep(const Json& old, std::string_view member, Json& target) {
  const Json* mine = find(target, {member});
  const bool said = mine != nullptr && !mine->is_null() && *mine != Json("") && *mine != Json(0);
  const Json* before = find(old, {member});
  if (!said && before != nullptr) set_path(target, {member}, *before);
}

// Name and size alone are how many scale a task; a task without pods is none.
void keep_rest_of_task(const Json& old, Json& task) {
  for (const auto& entry : old.get_object()) {
    if (find(task, {entry.key()}) == nullptr) task.get_object()[entry.key()] = entry.value();
  }
  if (minimum_of(task) > replicas_of(task)) erase_path(task, {"minAvailable"});
}

void complete_minimum(Json& task) {
  if (int_at(task, {"minAvailable"})) return;
  const auto partitions = int_at(task, {"partitionPolicy", "minPartitions"}).value_or(0);
  const auto size = int_at(task, {"partitionPolicy", "partitionSize"}).value_or(0);
  set_path(task, {"minAvailable"}, partitions > 0 ? partitions * size : replicas_of(task));
}

void keep_of_task(const Json& old, Json& task) {
  if (!task.is_object() || !old.is_object()) return;
  keep(old, "name", task);
  if (text_at(task, {"name"}) != text_at(old, {"name"})) return;
  if (find(task, {"template"}) == nullptr) keep_rest_of_task(old, task);
  keep(old, "maxRetry", task);
  const Json* policy = find(old, {"template", "spec", "dnsPolicy"});
  if (policy != nullptr && bool_at(task, {"template", "spec", "hostNetwork"}).value_or(false) &&
      text_at(task, {"template", "spec", "dnsPolicy"}).empty())
    set_path(task, {"template", "spec", "dnsPolicy"}, *policy);
  if (find(old, {"minAvailable"}) != nullptr) complete_minimum(task);
}

// The controller has named the claims that it made.
void keep_of_volume(const Json& old, Json& volume) {
  if (object_at(volume, {"volumeClaim"}) == nullptr || object_at(old, {"volumeClaim"}) == nullptr)
    return;
  if (text_at(volume, {"mountPath"}) == text_at(old, {"mountPath"}))
    keep(old, "volumeClaimName", volume);
}

template <typename Keep>
void for_each_pair(const Json& old, Json& job, std::string_view list, Keep keep_one) {
  const JsonArray* before = array_at(old, {"spec", list});
  Json* now = find(job, {"spec", list});
  if (before == nullptr || now == nullptr || !now->is_array()) return;
  JsonArray& items = now->get_array();
  for (std::size_t i = 0; i < std::min(items.size(), before->size()); ++i)
    keep_one((*before)[i], items[i]);
}

// Whether anybody has set it, as far as that is known: a default of the webhook is nobody's.
bool is_somebodys(const Json& job, std::string_view field) {
  const JsonArray* managers = array_at(job, {"metadata", "managedFields"});
  if (managers == nullptr || managers->empty()) return true;
  return std::any_of(managers->begin(), managers->end(), [&](const Json& manager) {
    return find(manager, {"fieldsV1", "f:spec", field}) != nullptr;
  });
}

// Plugins that work only together with another one bring it along.
void complete_plugin(std::string_view brought, Json& job) {
  const auto has = [&](std::string_view plugin) {
    return find(job, {"spec", "plugins", plugin}) != nullptr;
  };
  const bool needed = brought == "ssh"
                          ? has("mpi")
                          : has("tensorflow") || has("mpi") || has("pytorch") || has("ray");
  if (needed && !has(brought)) set_path(job, {"spec", "plugins", brought}, JsonArray());
}

// A minimum that nobody chose keeps no job from becoming smaller.
void keep_minimum(const Json& old, Json& job) {
  const auto before = int_at(old, {"spec", "minAvailable"});
  const bool left_out = find(job, {"spec", "minAvailable"}) == nullptr;
  if (!before) return;
  if (left_out) set_path(job, {"spec", "minAvailable"}, *before);
  if (int_at(job, {"spec", "minAvailable"}) != before) return;
  if (!left_out && is_somebodys(old, "f:minAvailable")) return;
  std::int64_t total = 0, least = 0;
  for (const Json& task : tasks_of(job)) {
    total += replicas_of(task);
    least += minimum_of(task);
  }
  if (*before > total) set_path(job, {"spec", "minAvailable"}, least);
}

}  // namespace

const JsonArray& tasks_of(const Json& job) {
  static const JsonArray none;
  const JsonArray* tasks = array_at(job, {"spec", "tasks"});
  return tasks == nullptr ? none : *tasks;
}

std::int64_t replicas_of(const Json& task) {
  return int_at(task, {"replicas"}).value_or(0);
}

std::int64_t minimum_of(const Json& task) {
  return int_at(task, {"minAvailable"}).value_or(replicas_of(task));
}

void complete_task(Json& task, std::size_t index) {
  if (text_at(task, {"name"}).empty())
    set_path(task, {"name"}, Json("default" + std::to_string(index)));
  if (bool_at(task, {"template", "spec", "hostNetwork"}).value_or(false) &&
      text_at(task, {"template", "spec", "dnsPolicy"}).empty()) {
    set_path(task, {"template", "spec", "dnsPolicy"}, "ClusterFirstWithHostNet");
  }
  complete_minimum(task);
  if (int_at(task, {"maxRetry"}).value_or(0) == 0) set_path(task, {"maxRetry"}, 3);
}

void complete_plugins(Json& job) {
  for (const std::string_view plugin : {"svc", "ssh"}) complete_plugin(plugin, job);
}

void keep_what_is_left_out(const Json& old, Json& job) {
  Json* spec = find(job, {"spec"});
  const Json* before = find(old, {"spec"});
  if (spec == nullptr || !spec->is_object() || before == nullptr) return;
  for (const std::string_view member : {"queue", "schedulerName", "maxRetry"})
    keep(*before, member, *spec);
  for_each_pair(old, job, "tasks", keep_of_task);
  for_each_pair(old, job, "volumes", keep_of_volume);
  keep_minimum(old, job);
  for (const std::string_view plugin : {"svc", "ssh"}) {
    if (find(old, {"spec", "plugins", plugin}) != nullptr) complete_plugin(plugin, job);
  }
}

}  // namespace krater::api
