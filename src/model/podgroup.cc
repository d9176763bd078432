#include "model/podgroup.h"

#include <algorithm>

#include "base/check.h"
#include "model/keys.h"

namespace krater {

std::string_view to_text(PodGroupPhase phase) {
  switch (phase) {
    case PodGroupPhase::Pending:
      return "Pending";
    case PodGroupPhase::Running:
      return "Running";
    case PodGroupPhase::Unknown:
      return "Unknown";
    case PodGroupPhase::Inqueue:
      return "Inqueue";
    case PodGroupPhase::Completed:
      return "Completed";
  }
  CHECK(false);
}

bool PodGroupCondition::same_news(const PodGroupCondition& other) const {
  return type == other.type && status == other.status && reason == other.reason &&
         message == other.message;
}

bool PodGroupStatus::same_news(const PodGroupStatus& other) const {
  return phase == other.phase && running == other.running && succeeded == other.succeeded &&
         failed == other.failed &&
         std::equal(conditions.begin(), conditions.end(), other.conditions.begin(),
                    other.conditions.end(),
                    [](const auto& a, const auto& b) { return a.same_news(b); });
}

void PodGroupStatus::set(PodGroupCondition condition) {
  for (PodGroupCondition& mine : conditions) {
    if (mine.type != condition.type) continue;
    // Only a changed status is a transition.
    if (mine.status == condition.status && mine.last_transition) {
      condition.last_transition = mine.last_transition;
    }
    mine = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

const PodGroupCondition* PodGroupStatus::condition(std::string_view type) const {
  for (const PodGroupCondition& mine : conditions) {
    if (mine.type == type) return &mine;
  }
  return nullptr;
}

Json PodGroupStatus::to_json_value(bool nulls) const {
  JsonObject out;
  out["phase"] = to_text(phase);
  JsonArray list;
  for (const PodGroupCondition& condition : conditions) {
    JsonObject one;
    one["type"] = condition.type;
    one["status"] = condition.status;
    one["transitionID"] = condition.transition_id;
    if (condition.last_transition)
      one["lastTransitionTime"] = to_rfc3339(*condition.last_transition);
    if (!condition.reason.empty()) one["reason"] = condition.reason;
    if (!condition.message.empty()) one["message"] = condition.message;
    list.push_back(std::move(one));
  }
  if (!list.empty()) out["conditions"] = std::move(list);
  const auto count = [&](std::string_view name, std::int64_t number) {
    if (number != 0) {
      out[name] = number;
    } else if (nulls) {
      out[name] = nullptr;
    }
  };
  count("running", running);
  count("succeeded", succeeded);
  count("failed", failed);
  return out;
}

std::map<std::string, std::int64_t> PodGroupView::min_task_member() const {
  std::map<std::string, std::int64_t> out;
  if (const JsonObject* roles = object_at(document(), {"spec", "minTaskMember"})) {
    for (const auto& member : *roles) {
      if (const auto count = as_int(member.value())) {
        out.emplace(std::string(member.key().data(), member.key().size()), *count);
      }
    }
  }
  return out;
}

QueueName PodGroupView::queue() const {
  std::string name = text({"spec", "queue"});
  return name.empty() ? QueueName(keys::kDefaultQueue) : QueueName(std::move(name));
}

std::optional<ResourceList> PodGroupView::min_resources() const {
  const Json* list = find(document(), {"spec", "minResources"});
  if (list == nullptr || !list->is_object()) return std::nullopt;
  // Volcano's controllers write them as quotas name them, too: "requests.cpu", "count/pods".
  ResourceList out;
  const ResourceList all = ResourceList::from(list);
  for (const auto& [name, amount] : all.amounts()) {
    if (name.starts_with("requests.") || name.starts_with("limits.") || name.starts_with("count/"))
      continue;
    out.set(name, amount);
  }
  return out;
}

PodGroupPhase PodGroupView::phase() const {
  const std::string_view phase = string({"status", "phase"}).value_or("");
  for (const PodGroupPhase known : {PodGroupPhase::Running, PodGroupPhase::Unknown,
                                    PodGroupPhase::Inqueue, PodGroupPhase::Completed}) {
    if (phase == to_text(known)) return known;
  }
  return PodGroupPhase::Pending;
}

PodGroupStatus PodGroupView::status() const {
  PodGroupStatus out;
  out.phase = phase();
  out.running = integer({"status", "running"}).value_or(0);
  out.succeeded = integer({"status", "succeeded"}).value_or(0);
  out.failed = integer({"status", "failed"}).value_or(0);
  if (const JsonArray* list = array_at(document(), {"status", "conditions"})) {
    for (const Json& json : *list) {
      PodGroupCondition condition{text_at(json, {"type"}),         text_at(json, {"status"}),
                                  text_at(json, {"transitionID"}), {},
                                  text_at(json, {"reason"}),       text_at(json, {"message"})};
      if (const auto time = string_at(json, {"lastTransitionTime"})) {
        condition.last_transition = parse_rfc3339(*time);
      }
      out.conditions.push_back(std::move(condition));
    }
  }
  return out;
}

}  // namespace krater
