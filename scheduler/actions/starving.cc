#include "scheduler/actions/starving.h"

#include <algorithm>

#include "scheduler/actions/job_filter.h"

namespace krater::scheduler {
namespace {

bool may_claim(const Session& session, TaskRef ref) {
  const TaskSpec& task = *session.task(ref).spec;
  return task.preempts && !session.room_is_coming(task);
}

}  // namespace

std::map<QueueId, Heap<JobId>> starving_jobs(Session& session) {
  std::map<QueueId, Heap<JobId>> out;
  const auto before = [&session](JobId a, JobId b) { return session.job_before(a, b); };
  for (JobId job = 0; job < session.job_count(); ++job) {
    const JobInfo& info = session.job(job);
    if (!info.known || session.parked(job) || info.is_pending() ||
        info.count(TaskStatus::Pending) == 0 || !session.job_starving(job) ||
        refused_as_a_whole(session, job)) {
      continue;
    }
    out.try_emplace(session.queue_of(job), before).first->second.push(job);
  }
  return out;
}

std::deque<std::uint32_t> waiting_tasks(const Session& session, JobId id) {
  const JobInfo& job = session.job(id);
  std::deque<std::uint32_t> out;
  for (std::uint32_t t = 0; t < job.tasks.size(); ++t) {
    if (job.tasks[t].status == TaskStatus::Pending && !job.tasks[t].spec->gated) out.push_back(t);
  }
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    return session.task_before(*job.tasks[a].spec, *job.tasks[b].spec);
  });
  return out;
}

std::deque<std::uint32_t> claiming_tasks(const Session& session, JobId job) {
  std::deque<std::uint32_t> out = waiting_tasks(session, job);
  std::erase_if(out, [&](std::uint32_t task) { return !may_claim(session, {job, task}); });
  return out;
}

}  // namespace krater::scheduler
