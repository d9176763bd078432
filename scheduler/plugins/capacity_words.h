// Who holds what a job lacks, in the eyes of the capacity plugin: what is guaranteed to others
// where that is what limits its queue; what others hold beyond what they deserve where its queue
// may take it back; else that it may not, and who holds it. Pure; made for one job.
#pragma once

#include "scheduler/plugins/capacity_book.h"

namespace krater::scheduler {

class CapacityWords {
 public:
  // `asked`: the queue and those above it that have a say in what it may take. `lacking`: what the
  // job asks for of what there is not enough of.
  CapacityWords(const Session& session, const CapacityBook& book, std::vector<QueueId> asked,
                JobId job, const Resource& lacking)
      : session_(session), book_(book), asked_(std::move(asked)), job_(job), lacking_(lacking) {}
  void say(Circumstances& out) const;

 private:
  QueueId queue() const { return session_.queue_of(job_); }
  void say_guarantees(QueueId limited, Circumstances& out) const;
  void say_holders(QueueId above, Circumstances& out) const;
  void say_due(Circumstances& out) const;
  bool may_take() const;

  const Session& session_;
  const CapacityBook& book_;
  const std::vector<QueueId> asked_;
  const JobId job_;
  const Resource& lacking_;
};

}  // namespace krater::scheduler
