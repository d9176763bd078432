#include "api/admission/admission.h"

#include <gtest/gtest.h>

#include <map>

#include "model/job_flow.h"
#include "model/storage_kinds.h"
#include "model/workload_kinds.h"

namespace krater::api {
namespace {

// Other objects, as a map.
class FakeReader final : public ObjectReader {
 public:
  void put(const Kind& kind, std::string_view name_space, std::string_view name,
           std::string_view json) {
    const ObjectKey key = ObjectKey::of(kind, name_space, name);
    Json object = *parse_json(json);
    set_path(object, {"metadata", "name"}, Json(name));
    objects_[key] =
        *Object::parse(key, Revision(1), std::make_shared<const std::string>(to_json(object)));
  }
  Result<ObjectPtr> get(const Kind& kind, std::string_view name_space,
                        std::string_view name) const override {
    const auto place = objects_.find(ObjectKey::of(kind, name_space, name));
    return place == objects_.end() ? ObjectPtr() : place->second;
  }
  Result<std::vector<ObjectPtr>> list(const Kind& kind,
                                      std::string_view name_space) const override {
    std::vector<ObjectPtr> out;
    for (const auto& [key, object] : objects_) {
      if (key.resource == kind.resource() && (name_space.empty() || key.name_space == name_space))
        out.push_back(object);
    }
    return out;
  }
  Result<bool> claimed(std::string_view claim) const override {
    return claims.contains(std::string(claim));
  }

  std::set<std::string> claims{};

 private:
  std::map<ObjectKey, ObjectPtr> objects_;
};

class AdmissionTest : public ::testing::Test {
 protected:
  // mutate, validate, admit; "" when all agree, else what they say.
  std::string submit(const Kind& kind, std::string_view name, std::string_view json,
                     std::string_view old_json = {}, Operation operation = Operation::Create) {
    object = *parse_json(json);
    old = old_json.empty() ? Json(nullptr) : *parse_json(old_json);
    if (!old_json.empty()) operation = Operation::Update;
    warnings.clear();
    Admission admission{
        operation, kind,   kind.namespaced ? "default" : "",           std::string(name),
        "",        object, old_json.empty() ? nullptr : &old,          reader,
        settings,  rng,    WallTime::from_unix_seconds(1'767'225'600), warnings};
    if (operation != Operation::Delete) {
      if (const Result<void> mutated = mutate(admission); !mutated) return mutated.error().message;
      std::string problems;
      for (const Cause& cause : validate(admission)) problems += text_of(cause) + "\n";
      if (!problems.empty()) return problems;
    }
    const Result<void> admitted = admit(admission);
    return admitted ? "" : admitted.error().message;
  }
  bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  FakeReader reader;
  AdmissionSettings settings;
  SeededRng rng{7};
  std::vector<std::string> warnings;
  Json object, old;
};

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

TEST_F(AdmissionTest, VolcanoCronJobsHaveSchedulesThatCanBeRead) {
  const Kind cron{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  const auto with = [&](std::string_view spec, std::string_view name = "c") {
    std::string why = submit(cron, name, R"({"metadata":{},"spec":)" + std::string(spec) + "}");
    const std::string denied =
        "admission webhook \"validatecronjob.volcano.sh\" denied the request: ";
    return why.starts_with(denied) ? why.substr(denied.size()) : why;
  };
  EXPECT_EQ(with(R"({"schedule":"*/5 * * * *","timeZone":"Europe/Berlin"})"), "");
  EXPECT_EQ(with(R"({"schedule":"TZ=UTC * * * * *"})"),
            "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone "
            "field");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":"Nowhere/Land"})"), "invalid timeZone");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":"../etc"})"),
            "unknown timeZone invalid timeZone");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":"local"})"),
            "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones");
  EXPECT_EQ(with(R"({"schedule":"* * * * *","timeZone":""})"),
            "timeZone must be nil or non-empty string, got empty string");
  EXPECT_EQ(with("{}"), "schedule is required, but got empty");
  EXPECT_EQ(with(R"({"schedule":"never"})"), "schedule is not a valid cron expression");
  EXPECT_EQ(with(R"({"schedule":"never"})", std::string(53, 'a')),
            "schedule is not a valid cron expression; cronJob name must be no more than 52 "
            "characters to accommodate job name suffix (max 63 total)");
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

TEST_F(AdmissionTest, APodThatAsksForItWaitsBehindItsQueuesGate) {
  const auto gates = [&](const std::string& annotations, const std::string& spec) {
    EXPECT_EQ(submit(kinds::kPod, "p",
                     R"({"metadata":{"annotations":{)" + annotations +
                         R"(}},"spec":{"schedulerName":"volcano","containers":[])" + spec + "}}"),
              "");
    const Json* list = find(object, {"spec", "schedulingGates"});
    return list == nullptr ? std::string() : to_json(*list);
  };
  const std::string asks = R"("scheduling.volcano.sh/queue-allocation-gate":"true")";
  const std::string gate = R"({"name":"scheduling.volcano.sh/queue-allocation-gate"})";
  EXPECT_EQ(gates("", ""), "");
  EXPECT_EQ(gates(asks, ""), "[" + gate + "]");
  EXPECT_EQ(gates(asks, R"(,"schedulingGates":[{"name":"x"}])"), R"([{"name":"x"},)" + gate + "]");
  EXPECT_EQ(gates(asks, R"(,"schedulingGates":[)" + gate + "]"), "[" + gate + "]");
  EXPECT_EQ(gates(R"("scheduling.volcano.sh/queue-allocation-gate":"false")", ""), "");
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

TEST_F(AdmissionTest, PodGroupsGoToOpenQueuesOnly) {
  reader.put(kinds::kQueue, "", "shut", R"({"metadata":{},"status":{"state":"Closed"}})");
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{},"status":{"state":"Open"}})");
  reader.put(kinds::kNamespace, "", "default",
             R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":"team"}}})");
  EXPECT_TRUE(says(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"shut"}})"),
                   "can only submit PodGroup to queue with state `Open`"));
  EXPECT_TRUE(says(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"none"}})"),
                   "unable to find queue"));
  EXPECT_EQ(submit(kinds::kPodGroup, "g", R"({"metadata":{},"spec":{"queue":"default"}})"), "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "team");
}

TEST_F(AdmissionTest, AQueueThatIsBeingClosedCanBeChangedButNobodyMayAskForClosing) {
  const std::string open = R"({"metadata":{},"spec":{"weight":1},"status":{"state":"Open"}})";
  const std::string closing = R"({"metadata":{},"spec":{"weight":1},"status":{"state":"Closing"}})";
  EXPECT_EQ(submit(kinds::kQueue, "q",
                   R"({"metadata":{},"spec":{"weight":2},"status":{"state":"Closing"}})", closing),
            "");
  EXPECT_TRUE(says(submit(kinds::kQueue, "q", closing, open), "must be in [Open Closed]"));
}

TEST_F(AdmissionTest, QueueSharesMustNotContradictEachOther) {
  const auto queue = [&](std::string_view spec) {
    return submit(kinds::kQueue, "q", R"({"metadata":{},"spec":)" + std::string(spec) + "}");
  };
  EXPECT_EQ(queue(R"({})"), "");
  EXPECT_EQ(bool_at(object, {"spec", "reclaimable"}), true);
  EXPECT_EQ(int_at(object, {"spec", "weight"}), 1);
  EXPECT_TRUE(says(queue(R"({"deserved":{"cpu":"4"},"capability":{"cpu":"2"}})"),
                   "must be <= capability[cpu]=2"));
  EXPECT_TRUE(says(queue(R"({"guarantee":{"resource":{"cpu":"4"}},"deserved":{"cpu":"2"}})"),
                   "deserved[cpu]=2 must be >= guarantee[cpu]=4"));
  EXPECT_TRUE(says(queue(R"({"capability":{"cpu":"-1"}})"), "must be greater than or equal to 0"));
  EXPECT_TRUE(says(queue(R"({"guarantee":{"resource":{"cpu":"4","memory":"1"}}})"),
                   R"([requestBody.spec.deserved.cpu: Invalid value: "<nil>": deserved[cpu] must )"
                   R"(be >= guarantee[cpu]=4, requestBody.spec.deserved.memory: Invalid value: )"));
  EXPECT_TRUE(says(queue(R"({"parent":"nowhere"})"),
                   "failed to get parent queue nowhere of queue q: "
                   "queue.scheduling.volcano.sh \"nowhere\" not found"));
  EXPECT_TRUE(says(queue(R"({"parent":"q"})"), "queue q cannot use itself as parent"));
}

TEST_F(AdmissionTest, RootIsBelowNoQueue) {
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{},"spec":{"parent":"root"}})");
  const std::string root = R"({"metadata":{},"spec":{"weight":1}})";
  reader.put(kinds::kQueue, "", "root", root);
  const auto under = [&](const std::string& parent, std::string_view before) {
    return submit(kinds::kQueue, "root",
                  R"({"metadata":{},"spec":{"weight":1,"parent":")" + parent + "\"}}", before);
  };
  EXPECT_TRUE(says(under("team", root), "queue root cannot use itself as parent"));
  EXPECT_TRUE(says(under("team", {}), "queue root cannot use itself as parent"));
  EXPECT_TRUE(says(under("nowhere", root), "queue root cannot use itself as parent"));
  EXPECT_EQ(under("root", root), "") << "says nothing, as upstream's controller may fill it";
}

TEST_F(AdmissionTest, QueuesFormATreeOfFewLevels) {
  std::string parent = "root";
  for (const std::string name : {"a", "b", "c", "d"}) {
    reader.put(kinds::kQueue, "", name, R"({"metadata":{},"spec":{"parent":")" + parent + "\"}}");
    parent = name;
  }
  const auto put = [&](const std::string& name, const std::string& under, std::string_view before) {
    return submit(kinds::kQueue, name, R"({"metadata":{},"spec":{"parent":")" + under + "\"}}",
                  before);
  };
  EXPECT_EQ(put("e", "d", {}), "");
  reader.put(kinds::kQueue, "", "e", R"({"metadata":{},"spec":{"parent":"d"}})");
  EXPECT_TRUE(says(put("f", "e", {}), "queue f exceeds the maximum allowed depth of 5"));
  EXPECT_TRUE(says(put("a", "c", R"({"metadata":{},"spec":{"parent":"root"}})"),
                   "queue a exceeds the maximum allowed depth of 5"))
      << "a ring";
  reader.put(kinds::kQueue, "", "busy",
             R"({"metadata":{},"spec":{},"status":{"allocated":{"pods":"3"}}})");
  EXPECT_TRUE(says(put("f", "busy", {}),
                   "queue busy cannot be the parent queue of queue f because it has allocated "
                   "Pods: 3"));
}

TEST_F(AdmissionTest, ChildQueuesShareTheirParent) {
  reader.put(
      kinds::kQueue, "", "team",
      R"({"metadata":{},"spec":{"parent":"root","capability":{"cpu":"8"},"deserved":{"cpu":"6"}}})");
  reader.put(kinds::kQueue, "", "one",
             R"({"metadata":{},"spec":{"parent":"team","deserved":{"cpu":"4"}}})");
  EXPECT_EQ(submit(kinds::kQueue, "two",
                   R"({"metadata":{},"spec":{"parent":"team","deserved":{"cpu":"2"}}})"),
            "");
  EXPECT_TRUE(
      says(submit(kinds::kQueue, "two",
                  R"({"metadata":{},"spec":{"parent":"team","deserved":{"cpu":"3"}}})"),
           "parent queue team validation failed: sum of children's deserved (cpu 7000.00, memory "
           "0.00) exceeds parent's deserved limit (cpu 6000.00, memory 0.00)"));
  EXPECT_TRUE(says(submit(kinds::kQueue, "two",
                          R"({"metadata":{},"spec":{"parent":"team","capability":{"cpu":"9"}}})"),
                   "queue two capability[cpu]=9 exceeds its ancestor's capability=8"));
  EXPECT_TRUE(says(
      submit(
          kinds::kQueue, "team",
          R"({"metadata":{},"spec":{"parent":"root","capability":{"cpu":"8"},"deserved":{"cpu":"3"}}})",
          R"({"metadata":{},"spec":{"parent":"root","capability":{"cpu":"8"},"deserved":{"cpu":"6"}}})"),
      "queue team validation failed: sum of children's deserved (cpu 4000.00, memory 0.00) exceeds "
      "parent's deserved limit (cpu 3000.00, memory 0.00)"));
  reader.put(
      kinds::kQueue, "", "below",
      R"({"metadata":{},"spec":{"parent":"one","capability":{"cpu":"7","nvidia.com/gpu":"2"}}})");
  EXPECT_TRUE(says(submit(kinds::kQueue, "more",
                          R"({"metadata":{},"spec":{"parent":"one","capability":{"cpu":"9"}}})"),
                   "queue more capability[cpu]=9 exceeds its ancestor's capability=8"))
      << "of the nearest that has one";
  EXPECT_TRUE(says(
      submit(
          kinds::kQueue, "team",
          R"({"metadata":{},"spec":{"parent":"root","capability":{"nvidia.com/gpu":"1"},"deserved":{"cpu":"6"}}})",
          R"({"metadata":{},"spec":{"parent":"root","deserved":{"cpu":"6"}}})"),
      "queue team capability[nvidia.com/gpu]=1000.00 is smaller than its descendants' max "
      "capability=2000.00"));
  EXPECT_TRUE(says(submit(kinds::kQueue, "team", R"({"metadata":{}})", {}, Operation::Delete),
                   "has 1 child queues: one"));
  EXPECT_EQ(submit(kinds::kQueue, "below", R"({"metadata":{}})", {}, Operation::Delete), "");
  EXPECT_EQ(submit(kinds::kQueue, "root", R"({"metadata":{}})", {}, Operation::Delete),
            "admission webhook \"validatequeue.volcano.sh\" denied the request: "
            "`root` queue can not be deleted");
}

TEST_F(AdmissionTest, PathsOfQueuesBeginAtRootAndHaveAWeightForEachStep) {
  const auto queue = [&](const std::string& path, const std::string& weights) {
    return submit(kinds::kQueue, "q",
                  R"({"metadata":{"annotations":{"volcano.sh/hierarchy":")" + path +
                      R"(","volcano.sh/hierarchy-weights":")" + weights + R"("}}})");
  };
  EXPECT_EQ(queue("a/b", "1/2"), "");
  EXPECT_EQ(text_at(object, {"metadata", "annotations", "volcano.sh/hierarchy"}), "root/a/b");
  EXPECT_EQ(text_at(object, {"metadata", "annotations", "volcano.sh/hierarchy-weights"}), "1/1/2");
  EXPECT_EQ(queue("a/b", "1/2/3"),
            "admission webhook \"validatequeue.volcano.sh\" denied the request: "
            "requestBody.metadata.annotations: Invalid value: \"root/a/b\": volcano.sh/hierarchy "
            "must have the same length with volcano.sh/hierarchy-weights");
  EXPECT_TRUE(says(queue("a", ""), " in the  is invalid number"));
  EXPECT_TRUE(says(queue("a/b", "1/0"), "0 in the 1/1/0 must be larger than 0"));
}

TEST_F(AdmissionTest, VolcanoJobsAreCompleted) {
  EXPECT_EQ(
      submit(
          kinds::kVolcanoJob, "j",
          R"({"metadata":{},"spec":{"plugins":{"mpi":["--master=default0"]},"tasks":[{"replicas":2,"template":{"spec":{"hostNetwork":true}}},{"name":"w","replicas":3,"minAvailable":1}]}})"),
      "");
  EXPECT_EQ(text_at(object, {"spec", "queue"}), "default");
  EXPECT_EQ(text_at(object, {"spec", "schedulerName"}), "volcano");
  EXPECT_EQ(int_at(object, {"spec", "minAvailable"}), 3);
  EXPECT_EQ(int_at(object, {"spec", "maxRetry"}), 3);
  const Json& task = (*array_at(object, {"spec", "tasks"}))[0];
  EXPECT_EQ(text_at(task, {"name"}), "default0");
  EXPECT_EQ(text_at(task, {"template", "spec", "dnsPolicy"}), "ClusterFirstWithHostNet");
  EXPECT_NE(find(object, {"spec", "plugins", "ssh"}), nullptr);
  EXPECT_NE(find(object, {"spec", "plugins", "svc"}), nullptr);
}

TEST_F(AdmissionTest, PodsOfAGangKnowTheirGroupFromTheStart) {
  const auto group_of = [&](const std::string& annotations) {
    reader.put(kinds::kJob, "default", "j",
               R"({"metadata":{"uid":"u1","annotations":{)" + annotations + "}}}");
    EXPECT_EQ(
        submit(
            kinds::kPod, "p",
            R"({"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
            R"("name":"j","uid":"u1","controller":true}]},"spec":{"schedulerName":"volcano","containers":[]}})"),
        "");
    return text_at(object, {"metadata", "annotations", "scheduling.k8s.io/group-name"});
  };
  EXPECT_EQ(group_of(R"("scheduling.volcano.sh/group-min-member":"3")"), "podgroup-u1");
  EXPECT_EQ(group_of(""), "");
}

TEST_F(AdmissionTest, JobFlowsAreOrdered) {
  const auto flow = [&](const std::string& flows) {
    return submit(kinds::kJobFlow, "f", R"({"metadata":{},"spec":{"flows":[)" + flows + "]}}");
  };
  EXPECT_EQ(flow(""), "");
  EXPECT_EQ(flow(R"({"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}})"), "");
  EXPECT_TRUE(says(flow(R"({"name":"a","dependsOn":{"targets":["x"]}})"), "vertex is not defined"));
  EXPECT_TRUE(says(flow(R"({"name":"a","dependsOn":{"targets":["a"]}})"), "is not DAG"));
}

struct JobCase {
  std::string name, spec, says;
};

class VolcanoJobProblems : public AdmissionTest, public ::testing::WithParamInterface<JobCase> {};

TEST_P(VolcanoJobProblems, AreTold) {
  reader.put(kinds::kQueue, "", "shut", R"({"metadata":{},"status":{"state":"Closed"}})");
  reader.put(kinds::kQueue, "", "team", R"({"metadata":{}})");
  reader.put(kinds::kQueue, "", "child", R"({"metadata":{},"spec":{"parent":"team"}})");
  const std::string said =
      submit(kinds::kVolcanoJob, "j", R"({"metadata":{},"spec":)" + GetParam().spec + "}");
  EXPECT_TRUE(says(said, GetParam().says)) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, VolcanoJobProblems,
    ::testing::Values(
        JobCase{"MpiWithoutItsMaster",
                R"({"plugins":{"mpi":["-master","boss"]},"tasks":[{"name":"a","replicas":1}]})",
                "The specified mpi master task was not found"},
        JobCase{"PolicyWordsAreListed",
                R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"X","action":"Y"}]})",
                "valid actions are [AbortJob RestartJob"},
        JobCase{
            "HalfACpuOnANumaNode",
            R"({"tasks":[{"name":"a","replicas":1,"topologyPolicy":"restricted","template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"500m"}}}]}}}]})",
            "the cpu request isn't an integer in spec.task[0] container[0]."},
        JobCase{
            "AnOddClaimName",
            R"({"tasks":[{"name":"a","replicas":1}],"volumes":[{"mountPath":"/a","volumeClaimName":"A_b"}]})",
            "invalid VolumeClaimName"},
        JobCase{"no_tasks", R"({})", "No task specified in job spec"},
        JobCase{"min_above_replicas", R"({"tasks":[{"name":"a","replicas":1,"minAvailable":2}]})",
                "'minAvailable' is greater than 'replicas' in task"},
        JobCase{"same_name", R"({"tasks":[{"name":"a","replicas":1},{"name":"a","replicas":1}]})",
                "duplicated task name"},
        JobCase{
            "event_and_code",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"PodFailed","exitCode":3,"action":"AbortJob"}]})",
            "must not specify event and exitCode simultaneously"},
        JobCase{"neither",
                R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"action":"AbortJob"}]})",
                "either event and exitCode should be specified"},
        JobCase{
            "bad_event",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"X","action":"AbortJob"}]})",
            "invalid policy event"},
        JobCase{
            "bad_action",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"event":"PodFailed","action":"Y"}]})",
            "invalid policy action"},
        JobCase{
            "star",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"events":["*","PodFailed"],"action":"AbortJob"}]})",
            "if there's * here, no other policy should be here"},
        JobCase{
            "code_zero",
            R"({"tasks":[{"name":"a","replicas":1}],"policies":[{"exitCode":0,"action":"AbortJob"}]})",
            "0 is not a valid error code"},
        JobCase{"too_many", R"({"minAvailable":5,"tasks":[{"name":"a","replicas":1}]})",
                "should not be greater than total replicas in tasks"},
        JobCase{"plugin", R"({"plugins":{"nope":[]},"tasks":[{"name":"a","replicas":1}]})",
                "unable to find job plugin"},
        JobCase{"volume", R"({"volumes":[{"mountPath":"/a"}],"tasks":[{"name":"a","replicas":1}]})",
                "either VolumeClaim or VolumeClaimName must be specified"},
        JobCase{
            "ring",
            R"({"tasks":[{"name":"a","replicas":1,"dependsOn":{"name":["b"]}},{"name":"b","replicas":1,"dependsOn":{"name":["a"]}}]})",
            "doesn't form a directed acyclic graph(DAG)"},
        JobCase{
            "partitions",
            R"({"tasks":[{"name":"a","replicas":5,"partitionPolicy":{"totalPartitions":2,"partitionSize":2}}]})",
            "'Replicas' are not equal to TotalPartitions*PartitionSize"},
        JobCase{"queue_missing", R"({"queue":"none","tasks":[{"name":"a","replicas":1}]})",
                "unable to find job queue"},
        JobCase{"queue_closed", R"({"queue":"shut","tasks":[{"name":"a","replicas":1}]})",
                "can only submit job to queue with state `Open`"},
        JobCase{"queue_root", R"({"queue":"root","tasks":[{"name":"a","replicas":1}]})",
                "can not submit job to root queue"},
        JobCase{"queue_inner", R"({"queue":"team","tasks":[{"name":"a","replicas":1}]})",
                "can only submit job to leaf queue"}),
    [](const auto& one) { return one.param.name; });

TEST_F(AdmissionTest, AVolcanoJobChangesOnlyInSize) {
  constexpr std::string_view before =
      R"({"metadata":{},"spec":{"minAvailable":1,"queue":"default","tasks":[{"name":"a","replicas":2,"minAvailable":1}]}})";
  EXPECT_EQ(
      submit(
          kinds::kVolcanoJob, "j",
          R"({"metadata":{},"spec":{"minAvailable":2,"queue":"default","tasks":[{"name":"a","replicas":4,"minAvailable":2}]}})",
          before),
      "");
  EXPECT_TRUE(says(
      submit(kinds::kVolcanoJob, "j",
             R"({"metadata":{},"spec":{"minAvailable":1,"queue":"default","tasks":[]}})", before),
      "may not add or remove tasks"));
  EXPECT_TRUE(says(
      submit(
          kinds::kVolcanoJob, "j",
          R"({"metadata":{},"spec":{"minAvailable":1,"queue":"x","tasks":[{"name":"a","replicas":2,"minAvailable":1}]}})",
          before),
      "job updates may not change fields other than"));
}

TEST_F(AdmissionTest, TimesInVolcanosObjectsCanBeRead) {
  const auto policy = [](const std::string& timeout) {
    return R"("policies":[{"event":"PodFailed","action":"AbortJob","timeout":")" + timeout +
           R"("}])";
  };
  const auto job = [&](const std::string& fields, std::string_view before = {}) {
    return submit(
        kinds::kVolcanoJob, "j",
        R"({"metadata":{},"spec":{"queue":"default","tasks":[{"name":"a","replicas":1}],)" +
            fields + "}}",
        before);
  };
  for (const std::string good : {"5s", "1h30m", "1.5h", ".5s", "3\u00b5s", "3\u03bcs", "0", "-1s"})
    EXPECT_EQ(job(policy(good)), "") << good;
  const std::map<std::string, std::string> kBad{
      {"5x", "time: unknown unit \"x\" in duration \"5x\""},
      {"5", "time: missing unit in duration \"5\""},
      {"", "time: invalid duration \"\""},
      {"soon", "time: invalid duration \"soon\""},
      {"99999999h", "time: invalid duration \"99999999h\""}};
  for (const auto& [bad, why] : kBad) {
    EXPECT_EQ(job(policy(bad)),
              "spec.policies[0].timeout: Invalid value: \"" + bad + "\": " + why + "\n");
  }
  EXPECT_TRUE(says(job(R"("runningEstimate":"long")"), "spec.runningEstimate: Invalid value"));
  const std::string task = R"({"name":"a","replicas":1,)" + policy("5x") + "}";
  EXPECT_TRUE(
      says(submit(kinds::kVolcanoJob, "j", R"({"metadata":{},"spec":{"tasks":[)" + task + "]}}"),
           "spec.tasks[0].policies[0].timeout: Invalid value"));
  // Wherever a job is described.
  const Kind cron{"batch.volcano.sh", "v1alpha1", "CronJob", "cronjobs", true};
  EXPECT_TRUE(
      says(submit(cron, "c",
                  R"({"metadata":{},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{)" +
                      policy("5x") + "}}}}"),
           "spec.jobTemplate.spec.policies[0].timeout: Invalid value"));
  const Kind part{"flow.volcano.sh", "v1alpha1", "JobTemplate", "jobtemplates", true};
  EXPECT_TRUE(says(submit(part, "t", R"({"metadata":{},"spec":{)" + policy("5x") + "}}"),
                   "spec.policies[0].timeout: Invalid value"));
  // Who has such a one from earlier may still be changed.
  const std::string stored =
      R"({"metadata":{},"spec":{"queue":"default","tasks":[{"name":"a","replicas":2}],)" +
      policy("5x") + "}}";
  EXPECT_EQ(job(policy("5x"), stored), "");
}

TEST_F(AdmissionTest, AnEventThatOnePolicyNamesTwiceIsNamedOnce) {
  const auto job = [&](std::string_view policies) {
    return submit(kinds::kVolcanoJob, "j",
                  R"({"metadata":{},"spec":{"tasks":[{"name":"a","replicas":1}],"policies":[)" +
                      std::string(policies) + "]}}");
  };
  EXPECT_EQ(job(R"({"events":["PodEvicted","PodFailed","PodEvicted"],"action":"TerminateJob"})"),
            "");
  EXPECT_TRUE(says(job(R"({"event":"PodFailed","action":"AbortJob"},)"
                       R"({"events":["PodFailed"],"action":"RestartJob"})"),
                   "duplicate event PodFailed across different policy"));
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
