// What Volcano's controllers tell of themselves (volcano.md 8), read off the objects they change:
// ends of jobs and flows, how fast pods are made, how many PodGroups of each phase a queue has.
// Lives on the control loop; what is read out is a copy, for any thread.
//
// Always holds: nothing is told of what is not there any more; what had ended before we looked is
// not counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "controllers/loop/controller_loop.h"
#include "model/podgroup.h"

namespace krater::controllers {

struct VolcanoControllerFigures {
  VolcanoControllerFigures();

  struct Job {
    std::string name_space, name, queue;
    std::uint64_t completed = 0, failed = 0;
  };
  struct Flows {
    std::uint64_t succeeded = 0, failed = 0;
  };
  static constexpr std::size_t kPhases = 5;
  struct Queue {
    std::array<std::size_t, kPhases> groups{};  // by PodGroupPhase
    std::size_t in(PodGroupPhase phase) const { return groups[static_cast<std::size_t>(phase)]; }
  };

  std::vector<Job> jobs{};                // that have ended
  std::map<std::string, Flows> flows{};   // by namespace
  std::map<std::string, Queue> queues{};  // by name
  Histogram pod_creation;                 // milliseconds after their jobs
};

class VolcanoCounts {
 public:
  // Which controllers are at work: nobody else's deeds are counted.
  struct Sources {
    bool jobs = true, flows = true, queues = true;
  };

  // Before the loop starts; it outlives this no longer than its last change.
  void observe(ControllerLoop& loop, Sources sources);
  VolcanoControllerFigures figures() const;

 private:
  using Place = std::pair<std::string, std::string>;  // namespace, name
  struct Job {
    Uid uid;
    std::optional<WallTime> created{};
    std::string queue, phase;
    std::uint64_t completed = 0, failed = 0;
  };

  void job_changed(const ObjectPtr& before, const ObjectPtr& after);
  void pod_made(const Object& pod);
  void flow_changed(const ObjectPtr& before, const ObjectPtr& after);
  void group_changed(const ObjectPtr& before, const ObjectPtr& after);

  std::map<Place, Job> jobs_;
  std::map<Place, std::string> flow_phases_;
  std::map<std::string, VolcanoControllerFigures::Flows> flows_;
  std::map<Place, std::pair<QueueName, PodGroupPhase>> groups_;
  std::set<std::string> queues_;
  Histogram pod_creation_ = VolcanoControllerFigures().pod_creation;
};

}  // namespace krater::controllers
