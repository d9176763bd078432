#include "controllers/vcjob/pod_fact.h"

#include <algorithm>
#include <tuple>

#include "base/strings.h"
#include "model/keys.h"

namespace krater::controllers::vcjob {
namespace {

void read_containers(const std::vector<ContainerStatus>& containers, PodFact& fact) {
  for (const ContainerStatus& container : containers) {
    fact.restarts += container.restarts;
    if (container.exit && container.exit->finished)
      fact.since = std::max(fact.since, *container.exit->finished);
    if (container.last_exit && container.last_exit->finished)
      fact.since = std::max(fact.since, *container.last_exit->finished);
  }
}

// Those beside the others for as long as they run are stopped at the end: how they end says
// nothing.
bool is_sidecar(const PodView& pod, const std::string& container) {
  const JsonArray* list = array_at(pod.spec(), {"initContainers"});
  return list != nullptr && std::ranges::any_of(*list, [&](const Json& one) {
           return string_at(one, {"name"}) == container &&
                  string_at(one, {"restartPolicy"}) == "Always";
         });
}

std::vector<std::int64_t> exit_codes_of(const PodView& pod,
                                        const std::vector<ContainerStatus>& containers) {
  std::vector<std::int64_t> out;
  const auto add = [&](const ContainerStatus& container) {
    if (container.exit && container.exit->code != 0 &&
        std::ranges::count(out, container.exit->code) == 0)
      out.push_back(container.exit->code);
  };
  for (const ContainerStatus& container : containers) add(container);
  for (const ContainerStatus& container : pod.init_container_statuses()) {
    if (!is_sidecar(pod, container.name)) add(container);
  }
  return out;
}

// Whoever is told to go and then exits with 0 has not done its work.
bool ended_by_deletion(const PodView& pod, const PodFact& fact) {
  if (!pod.deleting() || !fact.finished()) return false;
  const std::int64_t grace =
      int_at(pod.document(), {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  return fact.since >= *pod->deletion() - std::chrono::seconds(grace);
}

std::int64_t index_of(const PodView& pod) {
  if (const auto index = parse_int(pod.annotation(keys::kTaskIndex))) return *index;
  const std::string& name = pod->name();
  return parse_int(std::string_view(name).substr(name.rfind('-') + 1)).value_or(-1);
}

}  // namespace

PodFact fact_of(const ObjectPtr& object) {
  const PodView pod(object);
  PodFact out;
  out.object = object;
  out.task = pod.annotation(keys::kTaskSpec);
  out.partition = object->label(keys::kVolcanoPartition);
  out.index = index_of(pod);
  out.version = parse_int(pod.annotation(keys::kVolcanoJobVersion)).value_or(0);
  out.phase = pod.phase();
  out.out_of_sync = !pod.annotation(keys::kOutOfSync).empty();
  const auto disruption = pod.condition("DisruptionTarget");
  // Who was lost with his node is marked as failed in the moment before he is deleted.
  const bool lost = disruption && disruption->is_true() && disruption->reason == "DeletionByPodGC";
  out.deleting = pod.deleting() || (lost && out.phase == PodPhase::Failed);
  out.by_scheduler =
      disruption && disruption->is_true() && disruption->reason == "PreemptionByScheduler";
  out.since = object->created().value_or(WallTime());
  const std::vector<ContainerStatus> containers = pod.container_statuses();
  read_containers(pod.init_container_statuses(), out);
  read_containers(containers, out);
  out.cut_short = ended_by_deletion(pod, out);
  out.ready =
      out.phase == PodPhase::Running && std::ranges::all_of(containers, &ContainerStatus::ready);
  out.exit_codes = exit_codes_of(pod, containers);
  return out;
}

bool PodFact::says_the_same(const PodFact& other) const {
  const auto all = [](const PodFact& pod) {
    return std::tie(pod.object->uid(), pod.task, pod.partition, pod.index, pod.version, pod.phase,
                    pod.deleting, pod.cut_short, pod.out_of_sync, pod.ready, pod.by_scheduler,
                    pod.exit_codes, pod.restarts, pod.since);
  };
  return all(*this) == all(other);
}

const OwnerReference* owning_volcano_job(const Object& object) {
  const OwnerReference* owner = object.controller();
  return owner != nullptr && owner->kind == kinds::kVolcanoJob.kind &&
                 owner->api_version == kinds::kVolcanoJob.api_version()
             ? owner
             : nullptr;
}

}  // namespace krater::controllers::vcjob
