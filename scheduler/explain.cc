#include "scheduler/explain.h"

#include <algorithm>
#include <map>

#include "base/strings.h"

namespace krater::scheduler {
namespace {

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

std::string origin(const Session& session, JobId id) {
  const JobNote& note = session.note(id);
  if (note.refusal) return with_figures(note.refusal->message, note.refusal->figures);
  if (!note.fit_errors.empty()) {
    const auto& [task, error] = *note.fit_errors.begin();
    return session.job(id).tasks[task].spec->name() + ": " +
           with_figures(error->text(), error->figures + "; all that waits here requests: " +
                                           amounts_text(session.names(), session.job(id).pending));
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
  if (const auto invalid = session.job_invalid(id)) return invalid->message;
  return {};
}

// What the plugins add: who holds what, what would help.
std::string circumstances(const Session& session, JobId id) {
  return join(circumstances_of(session, id).lines, "; ");
}

std::string node_name(const Session& session, NodeSlot slot) {
  return session.has_node(slot) ? session.node(slot).name : std::string("a node");
}

}  // namespace

Circumstances circumstances_of(const Session& session, JobId id) {
  Circumstances out;
  const JobNote& note = session.note(id);
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
    fact.lacking += i + 1 == amounts.size() ? -amounts[i].second : amounts[i].second;
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
  if (const std::string more = circumstances(session, id); !more.empty()) out += ". " + more;
  return out;
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
