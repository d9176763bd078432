#include "scheduler/why.h"

#include <algorithm>

#include "scheduler/explain.h"

namespace krater::scheduler {
namespace {

std::int64_t gated_tasks(const JobInfo& job) {
  return std::count_if(job.tasks.begin(), job.tasks.end(), [](const Task& task) {
    return task.status == TaskStatus::Pending && task.spec->gated;
  });
}

// The refusal that stands for the job: its own, else that of its first task.
const Refusal* refusal_of(const Session& session, JobId id) {
  const JobNote& note = session.note(id);
  if (note.refusal) return &*note.refusal;
  if (!note.fit_errors.empty() || note.queue_errors.empty()) return nullptr;
  return &note.queue_errors.begin()->second;
}

Json quantity(const std::string& resource, std::int64_t amount) {
  return Json(resource_text(resource, amount));
}

JsonArray limits_json(const Refusal& refusal) {
  JsonArray out;
  for (const Shortfall& one : refusal.shortfalls) {
    JsonObject entry;
    entry["of"] = one.of;
    entry["resource"] = one.resource;
    for (const auto& [what, amount] : one.amounts) entry[what] = quantity(one.resource, amount);
    entry["lacking"] = quantity(one.resource, one.lacking);
    if (!one.set_by.empty()) entry["setBy"] = one.set_by;
    if (one.guaranteed > 0) entry["guaranteedToOthers"] = quantity(one.resource, one.guaranteed);
    out.push_back(std::move(entry));
  }
  return out;
}

JsonObject nodes_json(const FitError& error) {
  JsonObject out, reasons;
  for (const auto& [reason, count] : error.reasons) reasons[reason] = count;
  JsonArray room;
  for (const FitError::Room& one : error.room) {
    JsonObject entry;
    entry["resource"] = one.resource;
    entry["requested"] = quantity(one.resource, one.requested);
    entry["mostFreeOnOneNode"] = quantity(one.resource, one.most_on_one);
    entry["free"] = quantity(one.resource, one.free);
    room.push_back(std::move(entry));
  }
  out["total"] = error.nodes;
  out["usable"] = error.usable;
  out["reasons"] = std::move(reasons);
  out["room"] = std::move(room);
  return out;
}

JsonArray holders_json(const Session& session, const std::vector<Holding>& holdings) {
  JsonArray out;
  for (const Holding& one : holdings) {
    JsonObject entry, amounts;
    for (Dim d = 0; d < one.amounts.dims(); ++d) {
      if (one.amounts.at(d) > 0)
        amounts[session.names().name(d)] = quantity(session.names().name(d), one.amounts.at(d));
    }
    entry["queue"] = one.queue;
    entry["title"] = one.title == Holding::Title::Guaranteed ? "Guaranteed" : "BeyondDeserved";
    entry["amounts"] = std::move(amounts);
    if (one.title == Holding::Title::BeyondDeserved) entry["reclaimable"] = one.reclaimable;
    out.push_back(std::move(entry));
  }
  return out;
}

JsonObject queued_json(const Queued& queued) {
  return JsonObject{{"user", queued.user},
                    {"used", queued.used},
                    {"jobsAhead", queued.jobs_ahead},
                    {"first", JsonObject{{"job", queued.first},
                                         {"user", queued.first_user},
                                         {"used", queued.first_used}}}};
}

JsonObject change(std::string_view what) {
  JsonObject out;
  out["change"] = what;
  return out;
}

// Each by itself goes as far as it says; several may be needed.
JsonArray would_help(const Session& session, JobId id, const Refusal* refusal,
                     const FitError* error) {
  const JobInfo& job = session.job(id);
  JsonArray out;
  if (refusal != nullptr) {
    for (const Shortfall& one : refusal->shortfalls) {
      JsonObject free = change("FreeOrRaiseLimit");
      free["of"] = one.set_by.empty() ? one.of : one.set_by;
      free["resource"] = one.resource;
      free["amount"] = quantity(one.resource, one.lacking);
      out.push_back(std::move(free));
    }
    if (refusal->code == codes::kQueueNotFound) out.push_back(change("CreateQueue"));
    if (refusal->code == codes::kQueueNotOpen) out.push_back(change("OpenQueue"));
  }
  if (error != nullptr) {
    for (const FitError::Room& one : error->room) {
      if (one.requested <= one.most_on_one) continue;
      JsonObject free = change("FreeOnOneNode");
      free["resource"] = one.resource;
      free["amount"] = quantity(one.resource, one.requested - one.most_on_one);
      out.push_back(std::move(free));
    }
    if (error->usable == 0) out.push_back(change("AddNodeThatMayTakeIt"));
  }
  if (const std::int64_t gated = gated_tasks(job); gated > 0) {
    JsonObject lift = change("RemoveSchedulingGates");
    lift["pods"] = gated;
    out.push_back(std::move(lift));
  }
  // Before admission the pods are not made; afterwards nobody but their maker can help.
  if (!job.is_pending() && job.valid_tasks() < job.min_member) {
    JsonObject make = change("CreatePods");
    make["pods"] = job.min_member - job.valid_tasks();
    out.push_back(std::move(make));
  }
  return out;
}

}  // namespace

std::string_view why_code(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  const JobNote& note = session.note(id);
  if (job.waiting_tasks() > 0 && job.is_pipelined()) return codes::kPromised;
  if (const Refusal* refusal = refusal_of(session, id); refusal != nullptr)
    return refusal->code.empty() ? codes::kOther : refusal->code;
  if (!note.fit_errors.empty()) return codes::kNoNode;
  if (gated_tasks(job) > 0) return codes::kGated;
  if (job.valid_tasks() < job.min_member) return codes::kNotEnoughPods;
  return codes::kOther;
}

std::string why_pending(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  const JobNote& note = session.note(id);
  const Refusal* refusal = refusal_of(session, id);
  const FitError* error = note.fit_errors.empty() ? nullptr : note.fit_errors.begin()->second.get();
  JsonObject out, pods;
  out["reason"] = why_code(session, id);
  out["stage"] = note.refused_admission ? "enqueue" : "allocate";
  out["queue"] = job.queue.text();
  pods["minAvailable"] = job.min_member;
  pods["pending"] = job.count(TaskStatus::Pending) + job.waiting_tasks();
  pods["promised"] = job.waiting_tasks();
  pods["ready"] = job.ready_tasks();
  out["pods"] = std::move(pods);
  if (refusal != nullptr && !refusal->shortfalls.empty()) out["limits"] = limits_json(*refusal);
  if (error != nullptr) out["nodes"] = nodes_json(*error);
  const Circumstances around = circumstances_of(session, id);
  if (!around.holdings.empty()) out["holders"] = holders_json(session, around.holdings);
  if (around.queued) out["fairShare"] = queued_json(*around.queued);
  if (!note.no_eviction.empty()) out["noEviction"] = note.no_eviction;
  if (JsonArray help = would_help(session, id, refusal, error); !help.empty())
    out["wouldHelp"] = std::move(help);
  return to_json(Json(std::move(out)));
}

}  // namespace krater::scheduler
