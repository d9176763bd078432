// Label and annotation keys, and the few well-known values that go with them. Nowhere else is one
// spelled out.
#pragma once

#include <string_view>

namespace krater::keys {

// Kubernetes
inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kDefaultScheduler = "default-scheduler";

// Volcano: pod -> PodGroup and queue
inline constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";
inline constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";
inline constexpr std::string_view kVolcanoScheduler = "volcano";
inline constexpr std::string_view kDefaultQueue = "default";
inline constexpr std::string_view kRootQueue = "root";

// Volcano: a pod's place in its job
inline constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";
inline constexpr std::string_view kTaskIndex = "volcano.sh/task-index";
inline constexpr std::string_view kTaskPriority = "volcano.sh/task-priority";
inline constexpr std::string_view kVolcanoJobName = "volcano.sh/job-name";
inline constexpr std::string_view kVolcanoJobNamespace = "volcano.sh/job-namespace";
inline constexpr std::string_view kVolcanoQueueName = "volcano.sh/queue-name";
inline constexpr std::string_view kPreemptable = "volcano.sh/preemptable";
inline constexpr std::string_view kHierarchy = "volcano.sh/hierarchy";
inline constexpr std::string_view kHierarchyWeights = "volcano.sh/hierarchy-weights";
inline constexpr std::string_view kSlaWaitingTime = "volcano.sh/sla-waiting-time";
inline constexpr std::string_view kSlaWaitingTimeShort = "sla-waiting-time";
inline constexpr std::string_view kCooldownTime = "volcano.sh/cooldown-time";

// Krater: orders to the simulated runtime, on a pod
inline constexpr std::string_view kSimStartDelay = "krater.io/sim-start-delay";
inline constexpr std::string_view kSimRunTime = "krater.io/sim-run-time";
inline constexpr std::string_view kSimExitCode = "krater.io/sim-exit-code";

}  // namespace krater::keys
