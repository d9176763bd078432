#include "api/machinery/schema.h"

#include <gtest/gtest.h>

#include "model/workload_kinds.h"

namespace krater::api {
namespace {

TEST(BuiltinSchemas, LoadAndAreFoundByEveryName) {
  const auto schemas = make_builtin_schemas();
  EXPECT_EQ(schemas->all().front()->kind(), kinds::kNamespace);
  for (const Kind* kind : {&kinds::kNamespace,
                           &kinds::kNode,
                           &kinds::kPod,
                           &kinds::kService,
                           &kinds::kEndpoints,
                           &kinds::kConfigMap,
                           &kinds::kSecret,
                           &kinds::kServiceAccount,
                           &kinds::kEvent,
                           &kinds::kEndpointSlice,
                           &kinds::kLease,
                           &kinds::kPriorityClass,
                           &kinds::kJob,
                           &kinds::kRayCluster,
                           &kinds::kRayJob,
                           &kinds::kPodGroup,
                           &kinds::kQueue,
                           &kinds::kVolcanoJob,
                           &kinds::kDeployment,
                           &kinds::kReplicaSet,
                           &kinds::kStatefulSet,
                           &kinds::kDaemonSet,
                           &kinds::kControllerRevision,
                           &kinds::kCronJob,
                           &kinds::kPodDisruptionBudget,
                           &kinds::kResourceQuota,
                           &kinds::kLimitRange}) {
    const KindSchemaPtr schema = schemas->find(kind->group, kind->version, kind->plural);
    ASSERT_NE(schema, nullptr) << kind->kind;
    EXPECT_EQ(schema->kind(), *kind);
    EXPECT_EQ(schemas->find_kind(kind->api_version(), kind->kind), schema);
    EXPECT_EQ(schemas->find_resource(kind->resource()), schema);
  }
}

}  // namespace
}  // namespace krater::api
