#include "controllers/job/failure_policy.h"

#include <algorithm>
#include <optional>

#include "model/disruption.h"
#include "model/retry_accounting.h"

namespace krater::controllers {
namespace {

FailureAction action_of(const Json& rule) {
  const std::string text = text_at(rule, {"action"});
  if (text == "Ignore") return FailureAction::Ignore;
  if (text == "FailIndex") return FailureAction::FailIndex;
  if (text == "FailJob") return FailureAction::FailJob;
  return FailureAction::Count;
}

bool exit_code_matches(std::int64_t code, const Json& requirement) {
  bool listed = false;
  if (const JsonArray* values = array_at(requirement, {"values"})) {
    listed = std::ranges::any_of(*values, [code](const Json& v) { return as_int(v) == code; });
  }
  const std::string op = text_at(requirement, {"operator"});
  return (op == "In" && listed) || (op == "NotIn" && !listed);
}

// Success says nothing about a failure: exit code 0 never matches.
std::optional<ContainerStatus> container_that_matches(const PodView& pod, const Json& requirement) {
  const std::string only = text_at(requirement, {"containerName"});
  for (const auto& statuses : {pod.container_statuses(), pod.init_container_statuses()}) {
    for (const ContainerStatus& status : statuses) {
      if (!status.exit || status.exit->code == 0) continue;
      if (!only.empty() && only != status.name) continue;
      if (exit_code_matches(status.exit->code, requirement)) return status;
    }
  }
  return std::nullopt;
}

std::optional<Condition> condition_that_matches(const PodView& pod, const JsonArray& patterns) {
  for (const Condition& condition : pod.conditions()) {
    for (const Json& pattern : patterns) {
      const std::string wanted = text_at(pattern, {"status"});
      if (text_at(pattern, {"type"}) != condition.type) continue;
      if ((wanted.empty() ? "True" : wanted) == condition.status) return condition;
    }
  }
  return std::nullopt;
}

FailureVerdict without_rule(const JobView& job, const PodView& failed) {
  if (counts_every_restart(job.object())) return {};
  if (made_way_for_others(failed)) return {FailureAction::Ignore};
  return {};
}

}  // namespace

FailureVerdict judge_failure(const JobView& job, const PodView& failed) {
  const JsonArray* rules = job.failure_rules();
  if (rules == nullptr) return without_rule(job, failed);
  const std::string pod = failed->name_space() + "/" + failed->name();
  for (std::size_t i = 0; i < rules->size(); ++i) {
    const Json& rule = (*rules)[i];
    const std::string where =
        " matching " + text_at(rule, {"action"}) + " rule at index " + std::to_string(i);
    if (const Json* exit_codes = find(rule, {"onExitCodes"})) {
      const auto container = container_that_matches(failed, *exit_codes);
      if (!container) continue;
      return {action_of(rule), "Container " + container->name + " for pod " + pod +
                                   " failed with exit code " +
                                   std::to_string(container->exit->code) + where};
    }
    if (const JsonArray* patterns = array_at(rule, {"onPodConditions"})) {
      const auto condition = condition_that_matches(failed, *patterns);
      if (condition)
        return {action_of(rule), "Pod " + pod + " has condition " + condition->type + where};
    }
  }
  return without_rule(job, failed);
}

}  // namespace krater::controllers
