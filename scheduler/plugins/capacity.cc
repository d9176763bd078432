// capacity, flat: every queue has a floor (guarantee), a fair point (deserved) and a ceiling
// (capability). A queue may grow to its ceiling, as far as others' guarantees leave room, whatever
// it deserves (volcano.md 4.5).
#include <algorithm>

#include "scheduler/plugins/plugins.h"
#include "scheduler/plugins/queue_accounts.h"

namespace krater::scheduler {
namespace {

// max(min(spec.deserved, realCapability), guarantee), in the dimensions that either names.
Bounds effective_deserved(const QueueInfo& queue, const Resource& real_capability) {
  Bounds out;
  for (Dim d = 0; d < queue.deserved.dims(); ++d) {
    if (queue.deserved.has(d)) out.set(d, std::min(queue.deserved.at(d), real_capability.at(d)));
  }
  for (Dim d = 0; d < queue.guarantee.dims(); ++d) {
    const std::int64_t floor = queue.guarantee.at(d);
    if (floor > 0) out.set(d, out.has(d) ? std::max(out.at(d), floor) : floor);
  }
  return out;
}

// A queue that deserves nothing in particular is the last to be served: share 1.
Share share_of(const Resource& allocated, const Bounds& deserved) {
  if (deserved.empty()) return Share(1, 1);
  Share top;
  for (Dim d = 0; d < deserved.dims(); ++d) {
    if (!deserved.has(d)) continue;
    const Share one(allocated.at(d), deserved.at(d));
    if (top < one) top = one;
  }
  return top;
}

class Capacity final : public Plugin,
                       public QueueOrderHook,
                       public AllocatableHook,
                       public EnqueueHook {
 public:
  void open(const Session& session) override {
    accounts_ = open_accounts(session);
    shares_.resize(accounts_.size());
    for (QueueId q = 0; q < accounts_.size(); ++q) {
      deserved_.push_back(effective_deserved(session.queue(q), accounts_[q].real_capability));
      refresh_share(q);
    }
  }

  int queue_order(const Session& session, QueueId a, QueueId b) const override {
    const std::int64_t left = session.queue(a).priority, right = session.queue(b).priority;
    if (left != right) return left > right ? -1 : 1;
    if (const int order = Share::compare(shares_[a], shares_[b]); order != 0) return order;
    if (deserved_[a].empty() == deserved_[b].empty()) return 0;
    return deserved_[a].empty() ? 1 : -1;
  }

  bool allocatable(const Session& session, QueueId queue, const TaskSpec& task,
                   Refusal& why) const override {
    return within(session, accounts_[queue], task.shape->request, accounts_[queue].real_capability,
                  "limit", queue, why);
  }

  Vote may_enqueue(const Session& session, JobId job, Refusal& why) const override {
    return vote_on_admission(session, accounts_[session.queue_of(job)], job, why);
  }
  void enqueued(const Session& session, JobId id) override {
    const JobInfo& job = session.job(id);
    if (!job.min_resources || session.queue_of(id) == kNoQueue) return;
    accounts_[session.queue_of(id)].inqueue +=
        (*job.min_resources - job.gated_requests()).clamped();
  }

  void placed(const Session& session, JobId job, const TaskSpec& task) override {
    accounts_[session.queue_of(job)].allocated += task.shape->request;
    refresh_share(session.queue_of(job));
  }
  void unplaced(const Session& session, JobId job, const TaskSpec& task) override {
    accounts_[session.queue_of(job)].allocated -= task.shape->request;
    refresh_share(session.queue_of(job));
  }

 private:
  void refresh_share(QueueId queue) {
    shares_[queue] = share_of(accounts_[queue].allocated, deserved_[queue]);
  }

  std::vector<QueueAccount> accounts_;
  std::vector<Bounds> deserved_;
  std::vector<Share> shares_;
};

}  // namespace

Result<PluginFactory> configure_capacity(Arguments& arguments, const EnableFlags& flags) {
  if (flags.on("enableHierarchy")) {
    return make_error(Code::Invalid, "enableHierarchy is not available, only flat queues are");
  }
  for (const std::string_view key :
       {"ancestorReclaimLevel", "capacity.DynamicResourceAllocationEnable",
        "capacity.DRAConsumableCapacityEnable"}) {
    arguments.ignore(key);  // about ancestors and devices, which flat queues do not have
  }
  return PluginFactory([](PluginSet& plugins, const EnableFlags& enabled) {
    plugins.add(std::make_unique<Capacity>(), enabled);
  });
}

}  // namespace krater::scheduler
