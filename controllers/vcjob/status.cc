#include "controllers/vcjob/status.h"

#include <algorithm>
#include <limits>

namespace krater::controllers::vcjob {
namespace {

constexpr std::string_view kSucceeded = "succeeded-";

// Whole seconds, as they are stored: a status read back must equal the one written.
WallTime whole_seconds(WallTime time) {
  return WallTime::from_unix_seconds(time.unix_seconds());
}

std::optional<WallTime> time_at(const Json& document, JsonPath path) {
  const auto text = string_at(document, path);
  return text ? parse_rfc3339(*text) : std::nullopt;
}

std::int64_t& count_of(Counts& counts, PodPhase phase) {
  switch (phase) {
    case PodPhase::Pending:
      return counts.pending;
    case PodPhase::Running:
      return counts.running;
    case PodPhase::Succeeded:
      return counts.succeeded;
    case PodPhase::Failed:
      return counts.failed;
    case PodPhase::Unknown:
      break;
  }
  return counts.unknown;
}

Counts counts_at(const Json& status) {
  Counts out;
  out.pending = int_at(status, {"pending"}).value_or(0);
  out.running = int_at(status, {"running"}).value_or(0);
  out.succeeded = int_at(status, {"succeeded"}).value_or(0);
  out.failed = int_at(status, {"failed"}).value_or(0);
  out.terminating = int_at(status, {"terminating"}).value_or(0);
  out.unknown = int_at(status, {"unknown"}).value_or(0);
  const JsonObject* tasks = object_at(status, {"taskStatusCount"});
  if (tasks == nullptr) return out;
  for (const auto& task : *tasks) {
    const JsonObject* phases = object_at(task.value(), {"phase"});
    if (phases == nullptr) continue;
    for (const auto& phase : *phases) {
      out.by_task[std::string(task.key().data(), task.key().size())][std::string(
          phase.key().data(), phase.key().size())] = as_int(phase.value()).value_or(0);
    }
  }
  return out;
}

void put(JsonObject& out, std::string_view name, std::int64_t number) {
  if (number != 0) out[name] = number;
}

void put_counts(const Counts& counts, JsonObject& out) {
  put(out, "pending", counts.pending);
  put(out, "running", counts.running);
  put(out, "succeeded", counts.succeeded);
  put(out, "failed", counts.failed);
  put(out, "terminating", counts.terminating);
  put(out, "unknown", counts.unknown);
  if (counts.by_task.empty()) return;
  JsonObject tasks;
  for (const auto& [task, phases] : counts.by_task) {
    JsonObject numbers;
    for (const auto& [phase, number] : phases) numbers[phase] = number;
    tasks[task] = JsonObject{{"phase", std::move(numbers)}};
  }
  out["taskStatusCount"] = std::move(tasks);
}

}  // namespace

void Counts::add(const std::string& task, PodPhase phase, std::int64_t number) {
  if (number == 0) return;
  count_of(*this, phase) += number;
  by_task[task][std::string(to_text(phase))] += number;
}

Counts Counts::but_for_pending() const {
  Counts out = *this;
  out.pending = 0;
  for (auto& [task, phases] : out.by_task) phases.erase(std::string(to_text(PodPhase::Pending)));
  std::erase_if(out.by_task, [](const auto& task) { return task.second.empty(); });
  return out;
}

std::int64_t Counts::of(const std::string& task, PodPhase phase) const {
  const auto phases = by_task.find(task);
  if (phases == by_task.end()) return 0;
  const auto number = phases->second.find(std::string(to_text(phase)));
  return number == phases->second.end() ? 0 : number->second;
}

Status Status::of(const VolcanoJobView& job) {
  Status out;
  const Json* status = find(job.document(), {"status"});
  if (status == nullptr) return out;
  out.phase = job.phase();
  out.reason = text_at(*status, {"state", "reason"});
  out.message = text_at(*status, {"state", "message"});
  out.transition = time_at(*status, {"state", "lastTransitionTime"});
  out.min_available = int_at(*status, {"minAvailable"}).value_or(0);
  out.version = int_at(*status, {"version"}).value_or(0);
  out.retry_count = int_at(*status, {"retryCount"}).value_or(0);
  out.counts = counts_at(*status);
  out.running_duration = text_at(*status, {"runningDuration"});
  for (const auto& [name, value] : string_map(find(*status, {"controlledResources"})))
    out.controlled.emplace(name, value);
  if (const JsonArray* conditions = array_at(*status, {"conditions"})) {
    for (const Json& condition : *conditions) {
      out.conditions.push_back(
          {text_at(condition, {"status"}), time_at(condition, {"lastTransitionTime"})});
    }
  }
  return out;
}

Json Status::to_json_value() const {
  JsonObject out, state;
  if (phase) state["phase"] = to_text(*phase);
  if (!reason.empty()) state["reason"] = reason;
  if (!message.empty()) state["message"] = message;
  if (transition) state["lastTransitionTime"] = to_rfc3339(*transition);
  out["state"] = std::move(state);
  put(out, "minAvailable", min_available);
  put_counts(counts, out);
  put(out, "version", version);
  put(out, "retryCount", retry_count);
  if (!running_duration.empty()) out["runningDuration"] = running_duration;
  if (!controlled.empty()) {
    JsonObject resources;
    for (const auto& [name, value] : controlled) resources[name] = value;
    out["controlledResources"] = std::move(resources);
  }
  JsonArray list;
  for (const Condition& condition : conditions) {
    JsonObject one{{"status", condition.phase}};
    if (condition.at) one["lastTransitionTime"] = to_rfc3339(*condition.at);
    list.push_back(std::move(one));
  }
  if (!list.empty()) out["conditions"] = std::move(list);
  return out;
}

void Status::enter(VolcanoJobPhase next, std::string why, std::string text, WallTime now) {
  phase = next;
  reason = std::move(why);
  message = std::move(text);
  transition = whole_seconds(now);
  std::erase_if(conditions, [&](const Condition& old) { return old.phase == to_text(next); });
  conditions.push_back({std::string(to_text(next)), transition});
}

IndexSet Status::succeeded_and_gone(const std::string& task) const {
  const auto text = controlled.find(std::string(kSucceeded) + task);
  if (text == controlled.end()) return {};
  return IndexSet::parse(text->second, std::numeric_limits<std::int32_t>::max());
}

void Status::add_succeeded_and_gone(const std::string& task, std::int64_t index) {
  IndexSet all = succeeded_and_gone(task);
  all.add(index);
  controlled[std::string(kSucceeded) + task] = all.text();
}

void Status::forget_succeeded(const std::string& task) {
  controlled.erase(std::string(kSucceeded) + task);
}

void Status::forget_succeeded() {
  std::erase_if(controlled, [](const auto& entry) { return entry.first.starts_with(kSucceeded); });
}

}  // namespace krater::controllers::vcjob
