#include "scheduler/actions/queue_gates.h"

#include <algorithm>

#include "scheduler/actions/job_filter.h"

namespace krater::scheduler {
namespace {

std::vector<std::uint32_t> held_tasks(const Session& session, const JobInfo& job) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    if (job.tasks[t].status == TaskStatus::Pending && job.tasks[t].spec->held_by_queue)
      out.push_back(t);
  }
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return session.task_before(*job.tasks[a].spec, *job.tasks[b].spec);
  });
  return out;
}

}  // namespace

void lift_queue_gates(Session& session) {
  std::vector<JobId> jobs;
  for (JobId job = 0; job < session.job_count(); ++job) {
    const JobInfo& info = session.job(job);
    if (info.pending_queue_gates == 0 || !info.known || info.is_pending() || session.parked(job))
      continue;
    if (!refused_as_a_whole(session, job)) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
    const QueueId left = session.queue_of(a), right = session.queue_of(b);
    return left != right ? session.queue_before(left, right) : session.job_before(a, b);
  });
  for (const JobId job : jobs) {
    for (const std::uint32_t t : held_tasks(session, session.job(job))) {
      Refusal why;
      if (session.allocatable(session.queue_of(job), *session.job(job).tasks[t].spec, why)) {
        session.lift_gate({job, t});
      } else {
        session.note(job).queue_errors[t] = std::move(why);
      }
    }
  }
}

}  // namespace krater::scheduler
