// Kinds beyond pods over a real registry: who may change what at which door, and what is charged.
#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "api/registry/encode.h"
#include "api/registry/keys.h"
#include "api/registry/scale.h"
#include "api/registry/testing/harness.h"
#include "base/strings.h"
#include "model/storage.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::Harness;
using testing::text_of;

const Kind kRequest{"certificates.k8s.io", "v1", "CertificateSigningRequest",
                    "certificatesigningrequests", false};
const Kind kAutoscalerV1{"autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers",
                         true};
const Kind kAutoscalerV2{"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers",
                         true};

std::string claim(std::string_view size, std::string_view more = "") {
  return R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" +
         std::string(size) + R"("}})" + std::string(more) + "}}";
}

TEST(Claims, GetTheDefaultClassAndAFinalizer) {
  Harness h;
  ASSERT_EQ(text_of(h.create(kinds::kPersistentVolumeClaim, claim("1Gi"))), "ok");
  const Json made = h.read(kinds::kPersistentVolumeClaim, "c");
  EXPECT_EQ(text_at(made, {"spec", "storageClassName"}), "standard");
  EXPECT_EQ(text_at(made, {"status", "phase"}), "Pending");
  EXPECT_EQ(to_json(*find(made, {"metadata", "finalizers"})),
            R"(["kubernetes.io/pvc-protection"])");
}

TEST(Claims, AClassOfTheirOwnIsKeptAlsoWhenItIsNone) {
  Harness h;
  ASSERT_EQ(
      text_of(h.create(kinds::kPersistentVolumeClaim, claim("1Gi", R"(,"storageClassName":"")"))),
      "ok");
  const Json made = h.read(kinds::kPersistentVolumeClaim, "c");
  ASSERT_NE(find(made, {"spec", "storageClassName"}), nullptr);
  EXPECT_EQ(text_at(made, {"spec", "storageClassName"}), "");
}

TEST(Claims, GrowOnlyWhereTheirClassAllowsItAndTheirQuotaToo) {
  Harness h;
  ASSERT_EQ(text_of(h.create(
                kinds::kStorageClass,
                R"({"metadata":{"name":"big"},"provisioner":"p","allowVolumeExpansion":true})")),
            "ok");
  ASSERT_EQ(
      text_of(h.create(
          kinds::kResourceQuota,
          R"({"metadata":{"name":"q"},"spec":{"hard":{"requests.storage":"3Gi","big.storageclass.storage.k8s.io/requests.storage":"3Gi"}}})")),
      "ok");
  ASSERT_EQ(text_of(h.create(kinds::kPersistentVolumeClaim,
                             claim("1Gi", R"(,"storageClassName":"big")"))),
            "ok");
  const auto grow = [&](std::string_view size) {
    return text_of(h.merge(
        kinds::kPersistentVolumeClaim, "c",
        R"({"spec":{"resources":{"requests":{"storage":")" + std::string(size) + R"("}}}})"));
  };
  EXPECT_NE(grow("2Gi").find("spec is immutable after creation"), std::string::npos);
  ASSERT_EQ(text_of(h.merge(kinds::kPersistentVolumeClaim, "c", R"({"status":{"phase":"Bound"}})",
                            "status")),
            "ok");
  EXPECT_EQ(grow("2Gi"), "ok");
  const Json quota = h.read(kinds::kResourceQuota, "q");
  EXPECT_EQ(text_at(quota, {"status", "used", "requests.storage"}), "2Gi");
  EXPECT_EQ(text_at(quota, {"status", "used", "big.storageclass.storage.k8s.io/requests.storage"}),
            "2Gi");
  EXPECT_NE(grow("4Gi").find("exceeded quota: q, requested: "), std::string::npos) << grow("4Gi");
  ASSERT_EQ(text_of(h.merge(kinds::kStorageClass, "big", R"({"allowVolumeExpansion":false})")),
            "ok");
  EXPECT_NE(grow("2500Mi").find("only dynamically provisioned pvc can be resized"),
            std::string::npos);
}

TEST(Quotas, CountWhatAServiceBecomes) {
  Harness h;
  ASSERT_EQ(
      text_of(h.create(kinds::kResourceQuota,
                       R"({"metadata":{"name":"q"},"spec":{"hard":{"services.nodeports":"0"}}})")),
      "ok");
  ASSERT_EQ(text_of(h.create(kinds::kService,
                             R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})")),
            "ok");
  const std::string refused =
      text_of(h.merge(kinds::kService, "s", R"({"spec":{"type":"NodePort"}})"));
  EXPECT_NE(refused.find("exceeded quota: q, requested: services.nodeports=1, used: "
                         "services.nodeports=0, limited: services.nodeports=0"),
            std::string::npos)
      << refused;
}

TEST(Autoscalers, AreOneObjectInBothVersions) {
  Harness h;
  ASSERT_EQ(
      text_of(h.create(
          kAutoscalerV1,
          R"({"metadata":{"name":"a"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,"targetCPUUtilizationPercentage":50}})")),
      "ok");
  EXPECT_EQ(int_at(h.read(kAutoscalerV1, "a"), {"spec", "targetCPUUtilizationPercentage"}), 50);
  const Json v2 = h.read(kAutoscalerV2, "a");
  EXPECT_EQ(text_at(v2, {"apiVersion"}), "autoscaling/v2");
  EXPECT_EQ(array_at(v2, {"spec", "metrics"})->size(), 1U);
  ASSERT_EQ(
      text_of(h.merge(kAutoscalerV1, "a", R"({"spec":{"targetCPUUtilizationPercentage":70}})")),
      "ok");
  EXPECT_EQ(int_at(*array_at(h.read(kAutoscalerV2, "a"), {"spec", "metrics"})->begin(),
                   {"resource", "target", "averageUtilization"}),
            70);
}

struct CertificateRequests : ::testing::Test {
  Harness h;

  void SetUp() override {
    ASSERT_EQ(text_of(h.create(
                  kRequest,
                  R"({"metadata":{"name":"r"},"spec":{"request":")" +
                      base64_encode("-----BEGIN CERTIFICATE REQUEST-----") +
                      R"(","signerName":"a.b/c","usages":["client auth"],"username":"jane"}})")),
              "ok");
  }
  std::string types() {
    std::string out;
    const Json request = h.read(kRequest, "r");
    if (const JsonArray* list = array_at(request, {"status", "conditions"})) {
      for (const Json& one : *list) out += text_at(one, {"type"}) + " ";
    }
    return out;
  }
};

TEST_F(CertificateRequests, AreDecidedAtApprovalAndFilledInAtStatus) {
  constexpr std::string_view kBoth =
      R"({"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"},{"type":"Failed","status":"True"}]}})";
  ASSERT_EQ(text_of(h.merge(kRequest, "r", kBoth, "approval")), "ok");
  EXPECT_EQ(types(), "Approved ");
  EXPECT_EQ(text_at(h.read(kRequest, "r"), {"status", "certificate"}), "");
  const Json decided = *array_at(h.read(kRequest, "r"), {"status", "conditions"})->begin();
  EXPECT_EQ(text_at(decided, {"lastUpdateTime"}), "2026-01-01T00:00:00Z");
  ASSERT_EQ(
      text_of(h.merge(
          kRequest, "r",
          R"({"status":{"certificate":"eA==","conditions":[{"type":"Denied","status":"True"}]}})",
          "status")),
      "ok");
  EXPECT_EQ(types(), "Approved ");
  EXPECT_EQ(text_at(h.read(kRequest, "r"), {"status", "certificate"}), "eA==");
}

TEST_F(CertificateRequests, StayAsTheyWereAsked) {
  ASSERT_EQ(text_of(h.merge(kRequest, "r",
                            R"({"metadata":{"labels":{"a":"b"}},"spec":{"username":"root"}})")),
            "ok");
  const Json now = h.read(kRequest, "r");
  EXPECT_EQ(text_at(now, {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(text_at(now, {"spec", "username"}), "jane");
}

TEST(Scales, CanBeAppliedAndAreOwnedAsSuch) {
  Harness h;
  RequestInfo info;
  info.field_manager = "kubectl";
  ASSERT_EQ(
      text_of(h.create(
          kinds::kDeployment,
          R"({"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
          "default", info)),
      "ok");
  info.field_manager = "sizer";
  const auto apply = [&](std::int64_t replicas) {
    Json scale = Harness::parsed(
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"}})");
    set_path(scale, {"spec", "replicas"}, replicas);
    return h.write(client::PatchWrite{kinds::kDeployment, "default", "web",
                                      client::PatchType::Apply, scale, std::string(kScale)},
                   info);
  };
  const Result<Answer> contested = apply(5);
  ASSERT_FALSE(contested.has_value());
  EXPECT_EQ(contested.error().code, Code::Conflict);
  EXPECT_NE(text_of(contested).find(".spec.replicas"), std::string::npos) << text_of(contested);
  info.force = true;
  ASSERT_EQ(text_of(apply(5)), "ok");
  const Json now = h.read(kinds::kDeployment, "web");
  EXPECT_EQ(int_at(now, {"spec", "replicas"}), 5);
  EXPECT_NE(find(now, {"spec", "template"}), nullptr);
  bool noted = false;
  for (const Json& entry : *array_at(now, {"metadata", "managedFields"})) {
    if (text_at(entry, {"manager"}) != "sizer") continue;
    noted = true;
    EXPECT_EQ(text_at(entry, {"operation"}), "Apply");
    EXPECT_EQ(text_at(entry, {"subresource"}), "scale");
    EXPECT_EQ(to_json(*find(entry, {"fieldsV1"})), R"({"f:spec":{"f:replicas":{}}})");
  }
  EXPECT_TRUE(noted);
}

TEST(VolcanoJobs, TemplatesOfTheirTasksAreCheckedAsPodsAre) {
  Harness h;
  const auto job = [&](const std::string& name, const std::string& container) {
    return text_of(h.create(
        kinds::kVolcanoJob,
        R"({"metadata":{"name":")" + name +
            R"("},"spec":{"tasks":[{"name":"a","replicas":1,"template":{"spec":{"containers":[{"name":"c",)" +
            container + "}]}}}]}}"));
  };
  EXPECT_EQ(job("good", R"("image":"i")"), "ok");
  EXPECT_EQ(job("bad", R"("image":"i","resources":{"requests":{"cpu":"-1"}})"),
            "jobs.batch.volcano.sh \"bad\" is forbidden: admission webhook "
            "\"validatejob.volcano.sh\" denied the request: "
            "spec.task[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: "
            "\"-1\": must be greater than or equal to 0.");
  const Kind cron{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  EXPECT_EQ(
      text_of(h.create(
          cron,
          R"({"metadata":{"name":"c"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":)"
          R"({"tasks":[{"name":"a","replicas":1,"template":{"spec":{"containers":[]}}}]}}}})")),
      "cronjobs.batch.volcano.sh \"c\" is forbidden: admission webhook "
      "\"validatecronjob.volcano.sh\" denied the request: jobTemplate: "
      "spec.task[0].template.spec.containers: Required value.");
}

// As it is after an update of the server that brought a rule along.
TEST(Statuses, AreWrittenThoughTheRestWouldNotBeTakenToday) {
  Harness h;
  const Encoded old = encode_object(Harness::parsed(R"({
    "apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",
    "metadata":{"name":"j","namespace":"default","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"queue":"default","minAvailable":1,"maxRetry":-1,"tasks":[{"name":"a","replicas":1,
      "template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})"));
  storage::Op put;
  put.key = store_key(kinds::kVolcanoJob, "default", "j");
  put.value = old.bytes;
  put.revision_at = old.revision_at;
  std::promise<bool> stored;
  h.store().commit({{put}}, [&](std::optional<storage::CommitFailure> failure,
                                const storage::Committed&) { stored.set_value(!failure); });
  ASSERT_TRUE(stored.get_future().get());
  const auto said = [&](std::string_view patch, std::string subresource) {
    return text_of(h.merge(kinds::kVolcanoJob, "j", patch, std::move(subresource)));
  };
  EXPECT_EQ(said(R"({"status":{"state":{"phase":"Running"},"running":1}})", "status"), "ok");
  const Json now = h.read(kinds::kVolcanoJob, "j");
  EXPECT_EQ(text_at(now, {"status", "state", "phase"}), "Running");
  EXPECT_EQ(int_at(now, {"spec", "maxRetry"}), -1);
  // The status itself is looked at, and the rest as soon as it is written.
  EXPECT_NE(said(R"({"status":{"running":-1}})", "status").find("status.running"),
            std::string::npos);
  EXPECT_NE(said(R"({"metadata":{"labels":{"a":"b"}}})", "").find("spec.maxRetry"),
            std::string::npos);
}

}  // namespace
}  // namespace krater::api
