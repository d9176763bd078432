#include "controllers/vcjob/tally.h"

namespace krater::controllers::vcjob {
namespace {

bool counts_as_leaving(const Observed& seen, const PodFact& pod,
                       const std::set<std::string>& leaving) {
  if (pod.out_of_sync || seen.surplus(pod) || leaving.contains(pod.name())) return true;
  return pod.deleting && !pod.succeeded();
}

}  // namespace

Counts count(const Observed& seen, const Status& status, const std::set<std::string>& leaving) {
  Counts out;
  std::map<std::string, IndexSet> gone;
  for (const VolcanoTask& task : seen.tasks) {
    IndexSet& indexes = gone[task.name];
    indexes = status.succeeded_and_gone(task.name);
    out.add(task.name, PodPhase::Succeeded, indexes.count_below(task.replicas));
  }
  for (const PodFact& pod : seen.pods) {
    if (counts_as_leaving(seen, pod, leaving)) {
      ++out.terminating;
    } else if (!gone[pod.task].contains(pod.index)) {
      out.add(pod.task, pod.phase);
    }
  }
  return out;
}

}  // namespace krater::controllers::vcjob
