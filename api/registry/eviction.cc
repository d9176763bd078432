#include "api/registry/eviction.h"

#include "api/registry/prepare.h"
#include "api/registry/status.h"
#include "model/disruption_budget.h"
#include "model/pod.h"

namespace krater::api {
namespace {

constexpr std::size_t kMaxDisrupted = 2000;  // evictions granted and not seen yet
constexpr int kStillProcessedRetryS = 10;

Error refused(std::string why, std::optional<int> retry_after_s) {
  Error error = make_error(Code::TooManyRequests,
                           "Cannot evict pod as it would violate the pod's disruption budget.");
  error.causes = {{"DisruptionBudget", std::move(why), ""}};
  error.retry_after_seconds = retry_after_s;
  return error;
}

// Pods that are on their way, or not there yet, are nobody's loss.
bool counts_for_nothing(const PodView& pod) {
  return pod.finished() || pod.phase() == PodPhase::Pending || pod.deleting();
}

Result<std::vector<DisruptionBudgetView>> budgets_of(const PodView& pod,
                                                     const ObjectReader& reader) {
  std::vector<DisruptionBudgetView> out;
  TRY_ASSIGN(const std::vector<ObjectPtr> all,
             reader.list(kinds::kPodDisruptionBudget, pod->name_space()));
  for (const ObjectPtr& object : all) {
    DisruptionBudgetView budget(object);
    if (budget.covers(pod->labels())) out.push_back(std::move(budget));
  }
  return out;
}

bool spares_the_budget(const PodView& pod, const DisruptionBudgetView& budget) {
  if (pod.ready()) return false;
  if (budget.always_allows_unhealthy()) return true;
  return budget.desired_healthy() > 0 && budget.current_healthy() >= budget.desired_healthy();
}

Result<void> check_budget(const PodView& pod, const DisruptionBudgetView& budget) {
  const std::string& name = budget->name();
  if (budget.observed_generation() < budget->generation()) {
    return refused("The disruption budget " + name + " is still being processed by the server.",
                   kStillProcessedRetryS);
  }
  if (budget.disruptions_allowed() < 0)
    return forbidden(kinds::kPodDisruptionBudget, name, "pdb disruptions allowed is negative");
  if (budget.disrupted().size() > kMaxDisrupted) {
    return forbidden(kinds::kPodDisruptionBudget, name,
                     "DisruptedPods map too big - too many evictions not confirmed by PDB "
                     "controller");
  }
  if (budget.disruptions_allowed() > 0) return {};
  const auto condition = budget.condition("DisruptionAllowed");
  if (condition && condition->reason == "SyncFailed") {
    return refused(
        "The disruption budget " + name +
            " does not allow evicting pods currently because it failed sync: " + condition->message,
        std::nullopt);
  }
  return refused("The disruption budget " + name + " needs " +
                     std::to_string(budget.desired_healthy()) + " healthy pods and has " +
                     std::to_string(budget.current_healthy()) + " currently",
                 std::nullopt);
}

// The budget with one disruption less, pinned to the revision it was judged by.
client::Write take_from(const DisruptionBudgetView& budget, const std::string& pod, WallTime now) {
  Json object = budget.document();
  const std::int64_t left = budget.disruptions_allowed() - 1;
  set_path(object, {"status", "disruptionsAllowed"}, left);
  set_path(object, {"status", "disruptedPods", pod}, Json(to_rfc3339(now)));
  if (left == 0) {
    JsonArray conditions{disruption_condition(left, budget->generation(), now)};
    if (const JsonArray* before = array_at(budget.document(), {"status", "conditions"})) {
      for (const Json& condition : *before) {
        if (text_at(condition, {"type"}) != "DisruptionAllowed") conditions.push_back(condition);
      }
    }
    set_path(object, {"status", "conditions"}, std::move(conditions));
  }
  return client::UpdateWrite{kinds::kPodDisruptionBudget, budget->name_space(), budget->name(),
                             std::move(object), "status"};
}

// Why the pod ends, for whoever counts its failure (a Job's podFailurePolicy).
client::Write mark(const PodView& pod, WallTime now) {
  JsonArray conditions;
  if (const JsonArray* before = array_at(pod.document(), {"status", "conditions"})) {
    for (const Json& condition : *before) {
      if (text_at(condition, {"type"}) != "DisruptionTarget") conditions.push_back(condition);
    }
  }
  conditions.push_back(JsonObject{{"type", "DisruptionTarget"},
                                  {"status", "True"},
                                  {"lastTransitionTime", to_rfc3339(now)},
                                  {"reason", "EvictionByEvictionAPI"},
                                  {"message", "Eviction API: evicting"}});
  Json object = pod.document();
  set_path(object, {"status", "conditions"}, std::move(conditions));
  return client::UpdateWrite{kinds::kPod, pod->name_space(), pod->name(), std::move(object),
                             "status"};
}

}  // namespace

Result<std::vector<client::Write>> eviction_writes(const client::DeleteWrite& options,
                                                   const ObjectReader& reader, WallTime now) {
  TRY_ASSIGN(const ObjectPtr object, reader.get(kinds::kPod, options.name_space, options.name));
  if (object == nullptr) return not_found(kinds::kPod, options.name);
  const PodView pod(object);
  TRY(check_preconditions(kinds::kPod, options, *object));
  client::DeleteWrite gone = options;
  gone.only_if.reset();  // the pod as it was judged, and marked by this very transaction
  std::vector<client::Write> out;
  if (counts_for_nothing(pod)) {
    out.emplace_back(std::move(gone));
    return out;
  }
  TRY_ASSIGN(const std::vector<DisruptionBudgetView> budgets, budgets_of(pod, reader));
  if (budgets.size() > 1) {
    return make_error(Code::Internal,
                      "This pod has more than one PodDisruptionBudget, which the eviction "
                      "subresource does not support.");
  }
  if (!budgets.empty() && !spares_the_budget(pod, budgets[0])) {
    TRY(check_budget(pod, budgets[0]));
    out.push_back(take_from(budgets[0], pod->name(), now));
  }
  out.push_back(mark(pod, now));
  out.emplace_back(std::move(gone));
  return out;
}

}  // namespace krater::api
