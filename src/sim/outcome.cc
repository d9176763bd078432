#include "sim/outcome.h"

#include <map>

#include "api/registry/keys.h"
#include "base/check.h"
#include "model/job.h"
#include "model/pod.h"
#include "model/queue.h"
#include "model/rayjob.h"
#include "model/volcano_job.h"

namespace krater::sim {
namespace {

using Missing = std::optional<std::string>;

enum class End { None, Success, Failure };

End end_of(const ObjectPtr& object) {
  const std::string& resource = object->key().resource;
  if (resource == kinds::kRayJob.resource()) {
    const RayJobStatus status = RayJobView(object).status();
    if (!is_terminal(status.phase)) return End::None;
    return status.phase == JobPhase::Complete && status.job_status == ray_status::kSucceeded
               ? End::Success
               : End::Failure;
  }
  if (resource == kinds::kJob.resource()) {
    const JobView job(object);
    if (!job.finished()) return End::None;
    return job.has("Complete") ? End::Success : End::Failure;
  }
  if (object->key().resource == kinds::kVolcanoJob.resource()) {
    const auto phase = VolcanoJobView(object).phase();
    if (phase == VolcanoJobPhase::Completed) return End::Success;
    const bool failed = phase == VolcanoJobPhase::Failed || phase == VolcanoJobPhase::Aborted ||
                        phase == VolcanoJobPhase::Terminated;
    return failed ? End::Failure : End::None;
  }
  const PodView pod(object);
  if (!pod.finished()) return End::None;
  return pod.phase() == PodPhase::Succeeded ? End::Success : End::Failure;
}

std::string words(const ObjectPtr& object) {
  return object->key().text() + " " +
         to_json(object->document()->as_object().contains("status")
                     ? object->document()->at("status")
                     : Json());
}

// A pod that was bound to a node which died and had no controller is lost with it: gone counts as
// an end for pods.
Missing unfinished(const storage::Snapshot& state, const std::vector<User::Made>& made,
                   bool successfully) {
  for (const User::Made& one : made) {
    const ObjectPtr object = object_at(state, one.kind, one.name_space, one.name);
    if (!object && one.kind == kinds::kPod && !successfully) continue;
    if (!object) return one.kind.kind + " " + one.name + " is not there";
    const End end = end_of(object);
    if (end == End::None || (successfully && end != End::Success)) return words(object);
  }
  return std::nullopt;
}

// An attempt of a RayJob is a submission id of its own. Its program runs once (again only when a
// head has taken it along), no attempt begins after the end, and what is called a success was one.
Missing misused_program(const RayJobView& job, const Elsewhere& elsewhere) {
  const RayJobStatus status = job.status();
  const std::string name = job->name();
  std::map<std::string, int> runs;
  bool succeeded = false;
  for (const RayDashboards::Program& one : elsewhere.programs) {
    if (!one.id.starts_with(name + "-")) continue;
    if (++runs[one.id] > 1 && !elsewhere.heads_die) return one.id + " was run twice";
    if (status.end && one.began > *status.end + 1s)
      return one.id + " began after its RayJob had ended";
    succeeded = succeeded || (one.id == status.job_id && one.status == ray_status::kSucceeded);
  }
  const std::int64_t attempts = 1 + job.backoff_limit().value_or(0);
  if (static_cast<std::int64_t>(runs.size()) > attempts)
    return name + " was tried " + std::to_string(runs.size()) + " times and may be " +
           std::to_string(attempts);
  if (status.phase == JobPhase::Complete && status.job_status == ray_status::kSucceeded &&
      !succeeded)
    return status.job_id + " is called a success and was none";
  return std::nullopt;
}

Missing misused_program(const storage::Snapshot& state, const Elsewhere& elsewhere) {
  for (const User::Made& one : elsewhere.made) {
    const ObjectPtr object =
        one.kind == kinds::kRayJob ? object_at(state, one.kind, one.name_space, one.name) : nullptr;
    if (!object) continue;
    if (const Missing what = misused_program(RayJobView(object), elsewhere)) return what;
  }
  return std::nullopt;
}

bool owner_is_there(const storage::Snapshot& state, const Object& object) {
  const OwnerReference* owner = object.controller();
  if (owner == nullptr) return true;
  const Kind* kind = find_kind(owner->api_version, owner->kind);
  if (kind == nullptr) return false;
  const ObjectPtr found = object_at(state, *kind, object.name_space(), owner->name);
  return found && found->uid() == owner->uid;
}

Missing orphan(const storage::Snapshot& state, const Kind& kind) {
  for (const ObjectPtr& one : objects_of(state, kind)) {
    if (!owner_is_there(state, *one)) return one->key().text() + " has outlived its owner";
  }
  return std::nullopt;
}

Missing orphan_pod(const storage::Snapshot& state) {
  for (const ObjectPtr& one : objects_of(state, kinds::kPod)) {
    if (!PodView(one).finished()) return "nobody needs it any more: " + words(one);
    if (one->deletion()) return one->key().text() + " does not go";
  }
  return orphan(state, kinds::kPod);
}

Missing queue_with_something(const storage::Snapshot& state) {
  for (const ObjectPtr& one : objects_of(state, kinds::kQueue)) {
    const ResourceList allocated = QueueView(one).allocated();
    for (const auto& [name, amount] : allocated.amounts()) {
      if (amount != 0) return words(one);
    }
  }
  return std::nullopt;
}

}  // namespace

ObjectPtr object_at(const storage::Snapshot& state, const Kind& kind, const std::string& name_space,
                    const std::string& name) {
  const auto record = state.get(api::store_key(kind, name_space, name));
  CHECK(record.has_value());
  return *record ? api::object_of(*record) : nullptr;
}

std::vector<ObjectPtr> objects_of(const storage::Snapshot& state, const Kind& kind) {
  std::vector<ObjectPtr> out;
  const auto scanned = state.scan(api::store_range(kind.resource(), ""), std::nullopt,
                                  [&](const storage::RecordPtr& record) {
                                    out.push_back(api::object_of(record));
                                    return true;
                                  });
  CHECK(scanned.has_value());
  return out;
}

Missing missing(const std::string& rule, const storage::Snapshot& state,
                const Elsewhere& elsewhere) {
  if (rule == "every_job_finished") return unfinished(state, elsewhere.made, false);
  if (rule == "every_job_succeeded") return unfinished(state, elsewhere.made, true);
  if (rule == "programs_run_within_limits") return misused_program(state, elsewhere);
  if (rule == "no_orphan_pods") return orphan_pod(state);
  if (rule == "no_pod_group_left") return orphan(state, kinds::kPodGroup);
  if (rule == "queues_hold_nothing") return queue_with_something(state);
  return "nobody knows the rule";
}

Missing left_over(const storage::Snapshot& state) {
  for (const Kind* kind : {&kinds::kPod, &kinds::kPodGroup, &kinds::kRayJob, &kinds::kRayCluster,
                           &kinds::kJob, &kinds::kVolcanoJob, &kinds::kService}) {
    const auto objects = objects_of(state, *kind);
    if (!objects.empty())
      return objects.front()->key().text() + " and " + std::to_string(objects.size() - 1) +
             " more: " + *objects.front()->bytes();
  }
  return queue_with_something(state);
}

}  // namespace krater::sim
