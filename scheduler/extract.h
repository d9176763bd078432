// Objects to the scheduler's structs: the only place here where documents are read. Pure, but for
// the names and shapes that are shared.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "scheduler/info.h"

namespace krater::scheduler {

// Shapes in use, so that pods which ask the same share one.
class Shapes {
 public:
  ShapePtr of(const PodView& pod, ResourceNames& names);
  std::size_t count() const { return known_.size(); }

 private:
  std::map<std::string, std::weak_ptr<const PodShape>, std::less<>> known_;
  std::size_t sweep_at_ = 256;
};

TaskSpecPtr task_spec(const ObjectPtr& pod, Shapes& shapes, TermsPool& terms, ResourceNames& names);
// Pod phase, deletion and node as a task status.
TaskStatus task_status(const PodView& pod);
// The job a pod belongs to: its PodGroup, or itself.
JobKey job_key(const PodView& pod);

// Fills what the PodGroup says; tasks, phase and priority are the cache's.
void read_group(const ObjectPtr& group, JobInfo& job, const QueueName& default_queue,
                ResourceNames& names);
NodeSpec node_spec(const ObjectPtr& node, ResourceNames& names);
QueueInfo queue_info(const ObjectPtr& queue, ResourceNames& names);

struct PriorityClassInfo {
  std::int64_t value = 0;
  bool global_default = false;
};
PriorityClassInfo priority_class_info(const ObjectPtr& priority_class);

}  // namespace krater::scheduler
