#include "api/registry/deletion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/condition.h"
#include "model/definition_kinds.h"

namespace krater::api {
namespace {

using client::Propagation;

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

bool holds(const Json& object, JsonPath path) {
  const JsonArray* entries = array_at(object, path);
  return entries != nullptr && !entries->empty();
}

bool has_finalizer(const Json& object, std::string_view name) {
  const JsonArray* finalizers = array_at(object, {"metadata", "finalizers"});
  if (finalizers == nullptr) return false;
  return std::any_of(finalizers->begin(), finalizers->end(), [&](const Json& entry) {
    return entry.is_string() && view(entry.get_string()) == name;
  });
}

bool held_by_finalizers(const Kind& kind, const Json& object) {
  return holds(object, {"metadata", "finalizers"}) ||
         (kind == kinds::kNamespace && holds(object, {"spec", "finalizers"}));
}

// The garbage collector's finalizers say which policy was asked for: the last delete that named one
// wins.
void set_policy(Json& object, Propagation propagation) {
  if (propagation == Propagation::Default) return;
  JsonArray kept;
  if (const JsonArray* finalizers = array_at(object, {"metadata", "finalizers"})) {
    for (const Json& entry : *finalizers) {
      const bool of_collector = entry.is_string() && (view(entry.get_string()) == kOrphan ||
                                                      view(entry.get_string()) == kForeground);
      if (!of_collector) kept.push_back(entry);
    }
  }
  if (propagation == Propagation::Orphan) kept.emplace_back(kOrphan);
  if (propagation == Propagation::Foreground) kept.emplace_back(kForeground);
  if (kept.empty()) {
    erase_path(object, {"metadata", "finalizers"});
  } else {
    set_path(object, {"metadata", "finalizers"}, std::move(kept));
  }
}

std::int64_t grace_of_pod(const Json& pod, const client::DeleteWrite& options) {
  const std::string phase = text_at(pod, {"status", "phase"});
  if (text_at(pod, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed")
    return 0;
  const std::int64_t asked = options.grace_seconds.value_or(
      int_at(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(30));
  return asked < 0 ? 1 : asked;
}

void mark(Json& object, WallTime when, std::int64_t grace_seconds) {
  const bool first = !string_at(object, {"metadata", "deletionTimestamp"}).has_value();
  const auto generation = int_at(object, {"metadata", "generation"});
  if (first && generation && *generation > 0)
    set_path(object, {"metadata", "generation"}, *generation + 1);
  set_path(object, {"metadata", "deletionTimestamp"}, Json(to_rfc3339(when)));
  set_path(object, {"metadata", "deletionGracePeriodSeconds"}, grace_seconds);
}

Deletion delete_pod(Json& pod, const client::DeleteWrite& options, bool policy_changed,
                    WallTime now) {
  const std::int64_t grace = grace_of_pod(pod, options);
  const auto deletion = string_at(pod, {"metadata", "deletionTimestamp"});
  if (!deletion) {
    if (grace == 0 && !holds(pod, {"metadata", "finalizers"})) return Deletion::Remove;
    mark(pod, now + std::chrono::seconds(grace), grace);
    return Deletion::Mark;
  }
  // A later delete may only shorten the grace period; without one it changes nothing.
  const std::int64_t running = int_at(pod, {"metadata", "deletionGracePeriodSeconds"}).value_or(0);
  const bool forced = grace == 0 && !options.grace_seconds;  // the pod finished, or never started
  const bool shorter = (options.grace_seconds || forced) && grace < running;
  const std::int64_t left = shorter ? grace : running;
  if (left == 0 && !holds(pod, {"metadata", "finalizers"})) return Deletion::Remove;
  if (!shorter) return policy_changed ? Deletion::Mark : Deletion::Nothing;
  const WallTime was = parse_rfc3339(*deletion).value_or(now);
  mark(pod, was - std::chrono::seconds(running - grace), grace);
  return Deletion::Mark;
}

// A definition stays until all objects of its kind are gone.
void hold_definition(Json& definition, WallTime now) {
  constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";
  if (!has_finalizer(definition, kCleanup)) {
    JsonArray finalizers;
    if (const JsonArray* given = array_at(definition, {"metadata", "finalizers"}))
      finalizers = *given;
    finalizers.emplace_back(kCleanup);
    set_path(definition, {"metadata", "finalizers"}, std::move(finalizers));
  }
  JsonArray conditions;
  for (const Condition& condition : conditions_of(definition)) {
    if (condition.type != "Terminating") conditions.push_back(to_json_value(condition));
  }
  conditions.push_back(to_json_value(
      Condition{"Terminating", "True", "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                "soon",
                now}));
  set_path(definition, {"status", "conditions"}, std::move(conditions));
}

}  // namespace

Deletion decide_deletion(const Kind& kind, Json& object, const client::DeleteWrite& options,
                         WallTime now) {
  const bool had_orphan = has_finalizer(object, kOrphan);
  const bool had_foreground = has_finalizer(object, kForeground);
  set_policy(object, options.propagation);
  const bool policy_changed = had_orphan != has_finalizer(object, kOrphan) ||
                              had_foreground != has_finalizer(object, kForeground);
  if (kind == kinds::kPod) return delete_pod(object, options, policy_changed, now);

  if (kind == kinds::kCustomResourceDefinition &&
      !string_at(object, {"metadata", "deletionTimestamp"})) {
    hold_definition(object, now);
  }
  if (!held_by_finalizers(kind, object)) return Deletion::Remove;
  const bool first = !string_at(object, {"metadata", "deletionTimestamp"}).has_value();
  if (!first) return policy_changed ? Deletion::Mark : Deletion::Nothing;
  mark(object, now, 0);
  if (kind == kinds::kNamespace) {
    // A namespace waits for its content to go, not for a grace period, and says so.
    erase_path(object, {"metadata", "deletionGracePeriodSeconds"});
    set_path(object, {"status", "phase"}, "Terminating");
  }
  return Deletion::Mark;
}

bool may_go(const Kind& kind, const Json& object) {
  return string_at(object, {"metadata", "deletionTimestamp"}).has_value() &&
         !held_by_finalizers(kind, object) &&
         int_at(object, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) == 0;
}

}  // namespace krater::api
