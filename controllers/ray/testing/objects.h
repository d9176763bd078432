// Small builders for the tests of the Ray controllers.
#pragma once

#include <string>
#include <vector>

#include "model/pod.h"
#include "model/raycluster.h"

namespace krater::controllers::test {

inline ObjectPtr object_of(const Kind& kind, Json json, std::int64_t revision = 1) {
  set_path(json, {"apiVersion"}, Json(kind.api_version()));
  set_path(json, {"kind"}, Json(kind.kind));
  if (text_at(json, {"metadata", "namespace"}).empty())
    set_path(json, {"metadata", "namespace"}, "ns");
  if (text_at(json, {"metadata", "uid"}).empty()) {
    set_path(json, {"metadata", "uid"}, Json("uid-" + text_at(json, {"metadata", "name"})));
  }
  auto made = Object::parse(ObjectKey::of(kind, text_at(json, {"metadata", "namespace"}),
                                          text_at(json, {"metadata", "name"})),
                            Revision(revision), std::make_shared<const std::string>(to_json(json)));
  return *made;
}
inline ObjectPtr object_of(const Kind& kind, std::string_view text) {
  return object_of(kind, *parse_json(text));
}

// A cluster spec with one head and a group "wg"; `extra` goes before the groups
// ("\"suspend\":true,").
inline std::string cluster_spec(int replicas = 2, const std::string& extra = "") {
  return R"({"rayVersion":"2.53.0",)" + extra +
         R"("headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[{"name":"ray-head",)"
         R"("image":"rayproject/ray:2.53.0","resources":{"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"256m","memory":"256Mi"}}}]}}},)"
         R"("workerGroupSpecs":[{"groupName":"wg","replicas":)" +
         std::to_string(replicas) +
         R"(,"minReplicas":0,"maxReplicas":10,"rayStartParams":{},"template":{"spec":{"containers":[{"name":"ray-worker",)"
         R"("image":"rayproject/ray:2.53.0","resources":{"requests":{"cpu":"256m","memory":"256Mi"}}}]}}}]})";
}

struct PodOptions {
  std::string node_type = "worker", group = "wg", phase = "Running", restart_policy = "Always";
  std::string created = "2026-01-01T00:00:00Z", ended = {};
  bool ready = true, deleting = false;
  int index = 0, host = 0, replacements = 0;
  std::string replica_name = {};
};

inline PodView pod_of(const std::string& name, const PodOptions& o = {}) {
  Json json = new_object(kinds::kPod, "ns", name);
  set_path(json, {"metadata", "labels", "ray.io/node-type"}, Json(o.node_type));
  set_path(json, {"metadata", "labels", "ray.io/group"}, Json(o.group));
  set_path(json, {"metadata", "labels", "ray.io/worker-group-replica-index"},
           Json(std::to_string(o.index)));
  if (!o.replica_name.empty()) {
    set_path(json, {"metadata", "labels", "ray.io/worker-group-replica-name"},
             Json(o.replica_name));
    set_path(json, {"metadata", "labels", "ray.io/replica-host-index"},
             Json(std::to_string(o.host)));
  }
  if (o.replacements > 0) {
    set_path(json, {"metadata", "annotations", "krater.io/replacements"},
             Json(std::to_string(o.replacements)));
  }
  set_path(json, {"metadata", "creationTimestamp"}, Json(o.created));
  if (o.deleting) set_path(json, {"metadata", "deletionTimestamp"}, Json(o.created));
  set_path(json, {"spec"},
           JsonObject{{"restartPolicy", o.restart_policy},
                      {"containers", JsonArray{JsonObject{{"name", "ray"}}}}});
  set_path(json, {"status", "phase"}, Json(o.phase));
  set_path(json, {"status", "podIP"}, "10.0.0.1");
  set_path(json, {"status", "conditions"},
           JsonArray{JsonObject{{"type", "Ready"}, {"status", o.ready ? "True" : "False"}}});
  JsonObject status{{"name", "ray"}, {"ready", o.ready}};
  if (o.ended.empty()) {
    status["state"] = JsonObject{{"running", JsonObject{{"startedAt", o.created}}}};
  } else {
    status["state"] = JsonObject{
        {"terminated", JsonObject{{"exitCode", 1}, {"reason", "Error"}, {"finishedAt", o.ended}}}};
  }
  set_path(json, {"status", "containerStatuses"}, JsonArray{std::move(status)});
  return PodView(object_of(kinds::kPod, std::move(json)));
}

}  // namespace krater::controllers::test
