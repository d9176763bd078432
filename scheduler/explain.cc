#include "scheduler/explain.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "scheduler/amounts.h"
#include "scheduler/remedies.h"
#include "scheduler/why.h"

namespace krater::scheduler {
namespace {

// So many are named; a text has to be read.
constexpr std::size_t kMostNamed = 5;

// "1 Running, 2 Pending": sorted as text, as upstream does.
std::string histogram(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) parts.push_back(std::to_string(count) + " " + what);
  std::sort(parts.begin(), parts.end());
  return join(parts, ", ");
}

std::string group_counts(const JobInfo& job) {
  std::map<std::string, std::int64_t> counts;
  for (std::size_t s = 0; s < kTaskStatuses; ++s) {
    if (job.counts[s] > 0) counts.emplace(to_text(static_cast<TaskStatus>(s)), job.counts[s]);
  }
  counts.emplace("minAvailable", job.min_member);
  return "pod group is not ready, " + histogram(counts);
}

std::string with_figures(const std::string& text, const std::string& figures) {
  return figures.empty() ? text : text + " (" + figures + ")";
}

std::string queue_text(const QueueName& queue) {
  return "queue \"" + queue.text() + "\"";
}

std::string pods_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " pod" : " pods");
}

// Members that nobody has made.
std::string absent(const JobInfo& job, const std::string& message) {
  const std::int64_t missing = job.min_member - job.valid_tasks();
  if (missing <= 0) return message;
  std::string out = message + " (" + pods_text(missing) + " of its gang " +
                    (missing == 1 ? "does" : "do") + " not exist";
  if (const OwnerReference* owner = job.group ? job.group->controller() : nullptr; owner != nullptr)
    out +=
        "; if they cannot be made, the events of " + owner->kind + " " + owner->name + " say why";
  return out + ")";
}

std::string origin(const Session& session, JobId id) {
  const JobNote& note = session.note(id);
  if (is_promised(session.job(id))) return {};
  if (note.refusal && note.refusal->figures.empty() && note.refusal->code == codes::kNotEnoughPods)
    return absent(session.job(id), note.refusal->message);
  if (note.refusal) return with_figures(note.refusal->message, note.refusal->figures);
  if (!note.fit_errors.empty()) {
    const auto [task, error] = note.told();
    const std::string all = amounts_text(session.names(), session.job(id).pending);
    return session.job(id).tasks[task].spec->name() + ": " +
           with_figures(
               error->text(),
               error->figures + (all.empty() ? "" : "; all that waits here requests: ") + all);
  }
  if (!note.queue_errors.empty()) {
    const auto& [task, refusal] = *note.queue_errors.begin();
    return session.job(id).tasks[task].spec->name() + ": " +
           with_figures(refusal.message, refusal.figures);
  }
  const auto gated = std::count_if(
      session.job(id).tasks.begin(), session.job(id).tasks.end(),
      [](const Task& task) { return task.status == TaskStatus::Pending && task.spec->gated; });
  if (gated > 0) return std::to_string(gated) + " pods are held back by scheduling gates";
  if (const auto invalid = session.job_invalid(id))
    return absent(session.job(id), invalid->message);
  if (session.job(id).valid_tasks() < session.job(id).min_member)
    return absent(session.job(id), "Not enough valid tasks");
  if (session.job(id).pending_best_effort > 0 && !session.config().has_action("backfill"))
    return pods_text(session.job(id).pending_best_effort) +
           " request nothing, and the configuration has no action \"backfill\" to place them";
  return {};
}

// Who was made to leave for it and has not left; or where others are leaving.
std::string leaving_text(const Session& session, JobId id) {
  std::vector<std::string> parts;
  for (const Leaving& one : leaving_by_job(session, id)) {
    parts.push_back(pods_text(one.pods) + " of job " + one.job.text() +
                    (one.queue.empty() ? "" : " (" + queue_text(QueueName(one.queue)) + ")") +
                    (one.pods == 1 ? " was" : " were") + " evicted for it and " +
                    (one.pods == 1 ? "has" : "have") + " not left yet");
  }
  if (!parts.empty() || !is_promised(session.job(id))) return join(parts, "; ");
  std::vector<std::string> nodes;
  for (const Task& task : session.job(id).tasks) {
    if (task.status != TaskStatus::Pipelined || !session.has_node(task.node)) continue;
    const NodeInfo& node = session.node(task.node);
    std::string text = node.name;
    if (const std::string what = amounts_text(session.names(), node.releasing); !what.empty())
      text += " (" + what + ")";
    if (std::find(nodes.begin(), nodes.end(), text) == nodes.end()) nodes.push_back(text);
    if (nodes.size() == kMostNamed) break;
  }
  return "its places are still held by pods that are leaving " + join(nodes, ", ");
}

std::string node_name(const Session& session, NodeSlot slot) {
  return session.has_node(slot) ? session.node(slot).name : std::string("a node");
}

}  // namespace

Resource lacking_request(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  Resource wanted = job.min_resources && session.note(id).refused_admission ? *job.min_resources
                    : job.min_resources                                     ? job.wanted_min()
                                                                            : job.pending;
  if (wanted.clamped().is_zero()) wanted = job.pending;
  const Refusal* refusal = refusal_of(session, id);
  const FitError* error = fit_error_of(session, id);
  Resource out;
  for (Dim d = 0; d < wanted.dims(); ++d) {
    const std::string& name = session.names().name(d);
    bool lacks = error != nullptr && error->reasons.contains("Insufficient " + name);
    for (std::size_t i = 0; refusal != nullptr && i < refusal->shortfalls.size(); ++i)
      lacks = lacks || refusal->shortfalls[i].resource == name;
    if (lacks && d != kPods && wanted.at(d) > 0) out.set(d, wanted.at(d));
  }
  return out;
}

std::vector<Leaving> leaving_by_job(const Session& session, JobId id) {
  std::vector<Leaving> out;
  for (const TaskSpecPtr& one : session.leaving_for(id)) {
    const auto known = std::find_if(out.begin(), out.end(),
                                    [&](const Leaving& other) { return other.job == one->job; });
    if (known != out.end()) {
      ++known->pods;
      continue;
    }
    const QueueId queue = session.queue_of(one->job);
    out.push_back(
        {one->job, queue == kNoQueue ? std::string() : session.queue(queue).name.text(), 1});
  }
  return out;
}

Circumstances circumstances_of(const Session& session, JobId id) {
  Circumstances out;
  const JobNote& note = session.note(id);
  if (is_promised(session.job(id))) return out;
  if (!note.no_eviction.empty()) out.lines.push_back(note.no_eviction);
  if (session.queue_of(id) == kNoQueue) return out;
  for (const auto& tier : session.plugins().why.tiers) {
    for (const WhyHook* hook : tier) hook->say_why(session, id, out);
  }
  return out;
}

std::string amounts_text(const ResourceNames& names, const Resource& amounts) {
  std::string out;
  for (Dim d = 0; d < amounts.dims(); ++d) {
    if (amounts.at(d) <= 0) continue;
    out += (out.empty() ? "" : ", ") + names.text(d, amounts.at(d));
  }
  return out;
}

void Shortage::add(Dim dim, const std::vector<std::pair<std::string_view, std::int64_t>>& amounts,
                   std::optional<std::int64_t> lacking) {
  const std::string& name = names_.name(dim);
  Shortfall fact{"", name};
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    fact.amounts.emplace_back(amounts[i].first, amounts[i].second);
    const bool bound = i + 1 == amounts.size();
    fact.lacking = sum_of(fact.lacking, bound ? -amounts[i].second : amounts[i].second);
  }
  fact.lacking = std::max<std::int64_t>(lacking.value_or(fact.lacking), 0);
  facts_.push_back(std::move(fact));
  dims_.push_back(name);
  if (!figures_.empty()) figures_ += "; ";
  figures_ += name + ":";
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    figures_ += (i == 0 ? " " : ", ") + std::string(amounts[i].first) + " " +
                resource_text(name, amounts[i].second);
  }
}

std::vector<Shortfall> Shortage::facts(const std::string& of) const {
  std::vector<Shortfall> out = facts_;
  for (Shortfall& one : out) one.of = of;
  return out;
}

std::string Shortage::names_after(std::string_view word) const {
  std::vector<std::string> parts;
  for (const std::string& name : dims_) parts.push_back(std::string(word) + " " + name);
  return join(parts, ", ");
}

std::string unschedulable_text(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  const std::int64_t schedulable = job.ready_tasks() + job.waiting_tasks();
  std::string out = std::to_string(std::max<std::int64_t>(job.min_member - schedulable, 0)) + "/" +
                    std::to_string(job.tasks.size()) +
                    " tasks in gang unschedulable: " + group_counts(job);
  std::map<std::string, std::int64_t> pending;
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    if (job.tasks[t].status == TaskStatus::Pending) ++pending[task_reason(session, {id, t}).reason];
  }
  if (!pending.empty()) out += "; Pending: " + histogram(pending);
  if (const std::string why = origin(session, id); !why.empty()) out += ". Origin reason is " + why;
  const std::vector<std::string> sentences{leaving_text(session, id), remedy_text(session, id),
                                           join(circumstances_of(session, id).lines, "; ")};
  for (const std::string& one : sentences) {
    if (one.empty()) continue;
    out += out.back() == '.' ? " " : ". ";
    out += one;
  }
  return out;
}

PodGroupCondition unschedulable_condition(const Session& session, JobId id) {
  return {"Unschedulable",      "True",
          session.id(),         session.now(),
          "NotEnoughResources", unschedulable_text(session, id)};
}

TaskReason task_reason(const Session& session, TaskRef ref) {
  const JobNote& note = session.note(ref.job);
  const Task& task = session.task(ref);
  const std::string pod = "Pod " + task.spec->name_space() + "/" + task.spec->name();
  if (task.status == TaskStatus::Pipelined) {
    return {"Schedulable", pod + " can possibly be assigned to " + node_name(session, task.node) +
                               ", once resource is released and minAvailable is satisfied"};
  }
  NodeSlot possible = task.status == TaskStatus::Allocated ? task.node : kNoNode;
  if (const auto tentative = note.tentative.find(ref.task); tentative != note.tentative.end()) {
    possible = tentative->second;
  }
  if (possible != kNoNode) {
    // Who adds nodes adds them for all that the gang needs.
    const bool calls_for_nodes = session.behaviors().enqueue_beyond_free_room;
    return {calls_for_nodes ? "Unschedulable" : "Schedulable",
            pod + " can possibly be assigned to " + node_name(session, possible) +
                ", once minAvailable is satisfied"};
  }
  if (const auto error = note.fit_errors.find(ref.task); error != note.fit_errors.end()) {
    return {"Unschedulable", with_figures(error->second->text(), error->second->figures)};
  }
  if (const auto error = note.queue_errors.find(ref.task); error != note.queue_errors.end()) {
    return {"Unschedulable", with_figures(error->second.message, error->second.figures)};
  }
  if (note.refusal)
    return {"Unschedulable", with_figures(note.refusal->message, note.refusal->figures)};
  return {"Unschedulable", group_counts(session.job(ref.job))};
}

}  // namespace krater::scheduler
