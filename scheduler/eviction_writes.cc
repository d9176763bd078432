#include "scheduler/eviction_writes.h"

namespace krater::scheduler {
namespace {

Json condition(std::string_view type, std::string_view status, std::string_view reason,
               const std::string& message, WallTime now) {
  JsonObject out;
  out["type"] = type;
  out["status"] = status;
  out["lastProbeTime"] = nullptr;
  out["lastTransitionTime"] = to_rfc3339(now);
  out["reason"] = reason;
  out["message"] = message;
  return out;
}

client::Write status_patch(const TaskSpec& task, Json status) {
  JsonObject patch;
  patch["status"] = std::move(status);
  return client::PatchWrite{kinds::kPod, task.name_space(),
                            task.name(), client::PatchType::StrategicMerge,
                            Json(patch), "status"};
}

}  // namespace

std::string eviction_text(const GangEviction& eviction) {
  std::string out = "Pod is evicted, because of " + eviction.action;
  // Of shuffle nobody needs the place: the pod had better be elsewhere.
  if (eviction.action != "shuffle") {
    out += ": job " + eviction.claimant.text() + " (priority " + std::to_string(eviction.priority) +
           ", queue " + eviction.queue.text() + ") needs its place";
  }
  const bool several = eviction.offered_by.find(',') != std::string::npos;
  if (!eviction.offered_by.empty())
    out += std::string(several ? "; decided by plugins " : "; decided by plugin ") +
           eviction.offered_by;
  return out;
}

std::vector<client::Write> eviction_writes(const GangEviction& eviction, WallTime now) {
  std::vector<client::Write> out;
  const std::string text = eviction_text(eviction);
  for (const GangEviction::Victim& victim : eviction.victims) {
    JsonObject status;
    status["conditions"] =
        JsonArray{condition("Ready", "False", "Evict", text, now),
                  condition("DisruptionTarget", "True", "PreemptionByScheduler", text, now)};
    out.push_back(status_patch(*victim.task, std::move(status)));
    client::DeleteWrite gone{kinds::kPod, victim.task->name_space(), victim.task->name()};
    gone.only_uid = victim.task->pod->uid();
    out.emplace_back(std::move(gone));
  }
  for (const GangEviction::Nominee& nominee : eviction.nominees) {
    JsonObject status;
    status["nominatedNodeName"] = nominee.node;
    out.push_back(status_patch(*nominee.task, std::move(status)));
  }
  return out;
}

}  // namespace krater::scheduler
