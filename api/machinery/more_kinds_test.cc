// The pipeline of kinds that are kept for others to act on, and of storage: what they become, and
// what is refused in which words.
#include <gtest/gtest.h>

#include "api/machinery/testing/pipeline.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using testing::run;
using Outcome = testing::Outcome;

std::string object(std::string_view api_version, std::string_view kind, std::string_view rest) {
  return R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"x","namespace":"d"},)" + std::string(rest) + "}";
}

struct Case {
  std::string_view rule, text, want;  // want: the errors, one a line
};

void expect_all(std::string_view api_version, std::string_view kind,
                const std::vector<Case>& cases) {
  for (const Case& item : cases) {
    const Outcome out = run(object(api_version, kind, item.text));
    EXPECT_TRUE(out.unknown.empty()) << item.rule << ": " << join(out.unknown, "\n");
    EXPECT_EQ(out.type_error, "") << item.rule;
    EXPECT_EQ(join(out.errors, "\n"), item.want) << item.rule;
  }
}

constexpr std::string_view kVolume =
    R"("capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"])";

TEST(PersistentVolumes, AreRefusedInTheWordsOfTheOriginal) {
  const auto spec = [](std::string_view more) {
    return R"("spec":{)" + std::string(kVolume) + std::string(more) + "}";
  };
  const std::string good = spec(R"(,"hostPath":{"path":"/x"})");
  const std::string two = spec(R"(,"hostPath":{"path":"/x"},"nfs":{"server":"s","path":"/y"})");
  const std::string none = spec("");
  const std::string local = spec(R"(,"local":{"path":"/x"})");
  const std::string up = spec(R"(,"hostPath":{"path":"/x/../y"})");
  const std::string policy =
      spec(R"(,"hostPath":{"path":"/x"},"persistentVolumeReclaimPolicy":"Keep")");
  expect_all(
      "v1", "PersistentVolume",
      {{"all is well", good, ""},
       {"one source", two, "spec.nfs: Forbidden: may not specify more than 1 volume type"},
       {"at least one", none, "spec: Required value: must specify a volume type"},
       {"local volumes are somewhere", local,
        "spec.nodeAffinity: Required value: Local volume requires node affinity"},
       {"no steps up", up, "spec.hostPath.path: Invalid value: \"/x/../y\": must not contain '..'"},
       {"known policies", policy,
        "spec.persistentVolumeReclaimPolicy: Unsupported value: \"Keep\": supported values: "
        "\"Delete\", \"Recycle\", \"Retain\""},
       {"what is missing", R"("spec":{"hostPath":{"path":"/x"},"capacity":{"storage":"0"}})",
        "spec.accessModes: Required value\n"
        "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero"}});
  const Outcome out = run(object("v1", "PersistentVolume", good));
  EXPECT_EQ(text_at(out.object, {"spec", "persistentVolumeReclaimPolicy"}), "Retain");
  EXPECT_EQ(text_at(out.object, {"spec", "volumeMode"}), "Filesystem");
  EXPECT_EQ(text_at(out.object, {"status", "phase"}), "Pending");
  const Outcome moved =
      run(object("v1", "PersistentVolume", spec(R"(,"hostPath":{"path":"/y"})")), &out.object);
  EXPECT_EQ(join(moved.errors, "\n"),
            "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable "
            "after creation");
}

TEST(PersistentVolumeClaims, MayOnlyGrowOnceTheyAreBound) {
  const auto claim = [](std::string_view size, std::string_view more = "",
                        std::string_view phase = "Bound") {
    return object(
        "v1", "PersistentVolumeClaim",
        R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" +
            std::string(size) + R"("}})" + std::string(more) + R"(},"status":{"phase":")" +
            std::string(phase) + R"("})");
  };
  const Outcome pending = run(claim("1Gi", "", "Pending"));
  EXPECT_EQ(join(pending.errors, "\n"), "");
  const Outcome bound =
      run(claim("1Gi", R"(,"volumeName":"v","storageClassName":"c")"), &pending.object);
  EXPECT_EQ(join(bound.errors, "\n"), "");  // a binder names the volume, a default the class
  const Outcome grown =
      run(claim("2Gi", R"(,"volumeName":"v","storageClassName":"c")"), &bound.object);
  EXPECT_EQ(join(grown.errors, "\n"), "");
  const Outcome shrunk =
      run(claim("512Mi", R"(,"volumeName":"v","storageClassName":"c")"), &bound.object);
  EXPECT_EQ(join(shrunk.errors, "\n"),
            "spec.resources.requests.storage: Forbidden: field can not be less than "
            "status.capacity");
  const Outcome moved =
      run(claim("1Gi", R"(,"volumeName":"w","storageClassName":"c")"), &bound.object);
  EXPECT_EQ(join(moved.errors, "\n"),
            "spec: Forbidden: spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims");
  expect_all("v1", "PersistentVolumeClaim",
             {{"what is missing", R"("spec":{})",
               "spec.accessModes: Required value: at least 1 access mode is required\n"
               "spec.resources[storage]: Required value"}});
}

TEST(StatefulSets, CarryClaimsAsTheyAre) {
  const Outcome out = run(object(
      "apps/v1", "StatefulSet",
      R"("spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]})"));
  EXPECT_EQ(join(out.unknown, "\n") + out.type_error + join(out.errors, "\n"), "");
  const Json& claim = *array_at(out.object, {"spec", "volumeClaimTemplates"})->begin();
  EXPECT_EQ(text_at(claim, {"kind"}), "PersistentVolumeClaim");
  EXPECT_EQ(text_at(claim, {"spec", "volumeMode"}), "Filesystem");
}

TEST(StatefulSets, MayMountTheirClaimsAndNothingElseThatIsNotThere) {
  const Outcome out = run(object(
      "apps/v1", "StatefulSet",
      R"("spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"},{"name":"other","mountPath":"/o"}]}]}},"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]})"));
  EXPECT_EQ(join(out.errors, "\n"),
            "spec.template.spec.containers[0].volumeMounts[1].name: Not found: \"other\"");
}

TEST(StorageClasses, HaveDefaultsAndStayAsTheyAre) {
  const Outcome out = run(
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"x"},"provisioner":"a/b"})");
  EXPECT_EQ(join(out.errors, "\n"), "");
  EXPECT_EQ(text_at(out.object, {"reclaimPolicy"}), "Delete");
  EXPECT_EQ(text_at(out.object, {"volumeBindingMode"}), "Immediate");
  const Outcome other = run(
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"x"},"provisioner":"a/c","reclaimPolicy":"Retain","volumeBindingMode":"WaitForFirstConsumer"})",
      &out.object);
  EXPECT_EQ(join(other.errors, "\n"),
            "volumeBindingMode: Invalid value: \"WaitForFirstConsumer\": field is immutable\n"
            "provisioner: Forbidden: updates to provisioner are forbidden.\n"
            "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.");
}

TEST(Ingresses, AreRefusedInTheWordsOfTheOriginal) {
  expect_all(
      "networking.k8s.io/v1", "Ingress",
      {{"all is well",
        R"("spec":{"rules":[{"host":"*.example.com","http":{"paths":[{"path":"/a","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]})",
        ""},
       {"something must be served", R"("spec":{})",
        "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified"},
       {"paths",
        R"("spec":{"rules":[{"host":"10.0.0.1","http":{"paths":[{"path":"a","pathType":"Exact","backend":{"service":{"name":"s","port":{"number":80,"name":"http"}}}},{"path":"/b","backend":{}}]}}]})",
        "spec.rules[0].host: Invalid value: \"10.0.0.1\": must be a DNS name, not an IP address\n"
        "spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path\n"
        "spec.rules[0].http.paths[0].backend: Invalid value: \"\": cannot set both port name & "
        "port number\n"
        "spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified\n"
        "spec.rules[0].http.paths[1].backend: Invalid value: \"\": resource or service backend is "
        "required"}});
}

TEST(NetworkPolicies, HaveTheTypesOfTheirRules) {
  const Outcome out = run(object(
      "networking.k8s.io/v1", "NetworkPolicy",
      R"("spec":{"podSelector":{},"egress":[{"to":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}],"ports":[{"port":53}]}]})"));
  EXPECT_EQ(join(out.errors, "\n"), "");
  EXPECT_EQ(to_json(*find(out.object, {"spec", "policyTypes"})), R"(["Ingress","Egress"])");
  expect_all(
      "networking.k8s.io/v1", "NetworkPolicy",
      {{"peers and blocks",
        R"("spec":{"podSelector":{},"ingress":[{"from":[{},{"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}},{"ipBlock":{"cidr":"10.0.0.0/8","except":["11.0.0.0/9"]}}],"ports":[{"port":0},{"endPort":5},{"port":90,"endPort":80}]}]})",
        "spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive\n"
        "spec.ingress[0].ports[1].port: Required value: must be specified when `endPort` is "
        "specified\n"
        "spec.ingress[0].ports[2].endPort: Invalid value: 90: must be greater than or equal to "
        "`port`\n"
        "spec.ingress[0].from[0]: Required value: must specify a peer\n"
        "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer\n"
        "spec.ingress[0].from[2].ipBlock.except[0]: Invalid value: \"11.0.0.0/9\": must be a "
        "strict subset of `cidr`"}});
}

TEST(Autoscalers, AreStoredAsV2AndReadAsBoth) {
  const KindSchemaPtr v1 =
      testing::schemas().find_kind("autoscaling/v1", "HorizontalPodAutoscaler");
  const KindSchemaPtr v2 =
      testing::schemas().find_kind("autoscaling/v2", "HorizontalPodAutoscaler");
  ASSERT_TRUE(v1 != nullptr && v2 != nullptr);
  EXPECT_EQ(v1->stored_kind(), v2->kind());
  Json scaler =
      run(object(
              "autoscaling/v1", "HorizontalPodAutoscaler",
              R"("spec":{"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"maxReplicas":5,"targetCPUUtilizationPercentage":60})"))
          .object;
  const Json before = scaler;
  v1->to_stored(scaler);
  EXPECT_EQ(
      to_json(*find(scaler, {"spec", "metrics"})),
      R"([{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}])");
  JsonArray more = *array_at(scaler, {"spec", "metrics"});
  more.push_back(JsonObject{{"type", "Pods"}, {"pods", JsonObject()}});
  set_path(scaler, {"spec", "metrics"}, more);
  Json again = scaler;
  v1->from_stored(again);
  EXPECT_EQ(int_at(again, {"spec", "targetCPUUtilizationPercentage"}), 60);
  EXPECT_EQ(find(again, {"spec", "metrics"}), nullptr);
  v1->to_stored(again);
  EXPECT_EQ(with_sorted_keys(again), with_sorted_keys(scaler));
  expect_all("autoscaling/v2", "HorizontalPodAutoscaler",
             {{"bounds",
               R"("spec":{"scaleTargetRef":{"kind":"Deployment"},"minReplicas":0,"maxReplicas":0})",
               "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1\n"
               "spec.maxReplicas: Invalid value: 0: must be greater than 0\n"
               "spec.scaleTargetRef.name: Required value"}});
}

TEST(ReplicationControllers, SelectWhatTheirTemplateIs) {
  const Outcome out = run(object(
      "v1", "ReplicationController",
      R"("spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}})"));
  EXPECT_EQ(join(out.errors, "\n"), "");
  EXPECT_EQ(text_at(out.object, {"spec", "selector", "a"}), "b");
  EXPECT_EQ(text_at(out.object, {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(int_at(out.object, {"spec", "replicas"}), 1);
}

TEST(CertificateRequests, AreWhatTheySay) {
  const std::string pem = base64_encode("-----BEGIN CERTIFICATE REQUEST-----\n");
  const auto request = [&](std::string_view rest) {
    return R"("spec":{"request":")" + pem + R"(",)" + std::string(rest) + "}";
  };
  const std::string good = request(R"("signerName":"a.b/c","usages":["client auth"])");
  const std::string bad = request(
      R"("signerName":"kubernetes.io/legacy-unknown","usages":["client auth","client auth","x"],"expirationSeconds":5)");
  expect_all("certificates.k8s.io/v1", "CertificateSigningRequest", {{"all is well", good, ""}});
  const Outcome out = run(object("certificates.k8s.io/v1", "CertificateSigningRequest", bad));
  const std::string all = join(out.errors, "\n");
  EXPECT_NE(all.find("spec.usages[1]: Duplicate value: \"client auth\""), std::string::npos) << all;
  EXPECT_NE(all.find("spec.usages[2]: Unsupported value: \"x\""), std::string::npos) << all;
  EXPECT_NE(all.find("spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy "
                     "signerName is not allowed via this API version"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("spec.expirationSeconds: Invalid value: 5: may not specify a duration less "
                     "than 600 seconds (10 minutes)"),
            std::string::npos)
      << all;
}

TEST(CertificateRequests, AreDecidedOnce) {
  const auto with = [](std::string_view conditions) {
    return object(
        "certificates.k8s.io/v1", "CertificateSigningRequest",
        R"("spec":{"request":"eA==","signerName":"a.b/c","usages":["any"]},"status":{"conditions":[)" +
            std::string(conditions) + "]}");
  };
  constexpr std::string_view kApproved = R"({"type":"Approved","status":"True"})";
  constexpr std::string_view kDenied = R"({"type":"Denied","status":"True"})";
  const Outcome open = run(with(""), nullptr);
  EXPECT_EQ(join(run(with(kApproved), &open.object).errors, "\n"), "");
  const Outcome approved = run(with(kApproved), &open.object);
  EXPECT_EQ(join(run(with(""), &approved.object).errors, "\n"),
            "status.conditions: Forbidden: updates may not remove a condition of type "
            "\"Approved\"");
  EXPECT_NE(
      join(run(with(std::string(kApproved) + "," + std::string(kDenied)), &approved.object).errors,
           "\n")
          .find("Approved and Denied conditions are mutually exclusive"),
      std::string::npos);
}

TEST(RayServices, AreCheckedAsTheirOperatorDoes) {
  const auto service = [](std::string_view more) {
    return R"("spec":{"rayClusterConfig":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[{"name":"h","image":"i"}]}}}})" +
           std::string(more) + "}";
  };
  const std::string good = service("");
  const std::string type = service(R"(,"upgradeStrategy":{"type":"Sometimes"})");
  expect_all("ray.io/v1", "RayService",
             {{"all is well", good, ""},
              {"known strategies", type,
               "spec.upgradeStrategy.type: Unsupported value: \"Sometimes\": supported values: "
               "\"NewCluster\", \"NewClusterWithIncrementalUpgrade\", \"None\""}});
}

TEST(HyperNodes, HaveMembersWithOneSelectorEach) {
  const auto node = [](std::string_view members) {
    return R"("spec":{"tier":1,"members":[)" + std::string(members) + "]}";
  };
  const std::string good =
      node(R"({"type":"Node","selector":{"regexMatch":{"pattern":"^n-[0-9]+$"}}})");
  const std::string none = node("");
  const std::string broken = node(R"({"type":"Node","selector":{"regexMatch":{"pattern":"("}}})");
  expect_all("topology.volcano.sh/v1alpha1", "HyperNode",
             {{"all is well", good, ""},
              {"no members", none,
               "spec.members: Invalid value: []: member must have at least one member"}});
  const Outcome out = run(object("topology.volcano.sh/v1alpha1", "HyperNode", broken));
  ASSERT_EQ(out.errors.size(), 1U);
  EXPECT_NE(out.errors[0].find("member regexMatch pattern is invalid"), std::string::npos);
}

}  // namespace
}  // namespace krater::api
