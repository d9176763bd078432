// Places a job whose PodGroup has sub-groups: one sub-group after the other, each as a whole and,
// where its policy asks for it, within one network domain (volcano.md 3.2.2).
//
// Always holds: what is confined when a call begins is confined the same when it ends.
#pragma once

#include <deque>
#include <functional>
#include <set>

#include "scheduler/statement.h"

namespace krater::scheduler {

struct SubGroupPlacing {
  // Tries `tasks`, first to last, until, after one that found a place, it is `enough`.
  std::function<void(Statement&, std::deque<std::uint32_t>& tasks,
                     const std::function<bool()>& enough)>
      place_some;
  // The job has what it needs.
  std::function<bool()> satisfied;
  // Whether a sub-group that waits for others to leave counts as placed once and for all.
  bool promises = false;
};

class SubGroupPlacer {
 public:
  SubGroupPlacer(Session& session, JobId job, SubGroupPlacing how)
      : session_(session), job_(job), how_(std::move(how)) {}

  // One sub-group at least, and more until the job is satisfied. Those of `tasks` that found a
  // place are taken out of it.
  void place(Statement& statement, std::deque<std::uint32_t>& tasks);

 private:
  using Tasks = std::deque<std::uint32_t>;
  std::optional<std::uint32_t> next(const Tasks& tasks, const std::set<std::uint32_t>& hopeless);
  Tasks of_group(const Tasks& tasks, std::uint32_t group) const;
  bool place_group(Statement& statement, std::uint32_t group, const Tasks& tasks);
  bool attempt(Statement& statement, std::uint32_t group, Tasks tasks);
  static Domain within(const Domain& domain, const Domain* outer);
  void forget_reasons(const Tasks& tasks);
  // What the plugins say of it; of one that is done, that it has what it needs for now.
  bool ready(std::uint32_t group) const;
  bool pipelined(std::uint32_t group) const;
  bool done(std::uint32_t group) const { return how_.promises ? pipelined(group) : ready(group); }
  bool before(const SubGroupTurn& a, const SubGroupTurn& b) const;

  Session& session_;
  const JobId job_;
  SubGroupPlacing how_;
  std::size_t reached_ = 0;  // what the last attempt did before it was complete or given up
};

}  // namespace krater::scheduler
