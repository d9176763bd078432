// Reading a batch/v1 Job. Defaults are those of the API server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/object.h"

namespace krater {

namespace keys {
inline constexpr std::string_view kJobTracking =
    "batch.kubernetes.io/job-tracking";  // a finalizer of pods
inline constexpr std::string_view kJobControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
inline constexpr std::string_view kLegacyJobControllerUid = "controller-uid";
inline constexpr std::string_view kLegacyJobName = "job-name";
inline constexpr std::string_view kJobCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kJobIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kJobIndexIgnoredFailures =
    "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr std::string_view kJobController =
    "kubernetes.io/job-controller";  // spec.managedBy
}  // namespace keys

class JobView : public ObjectView {
 public:
  using ObjectView::ObjectView;

  std::int64_t parallelism() const { return integer({"spec", "parallelism"}).value_or(1); }
  // Null: a work queue, done when one pod succeeded and none is active.
  std::optional<std::int64_t> completions() const { return integer({"spec", "completions"}); }
  bool indexed() const { return text({"spec", "completionMode"}) == "Indexed"; }
  bool suspended() const { return boolean({"spec", "suspend"}).value_or(false); }
  bool manual_selector() const { return boolean({"spec", "manualSelector"}).value_or(false); }
  const Json* selector() const { return find(document(), {"spec", "selector"}); }
  // 6, or without limit when retries are counted per index.
  std::int64_t backoff_limit() const;
  std::optional<std::int64_t> backoff_limit_per_index() const {
    return integer({"spec", "backoffLimitPerIndex"});
  }
  std::optional<std::int64_t> max_failed_indexes() const {
    return integer({"spec", "maxFailedIndexes"});
  }
  std::optional<std::int64_t> active_deadline_s() const {
    return integer({"spec", "activeDeadlineSeconds"});
  }
  std::optional<std::int64_t> ttl_after_finished_s() const {
    return integer({"spec", "ttlSecondsAfterFinished"});
  }
  const JsonArray* failure_rules() const {
    return array_at(document(), {"spec", "podFailurePolicy", "rules"});
  }
  const JsonArray* success_rules() const {
    return array_at(document(), {"spec", "successPolicy", "rules"});
  }
  // podReplacementPolicy Failed (also the default with a podFailurePolicy): a pod is replaced only
  // when it has ended, not already while it is being deleted.
  bool replaces_only_failed() const;
  bool restarts_in_place() const {
    return text({"spec", "template", "spec", "restartPolicy"}) == "OnFailure";
  }
  const Json* pod_template() const { return find(document(), {"spec", "template"}); }
  // False when spec.managedBy names somebody else.
  bool managed_here() const;

  std::vector<Condition> conditions() const { return conditions_of(document()); }
  bool has(std::string_view condition) const;
  // Complete or Failed.
  bool finished() const { return has("Complete") || has("Failed"); }
  std::optional<WallTime> finished_at() const;
};

}  // namespace krater
