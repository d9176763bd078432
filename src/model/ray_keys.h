// Label and annotation keys, names and well-known values of ray.io objects. Nowhere else is one
// spelled out.
#pragma once

#include <string_view>

namespace krater::ray_keys {

// Labels
inline constexpr std::string_view kCluster = "ray.io/cluster";
inline constexpr std::string_view kNodeType = "ray.io/node-type";
inline constexpr std::string_view kGroup = "ray.io/group";
inline constexpr std::string_view kIsRayNode = "ray.io/is-ray-node";
inline constexpr std::string_view kIdentifier = "ray.io/identifier";
inline constexpr std::string_view kHeadlessWorkerService = "ray.io/headless-worker-svc";
inline constexpr std::string_view kServe = "ray.io/serve";
inline constexpr std::string_view kOriginName = "ray.io/originated-from-cr-name";
inline constexpr std::string_view kOriginKind = "ray.io/originated-from-crd";
inline constexpr std::string_view kSubmissionMode = "ray.io/job-submission-mode";
inline constexpr std::string_view kReplicaName = "ray.io/worker-group-replica-name";
inline constexpr std::string_view kReplicaIndex = "ray.io/worker-group-replica-index";
inline constexpr std::string_view kHostIndex = "ray.io/replica-host-index";
inline constexpr std::string_view kPriorityClassName = "ray.io/priority-class-name";
inline constexpr std::string_view kAppName = "app.kubernetes.io/name";
inline constexpr std::string_view kCreatedBy = "app.kubernetes.io/created-by";
inline constexpr std::string_view kNetworkTopologyMode = "volcano.sh/network-topology-mode";
inline constexpr std::string_view kNetworkTopologyTier =
    "volcano.sh/network-topology-highest-tier-allowed";

// Annotations
inline constexpr std::string_view kFaultTolerance = "ray.io/ft-enabled";
inline constexpr std::string_view kExternalStorageNamespace = "ray.io/external-storage-namespace";
inline constexpr std::string_view kOverwriteCommand = "ray.io/overwrite-container-cmd";
inline constexpr std::string_view kEnableServeService = "ray.io/enable-serve-service";
inline constexpr std::string_view kDisableHeadRestart = "ray.io/disable-provisioned-head-restart";
inline constexpr std::string_view kRecreateHash = "ray.io/upgrade-strategy-recreate-hash";
inline constexpr std::string_view kOperatorVersion = "ray.io/kuberay-version";
// Ours: how many failed pods in a row this one follows. Spaces out replacements.
inline constexpr std::string_view kReplacements = "krater.io/replacements";

inline constexpr std::string_view kJobFinalizer = "ray.io/rayjob-finalizer";
inline constexpr std::string_view kManager =
    "ray.io/kuberay-operator";  // spec.managedBy that means us

// Values
inline constexpr std::string_view kHead = "head";
inline constexpr std::string_view kWorker = "worker";
inline constexpr std::string_view kHeadGroup = "headgroup";
inline constexpr std::string_view kSubmitterGroup = "submittergroup";
inline constexpr std::string_view kAppNameValue = "kuberay";
inline constexpr std::string_view kCreatedByValue = "kuberay-operator";
inline constexpr std::string_view kSubmitterContainer = "ray-job-submitter";

}  // namespace krater::ray_keys
