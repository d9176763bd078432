// Deployment status as the controller authors it: counters, and how the roll-out goes. Nobody else
// writes it, so it is written whole. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "controllers/apps/deployment_sets.h"

namespace krater::controllers {

struct DeploymentCondition {
  std::string type, status, reason, message;
  std::optional<WallTime> updated{}, changed{};
  friend bool operator==(const DeploymentCondition&, const DeploymentCondition&) = default;
};

struct DeploymentStatus {
  std::int64_t observed_generation = 0;
  std::int64_t replicas = 0, updated = 0, ready = 0, available = 0, unavailable = 0;
  std::optional<std::int64_t> collisions{};
  std::vector<DeploymentCondition> conditions{};

  static DeploymentStatus of(const DeploymentView& deployment);
  // What is there, with the conditions of `before`.
  static DeploymentStatus counted(const DeploymentView& deployment, std::span<const SetPlan> sets,
                                  const SetPlan* newest, const DeploymentStatus& before);
  JsonObject to_json_object() const;

  const DeploymentCondition* find(std::string_view type) const;
  // Keeps a condition that says the same already; the transition time moves only with the status.
  void set(std::string_view type, std::string_view value, std::string_view reason,
           std::string_view message, WallTime now);
  void remove(std::string_view type);
  // All pods are of the present template, there and available.
  bool complete(const DeploymentView& deployment) const;
  friend bool operator==(const DeploymentStatus&, const DeploymentStatus&) = default;
};

// Available, as availability is now.
void judge_availability(const DeploymentView& deployment, DeploymentStatus& status, WallTime now);
// Progressing: complete, progressing or timed out; ReplicaFailure as the sets report it.
void judge_progress(const DeploymentView& deployment, std::span<const SetPlan> sets,
                    const SetPlan* newest, const DeploymentStatus& before, DeploymentStatus& status,
                    WallTime now);
// The clock of the progress deadline stands while a deployment is paused.
void judge_pause(const DeploymentView& deployment, DeploymentStatus& status, WallTime now);
// Time until the progress deadline, while it runs.
std::optional<Duration> until_deadline(const DeploymentView& deployment,
                                       const DeploymentStatus& status, WallTime now);

}  // namespace krater::controllers
