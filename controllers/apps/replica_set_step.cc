#include "controllers/apps/replica_set_step.h"

#include <algorithm>
#include <set>

#include "controllers/apps/pod_writes.h"

namespace krater::controllers {
namespace {

constexpr std::int64_t kMaxChanges = 500;  // of one pass

// All labels of the template, which may be more than the selector asks for.
bool fully_labelled(const Labels& wanted, const Labels& present) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const auto place = present.find(label.first);
    return place != present.end() && place->second == label.second;
  });
}

JsonArray conditions_after(const ReplicaSetSeen& seen, std::int64_t lacking, WallTime now) {
  JsonArray out;
  const Condition* before = nullptr;
  const std::vector<Condition> present = seen.set.conditions();
  for (const Condition& condition : present) {
    if (condition.type == "ReplicaFailure") {
      before = &condition;
    } else {
      out.push_back(to_json_value(condition));
    }
  }
  if (lacking == 0 || (!seen.failure && before == nullptr)) return out;
  if (!seen.failure) return out;
  if (before != nullptr && before->is_true() && before->reason == seen.failure->reason) {
    out.push_back(to_json_value(*before));
    return out;
  }
  Condition failure{"ReplicaFailure", "True", seen.failure->reason, seen.failure->message, {}};
  failure.last_transition = WallTime::from_unix_seconds(now.unix_seconds());
  out.push_back(to_json_value(failure));
  return out;
}

JsonObject status_of(const ReplicaSetSeen& seen, const std::vector<AppPod>& active,
                     std::int64_t lacking, WallTime now) {
  const Labels wanted = string_map(find(seen.set.pod_template(), {"metadata", "labels"}));
  std::int64_t labelled = 0, ready = 0, available = 0;
  for (const AppPod& pod : active) {
    labelled += fully_labelled(wanted, pod.object->labels()) ? 1 : 0;
    ready += pod.ready() ? 1 : 0;
    available += pod.available(seen.set.min_ready_s(), now) ? 1 : 0;
  }
  JsonObject out;
  out["replicas"] = std::ssize(active);
  if (labelled > 0) out["fullyLabeledReplicas"] = labelled;
  if (ready > 0) out["readyReplicas"] = ready;
  if (available > 0) out["availableReplicas"] = available;
  out["observedGeneration"] = seen.set->generation();
  JsonArray conditions = conditions_after(seen, lacking, now);
  if (!conditions.empty()) out["conditions"] = std::move(conditions);
  return out;
}

PlannedWrite write_status(const ReplicaSetView& set, JsonObject status) {
  Json object = set.document();
  set_path(object, {"status"}, std::move(status));
  const bool elder = set->kind() == kinds::kReplicationController.kind;
  return {client::UpdateWrite{elder ? kinds::kReplicationController : kinds::kReplicaSet,
                              set->name_space(), set->name(), std::move(object), "status"},
          {},
          {},
          {}};
}

std::vector<PlannedWrite> creations(const ReplicaSetSeen& seen, std::int64_t count) {
  std::vector<PlannedWrite> out;
  std::set<std::string> chosen;
  const auto taken = [&](const std::string& name) {
    return chosen.contains(name) || seen.name_taken(name);
  };
  for (std::int64_t i = 0; i < std::min(count, kMaxChanges); ++i) {
    const std::string name =
        derived_pod_name(*seen.set.object(), seen.set->revision().text(), taken);
    chosen.insert(name);
    out.push_back(create_app_pod(
        *seen.set.object(), pod_of_template(seen.set.pod_template(), *seen.set.object(), name)));
  }
  return out;
}

std::vector<PlannedWrite> removals(const ReplicaSetSeen& seen, std::vector<AppPod> active,
                                   std::int64_t count, WallTime now) {
  std::vector<PlannedWrite> out;
  const PodsByNode related = seen.related();
  sort_for_deletion(active, related, now);
  for (std::int64_t i = 0; i < std::min(count, kMaxChanges); ++i)
    out.push_back(delete_app_pod(active[static_cast<std::size_t>(i)]));
  return out;
}

}  // namespace

Plan replica_set_step(const ReplicaSetSeen& seen, WallTime now) {
  Plan plan;
  std::vector<AppPod> active;
  std::ranges::copy_if(seen.pods, std::back_inserter(active), &AppPod::active);
  const std::int64_t lacking = seen.set.replicas() - std::ssize(active);
  JsonObject status = status_of(seen, active, lacking, now);
  const Json* before = find(seen.set.document(), {"status"});
  if (before == nullptr || *before != Json(status))
    plan.then(write_status(seen.set, std::move(status)));
  if (const auto left = until_available(active, seen.set.min_ready_s(), now))
    plan.outcome = Outcome::requeue_after(std::max(*left, Duration(1ms)));
  if (seen.set->deletion()) return plan;
  if (lacking > 0) plan.steps.push_back(creations(seen, lacking));
  if (lacking < 0) plan.steps.push_back(removals(seen, active, -lacking, now));
  return plan;
}

}  // namespace krater::controllers
