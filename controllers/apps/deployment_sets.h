// The ReplicaSets of a Deployment: which one is of the present template, how one is made, and what
// their annotations say. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controllers/loop/plan.h"
#include "model/workload.h"

namespace krater::controllers {

// One set, and what this pass wants of it.
struct SetPlan {
  ReplicaSetView set;
  std::int64_t replicas = 0;
  Labels annotations{};

  explicit SetPlan(ReplicaSetView view)
      : set(std::move(view)), replicas(set.replicas()), annotations(set.annotations()) {}
  bool changed() const { return replicas != set.replicas() || annotations != set.annotations(); }
  std::int64_t revision() const;
};

// Oldest first.
void sort_by_age(std::vector<SetPlan>& sets);
// The oldest of those whose template is the deployment's; nullptr when there is none.
SetPlan* newest_of(const DeploymentView& deployment, std::vector<SetPlan>& sets);

// "<deployment>-<hash of the template>". `collisions`: how often that was somebody else's.
std::string set_name(const DeploymentView& deployment, std::int64_t collisions);
Json new_set(const DeploymentView& deployment, const std::string& name, std::int64_t replicas,
             std::int64_t revision);

// What the deployment says to all its sets, and the revision, on the set of the present template.
void annotate_newest(const DeploymentView& deployment, SetPlan& newest, std::int64_t revision);
// Scales, and notes for which size of the deployment.
void scale_set(const DeploymentView& deployment, SetPlan& plan, std::int64_t replicas);

// The patch of a changed set, told as "Scaled up replica set …".
PlannedWrite write_set(const DeploymentView& deployment, const SetPlan& plan);

}  // namespace krater::controllers
