#include "controllers/jobflow/flow_status.h"

#include <algorithm>
#include <array>

namespace krater::controllers::jobflow {
namespace {

using Phase = VolcanoJobPhase;

struct Bucket {
  Phase phase;
  std::string_view list;
};
constexpr std::array<Bucket, 5> kBuckets{{{Phase::Pending, "pendingJobs"},
                                          {Phase::Running, "runningJobs"},
                                          {Phase::Failed, "failedJobs"},
                                          {Phase::Completed, "completedJobs"},
                                          {Phase::Terminated, "terminatedJobs"}}};

std::string_view list_of(Phase phase) {
  for (const Bucket& bucket : kBuckets) {
    if (bucket.phase == phase) return bucket.list;
  }
  // On their way to an end they are nowhere; what is left is not known.
  return phase == Phase::Completing || phase == Phase::Terminating ? "" : "unKnowJobs";
}

const Json* entry_of(const JsonArray* list, const std::string& name) {
  if (list == nullptr) return nullptr;
  for (const Json& entry : *list) {
    if (string_at(entry, {"name"}) == name) return &entry;
  }
  return nullptr;
}

// One entry a phase, the last one open.
JsonArray history(const Json* before, std::string_view phase, WallTime now) {
  JsonArray out;
  if (before != nullptr) {
    if (const JsonArray* list = array_at(*before, {"runningHistories"})) out = *list;
  }
  if (!out.empty() && string_at(out.back(), {"state"}) == phase) return out;
  if (!out.empty()) set_path(out.back(), {"endTimestamp"}, Json(to_rfc3339(now)));
  out.push_back(JsonObject{{"startTimestamp", to_rfc3339(now)}, {"state", phase}});
  return out;
}

Json job_entry(const VolcanoJobView& job, const Json* before, WallTime now) {
  const std::string phase(to_text(job.phase().value_or(Phase::Pending)));
  JsonObject out;
  out["name"] = job->name();
  out["state"] = phase;
  const WallTime created = job->created().value_or(now);
  out["startTimestamp"] = to_rfc3339(created);
  if (const auto lasted = string_at(job.document(), {"status", "runningDuration"})) {
    if (const auto duration = parse_go_duration(*lasted))
      out["endTimestamp"] = to_rfc3339(created + *duration);
  }
  if (const auto retries = int_at(job.document(), {"status", "retryCount"}))
    out["restartCount"] = *retries;
  out["runningHistories"] = history(before, phase, now);
  return out;
}

Json condition_of_job(const VolcanoJobView& job) {
  JsonObject out;
  out["phase"] = to_text(job.phase().value_or(Phase::Pending));
  if (const auto created = job->created()) out["createTime"] = to_rfc3339(*created);
  for (const std::string_view field : {"runningDuration", "taskStatusCount"}) {
    if (const Json* value = find(job.document(), {"status", field})) out[field] = *value;
  }
  return out;
}

std::string flow_phase(const JobFlowView& flow, const std::map<std::string, JsonArray>& lists) {
  const std::string before = flow.phase();
  if (before == "Succeed" || before == "Failed") return before;
  const auto count = [&](const char* name) {
    const auto list = lists.find(name);
    return list == lists.end() ? std::size_t(0) : list->second.size();
  };
  if (count("failedJobs") + count("terminatedJobs") > 0) return "Failed";
  const std::size_t flows = flow.flows().size();
  if (flows > 0 && count("completedJobs") == flows) return "Succeed";
  if (before == "Running" || count("runningJobs") + count("completedJobs") > 0) return "Running";
  return "Pending";
}

bool names(const std::vector<VolcanoJobView>& jobs, const std::string& name) {
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const VolcanoJobView& job) { return job->name() == name; });
}

}  // namespace

bool has_completed(const JobFlowView& flow, const std::string& job) {
  const JsonArray* completed = array_at(flow.document(), {"status", "completedJobs"});
  return completed != nullptr &&
         std::find(completed->begin(), completed->end(), Json(job)) != completed->end();
}

Json flow_status(const JobFlowView& flow, const std::vector<VolcanoJobView>& jobs, WallTime now) {
  std::map<std::string, JsonArray> lists;
  JsonArray entries;
  JsonObject conditions;
  const JsonArray* known = array_at(flow.document(), {"status", "jobStatusList"});
  // What has been completed stays told when its job is cleaned up.
  for (const JobFlowView::Flow& one : flow.flows()) {
    const std::string name = flow.job_name(one.name);
    if (names(jobs, name) || !has_completed(flow, name)) continue;
    lists["completedJobs"].push_back(Json(name));
    if (const Json* entry = entry_of(known, name)) entries.push_back(*entry);
    if (const Json* condition = find(flow.document(), {"status", "conditions", name}))
      conditions[name] = *condition;
  }
  for (const VolcanoJobView& job : jobs) {
    const std::string list(list_of(job.phase().value_or(Phase::Pending)));
    if (!list.empty()) lists[list].push_back(Json(job->name()));
    entries.push_back(job_entry(job, entry_of(known, job->name()), now));
    conditions[job->name()] = condition_of_job(job);
  }
  JsonObject out;
  out["state"] = JsonObject{{"phase", flow_phase(flow, lists)}};
  for (auto& [name, list] : lists) out[name] = std::move(list);
  if (!entries.empty()) out["jobStatusList"] = std::move(entries);
  if (!conditions.empty()) out["conditions"] = std::move(conditions);
  return out;
}

}  // namespace krater::controllers::jobflow
