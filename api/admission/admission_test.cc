#include "api/admission/admission.h"

#include "api/admission/testing/admission_fixture.h"
#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

using testing::AdmissionTest;

constexpr std::string_view kPod =
    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","resources":{}}]}})";

TEST_F(AdmissionTest, APodGetsItsAccountTokenVolumeTolerationsAndStatus) {
  EXPECT_EQ(submit(kinds::kPod, "p", kPod), "");
  EXPECT_EQ(text_at(object, {"spec", "serviceAccountName"}), "default");
  const std::string volume = text_at((*array_at(object, {"spec", "volumes"}))[0], {"name"});
  EXPECT_TRUE(volume.starts_with("kube-api-access-"));
  const Json& mount =
      (*array_at((*array_at(object, {"spec", "containers"}))[0], {"volumeMounts"}))[0];
  EXPECT_EQ(text_at(mount, {"name"}), volume);
  EXPECT_EQ(text_at(mount, {"mountPath"}), "/var/run/secrets/kubernetes.io/serviceaccount");
  EXPECT_EQ(array_at(object, {"spec", "tolerations"})->size(), 2U);
  EXPECT_EQ(text_at(object, {"status", "phase"}), "Pending");
  EXPECT_EQ(text_at(object, {"status", "qosClass"}), "BestEffort");
  EXPECT_EQ(int_at(object, {"spec", "priority"}), 0);
}

TEST_F(AdmissionTest, AnAppliedPodWithoutThemKeepsTheTolerationsOfEveryPod) {
  EXPECT_EQ(submit(kinds::kPod, "p", kPod), "");
  const std::string before = to_json(object);
  erase_path(object, {"spec", "tolerations"});
  const std::string applied = to_json(object);
  EXPECT_EQ(submit(kinds::kPod, "p", applied, before), "");
  EXPECT_EQ(to_json(*find(object, {"spec", "tolerations"})),
            to_json(*find(old, {"spec", "tolerations"})));
}

TEST_F(AdmissionTest, AClaimStaysWithinTheLimitsOfItsNamespace) {
  reader.put(kinds::kLimitRange, "default", "limits",
             R"({"metadata":{},"spec":{"limits":[{"type":"PersistentVolumeClaim",
                 "min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}]}})");
  const auto claim = [](std::string_view size) {
    return R"({"metadata":{},"spec":{"resources":{"requests":{"storage":")" + std::string(size) +
           R"("}}}})";
  };
  const Kind& kind = kinds::kPersistentVolumeClaim;
  EXPECT_EQ(submit(kind, "v", claim("2Gi")), "");
  EXPECT_EQ(submit(kind, "v", claim("3Gi")),
            "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi");
  EXPECT_EQ(submit(kind, "v", claim("5Mi")),
            "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Mi");
  EXPECT_EQ(submit(kind, "v", R"({"metadata":{},"spec":{}})"),
            "[minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified, "
            "maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified]");
}

TEST_F(AdmissionTest, AServiceOfAnotherTypeLeavesBehindWhatBelongedToTheOldOne) {
  const std::string balancer =
      R"({"spec":{"type":"LoadBalancer","clusterIP":"10.96.0.9","clusterIPs":["10.96.0.9"],
          "ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","externalTrafficPolicy":"Local",
          "internalTrafficPolicy":"Cluster","healthCheckNodePort":30001,"loadBalancerClass":"a/b",
          "allocateLoadBalancerNodePorts":true,"ports":[{"port":80,"nodePort":30002}]}})";
  const auto as = [&](std::string_view type) {
    Json changed = *parse_json(balancer);
    set_path(changed, {"spec", "type"}, Json(type));
    return to_json(changed);
  };
  EXPECT_EQ(submit(kinds::kService, "s", as("ClusterIP"), balancer), "");
  EXPECT_EQ(
      to_json(*find(object, {"spec"})),
      R"({"type":"ClusterIP","clusterIP":"10.96.0.9","clusterIPs":["10.96.0.9"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster","ports":[{"port":80}]})");
  EXPECT_EQ(submit(kinds::kService, "s", as("ExternalName"), balancer), "");
  EXPECT_EQ(to_json(*find(object, {"spec"})), R"({"type":"ExternalName","ports":[{"port":80}]})");
  EXPECT_EQ(submit(kinds::kService, "s", as("NodePort"), balancer), "");
  EXPECT_EQ(text_at(object, {"spec", "externalTrafficPolicy"}), "Local");
  EXPECT_EQ(find(object, {"spec", "healthCheckNodePort"}), nullptr);
}

TEST_F(AdmissionTest, NoTokenWhereThePodOrItsAccountDeclines) {
  EXPECT_EQ(
      submit(
          kinds::kPod, "p",
          R"({"metadata":{},"spec":{"automountServiceAccountToken":false,"containers":[{"name":"a"}]}})"),
      "");
  EXPECT_EQ(find(object, {"spec", "volumes"}), nullptr);
  reader.put(
      kinds::kServiceAccount, "default", "quiet",
      R"({"metadata":{},"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"s"}]})");
  EXPECT_EQ(
      submit(
          kinds::kPod, "p",
          R"({"metadata":{},"spec":{"serviceAccountName":"quiet","containers":[{"name":"a"}]}})"),
      "");
  EXPECT_EQ(find(object, {"spec", "volumes"}), nullptr);
  EXPECT_EQ(to_json(*find(object, {"spec", "imagePullSecrets"})), R"([{"name":"s"}])");
  EXPECT_EQ(
      submit(
          kinds::kPod, "p",
          R"({"metadata":{},"spec":{"serviceAccountName":"nobody","containers":[{"name":"a"}]}})"),
      "error looking up service account default/nobody: serviceaccount \"nobody\" not found");
}

TEST_F(AdmissionTest, PriorityComesFromTheClass) {
  reader.put(kinds::kPriorityClass, "", "high",
             R"({"metadata":{},"value":1000,"preemptionPolicy":"Never"})");
  reader.put(kinds::kPriorityClass, "", "usual",
             R"({"metadata":{},"value":10,"globalDefault":true})");
  EXPECT_EQ(submit(kinds::kPod, "p",
                   R"({"metadata":{},"spec":{"priorityClassName":"high","containers":[]}})"),
            "");
  EXPECT_EQ(int_at(object, {"spec", "priority"}), 1000);
  EXPECT_EQ(text_at(object, {"spec", "preemptionPolicy"}), "Never");
  EXPECT_EQ(submit(kinds::kPod, "p", kPod), "");
  EXPECT_EQ(text_at(object, {"spec", "priorityClassName"}), "usual");
  EXPECT_EQ(int_at(object, {"spec", "priority"}), 10);
  EXPECT_EQ(submit(kinds::kPod, "p",
                   R"({"metadata":{},"spec":{"priorityClassName":"none","containers":[]}})"),
            "no PriorityClass with name none was found");
  EXPECT_TRUE(says(
      submit(kinds::kPod, "p",
             R"({"metadata":{},"spec":{"priorityClassName":"high","priority":5,"containers":[]}})"),
      "must not be provided in pod spec; priority admission controller computed 1000"));
}

TEST_F(AdmissionTest, ARuntimeClassAddsItsOverheadAndItsNodes) {
  const Kind runtime_class{"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", false};
  reader.put(
      runtime_class, "", "boxed",
      R"({"metadata":{},"handler":"h","overhead":{"podFixed":{"cpu":"250m"}},"scheduling":{"nodeSelector":{"box":"yes"},"tolerations":[{"key":"box","operator":"Exists"}]}})");
  const auto pod = [](std::string_view more) {
    return R"({"metadata":{},"spec":{"containers":[],"runtimeClassName":"boxed")" +
           std::string(more) + "}}";
  };
  EXPECT_EQ(submit(kinds::kPod, "p", pod(R"(,"nodeSelector":{"a":"b"})")), "");
  EXPECT_EQ(text_at(object, {"spec", "overhead", "cpu"}), "250m");
  EXPECT_EQ(text_at(object, {"spec", "nodeSelector", "box"}), "yes");
  EXPECT_EQ(text_at(object, {"spec", "nodeSelector", "a"}), "b");
  EXPECT_EQ(text_at((*array_at(object, {"spec", "tolerations"}))[0], {"key"}), "box");
  EXPECT_EQ(submit(kinds::kPod, "p", pod(R"(,"nodeSelector":{"box":"no"})")),
            "conflict: runtimeClass.scheduling.nodeSelector[box] = yes; "
            "pod.spec.nodeSelector[box] = no");
  EXPECT_EQ(submit(kinds::kPod, "p", pod(R"(,"overhead":{"cpu":"1"})")),
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  EXPECT_EQ(submit(kinds::kPod, "p",
                   R"({"metadata":{},"spec":{"containers":[],"runtimeClassName":"none"}})"),
            "pod rejected: RuntimeClass \"none\" not found");
  EXPECT_EQ(submit(kinds::kPod, "p",
                   R"({"metadata":{},"spec":{"containers":[],"overhead":{"cpu":"1"}}})"),
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
}

TEST_F(AdmissionTest, AnIngressWithoutAClassGetsTheDefault) {
  const Kind ingress{"networking.k8s.io", "v1", "Ingress", "ingresses", true};
  const Kind ingress_class{"networking.k8s.io", "v1", "IngressClass", "ingressclasses", false};
  EXPECT_EQ(submit(ingress, "i", R"({"metadata":{},"spec":{}})"), "");
  EXPECT_EQ(find(object, {"spec", "ingressClassName"}), nullptr);
  reader.put(
      ingress_class, "", "usual",
      R"({"metadata":{"annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}}})");
  EXPECT_EQ(submit(ingress, "i", R"({"metadata":{},"spec":{}})"), "");
  EXPECT_EQ(text_at(object, {"spec", "ingressClassName"}), "usual");
}

TEST_F(AdmissionTest, QosClassesAreKubernetes) {
  const auto qos = [&](std::string_view resources) {
    EXPECT_EQ(submit(kinds::kPod, "p",
                     R"({"metadata":{},"spec":{"containers":[{"name":"a","resources":)" +
                         std::string(resources) + "}]}}"),
              "");
    return text_at(object, {"status", "qosClass"});
  };
  EXPECT_EQ(qos("{}"), "BestEffort");
  EXPECT_EQ(qos(R"({"requests":{"cpu":"1"}})"), "Burstable");
  EXPECT_EQ(
      qos(R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1000m","memory":"1Gi"}})"),
      "Guaranteed");
  EXPECT_EQ(
      qos(R"({"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}})"),
      "Burstable");
}

TEST_F(AdmissionTest, OnlyBindingAssignsANode) {
  EXPECT_TRUE(says(submit(kinds::kPod, "p", R"({"metadata":{},"spec":{"nodeName":"n"}})",
                          R"({"metadata":{},"spec":{}})"),
                   "pods/binding only"));
}

TEST_F(AdmissionTest, TheApisOwnServiceHasTheFirstAddress) {
  const std::string_view service =
      R"({"metadata":{},"spec":{"type":"ClusterIP","ports":[{"port":443,"protocol":"TCP"}]}})";
  EXPECT_EQ(submit(kinds::kService, "kubernetes", service), "");
  EXPECT_EQ(text_at(object, {"spec", "clusterIP"}), "10.96.0.1");
  EXPECT_EQ(claims_of(kinds::kService, object), std::set<std::string>{"clusterip/10.96.0.1"});
}

TEST_F(AdmissionTest, AServiceGetsAFreeAddressAndKeepsIt) {
  settings.service_prefix_bits = 29;  // 10.96.0.2 to 10.96.0.6
  for (const char* address : {"10.96.0.2", "10.96.0.3", "10.96.0.5", "10.96.0.6"})
    reader.claims.insert(std::string("clusterip/") + address);
  EXPECT_EQ(
      submit(
          kinds::kService, "s",
          R"({"metadata":{},"spec":{"type":"ClusterIP","ports":[{"port":80,"protocol":"TCP"}]}})"),
      "");
  EXPECT_EQ(text_at(object, {"spec", "clusterIP"}), "10.96.0.4");
  EXPECT_EQ(to_json(*find(object, {"spec", "clusterIPs"})), R"(["10.96.0.4"])");
  EXPECT_EQ(claims_of(kinds::kService, object), std::set<std::string>{"clusterip/10.96.0.4"});
  const std::string stored = to_json(object);
  EXPECT_EQ(
      submit(
          kinds::kService, "s",
          R"({"metadata":{},"spec":{"type":"ClusterIP","ports":[{"port":81,"protocol":"TCP"}]}})",
          stored),
      "");
  EXPECT_EQ(text_at(object, {"spec", "clusterIP"}), "10.96.0.4");
  reader.claims.insert("clusterip/10.96.0.4");
  EXPECT_TRUE(says(submit(kinds::kService, "t", R"({"metadata":{},"spec":{"type":"ClusterIP"}})"),
                   "range is full"));
}

TEST_F(AdmissionTest, HeadlessAndExternalServicesClaimNothing) {
  EXPECT_EQ(submit(kinds::kService, "s",
                   R"({"metadata":{},"spec":{"type":"ClusterIP","clusterIP":"None"}})"),
            "");
  EXPECT_EQ(text_at(object, {"spec", "clusterIP"}), "None");
  EXPECT_TRUE(claims_of(kinds::kService, object).empty());
  EXPECT_EQ(submit(kinds::kService, "s",
                   R"({"metadata":{},"spec":{"type":"ExternalName","externalName":"a.b"}})"),
            "");
  EXPECT_EQ(find(object, {"spec", "clusterIP"}), nullptr);
}

TEST_F(AdmissionTest, AddressesAskedForMustBeInRangeAndFree) {
  reader.claims.insert("clusterip/10.96.0.9");
  EXPECT_TRUE(says(submit(kinds::kService, "s",
                          R"({"metadata":{},"spec":{"type":"ClusterIP","clusterIP":"10.96.0.9"}})"),
                   "provided IP is already allocated"));
  EXPECT_TRUE(says(submit(kinds::kService, "s",
                          R"({"metadata":{},"spec":{"type":"ClusterIP","clusterIP":"10.1.0.9"}})"),
                   "is not in the valid range"));
}

TEST_F(AdmissionTest, NodePortsAreHandedOutOnceAndReturned) {
  settings.first_node_port = settings.last_node_port = 30005;
  EXPECT_EQ(
      submit(
          kinds::kService, "s",
          R"({"metadata":{},"spec":{"type":"NodePort","ports":[{"port":80,"protocol":"TCP"}]}})"),
      "");
  EXPECT_EQ(int_at((*array_at(object, {"spec", "ports"}))[0], {"nodePort"}), 30005);
  EXPECT_TRUE(claims_of(kinds::kService, object).contains("nodeport/TCP/30005"));
  const std::string stored = to_json(object);
  EXPECT_EQ(
      submit(
          kinds::kService, "s",
          R"({"metadata":{},"spec":{"type":"ClusterIP","ports":[{"port":80,"protocol":"TCP","nodePort":30005}]}})",
          stored),
      "");
  EXPECT_EQ(find((*array_at(object, {"spec", "ports"}))[0], {"nodePort"}), nullptr);
  EXPECT_TRUE(says(
      submit(
          kinds::kService, "t",
          R"({"metadata":{},"spec":{"type":"NodePort","ports":[{"port":80,"protocol":"TCP"},{"port":81,"protocol":"TCP"}]}})"),
      "range is full"));
}

TEST_F(AdmissionTest, SecretsFoldTheirTextIntoData) {
  EXPECT_EQ(submit(kinds::kSecret, "s",
                   R"({"metadata":{},"data":{"b":"eA=="},"stringData":{"a":"hello"}})"),
            "");
  EXPECT_EQ(to_json(*find(object, {"data"})), R"({"b":"eA==","a":"aGVsbG8="})");
  EXPECT_EQ(find(object, {"stringData"}), nullptr);
}

TEST_F(AdmissionTest, AJobsSelectorIsItsUid) {
  EXPECT_EQ(
      submit(kinds::kJob, "j", R"({"metadata":{"uid":"u1"},"spec":{"template":{"spec":{}}}})"), "");
  EXPECT_EQ(to_json(*find(object, {"spec", "selector"})),
            R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}})");
  for (const std::string_view key : {"batch.kubernetes.io/job-name", "job-name"}) {
    EXPECT_EQ(text_at(object, {"spec", "template", "metadata", "labels", key}), "j");
  }
  EXPECT_TRUE(says(
      submit(
          kinds::kJob, "j",
          R"({"metadata":{"uid":"u1"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"spec":{}}}})"),
      "`selector` not auto-generated"));
}

TEST_F(AdmissionTest, TheLongestHostNameOfAnIndexedJobIsOne) {
  const auto job = [this](const std::string& name, const std::string& spec) {
    return submit(kinds::kJob, name,
                  R"({"metadata":{"uid":"u1"},"spec":{"template":{"spec":{}},)" + spec + "}}");
  };
  const std::string name(60, 'j');
  EXPECT_EQ(job(name, R"("completionMode":"Indexed","completions":100)"), "");
  EXPECT_EQ(job(name, R"("completionMode":"NonIndexed","completions":101)"), "");
  EXPECT_TRUE(says(job(name, R"("completionMode":"Indexed","completions":101)"),
                   "metadata.name: Invalid value: \"" + name +
                       "\": will not able to create pod with invalid DNS label: " + name + "-100"));
  EXPECT_TRUE(says(job("a.b", R"("completionMode":"Indexed","completions":1)"),
                   "will not able to create pod with invalid DNS label: a.b-0"));
}

TEST_F(AdmissionTest, OnePriorityClassAtMostIsTheDefault) {
  reader.put(kinds::kPriorityClass, "", "usual",
             R"({"metadata":{},"value":10,"globalDefault":true})");
  EXPECT_TRUE(says(
      submit(kinds::kPriorityClass, "other", R"({"metadata":{},"value":1,"globalDefault":true})"),
      "usual is already marked as default"));
  EXPECT_EQ(
      submit(kinds::kPriorityClass, "usual", R"({"metadata":{},"value":10,"globalDefault":true})"),
      "");
}

TEST_F(AdmissionTest, WhatMirrorsTheControlPlaneIsNotEdited) {
  const auto update = [&](std::string_view name_space, std::string_view before,
                          std::string_view subresource,
                          std::string_view after = R"({"metadata":{},"spec":{"replicas":3}})") {
    object = *parse_json(after);
    old = *parse_json(before);
    const Admission admission{Operation::Update,
                              kinds::kDeployment,
                              std::string(name_space),
                              "d",
                              std::string(subresource),
                              object,
                              &old,
                              reader,
                              settings,
                              rng,
                              WallTime(),
                              warnings};
    const Result<void> admitted = admit(admission);
    return admitted ? std::string() : admitted.error().message;
  };
  constexpr std::string_view kMirror = R"({"metadata":{"labels":{"krater.io/mirror":"x"}}})";
  constexpr std::string_view kLeaving =
      R"({"metadata":{"labels":{"krater.io/mirror":"x"},"deletionTimestamp":"2026-01-01T00:00:00Z"}})";
  EXPECT_TRUE(says(update("volcano-system", kMirror, ""), "is read-only"));
  EXPECT_TRUE(says(update("volcano-system", kMirror, "scale"), "is read-only"));
  EXPECT_EQ(update("volcano-system", kMirror, "status"), "");
  EXPECT_EQ(update("volcano-system", kLeaving, ""), "");
  // A note on it changes nothing.
  EXPECT_EQ(
      update("volcano-system", kMirror, "",
             R"({"metadata":{"labels":{"krater.io/mirror":"x"},"annotations":{"seen":"today"}}})"),
      "");
  EXPECT_EQ(update("volcano-system", R"({"metadata":{}})", ""), "");
  // The label means nothing elsewhere.
  EXPECT_EQ(update("default", kMirror, ""), "");
}

}  // namespace
}  // namespace krater::api
