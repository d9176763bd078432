#include "controllers/job/job_status.h"

#include <algorithm>

namespace krater::controllers {
namespace {

std::vector<std::string> uids_at(const Json& document, std::string_view list) {
  std::vector<std::string> out;
  const JsonArray* uids = array_at(document, {"status", "uncountedTerminatedPods", list});
  if (uids == nullptr) return out;
  for (const Json& uid : *uids) {
    if (uid.is_string()) out.emplace_back(view(uid.get_string()));
  }
  return out;
}

JsonArray to_array(const std::vector<std::string>& uids) {
  JsonArray out;
  for (const std::string& uid : uids) out.emplace_back(uid);
  return out;
}

std::optional<WallTime> time_at(const Json& document, JsonPath path) {
  const auto text = string_at(document, path);
  return text ? parse_rfc3339(*text) : std::nullopt;
}

}  // namespace

JobStatus JobStatus::of(const JobView& job) {
  const Json& doc = job.document();
  JobStatus out;
  out.start = time_at(doc, {"status", "startTime"});
  out.completion = time_at(doc, {"status", "completionTime"});
  out.active = int_at(doc, {"status", "active"}).value_or(0);
  out.ready = int_at(doc, {"status", "ready"}).value_or(0);
  out.terminating = int_at(doc, {"status", "terminating"}).value_or(0);
  out.succeeded = int_at(doc, {"status", "succeeded"}).value_or(0);
  out.failed = int_at(doc, {"status", "failed"}).value_or(0);
  out.completed_indexes = text_at(doc, {"status", "completedIndexes"});
  if (const auto text = string_at(doc, {"status", "failedIndexes"}))
    out.failed_indexes = std::string(*text);
  out.uncounted_succeeded = uids_at(doc, "succeeded");
  out.uncounted_failed = uids_at(doc, "failed");
  out.conditions = job.conditions();
  return out;
}

Json JobStatus::to_json_value() const {
  JsonObject out;
  if (!conditions.empty()) {
    JsonArray list;
    for (const Condition& condition : conditions) {
      Json entry = krater::to_json_value(condition);
      if (condition.last_transition)
        entry.get_object()["lastProbeTime"] = to_rfc3339(*condition.last_transition);
      list.push_back(std::move(entry));
    }
    out["conditions"] = std::move(list);
  }
  if (start) out["startTime"] = to_rfc3339(*start);
  if (completion) out["completionTime"] = to_rfc3339(*completion);
  if (active > 0) out["active"] = active;
  if (succeeded > 0) out["succeeded"] = succeeded;
  if (failed > 0) out["failed"] = failed;
  out["terminating"] = terminating;
  out["ready"] = ready;
  if (!completed_indexes.empty()) out["completedIndexes"] = completed_indexes;
  if (failed_indexes) out["failedIndexes"] = *failed_indexes;
  JsonObject uncounted_pods;
  if (!uncounted_succeeded.empty()) uncounted_pods["succeeded"] = to_array(uncounted_succeeded);
  if (!uncounted_failed.empty()) uncounted_pods["failed"] = to_array(uncounted_failed);
  out["uncountedTerminatedPods"] = std::move(uncounted_pods);
  return out;
}

const Condition* JobStatus::find(std::string_view type) const {
  const auto place = std::ranges::find(conditions, type, &Condition::type);
  return place == conditions.end() ? nullptr : &*place;
}

bool JobStatus::set(std::string_view type, bool value, std::string_view reason,
                    std::string_view message, WallTime now) {
  const std::string status = value ? "True" : "False";
  auto place = std::ranges::find(conditions, type, &Condition::type);
  if (place == conditions.end()) {
    if (!value) return false;  // what never was needs no denial
    place = conditions.insert(conditions.end(), Condition{std::string(type), "", "", "", {}});
  } else if (place->status == status && place->reason == reason && place->message == message) {
    return false;
  }
  // Whole seconds, as they are stored: a status read back must equal the one written.
  if (place->status != status)
    place->last_transition = WallTime::from_unix_seconds(now.unix_seconds());
  place->status = status;
  place->reason = reason;
  place->message = message;
  return true;
}

}  // namespace krater::controllers
