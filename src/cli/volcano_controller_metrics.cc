#include "cli/volcano_controller_metrics.h"

#include <memory>
#include <mutex>
#include <utility>

#include "cli/metric_labels.h"

namespace krater::cli {
namespace {

using controllers::VolcanoControllerFigures;
using Samples = std::vector<api::Metrics::Sample>;

struct Last {
  std::mutex mutex;
  VolcanoControllerFigures figures;  // guarded by mutex
};

class Families {
 public:
  Families(api::Metrics& to, std::shared_ptr<Last> last) : to_(to), last_(std::move(last)) {}
  void add(const char* name, const char* help, const char* type,
           std::function<void(const VolcanoControllerFigures&, Samples&)> fill) {
    to_.add_family(name, help, type, [last = last_, fill = std::move(fill)] {
      Samples out;
      const std::lock_guard lock(last->mutex);
      fill(last->figures, out);
      return out;
    });
  }

 private:
  api::Metrics& to_;
  std::shared_ptr<Last> last_;
};

void add_jobs(Families& to) {
  using Job = VolcanoControllerFigures::Job;
  const auto add = [&to](const char* name, const char* help, std::uint64_t Job::*count) {
    to.add(name, help, "counter", [count](const VolcanoControllerFigures& now, Samples& out) {
      for (const Job& one : now.jobs) {
        if (one.*count == 0) continue;
        out.push_back(
            {label_text({{"job_name", one.name_space + "/" + one.name}, {"queue_name", one.queue}}),
             static_cast<double>(one.*count)});
      }
    });
  };
  add("volcano_job_completed_phase_count", "How often a job completed.", &Job::completed);
  add("volcano_job_failed_phase_count", "How often a job failed.", &Job::failed);
  to.add("volcano_controller_job_to_pod_creation_latency_milliseconds",
         "Time from a job's creation to that of its pods.", "histogram",
         [](const VolcanoControllerFigures& now, Samples& out) {
           add_histogram(out, "", now.pod_creation);
         });
}

void add_flows(Families& to) {
  using Flows = VolcanoControllerFigures::Flows;
  const auto add = [&to](const char* name, const char* help, std::uint64_t Flows::*count) {
    to.add(name, help, "counter", [count](const VolcanoControllerFigures& now, Samples& out) {
      for (const auto& [name_space, one] : now.flows) {
        if (one.*count == 0) continue;
        out.push_back(
            {label_text({{"jobflow_namespace", name_space}}), static_cast<double>(one.*count)});
      }
    });
  };
  add("volcano_jobflow_succeed_phase_count", "JobFlows that succeeded.", &Flows::succeeded);
  add("volcano_jobflow_failed_phase_count", "JobFlows that failed.", &Flows::failed);
}

void add_queues(Families& to) {
  const auto add = [&to](const char* name, const char* help, PodGroupPhase phase) {
    to.add(name, help, "gauge", [phase](const VolcanoControllerFigures& now, Samples& out) {
      for (const auto& [queue, one] : now.queues)
        out.push_back({label_text({{"queue_name", queue}}), static_cast<double>(one.in(phase))});
    });
  };
  add("volcano_queue_pod_group_inqueue_count", "Inqueue PodGroups of a queue.",
      PodGroupPhase::Inqueue);
  add("volcano_queue_pod_group_pending_count", "Pending PodGroups of a queue.",
      PodGroupPhase::Pending);
  add("volcano_queue_pod_group_running_count", "Running PodGroups of a queue.",
      PodGroupPhase::Running);
  add("volcano_queue_pod_group_unknown_count", "Unknown PodGroups of a queue.",
      PodGroupPhase::Unknown);
  add("volcano_queue_pod_group_completed_count", "Completed PodGroups of a queue.",
      PodGroupPhase::Completed);
}

}  // namespace

void add_volcano_controller_metrics(api::Metrics& to, Loop& control,
                                    std::function<VolcanoControllerFigures()> figures) {
  const auto last = std::make_shared<Last>();
  to.add_refresh([&control, last, figures = std::move(figures)](std::function<void()> done) {
    control.post([last, figures, done = std::move(done)] {
      VolcanoControllerFigures now = figures();
      {
        const std::lock_guard lock(last->mutex);
        last->figures = std::move(now);
      }
      done();
    });
  });
  Families families(to, last);
  add_jobs(families);
  add_flows(families);
  add_queues(families);
}

}  // namespace krater::cli
