#include "scheduler/actions/job_filter.h"

#include "scheduler/why.h"

namespace krater::scheduler {

std::optional<Refusal> queue_refusal(const Session& session, JobId job) {
  const QueueId queue = session.queue_of(job);
  if (queue == kNoQueue) {
    return Refusal{"", "queue \"" + session.job(job).queue.text() + "\" does not exist", "",
                   codes::kQueueNotFound};
  }
  const QueueState state = session.queue(queue).state;
  if (state == QueueState::Open) return std::nullopt;
  return Refusal{"",
                 "queue \"" + session.queue(queue).name.text() + "\" is " +
                     std::string(to_text(state)) + ", only an Open queue takes new work",
                 "", codes::kQueueNotOpen};
}

Refusal behind(const Session& session, QueueId queue, JobId first) {
  return {"",
          "queue \"" + session.queue(queue).name.text() + "\" serves first in, first out: job " +
              session.job(first).key.text() + " is in front and waits",
          "", codes::kBehind};
}

bool refused_as_a_whole(Session& session, JobId job) {
  std::optional<Refusal> refusal = queue_refusal(session, job);
  if (!refusal) refusal = session.job_invalid(job);
  if (!refusal) return false;
  session.note(job).refusal = std::move(refusal);
  return true;
}

}  // namespace krater::scheduler
