// Pods that sets make from their template, and take away. Pure.
#pragma once

#include <functional>
#include <string>

#include "controllers/apps/app_pod.h"
#include "controllers/loop/plan.h"

namespace krater::controllers {

// A pod of a PodTemplateSpec, controlled by `owner`.
Json pod_of_template(const Json& pod_template, const Object& owner, const std::string& name);

// "<owner>-<5>", derived from what the owner is and what its pass saw (`seen`): a pass that is
// repeated asks for the same names, a later one for others.
std::string derived_pod_name(const Object& owner, std::string_view seen,
                             const std::function<bool(const std::string&)>& taken);

PlannedWrite create_app_pod(const Object& owner, Json pod);
// With the uid as its condition: never the pod that has come since.
PlannedWrite delete_app_pod(const AppPod& pod);

}  // namespace krater::controllers
