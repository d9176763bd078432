#include "model/kinds.h"

#include <array>

#include "model/definition_kinds.h"
#include "model/rbac_kinds.h"
#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater {
namespace kinds {

const Kind kNamespace{"", "v1", "Namespace", "namespaces", false};
const Kind kNode{"", "v1", "Node", "nodes", false};
const Kind kPod{"", "v1", "Pod", "pods", true};
const Kind kService{"", "v1", "Service", "services", true};
const Kind kEndpoints{"", "v1", "Endpoints", "endpoints", true};
const Kind kConfigMap{"", "v1", "ConfigMap", "configmaps", true};
const Kind kSecret{"", "v1", "Secret", "secrets", true};
const Kind kServiceAccount{"", "v1", "ServiceAccount", "serviceaccounts", true};
const Kind kEvent{"", "v1", "Event", "events", true};
const Kind kEndpointSlice{"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", true};
const Kind kLease{"coordination.k8s.io", "v1", "Lease", "leases", true};
const Kind kPriorityClass{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", false};
const Kind kJob{"batch", "v1", "Job", "jobs", true};
const Kind kRole{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
const Kind kClusterRole{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false};
const Kind kRoleBinding{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", true};
const Kind kClusterRoleBinding{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                               "clusterrolebindings", false};
const Kind kDeployment{"apps", "v1", "Deployment", "deployments", true};
const Kind kReplicaSet{"apps", "v1", "ReplicaSet", "replicasets", true};
const Kind kReplicationController{"", "v1", "ReplicationController", "replicationcontrollers",
                                  true};
const Kind kStatefulSet{"apps", "v1", "StatefulSet", "statefulsets", true};
const Kind kDaemonSet{"apps", "v1", "DaemonSet", "daemonsets", true};
const Kind kControllerRevision{"apps", "v1", "ControllerRevision", "controllerrevisions", true};
const Kind kCronJob{"batch", "v1", "CronJob", "cronjobs", true};
const Kind kPodDisruptionBudget{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets",
                                true};
const Kind kResourceQuota{"", "v1", "ResourceQuota", "resourcequotas", true};
const Kind kLimitRange{"", "v1", "LimitRange", "limitranges", true};
const Kind kPersistentVolume{"", "v1", "PersistentVolume", "persistentvolumes", false};
const Kind kPersistentVolumeClaim{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims",
                                  true};
const Kind kStorageClass{"storage.k8s.io", "v1", "StorageClass", "storageclasses", false};
const Kind kCustomResourceDefinition{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                     "customresourcedefinitions", false};
const Kind kRayCluster{"ray.io", "v1", "RayCluster", "rayclusters", true};
const Kind kRayJob{"ray.io", "v1", "RayJob", "rayjobs", true};
const Kind kPodGroup{"scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", true};
const Kind kQueue{"scheduling.volcano.sh", "v1beta1", "Queue", "queues", false};
const Kind kVolcanoJob{"batch.volcano.sh", "v1alpha1", "Job", "jobs", true};

}  // namespace kinds

const Kind* find_kind(std::string_view api_version, std::string_view kind) {
  using namespace kinds;  // NOLINT(google-build-using-namespace)
  static const std::array kAll{&kNamespace,
                               &kNode,
                               &kPod,
                               &kService,
                               &kEndpoints,
                               &kConfigMap,
                               &kSecret,
                               &kServiceAccount,
                               &kEvent,
                               &kResourceQuota,
                               &kLimitRange,
                               &kPersistentVolume,
                               &kPersistentVolumeClaim,
                               &kStorageClass,
                               &kEndpointSlice,
                               &kLease,
                               &kPriorityClass,
                               &kDeployment,
                               &kReplicaSet,
                               &kStatefulSet,
                               &kDaemonSet,
                               &kControllerRevision,
                               &kJob,
                               &kCronJob,
                               &kCustomResourceDefinition,
                               &kPodDisruptionBudget,
                               &kRayCluster,
                               &kRayJob,
                               &kPodGroup,
                               &kQueue,
                               &kVolcanoJob,
                               &kRole,
                               &kClusterRole,
                               &kRoleBinding,
                               &kClusterRoleBinding};
  for (const Kind* candidate : kAll) {
    if (candidate->kind == kind && candidate->api_version() == api_version) return candidate;
  }
  return nullptr;
}

}  // namespace krater
