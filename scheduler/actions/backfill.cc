#include "scheduler/actions/backfill.h"

#include <algorithm>

#include "scheduler/actions/job_filter.h"
#include "scheduler/statement.h"

namespace krater::scheduler {
namespace {}  // namespace

std::vector<std::uint32_t> best_effort_tasks(const Session& session, const JobInfo& job) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    const Task& task = job.tasks[t];
    if (task.status == TaskStatus::Pending && !task.spec->gated &&
        task.spec->shape->best_effort()) {
      out.push_back(t);
    }
  }
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return session.task_before(*job.tasks[a].spec, *job.tasks[b].spec);
  });
  return out;
}

void backfill(Session& session) {
  std::vector<JobId> jobs;
  for (JobId job = 0; job < session.job_count(); ++job) {
    const JobInfo& info = session.job(job);
    if (info.is_pending() || info.pending_best_effort == 0 || session.parked(job)) continue;
    // They are counted as ready already: its gang lacks others.
    if (!session.job_ready(job)) continue;
    if (!refused_as_a_whole(session, job)) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
    const QueueId left = session.queue_of(a), right = session.queue_of(b);
    return left != right ? session.queue_before(left, right) : session.job_before(a, b);
  });
  for (const JobId job : jobs) {
    Statement statement(session);
    for (const std::uint32_t t : best_effort_tasks(session, session.job(job))) {
      const TaskRef ref{job, t};
      NodeBoard& board = session.board(ref);
      if (const NodeSlot best = board.best_idle(); best != kNoNode) {
        statement.allocate(ref, best);
      } else {
        session.note(job).fit_errors[t] = board.explain();
      }
    }
    JobNote& note = session.note(job);
    if (!note.fit_errors.empty() && !note.nearest)
      note.nearest = session.board({job, note.told().first}).nearest_for(job);
    if (!statement.empty() && session.job_placed(job)) statement.commit(job);
  }
}

}  // namespace krater::scheduler
