#include "controllers/apps/deployment_status.h"

#include <algorithm>

namespace krater::controllers {
namespace {

constexpr std::string_view kProgressing = "Progressing";
constexpr std::string_view kComplete = "NewReplicaSetAvailable";
constexpr std::string_view kTimedOut = "ProgressDeadlineExceeded";
constexpr std::string_view kPaused = "DeploymentPaused";

std::optional<WallTime> time_at(const Json& json, std::string_view field) {
  const auto text = string_at(json, {field});
  return text ? parse_rfc3339(*text) : std::nullopt;
}

// "ReplicaSet "x" is progressing.": who, and what of it.
std::string told(const DeploymentView& deployment, const SetPlan* newest, std::string_view what) {
  return (newest != nullptr ? "ReplicaSet \"" + newest->set->name()
                            : "Deployment \"" + deployment->name()) +
         "\" " + std::string(what);
}

bool progressed(const DeploymentStatus& before, const DeploymentStatus& now) {
  return now.updated > before.updated ||
         now.replicas - now.updated < before.replicas - before.updated ||
         now.ready > before.ready || now.available > before.available;
}

bool timed_out(const DeploymentView& deployment, const DeploymentStatus& status, WallTime now) {
  const DeploymentCondition* progress = status.find(kProgressing);
  if (progress == nullptr || progress->reason == kComplete) return false;
  if (progress->reason == kTimedOut) return true;
  const WallTime since = progress->updated.value_or(now);
  return since + std::chrono::seconds(*deployment.progress_deadline_s()) < now;
}

const Condition* failure_in(const std::vector<Condition>& conditions) {
  const auto place = std::ranges::find(conditions, "ReplicaFailure", &Condition::type);
  return place == conditions.end() ? nullptr : &*place;
}

// The present set's failure speaks for the others'.
std::optional<Condition> failure_of(std::span<const SetPlan> sets, const SetPlan* newest) {
  std::optional<Condition> out;
  for (const SetPlan& plan : sets) {
    const std::vector<Condition> conditions = plan.set.conditions();
    const Condition* failure = failure_in(conditions);
    if (failure != nullptr && (!out || &plan == newest)) out = *failure;
  }
  return out;
}

}  // namespace

DeploymentStatus DeploymentStatus::of(const DeploymentView& deployment) {
  const Json& doc = deployment.document();
  DeploymentStatus out;
  out.observed_generation = deployment.observed_generation();
  out.replicas = int_at(doc, {"status", "replicas"}).value_or(0);
  out.updated = int_at(doc, {"status", "updatedReplicas"}).value_or(0);
  out.ready = int_at(doc, {"status", "readyReplicas"}).value_or(0);
  out.available = int_at(doc, {"status", "availableReplicas"}).value_or(0);
  out.unavailable = int_at(doc, {"status", "unavailableReplicas"}).value_or(0);
  out.collisions = int_at(doc, {"status", "collisionCount"});
  const JsonArray* conditions = array_at(doc, {"status", "conditions"});
  if (conditions == nullptr) return out;
  for (const Json& json : *conditions) {
    out.conditions.push_back({text_at(json, {"type"}), text_at(json, {"status"}),
                              text_at(json, {"reason"}), text_at(json, {"message"}),
                              time_at(json, "lastUpdateTime"),
                              time_at(json, "lastTransitionTime")});
  }
  return out;
}

DeploymentStatus DeploymentStatus::counted(const DeploymentView& deployment,
                                           std::span<const SetPlan> sets, const SetPlan* newest,
                                           const DeploymentStatus& before) {
  DeploymentStatus out;
  std::int64_t wanted = 0;
  for (const SetPlan& plan : sets) {
    wanted += plan.replicas;
    out.replicas += plan.set.actual();
    out.ready += plan.set.ready();
    out.available += plan.set.available();
  }
  out.updated = newest == nullptr ? 0 : newest->set.actual();
  out.unavailable = std::max<std::int64_t>(0, wanted - out.available);
  out.observed_generation = deployment->generation();
  out.collisions = before.collisions;
  out.conditions = before.conditions;
  return out;
}

JsonObject DeploymentStatus::to_json_object() const {
  JsonObject out;
  const auto put = [&](std::string_view name, std::int64_t value) {
    if (value != 0) out[name] = value;
  };
  put("observedGeneration", observed_generation);
  put("replicas", replicas);
  put("updatedReplicas", updated);
  put("readyReplicas", ready);
  put("availableReplicas", available);
  put("unavailableReplicas", unavailable);
  if (collisions) out["collisionCount"] = *collisions;
  JsonArray list;
  for (const DeploymentCondition& condition : conditions) {
    JsonObject entry{{"type", condition.type}, {"status", condition.status}};
    if (condition.updated) entry["lastUpdateTime"] = to_rfc3339(*condition.updated);
    if (condition.changed) entry["lastTransitionTime"] = to_rfc3339(*condition.changed);
    entry["reason"] = condition.reason;
    entry["message"] = condition.message;
    list.push_back(std::move(entry));
  }
  if (!list.empty()) out["conditions"] = std::move(list);
  return out;
}

const DeploymentCondition* DeploymentStatus::find(std::string_view type) const {
  const auto place = std::ranges::find(conditions, type, &DeploymentCondition::type);
  return place == conditions.end() ? nullptr : &*place;
}

void DeploymentStatus::set(std::string_view type, std::string_view value, std::string_view reason,
                           std::string_view message, WallTime now) {
  const DeploymentCondition* before = find(type);
  if (before != nullptr && before->status == value && before->reason == reason) return;
  const WallTime at = WallTime::from_unix_seconds(now.unix_seconds());  // as it is stored
  const bool same_status = before != nullptr && before->status == value;
  DeploymentCondition next{
      std::string(type), std::string(value), std::string(reason), std::string(message), at, at};
  if (same_status) next.changed = before->changed;
  remove(type);
  conditions.push_back(std::move(next));
}

void DeploymentStatus::remove(std::string_view type) {
  std::erase_if(conditions, [&](const DeploymentCondition& c) { return c.type == type; });
}

bool DeploymentStatus::complete(const DeploymentView& deployment) const {
  const std::int64_t wanted = deployment.replicas();
  return updated == wanted && replicas == wanted && available == wanted &&
         observed_generation >= deployment->generation();
}

void judge_availability(const DeploymentView& deployment, DeploymentStatus& status, WallTime now) {
  if (status.available >= deployment.replicas() - deployment.max_unavailable()) {
    status.set("Available", "True", "MinimumReplicasAvailable",
               "Deployment has minimum availability.", now);
  } else {
    status.set("Available", "False", "MinimumReplicasUnavailable",
               "Deployment does not have minimum availability.", now);
  }
}

void judge_progress(const DeploymentView& deployment, std::span<const SetPlan> sets,
                    const SetPlan* newest, const DeploymentStatus& before, DeploymentStatus& status,
                    WallTime now) {
  const DeploymentCondition* present = status.find(kProgressing);
  const bool settled =
      present != nullptr && present->reason == kComplete && status.replicas == status.updated;
  if (!deployment.progress_deadline_s()) {
    status.remove(kProgressing);
  } else if (!settled) {
    if (status.complete(deployment)) {
      status.set(kProgressing, "True", kComplete,
                 told(deployment, newest, "has successfully progressed."), now);
    } else if (progressed(before, status)) {
      // Also when it says so already: the deadline counts from the last progress.
      const std::optional<WallTime> since =
          present != nullptr && present->status == "True" ? present->changed : std::nullopt;
      status.remove(kProgressing);
      status.set(kProgressing, "True", "ReplicaSetUpdated",
                 told(deployment, newest, "is progressing."), now);
      if (since) status.conditions.back().changed = since;
    } else if (timed_out(deployment, status, now)) {
      status.set(kProgressing, "False", kTimedOut,
                 told(deployment, newest, "has timed out progressing."), now);
    }
  }
  if (const auto failure = failure_of(sets, newest)) {
    status.set("ReplicaFailure", failure->status, failure->reason, failure->message, now);
  } else {
    status.remove("ReplicaFailure");
  }
}

void judge_pause(const DeploymentView& deployment, DeploymentStatus& status, WallTime now) {
  if (!deployment.progress_deadline_s()) return;
  const DeploymentCondition* present = status.find(kProgressing);
  if (present != nullptr && present->reason == kTimedOut) return;
  const bool told_paused = present != nullptr && present->reason == kPaused;
  if (deployment.paused() && !told_paused) {
    status.set(kProgressing, "Unknown", kPaused, "Deployment is paused", now);
  } else if (!deployment.paused() && told_paused) {
    status.set(kProgressing, "Unknown", "DeploymentResumed", "Deployment is resumed", now);
  }
}

std::optional<Duration> until_deadline(const DeploymentView& deployment,
                                       const DeploymentStatus& status, WallTime now) {
  const DeploymentCondition* progress = status.find(kProgressing);
  const auto deadline = deployment.progress_deadline_s();
  if (!deadline || progress == nullptr || deployment.paused()) return std::nullopt;
  if (progress->reason == kComplete || progress->reason == kTimedOut) return std::nullopt;
  // Strictly later, and times are whole seconds.
  return progress->updated.value_or(now) + std::chrono::seconds(*deadline + 1) - now;
}

}  // namespace krater::controllers
