#include "scheduler/why.h"

#include "base/check.h"
#include "scheduler/explain.h"
#include "scheduler/remedies.h"

namespace krater::scheduler {
namespace {

Json quantity(const std::string& resource, std::int64_t amount) {
  return Json(resource_text(resource, amount));
}

JsonArray limits_json(const std::vector<Shortfall>& shortfalls) {
  JsonArray out;
  for (const Shortfall& one : shortfalls) {
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
    if (error.usable > 0) {
      entry["mostFreeOnOneNode"] = quantity(one.resource, one.most_on_one);
      entry["free"] = quantity(one.resource, one.free);
    }
    room.push_back(std::move(entry));
  }
  if (!error.hyper_node.empty()) out["hyperNode"] = error.hyper_node;
  out["total"] = error.nodes;
  out["usable"] = error.usable;
  out["reasons"] = std::move(reasons);
  out["room"] = std::move(room);
  return out;
}

std::string_view title_text(Holding::Title title) {
  switch (title) {
    case Holding::Title::Guaranteed:
      return "Guaranteed";
    case Holding::Title::BeyondDeserved:
      return "BeyondDeserved";
    case Holding::Title::Holds:
      return "Holds";
  }
  CHECK(false);
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
    entry["title"] = title_text(one.title);
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

JsonObject change(const Remedy& remedy) {
  JsonObject out;
  out["change"] = remedy.change;
  for (const auto& fact : remedy.facts) out[fact.key()] = fact.value();
  return out;
}

JsonArray would_help(const Session& session, JobId id) {
  const Remedies all = remedies_for(session, id);
  JsonArray out;
  for (const Remedy& one : all.together) out.push_back(change(one));
  if (all.fewer) out.push_back(change(*all.fewer));
  return out;
}

JsonArray leaving_json(const std::vector<Leaving>& leaving) {
  JsonArray out;
  for (const Leaving& one : leaving) {
    JsonObject entry;
    entry["job"] = one.job.text();
    if (!one.queue.empty()) entry["queue"] = one.queue;
    entry["pods"] = one.pods;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::string_view why_code(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  const JobNote& note = session.note(id);
  if (is_promised(job)) return codes::kPromised;
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
  const FitError* error = fit_error_of(session, id);
  JsonObject out, pods;
  out["reason"] = why_code(session, id);
  out["stage"] = note.refused_admission ? "enqueue" : "allocate";
  out["queue"] = job.queue.text();
  pods["minAvailable"] = job.min_member;
  pods["pending"] = job.count(TaskStatus::Pending) + job.waiting_tasks();
  pods["promised"] = job.waiting_tasks();
  pods["ready"] = job.ready_tasks();
  out["pods"] = std::move(pods);
  if (refusal != nullptr && !refusal->shortfalls.empty())
    out["limits"] = limits_json(refusal->shortfalls);
  if (error != nullptr) out["nodes"] = nodes_json(*error);
  const Circumstances around = circumstances_of(session, id);
  if (!around.holdings.empty()) out["holders"] = holders_json(session, around.holdings);
  if (around.queued) out["fairShare"] = queued_json(*around.queued);
  if (!around.deserved.empty()) out["deserved"] = limits_json(around.deserved);
  if (!note.no_eviction.empty() && !is_promised(job)) out["noEviction"] = note.no_eviction;
  if (const std::vector<Leaving> leaving = leaving_by_job(session, id); !leaving.empty())
    out["leaving"] = leaving_json(leaving);
  if (JsonArray help = would_help(session, id); !help.empty()) out["wouldHelp"] = std::move(help);
  return to_json(Json(std::move(out)));
}

}  // namespace krater::scheduler
