// Which of too many pods go first: those whose loss costs least. Mirrors the order of Kubernetes'
// ReplicaSet controller. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/apps/app_pod.h"

namespace krater::controllers {

// Active pods of a set and of its siblings (the sets of the same deployment), by node.
using PodsByNode = std::map<std::string, std::int64_t, std::less<>>;

// The first to go comes first.
void sort_for_deletion(std::vector<AppPod>& pods, const PodsByNode& related, WallTime now);

}  // namespace krater::controllers
