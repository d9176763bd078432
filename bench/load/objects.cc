#include "bench/load/objects.h"

#include <utility>

#include "model/keys.h"
#include "model/object.h"
#include "runtime/system.h"

namespace krater::bench {
namespace {

Json container(std::string_view name, std::string_view image, std::string_view cpu,
               std::string_view memory) {
  Json out(boost::json::object_kind);
  set_path(out, {"name"}, Json(name));
  set_path(out, {"image"}, Json(image));
  set_path(out, {"resources", "requests", "cpu"}, Json(cpu));
  set_path(out, {"resources", "requests", "memory"}, Json(memory));
  return out;
}

Json ray_template(std::string_view name) {
  Json out(boost::json::object_kind);
  set_path(out, {"spec", "containers"},
           JsonArray{container(name, "rayproject/ray:2.60.0", "1", "2Gi")});
  return out;
}

}  // namespace

Json config_map(const std::string& name, std::size_t bytes) {
  Json out = new_object(kinds::kConfigMap, "default", name);
  set_path(out, {"data", "payload"}, Json(std::string(bytes, 'x')));
  return out;
}

Json pod(const std::string& name) {
  Json out = new_object(kinds::kPod, "default", name);
  Json only = container("c", "busybox:1.36", "100m", "64Mi");
  set_path(only, {"command"}, JsonArray{"sleep", "3600"});
  set_path(out, {"metadata", "labels", "app"}, "load");
  set_path(out, {"spec", "schedulerName"}, "nobody");
  set_path(out, {"spec", "containers"}, JsonArray{std::move(only)});
  return out;
}

Json ray_job(const std::string& name, int workers, std::string_view queue) {
  Json out = new_object(kinds::kRayJob, "default", name);
  if (!queue.empty()) set_path(out, {"metadata", "labels", keys::kVolcanoQueueName}, Json(queue));
  set_path(out, {"spec", "entrypoint"}, "python -c 1");
  set_path(out, {"spec", "rayClusterSpec", "rayVersion"}, "2.60.0");
  set_path(out, {"spec", "rayClusterSpec", "headGroupSpec", "rayStartParams"}, JsonObject());
  set_path(out, {"spec", "rayClusterSpec", "headGroupSpec", "template"}, ray_template("ray-head"));
  JsonObject group{{"groupName", "small"}, {"rayStartParams", JsonObject()}};
  for (const char* count : {"replicas", "minReplicas", "maxReplicas"}) group[count] = workers;
  group["template"] = ray_template("ray-worker");
  set_path(out, {"spec", "rayClusterSpec", "workerGroupSpecs"}, JsonArray{std::move(group)});
  return out;
}

Json vc_job(const std::string& name, int pods, int min_available) {
  Json out = new_object(kinds::kVolcanoJob, "default", name);
  set_path(out, {"spec", "schedulerName"}, "volcano");
  set_path(out, {"spec", "minAvailable"}, min_available);
  set_path(out, {"spec", "queue"}, "default");
  Json task(boost::json::object_kind);
  set_path(task, {"name"}, "t");
  set_path(task, {"replicas"}, pods);
  set_path(task, {"template", "spec", "containers"},
           JsonArray{container("worker", "busybox:1.36", "1", "1Gi")});
  set_path(out, {"spec", "tasks"}, JsonArray{std::move(task)});
  return out;
}

Json pod_group(const std::string& name, int min_member) {
  Json out = new_object(kinds::kPodGroup, "default", name);
  set_path(out, {"spec", "minMember"}, min_member);
  set_path(out, {"spec", "queue"}, "default");
  return out;
}

Json group_pod(const std::string& group, int number) {
  Json out = new_object(kinds::kPod, "default", group + "-t-" + std::to_string(number));
  set_path(out, {"metadata", "annotations", keys::kGroupName}, Json(group));
  set_path(out, {"spec", "schedulerName"}, "volcano");
  set_path(out, {"spec", "containers"},
           JsonArray{container("worker", "busybox:1.36", "1", "1Gi")});
  return out;
}

HttpRequest get(std::string path) {
  HttpRequest out;
  out.url = std::move(path);
  return out;
}

HttpRequest post(std::string path, const Json& body) {
  HttpRequest out;
  out.method = "POST";
  out.url = std::move(path);
  out.headers = {{"Content-Type", "application/json"}};
  out.body = to_json(body);
  return out;
}

std::string run_id() {
  return std::to_string(runtime::SystemClock().now().unix_nanos() / 1'000'000);
}

}  // namespace krater::bench
