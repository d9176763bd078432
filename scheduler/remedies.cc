#include "scheduler/remedies.h"

#include <algorithm>

#include "base/strings.h"
#include "scheduler/amounts.h"
#include "scheduler/explain.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

std::int64_t amount_of(const Shortfall& one, std::string_view what) {
  for (const auto& [name, amount] : one.amounts) {
    if (name == what) return amount;
  }
  return 0;
}

std::int64_t request_of(const Session& session, const TaskSpec& task, const std::string& resource) {
  const Resource& request = task.shape->request;
  for (Dim d = 0; d < request.dims(); ++d) {
    if (session.names().name(d) == resource) return request.at(d);
  }
  return 0;
}

// So many more of the gang have to find a place; what goes beyond the gang waits one by one.
std::int64_t members_short(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  const std::int64_t have =
      std::max(session.note(id).reach, job.ready_tasks() + job.waiting_tasks());
  return std::max<std::int64_t>(job.min_member - have, 1);
}

std::string more_pods(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " more pod" : " more pods");
}

std::string amount_text(const std::string& resource, std::int64_t amount) {
  return resource + " " + resource_text(resource, amount);
}

// "queue research" -> "queue \"research\""
std::string named(const std::string& of) {
  const std::size_t space = of.find(' ');
  if (space == std::string::npos) return "the " + of;
  return of.substr(0, space) + " \"" + of.substr(space + 1) + "\"";
}

// How the amount can be come by.
std::string ways(const Shortfall& one, std::string_view code) {
  std::vector<std::string> out;
  const bool deserved = !one.amounts.empty() && one.amounts.back().first == "deserved";
  if (deserved && one.set_by.empty()) return "given back there, or a higher weight";
  if (deserved || amount_of(one, "requested") <= amount_of(one, "limit"))
    out.emplace_back("given back there");
  if (code == codes::kClusterLimit || one.set_by == "cluster") {
    out.emplace_back("more nodes");
  } else if (!one.set_by.empty() && one.set_by != one.of) {
    out.push_back("more for " + named(one.set_by));
  } else {
    out.emplace_back("a higher limit");
  }
  if (one.guaranteed > 0) out.emplace_back("less guaranteed to others");
  return join(out, ", or ");
}

// How a queue comes to deserve more.
std::string ways_to_deserve(const Shortfall& one) {
  if (one.set_by.empty()) return "a higher weight, or less asked by others";
  if (one.set_by != "cluster") return "a higher limit";
  return one.guaranteed > 0 ? "more nodes, or less guaranteed to others" : "more nodes";
}

// A queue that has what it deserves: whatever the job still asks for has to be deserved as well.
void add_deserved(const Session& session, JobId id, const Refusal& refusal, Remedies& out) {
  const JobInfo& job = session.job(id);
  for (const Shortfall& one : refusal.shortfalls) {
    std::int64_t wanted = 0;
    std::int64_t missing = members_short(session, id);
    for (const Task& task : job.tasks) {
      if (task.status == TaskStatus::Pending && missing-- > 0)
        wanted = sum_of(wanted, request_of(session, *task.spec, one.resource));
    }
    const std::int64_t lacking =
        sum_of(sum_of(wanted, amount_of(one, "allocated")), -amount_of(one, "deserved"));
    if (wanted <= 0 || lacking <= 0) continue;
    out.together.push_back({"DeserveMore",
                            {{"of", one.of},
                             {"resource", one.resource},
                             {"amount", resource_text(one.resource, lacking)}},
                            amount_text(one.resource, lacking) + " more deserved by " +
                                named(one.of) + " (" + ways_to_deserve(one) + ")"});
  }
}

// The figures are of the first member that its queue does not allow; the others want as much.
std::int64_t lacking_of_all(const Session& session, JobId id, const Shortfall& one) {
  const JobNote& note = session.note(id);
  std::int64_t out = one.lacking;
  if (note.refusal || note.queue_errors.empty()) return out;
  std::int64_t others = members_short(session, id) - 1;
  for (auto at = std::next(note.queue_errors.begin()); at != note.queue_errors.end(); ++at) {
    if (others-- <= 0) break;
    out = sum_of(out, request_of(session, *session.job(id).tasks[at->first].spec, one.resource));
  }
  return out;
}

void add_limits(const Session& session, JobId id, const Refusal& refusal, Remedies& out) {
  for (const Shortfall& one : refusal.shortfalls) {
    const std::int64_t lacking = lacking_of_all(session, id, one);
    if (lacking <= 0) continue;
    out.together.push_back({"FreeOrRaiseLimit",
                            {{"of", one.set_by.empty() ? one.of : one.set_by},
                             {"resource", one.resource},
                             {"amount", resource_text(one.resource, lacking)}},
                            amount_text(one.resource, lacking) + " more in " + named(one.of) +
                                " (" + ways(one, refusal.code) + ")"});
  }
}

void add_refusal(const Session& session, JobId id, const Refusal& refusal, Remedies& out) {
  const std::string queue = "queue \"" + session.job(id).queue.text() + "\"";
  if (refusal.code == codes::kQueueShare)
    add_deserved(session, id, refusal, out);
  else
    add_limits(session, id, refusal, out);
  if (refusal.code == codes::kQueueNotFound)
    out.together.push_back({"CreateQueue", {}, "a " + queue});
  if (refusal.code == codes::kQueueNotOpen)
    out.together.push_back({"OpenQueue", {}, queue + " is open", true});
  if (refusal.code == codes::kQueueTree)
    out.together.push_back({"UseAnotherQueue", {}, "a queue that takes jobs"});
  if (refusal.code == codes::kBehind)
    out.together.push_back({"JobInFrontStarts", {}, "the job in front has started", true});
  if (refusal.code == codes::kNoNode)
    out.together.push_back({"RoomInOneDomain", {}, "room for all of its gang in one HyperNode"});
}

void add_nodes(const Session& session, JobId id, const FitError& error, Remedies& out) {
  const std::optional<NearestNode>& seen = session.note(id).nearest;
  const NearestNode& nearest = seen ? *seen : error.nearest;
  const std::int64_t missing = members_short(session, id);
  std::string asked;
  JsonObject room;
  for (const FitError::Room& one : error.room) {
    if (one.resource != "pods")
      asked += (asked.empty() ? " and has " : ", ") + amount_text(one.resource, one.requested);
    room[one.resource] = resource_text(one.resource, one.requested);
  }
  const std::string there = error.hyper_node.empty() ? "" : " in HyperNode " + error.hyper_node;
  const std::string others =
      missing == 1 ? ""
                   : ", and room for " + more_pods(missing - 1) + (there.empty() ? "" : " there");
  const auto facts = [&](JsonObject own) {
    own["pods"] = missing;
    if (!error.hyper_node.empty()) own["hyperNode"] = error.hyper_node;
    return own;
  };
  if (nearest.name.empty()) {
    out.together.push_back(
        {"AddNodeThatMayTakeIt", facts({{"room", std::move(room)}}),
         "a node" + there + " that may take it" + asked + (asked.empty() ? "" : " free") + others});
  } else if (nearest.lacking.empty()) {
    std::vector<std::string> reasons;
    JsonArray kept;
    for (const auto& [reason, count] : error.reasons) {
      reasons.push_back(reason);
      kept.emplace_back(reason);
    }
    out.together.push_back(
        {"LiftNodeReason", facts({{"reasons", std::move(kept)}}),
         "a node" + there + " of which this does not hold: " + join(reasons, ", ") + others});
  } else {
    std::string words;
    for (const auto& [resource, amount] : nearest.lacking) {
      words += (words.empty() ? "" : " and ") + amount_text(resource, amount);
      out.together.push_back({"FreeOnOneNode", facts({{"resource", resource},
                                                      {"amount", resource_text(resource, amount)},
                                                      {"node", nearest.name}})});
    }
    out.together.back().words = words + " more free on node " + nearest.name + there + others;
  }
}

bool takes_fewer(const JobInfo& job) {
  if (!job.group || job.min_member < 2 || job.sub_group_policies) return false;
  // The size of a Ray cluster says how many start.
  const OwnerReference* owner = job.group->controller();
  return owner == nullptr || !owner->api_version.starts_with("ray.io/");
}

// minResources are those of so many equal pods, as far as can be seen.
bool pods_are_equal(const JobInfo& job) {
  if (job.role_minimums.size() > 1) return false;
  for (Dim d = 0; d < job.min_resources->dims(); ++d) {
    if (d != kPods && job.min_resources->at(d) % job.min_member != 0) return false;
  }
  return std::all_of(job.tasks.begin(), job.tasks.end(), [&](const Task& one) {
    return one.spec->shape->request == job.tasks.front().spec->shape->request;
  });
}

std::optional<std::int64_t> fewer_admitted(const JobInfo& job, const Refusal& refusal) {
  if (!job.min_resources || refusal.shortfalls.empty() || !pods_are_equal(job)) return std::nullopt;
  std::int64_t out = job.min_member;
  for (const Shortfall& one : refusal.shortfalls) {
    const std::int64_t requested = amount_of(one, "requested");
    if (requested <= 0) return std::nullopt;
    out = std::min(out, scale(requested - one.lacking, job.min_member, requested));
  }
  return out;
}

std::optional<Remedy> with_fewer(const Session& session, JobId id, const Refusal* refusal) {
  const JobInfo& job = session.job(id);
  const JobNote& note = session.note(id);
  if (!takes_fewer(job)) return std::nullopt;
  std::optional<std::int64_t> fewer;
  if (note.refused_admission) {
    if (refusal != nullptr) fewer = fewer_admitted(job, *refusal);
  } else if (refusal != nullptr && refusal->code == codes::kNotEnoughPods) {
    if (job.role_minimums.empty() && gated_tasks(job) == 0) fewer = job.valid_tasks();
  } else {
    fewer = note.reach;
  }
  if (!fewer || *fewer < 1 || *fewer >= job.min_member) return std::nullopt;
  Remedy out{
      "LowerMinAvailable", {{"minAvailable", *fewer}}, "minAvailable " + std::to_string(*fewer)};
  // Of a group that somebody wrote himself they do not follow.
  if (note.refused_admission && job.group->controller() == nullptr) {
    Resource less;
    for (Dim d = 0; d < job.min_resources->dims(); ++d)
      less.set(d, scale(job.min_resources->at(d), *fewer, job.min_member));
    out.words += " (minResources " + amounts_text(session.names(), less) + ")";
  }
  return out;
}

// Refused admission, and nodes would have no room for it either.
bool admitted_only(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  return session.note(id).refused_admission && job.min_resources &&
         !job.min_resources->fits_in(session.total() - session.used());
}

}  // namespace

std::int64_t gated_tasks(const JobInfo& job) {
  return std::count_if(job.tasks.begin(), job.tasks.end(), [](const Task& task) {
    return task.status == TaskStatus::Pending && task.spec->gated;
  });
}

bool is_promised(const JobInfo& job) {
  return job.waiting_tasks() > 0 && job.is_pipelined();
}

const Refusal* refusal_of(const Session& session, JobId id) {
  const JobNote& note = session.note(id);
  if (is_promised(session.job(id))) return nullptr;
  if (note.refusal) return &*note.refusal;
  if (!note.fit_errors.empty() || note.queue_errors.empty()) return nullptr;
  return &note.queue_errors.begin()->second;
}

const FitError* fit_error_of(const Session& session, JobId id) {
  const JobNote& note = session.note(id);
  if (is_promised(session.job(id)) || note.refusal || note.fit_errors.empty()) return nullptr;
  return note.told().second.get();
}

Remedies remedies_for(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  Remedies out;
  if (is_promised(job)) {
    out.together.push_back(
        {"WaitForLeavingPods", {}, "those who leave its places have left", true});
    return out;
  }
  const Refusal* refusal = refusal_of(session, id);
  if (refusal != nullptr) add_refusal(session, id, *refusal, out);
  if (const FitError* error = fit_error_of(session, id); error != nullptr)
    add_nodes(session, id, *error, out);
  if (const std::int64_t gated = gated_tasks(job); gated > 0) {
    out.together.push_back({"RemoveSchedulingGates",
                            {{"pods", gated}},
                            "the scheduling gates of " + std::to_string(gated) +
                                (gated == 1 ? " pod" : " pods") + " removed"});
  }
  // Before admission the pods are not made; afterwards nobody but their maker can help.
  if (!job.is_pending() && job.valid_tasks() < job.min_member) {
    const std::int64_t missing = job.min_member - job.valid_tasks();
    out.together.push_back({"CreatePods", {{"pods", missing}}, more_pods(missing) + " of its own"});
  }
  out.fewer = with_fewer(session, id, refusal);
  return out;
}

std::string remedy_text(const Session& session, JobId id) {
  const Remedies all = remedies_for(session, id);
  std::string out;
  const auto add = [&out](const Remedy& one, std::string_view link) {
    if (one.words.empty()) return;
    out += (out.empty() ? "" : std::string(link)) + (one.once ? "once " : "with ") + one.words;
  };
  for (const Remedy& one : all.together) add(one, " and ");
  if (all.fewer) add(*all.fewer, ", or ");
  if (out.empty()) return out;
  return (admitted_only(session, id) ? "It would be admitted " : "It would start ") + out;
}

}  // namespace krater::scheduler
