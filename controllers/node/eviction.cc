#include "controllers/node/eviction.h"

#include <algorithm>

namespace krater::controllers {
namespace {

void set_condition(Json& document, std::string_view type, std::string_view value,
                   std::string_view reason, std::string_view message, WallTime now) {
  if (array_at(document, {"status", "conditions"}) == nullptr) {
    set_path(document, {"status", "conditions"}, JsonArray());
  }
  JsonArray& list = find(document, {"status", "conditions"})->get_array();
  auto place =
      std::ranges::find_if(list, [type](const Json& c) { return string_at(c, {"type"}) == type; });
  if (place == list.end()) {
    list.push_back(JsonObject{{"type", type}});
    place = std::prev(list.end());
  }
  JsonObject& condition = place->as_object();
  if (string_at(*place, {"status"}) != value) condition["lastTransitionTime"] = to_rfc3339(now);
  condition["status"] = value;
  condition["reason"] = reason;
  if (!message.empty()) condition["message"] = message;
  if (message.empty()) condition.erase("message");
}

// Nobody is left to tell how its containers ended: what has not ended counts as lost, as a kubelet
// that cannot find a container says.
void lose_containers(Json& document) {
  for (const std::string_view field : {"initContainerStatuses", "containerStatuses"}) {
    Json* list = find(document, {"status", field});
    if (list == nullptr || !list->is_array()) continue;
    for (Json& container : list->get_array()) {
      if (!container.is_object()) continue;
      container.get_object()["ready"] = false;
      if (find(container, {"state", "running"}) == nullptr) continue;
      const std::string since = text_at(container, {"state", "running", "startedAt"});
      JsonObject lost{
          {"exitCode", 137},
          {"reason", "ContainerStatusUnknown"},
          {"message", "The container could not be located when the pod was terminated"}};
      if (!since.empty()) lost["startedAt"] = since;
      container.get_object()["started"] = false;
      container.get_object()["state"] = JsonObject{{"terminated", std::move(lost)}};
    }
  }
}

PlannedWrite write_status(const PodView& pod, Json document) {
  return {client::UpdateWrite{kinds::kPod, pod->name_space(), pod->name(), std::move(document),
                              "status"},
          Code::NotFound,
          {},
          {}};
}

client::DeleteWrite delete_of(const PodView& pod) {
  client::DeleteWrite out{kinds::kPod, pod->name_space(), pod->name()};
  out.only_uid = pod->uid();
  return out;
}

}  // namespace

std::optional<WallTime> eviction_time(const std::vector<Toleration>& tolerations,
                                      const std::vector<TimedTaint>& taints) {
  std::optional<WallTime> out;
  for (const TimedTaint& timed : taints) {
    if (timed.taint.effect != "NoExecute") continue;
    bool tolerated = false;
    std::optional<std::int64_t> seconds;
    for (const Toleration& toleration : tolerations) {
      if (!toleration.tolerates(timed.taint)) continue;
      tolerated = true;
      if (toleration.seconds)
        seconds = std::min(seconds.value_or(*toleration.seconds), *toleration.seconds);
    }
    if (!tolerated) return WallTime();
    if (!seconds || !timed.added) continue;
    const WallTime due = *timed.added + std::chrono::seconds(std::max<std::int64_t>(*seconds, 0));
    out = std::min(out.value_or(due), due);
  }
  return out;
}

Plan evict(const PodView& pod, WallTime now) {
  Json document = pod.document();
  set_condition(document, "DisruptionTarget", "True", "DeletionByTaintManager",
                "Taint manager: deleting due to NoExecute taint", now);
  Plan plan;
  plan.then(write_status(pod, std::move(document)));
  plan.then({delete_of(pod),
             Code::NotFound,
             EventNote{EventNote::Type::Normal,
                       "TaintManagerEviction",
                       "Marking for deletion Pod " + pod->name_space() + "/" + pod->name(),
                       {},
                       pod.object()},
             {}});
  return plan;
}

void remove_orphan(const PodView& pod, WallTime now, std::vector<PlannedWrite>& marks,
                   std::vector<PlannedWrite>& deletes) {
  if (!pod.finished()) {
    Json document = pod.document();
    set_condition(document, "DisruptionTarget", "True", "DeletionByPodGC",
                  "PodGC: node no longer exists", now);
    set_path(document, {"status", "phase"}, "Failed");
    for (const std::string_view type : {"Ready", "ContainersReady"})
      set_condition(document, type, "False", "PodFailed", "", now);
    lose_containers(document);
    marks.push_back(write_status(pod, std::move(document)));
  }
  client::DeleteWrite gone = delete_of(pod);
  gone.grace_seconds = 0;
  deletes.push_back({std::move(gone), Code::NotFound, {}, {}});
}

PlannedWrite mark_not_ready(const PodView& pod, WallTime now) {
  Json document = pod.document();
  set_condition(document, "Ready", "False", "NodeNotReady", "Node is not ready", now);
  PlannedWrite out = write_status(pod, std::move(document));
  out.on_done =
      EventNote{EventNote::Type::Warning, "NodeNotReady", "Node is not ready", {}, pod.object()};
  return out;
}

}  // namespace krater::controllers
