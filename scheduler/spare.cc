#include "scheduler/spare.h"

#include <map>
#include <set>

#include "scheduler/eviction.h"

namespace krater::scheduler {
namespace {

// In the order in which they were chosen.
std::vector<TaskRefs> victims_together(const Session& session, const Statement& statement) {
  std::vector<TaskRefs> out;
  std::map<JobId, std::size_t> gangs;  // place in `out`
  for (const TaskRef& one : statement.victims()) {
    if (!session.behaviors().whole_gang_eviction || gang_stands(session.job(one.job))) {
      out.push_back({one});
      continue;
    }
    const auto [place, fresh] = gangs.emplace(one.job, out.size());
    if (fresh) out.emplace_back();
    out[place->second].push_back(one);
  }
  return out;
}

// What was promised on these nodes is still there, and the claimant's queue may still have it.
bool still_hold(Session& session, Statement& statement, const std::set<NodeSlot>& nodes) {
  bool queue_asked = false;
  for (const TaskRef& task : statement.placed()) {
    if (!nodes.contains(session.task(task).node) && queue_asked) continue;
    queue_asked = true;
    const bool fits = statement.holds(task, [&](NodeSlot node) {
      Refusal why;
      return session.board(task).fits_future(node) &&
             session.allocatable(session.queue_of(task.job), *session.task(task).spec, why);
    });
    if (!fits) return false;
  }
  return true;
}

}  // namespace

void spare_needless(Session& session, Statement& statement) {
  const std::vector<TaskRefs> groups = victims_together(session, statement);
  std::size_t left = groups.size();
  for (std::size_t i = groups.size(); i-- > 0 && left > 1;) {
    std::vector<PluginPlaces> offered;
    std::set<NodeSlot> nodes;
    for (const TaskRef& one : groups[i]) {
      nodes.insert(session.task(one).node);
      offered.push_back(statement.spare(one));
    }
    if (still_hold(session, statement, nodes)) {
      --left;
      continue;
    }
    for (std::size_t n = 0; n < groups[i].size(); ++n)
      statement.evict(groups[i][n], std::move(offered[n]));
  }
}

}  // namespace krater::scheduler
