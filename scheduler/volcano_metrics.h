// What Volcano's scheduler tells of itself (volcano.md 8), kept as ours works: how long things
// take, the queues' books at the end of the last session, what gangs went through. Lives on the
// scheduler's loop; what is read out is a copy, for any thread.
//
// Always holds: nothing is told of a job or a queue that is not there any more.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "scheduler/cache.h"
#include "scheduler/job_map.h"
#include "scheduler/session.h"

namespace krater::scheduler {

struct VolcanoFigures {
  VolcanoFigures();

  struct Queue {
    std::string name;
    QueueFigures amounts{};
  };
  struct Job {
    JobKey key;
    std::string queue;
    WallTime created;
    std::optional<WallTime> placed{};       // the last of its pods
    std::optional<Share> share{};           // no plugin counts shares: none
    std::optional<std::int64_t> missing{};  // no plugin counts gangs: none
    std::uint64_t retries = 0;
  };

  // In milliseconds.
  Histogram cycle, open_session, job_latency;
  std::map<std::string, Histogram, std::less<>> actions{}, pod_stages{}, work_stages{};
  std::map<std::pair<std::string, std::string>, Histogram> plugins{};  // by name and part

  std::map<std::string, std::uint64_t, std::less<>> eviction_transactions{};  // by action
  std::uint64_t preemption_attempts = 0;
  std::size_t preemption_victims = 0;  // of the last one
  std::optional<std::size_t> unscheduled_jobs{};

  ResourceNames names{};
  Resource total{};  // of all nodes
  std::vector<Queue> queues{};
  std::vector<Job> jobs{};  // with a PodGroup
};

class VolcanoMetrics {
 public:
  // How far a pod has come, counted from its creation.
  enum class PodStage { Watched, Assumed, PreBound, Bound };
  void pods_reached(PodStage stage, Duration since_creation, std::uint64_t pods = 1);
  // What is done for a pod on its way.
  enum class Work { PreBind, Bind };
  void work_took(Work work, Duration took, std::uint64_t pods);

  void session_opened(Duration took);
  void plugin_took(std::string_view plugin, PluginPart part, Duration took);
  void action_took(std::string_view action, Duration took);
  void cycle_took(Duration took);

  // After its close.
  void take(const Session& session);
  void job_placed(const JobKey& job, WallTime created, WallTime now);
  void evicted(std::string_view action);
  // The job is gone.
  void forget(const JobKey& job) { jobs_.erase(job); }

  VolcanoFigures figures(const Cache& cache) const;

 private:
  struct Gang {
    std::optional<WallTime> placed{};
    bool waits = false;
    std::int64_t missing = 0;
    std::uint64_t retries = 0;
  };

  VolcanoFigures figures_;  // without jobs
  bool counts_gangs_ = false, counts_shares_ = false;
  JobMap<Gang> jobs_;  // those of which there is something to be told
};

}  // namespace krater::scheduler
