#include "scheduler/actions/enqueue.h"

#include <map>

#include "scheduler/actions/heap.h"
#include "scheduler/actions/job_filter.h"

namespace krater::scheduler {

namespace {

// The first in line waits, and so does everybody behind him.
void hold_back(Session& session, QueueId queue, Heap<JobId>& jobs, JobId first) {
  while (!jobs.empty()) {
    JobNote& note = session.note(jobs.pop());
    note.refusal = behind(session, queue, first);
    note.refused_admission = true;
  }
}

}  // namespace

void enqueue(Session& session) {
  const auto job_before = [&](JobId a, JobId b) { return session.job_before(a, b); };
  std::map<QueueId, Heap<JobId>> waiting;
  for (JobId job = 0; job < session.job_count(); ++job) {
    const JobInfo& info = session.job(job);
    if (!info.known || !info.is_pending() || session.parked(job)) continue;
    if (auto refusal = queue_refusal(session, job)) {
      JobNote& note = session.note(job);
      note.refusal = std::move(refusal);
      note.refused_admission = true;
      continue;
    }
    waiting.try_emplace(session.queue_of(job), job_before).first->second.push(job);
  }

  Heap<QueueId> queues([&](QueueId a, QueueId b) { return session.queue_before(a, b); });
  for (const auto& [queue, jobs] : waiting) queues.push(queue);
  while (!queues.empty()) {
    const QueueId queue = queues.pop();
    Heap<JobId>& jobs = waiting.at(queue);
    if (jobs.empty()) continue;
    const JobId job = jobs.pop();
    Refusal why;
    if (!session.job(job).min_resources || session.may_enqueue(job, why)) {
      session.admit(job);
    } else {
      JobNote& note = session.note(job);
      note.refusal = std::move(why);
      note.refused_admission = true;
      if (session.fifo(queue)) {
        hold_back(session, queue, jobs, job);
        continue;
      }
    }
    queues.push(queue);
  }
}

}  // namespace krater::scheduler
