// Carries out binds: a gang in one transaction, assumed in the cache from the moment it is decided.
// Where somebody outside makes its volumes, they are asked for and waited for first.
// Lives on the scheduler's loop.
//
// Always holds: a task that is assumed is written, or forgotten again.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/execution.h"
#include "scheduler/report.h"
#include "scheduler/volume_wait.h"

namespace krater::scheduler {

class Binder {
 public:
  struct Listeners {
    std::function<void(const JobKey& job)> bound{};
    // Told of each pod of a gang that could not be bound more than once in a row.
    std::function<void(const TaskSpecPtr& task, const std::string& why)> failed{};
  };
  Binder(const Execution& world, Listeners listeners)
      : world_(world), listeners_(std::move(listeners)) {}
  ~Binder() { *alive_ = false; }
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  // From then on busy() is true of its job, until the answer came.
  void announce(const GangBind& gang) { ++in_flight_[gang.job]; }
  // The gang was announced, and nothing ran since the snapshot it was decided on.
  void bind(GangBind gang);
  // Something changed, or time went by: who waits for volumes may go on.
  void look_at_volumes();
  bool busy(const JobKey& job) const { return in_flight_.contains(job); }
  bool awaits_volumes(const JobKey& job) const { return volumes_.has(job); }
  bool idle() const { return in_flight_.empty(); }

 private:
  void write_later();
  void write(const GangBind& gang);
  void prepare(const GangBind& gang, VolumeBook::Choices volumes);
  void commit(const GangBind& gang, std::vector<client::Write> volume_writes);
  void settle(const JobKey& job);
  void reached(const GangBind& gang, VolcanoMetrics::PodStage stage);
  // `written`: the pods, then what was settled of their volumes.
  void bound(const GangBind& gang, const std::vector<ObjectPtr>& written);
  void not_bound(const GangBind& gang, const Error& why);
  Result<VolumeBook::Choices> volume_choices(const GangBind& gang) const;

  const Execution& world_;
  Listeners listeners_;
  JobMap<int> in_flight_;         // transactions, or to come
  std::deque<GangBind> waiting_;  // assumed, not written yet
  VolumeWait volumes_;
  bool posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace krater::scheduler
