#include "controllers/disruption/budget_step.h"

#include <algorithm>
#include <map>

#include "base/int_or_percent.h"

namespace krater::controllers {
namespace {

using Type = EventNote::Type;

// A granted eviction that no deletion follows in this time is taken back.
constexpr Duration kBelieved = std::chrono::minutes(2);

struct Needs {
  std::int64_t expected = 0;  // pods there should be
  std::int64_t desired = 0;   // of them healthy
};

// Pods as many as their controllers want, whether they are there or not.
Result<std::int64_t> expected_scale(const BudgetSeen& seen) {
  std::map<Uid, std::int64_t> scales;
  for (const PodView& pod : seen.pods) {
    TRY_ASSIGN(const std::optional<PodScale> scale, seen.scale_of(pod));
    if (scale) scales[scale->controller] = scale->replicas;
  }
  std::int64_t out = 0;
  for (const auto& [controller, replicas] : scales) out += replicas;
  return out;
}

Result<Needs> needs_of(const BudgetSeen& seen) {
  const Json* least = seen.budget.min_available();
  const Json* missing = seen.budget.max_unavailable();
  Needs out;
  if (missing != nullptr) {
    TRY_ASSIGN(out.expected, expected_scale(seen));
    const std::int64_t may_miss = int_or_percent(missing, out.expected, Rounding::Up).value_or(0);
    out.desired = std::max<std::int64_t>(0, out.expected - may_miss);
  } else if (least != nullptr && least->is_number()) {
    out.expected = std::ssize(seen.pods);
    out.desired = as_int(*least).value_or(0);
  } else if (least != nullptr) {
    TRY_ASSIGN(out.expected, expected_scale(seen));
    out.desired = int_or_percent(least, out.expected, Rounding::Up).value_or(0);
  }
  return out;
}

class Pass {
 public:
  Pass(const BudgetSeen& seen, WallTime now) : seen_(seen), budget_(seen.budget), now_(now) {}

  Plan run() && {
    believe_evictions();
    const Result<Needs> needs = needs_of(seen_);
    needs ? count(*needs) : give_up(needs.error().message);
    if (recheck_) plan_.outcome = Outcome::requeue_after(std::max(*recheck_, Duration(1ms)));
    return std::move(plan_);
  }

 private:
  // Evictions that were granted, of pods that are still there.
  void believe_evictions() {
    for (const auto& [name, since] : budget_.disrupted()) {
      const auto pod =
          std::ranges::find_if(seen_.pods, [&](const PodView& one) { return one->name() == name; });
      if (pod == seen_.pods.end() || pod->deleting()) continue;
      const Duration left = since + kBelieved - now_;
      if (left > Duration(0)) {
        disrupted_[name] = to_rfc3339(since);
        recheck_ = std::min(recheck_.value_or(left), left);
      } else {
        plan_.events.push_back({Type::Warning,
                                "NotDeleted",
                                "Pod was expected by PDB " + budget_->name_space() + "/" +
                                    budget_->name() + " to be deleted but it wasn't",
                                {},
                                pod->object()});
      }
    }
  }

  void count(const Needs& needs) {
    std::int64_t healthy = 0;
    for (const PodView& pod : seen_.pods) {
      if (!pod.deleting() && pod.ready() && !disrupted_.contains(pod->name())) ++healthy;
    }
    const std::int64_t allowed =
        needs.expected <= 0 ? 0 : std::max<std::int64_t>(0, healthy - needs.desired);
    JsonObject status;
    if (budget_->generation() != 0) status["observedGeneration"] = budget_->generation();
    if (!disrupted_.empty()) status["disruptedPods"] = to_json_object(disrupted_);
    status["disruptionsAllowed"] = allowed;
    status["currentHealthy"] = healthy;
    status["desiredHealthy"] = needs.desired;
    status["expectedPods"] = needs.expected;
    status["conditions"] = JsonArray{disruption_condition(allowed, budget_->generation(),
                                                          changed(allowed > 0 ? "True" : "False"))};
    store(std::move(status));
  }

  // Nothing may be evicted while the numbers are not known.
  void give_up(const std::string& why) {
    plan_.events.push_back({Type::Warning, "CalculateExpectedPodCountFailed",
                            "Failed to calculate the number of expected pods: " + why});
    const Json* before = find(budget_.document(), {"status"});
    JsonObject status =
        before == nullptr || !before->is_object() ? JsonObject() : before->get_object();
    status["observedGeneration"] = budget_->generation();
    status["disruptionsAllowed"] = 0;
    status["conditions"] =
        JsonArray{JsonObject{{"type", "DisruptionAllowed"},
                             {"status", "False"},
                             {"observedGeneration", budget_->generation()},
                             {"lastTransitionTime", to_rfc3339(changed("False"))},
                             {"reason", "SyncFailed"},
                             {"message", why}}};
    for (const std::string_view count : {"currentHealthy", "desiredHealthy", "expectedPods"}) {
      if (status.if_contains(count) == nullptr) status[count] = 0;
    }
    store(std::move(status));
  }

  WallTime changed(std::string_view status) const {
    const auto before = budget_.condition("DisruptionAllowed");
    const bool same = before && before->status == status && before->last_transition;
    return same ? *before->last_transition : WallTime::from_unix_seconds(now_.unix_seconds());
  }

  // Pinned to the revision it was counted by: evictions take from the budget meanwhile.
  void store(JsonObject status) {
    const Json* before = find(budget_.document(), {"status"});
    if (before != nullptr && *before == Json(status)) return;
    Json object = budget_.document();
    set_path(object, {"status"}, std::move(status));
    plan_.then({client::UpdateWrite{kinds::kPodDisruptionBudget, budget_->name_space(),
                                    budget_->name(), std::move(object), "status"},
                Code::NotFound,
                {},
                {}});
  }

  const BudgetSeen& seen_;
  const DisruptionBudgetView& budget_;
  WallTime now_;
  Labels disrupted_{};  // pod -> since when
  std::optional<Duration> recheck_{};
  Plan plan_{};
};

}  // namespace

Plan budget_step(const BudgetSeen& seen, WallTime now) {
  return Pass(seen, now).run();
}

}  // namespace krater::controllers
