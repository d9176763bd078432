// The words users read when something waits: Volcano's sentences, followed by the figures behind
// them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/session.h"

namespace krater::scheduler {

// Collects the dimensions that are short, and by how much.
class Shortage {
 public:
  explicit Shortage(const ResourceNames& names) : names_(names) {}
  // The last amount is the bound; `lacking`: what is missing, if it is not the others' sum less
  // the bound.
  void add(Dim dim, const std::vector<std::pair<std::string_view, std::int64_t>>& amounts,
           std::optional<std::int64_t> lacking = std::nullopt);
  bool empty() const { return dims_.empty(); }
  // "insufficient cpu, insufficient memory"
  std::string names_after(std::string_view word) const;
  // "cpu: requested 6, allocated 2, limit 5; memory: ..."
  const std::string& figures() const { return figures_; }
  // The same for programs; `of`: what was too small ("queue research").
  std::vector<Shortfall> facts(const std::string& of) const;

 private:
  const ResourceNames& names_;
  std::vector<std::string> dims_;
  std::string figures_;
  std::vector<Shortfall> facts_;
};

// Condition Unschedulable of a PodGroup: "3/3 tasks in gang unschedulable: pod group is not ready,
// 3 Pending, 3 minAvailable; Pending: 3 Unschedulable. Origin reason is p-1: 0/2 nodes are
// unavailable: 2 Insufficient cpu. (...)"
std::string unschedulable_text(const Session& session, JobId job);

// The condition with that text.
PodGroupCondition unschedulable_condition(const Session& session, JobId job);

// What a job still asks for, in the amounts of which there is not enough for it; what it asks for
// otherwise, and what nodes refuse for other reasons, is not in it.
Resource lacking_request(const Session& session, JobId job);

// Who holds what, and would have to give or keep it, as the plugins know.
Circumstances circumstances_of(const Session& session, JobId job);

// Those who left their places to the job and are still there, by job.
struct Leaving {
  JobKey job;
  std::string queue;
  std::int64_t pods = 0;
};
std::vector<Leaving> leaving_by_job(const Session& session, JobId job);

// "cpu 4, memory 1Gi": what is more than zero.
std::string amounts_text(const ResourceNames& names, const Resource& amounts);

// Condition PodScheduled=False of a waiting task.
struct TaskReason {
  std::string reason;  // "Unschedulable", "Schedulable"
  std::string message;
};
TaskReason task_reason(const Session& session, TaskRef task);

}  // namespace krater::scheduler
