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
  condition["message"] = message;
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
