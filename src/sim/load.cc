#include "sim/load.h"

#include <fmt/format.h>

#include "base/check.h"
#include "model/keys.h"
#include "model/volcano_job.h"

namespace krater::sim {
namespace {

constexpr const char* kNamespace = "default";
constexpr std::int64_t kSubmitterExtraSeconds = 3;

std::int64_t seconds(Duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

Json parsed(const std::string& text) {
  Result<Json> json = parse_json(text);
  CHECK_MSG(json.has_value(), text);
  return *std::move(json);
}

std::string container(const Load& load, const std::string& name) {
  return fmt::format(
      R"({{"name":"{}","image":"sim","resources":{{"requests":{{"cpu":"{}","memory":"256Mi"}}}}}})",
      name, load.cpu);
}

std::string sim_annotations(Duration run_time) {
  return fmt::format(R"({{"{}":"{}s","{}":"1s"}})", keys::kSimRunTime, seconds(run_time),
                     keys::kSimStartDelay);
}

Json ray_job(const Load& load) {
  Json out = parsed(fmt::format(
      R"({{"spec":{{"entrypoint":"python main.py","shutdownAfterJobFinishes":true,"backoffLimit":{},)"
      R"("rayClusterSpec":{{"rayVersion":"2.53.0",)"
      R"("headGroupSpec":{{"rayStartParams":{{}},"template":{{"spec":{{"containers":[{}]}}}}}},)"
      R"("workerGroupSpecs":[{{"groupName":"workers","replicas":{},"minReplicas":{},"maxReplicas":{},)"
      R"("rayStartParams":{{}},"template":{{"spec":{{"containers":[{}]}}}}}}]}},)"
      R"("submitterPodTemplate":{{"metadata":{{"annotations":{}}},"spec":{{"restartPolicy":"Never",)"
      R"("containers":[{{"name":"submitter","image":"sim","resources":{{"requests":{{"cpu":"100m","memory":"64Mi"}}}}}}]}}}}}}}})",
      load.backoff_limit, container(load, "ray-head"), load.workers, load.workers, load.workers,
      container(load, "ray-worker"),
      sim_annotations(load.run_time + std::chrono::seconds(kSubmitterExtraSeconds))));
  if (!load.queue.empty())
    set_path(out, {"metadata", "labels", keys::kVolcanoQueueName}, Json(load.queue));
  return out;
}

Json batch_job(const Load& load) {
  return parsed(fmt::format(
      R"({{"spec":{{"parallelism":{},"completions":{},"backoffLimit":{},"template":{{)"
      R"("metadata":{{"annotations":{}}},"spec":{{"restartPolicy":"Never","containers":[{}]}}}}}}}})",
      load.workers, load.workers, load.backoff_limit, sim_annotations(load.run_time),
      container(load, "main")));
}

// Starts anew as a whole when it loses a pod.
Json volcano_job(const Load& load) {
  Json out = parsed(fmt::format(
      R"({{"spec":{{"schedulerName":"volcano","minAvailable":{},"maxRetry":{},)"
      R"("policies":[{{"event":"PodEvicted","action":"RestartJob"}}],)"
      R"("tasks":[{{"name":"w","replicas":{},"template":{{)"
      R"("metadata":{{"annotations":{}}},"spec":{{"restartPolicy":"Never","containers":[{}]}}}}}}]}}}})",
      load.workers, load.backoff_limit, load.workers, sim_annotations(load.run_time),
      container(load, "main")));
  if (!load.queue.empty()) set_path(out, {"spec", "queue"}, Json(load.queue));
  return out;
}

Json bare_pod(const Load& load) {
  return parsed(fmt::format(
      R"({{"metadata":{{"annotations":{}}},"spec":{{"restartPolicy":"Never","containers":[{}]}}}})",
      sim_annotations(load.run_time), container(load, "main")));
}

Submission named(const Kind& kind, Json object, const std::string& name) {
  set_path(object, {"apiVersion"}, Json(kind.api_version()));
  set_path(object, {"kind"}, Json(kind.kind));
  set_path(object, {"metadata", "name"}, Json(name));
  if (kind.namespaced) set_path(object, {"metadata", "namespace"}, Json(kNamespace));
  return {kind, std::move(object)};
}

}  // namespace

Submission make_submission(const Load& load, const std::string& name) {
  switch (load.what) {
    case Load::What::RayJobs:
      return named(kinds::kRayJob, ray_job(load), name);
    case Load::What::Jobs:
      return named(kinds::kJob, batch_job(load), name);
    case Load::What::VolcanoJobs:
      return named(kinds::kVolcanoJob, volcano_job(load), name);
    case Load::What::Pods:
      break;
  }
  return named(kinds::kPod, bare_pod(load), name);
}

Json queue_object(const std::string& name) {
  Json out = new_object(kinds::kQueue, "", name);
  set_path(out, {"spec", "weight"}, 1);
  return out;
}

}  // namespace krater::sim
