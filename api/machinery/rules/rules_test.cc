// The rules that OpenAPI cannot say, each by an object that breaks it.
#include "api/machinery/rules/rules.h"

#include <gtest/gtest.h>

#include "api/machinery/testing/rule_cases.h"

namespace krater::api {
namespace {

using testing::Case;
using testing::check;
using testing::object;
using testing::run;

TEST(ServiceRules, AddressesPortsAndTypesFitTogether) {
  const auto service = [](std::string_view spec) {
    return object("v1", "Service", R"("spec":)" + std::string(spec));
  };
  check({
      {service("{}"), "spec.ports: Required value"},
      {service(R"({"clusterIP":"None"})"), ""},
      {service(R"({"ports":[{"port":0}]})"),
       "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"},
      {service(R"({"ports":[{"port":80},{"port":81}]})"), "spec.ports[0].name: Required value"},
      {service(R"({"ports":[{"port":80,"name":"A"}]})"),
       "spec.ports[0].name: Invalid value: \"A\": a lowercase RFC 1123 label"},
      {service(R"({"ports":[{"port":80,"nodePort":30000}]})"),
       "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
      {service(R"({"ports":[{"port":80,"targetPort":"web"}],"type":"Magic"})"),
       R"(spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")"},
      {service(R"({"type":"ExternalName"})"), "spec.externalName: Required value"},
      {service(R"({"type":"ExternalName","externalName":"db.example.com"})"), ""},
      {service(R"({"clusterIP":"300.1.1.1","ports":[{"port":80}]})"),
       "spec.clusterIPs[0]: Invalid value: \"300.1.1.1\": must be a valid IP address"},
  });
  const Json old = run(service(R"({"clusterIP":"10.0.0.1","ports":[{"port":80}]})")).object;
  const auto changed = run(service(R"({"clusterIP":"10.0.0.2","ports":[{"port":80}]})"), &old);
  EXPECT_EQ(changed.errors,
            std::vector<std::string>{
                R"(spec.clusterIPs[0]: Invalid value: "10.0.0.2": may not change once set)"});
}

TEST(ConfigRules, KeysSizesAndImmutability) {
  check({
      {object("v1", "ConfigMap", R"("data":{"a b":"1"})"),
       "data[a b]: Invalid value: \"a b\": a valid config key must consist of"},
      {object("v1", "ConfigMap", R"("data":{"a":"1"},"binaryData":{"a":"AA=="})"),
       "data[a]: Invalid value: \"a\": duplicate of key present in binaryData"},
      {object("v1", "ConfigMap", R"("data":{"a":")" + std::string(1024 * 1024 + 1, 'x') + "\"}"),
       "data: Too long: may not be more than 1048576 bytes"},
      {object("v1", "Secret", R"("type":"kubernetes.io/tls")"),
       "data[tls.crt]: Required value\ndata[tls.key]: Required value"},
      {object("v1", "Secret", R"("type":"kubernetes.io/service-account-token")"),
       "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
  });
  const Json old = run(object("v1", "ConfigMap", R"("data":{"a":"1"},"immutable":true)")).object;
  EXPECT_EQ(
      run(object("v1", "ConfigMap", R"("data":{"a":"2"},"immutable":true)"), &old).errors,
      std::vector<std::string>{"data: Forbidden: field is immutable when `immutable` is set"});
  EXPECT_TRUE(run(object("v1", "ConfigMap", R"("data":{"a":"1"},"immutable":true)",
                         R"(,"labels":{"l":"1"})"),
                  &old)
                  .errors.empty());
  const Json secret = run(object("v1", "Secret", R"("type":"a/b")")).object;
  EXPECT_EQ(run(object("v1", "Secret", R"("type":"c/d")"), &secret).errors,
            std::vector<std::string>{R"(type: Invalid value: "c/d": field is immutable)"});
}

TEST(MetadataRules, LabelsAnnotationsFinalizersAndOwners) {
  const auto map = [](std::string_view meta) {
    return object("v1", "ConfigMap", "", "," + std::string(meta));
  };
  const std::string owner =
      R"({"apiVersion":"v1","kind":"Pod","name":"o","uid":"u","controller":true})";
  check({
      {map(R"("labels":{"k":"a b"})"),
       R"(metadata.labels: Invalid value: "a b": a valid label must be an empty string)"},
      {map(R"("labels":{"example.com/Key":""})"), ""},
      {map(R"("labels":{"/k":""})"),
       R"(metadata.labels: Invalid value: "/k": prefix part must be non-empty)"},
      {map(R"("annotations":{"Example.com/Key":"any text at all!"})"), ""},
      {map(R"("annotations":{"k":")" + std::string(256 * 1024, 'x') + "\"}"),
       "metadata.annotations: Too long: may not be more than 262144 bytes"},
      {map(R"("finalizers":["mine"])"),
       R"(metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified)"},
      {map(R"("finalizers":["orphan","ray.io/rayjob-finalizer"])"), ""},
      {map(R"("ownerReferences":[)" + owner + "," + owner + "]"),
       "metadata.ownerReferences: Invalid value: ["},
      {map(R"("ownerReferences":[{"kind":"Pod","name":"o","uid":"u"}])"),
       R"(metadata.ownerReferences[0].apiVersion: Invalid value: "": version must not be empty)"},
  });
}

TEST(EventRules, NamespacesMatchAndNewEventsAreComplete) {
  check({
      {object("v1", "Event", R"("involvedObject":{"kind":"Pod","namespace":"b"})",
              R"(,"namespace":"a")"),
       R"(involvedObject.namespace: Invalid value: "b": does not match event.namespace)"},
      {object("v1", "Event", R"("involvedObject":{"kind":"Node"})", R"(,"namespace":"default")"),
       ""},
      {object(
           "events.k8s.io/v1", "Event",
           R"("regarding":{"kind":"Node"},"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"c","reportingInstance":"i","action":"A","reason":"R")",
           R"(,"namespace":"default")"),
       "type: Required value"},
  });
}

TEST(RayRules, OfTheCustomResourceDefinitions) {
  const auto job = [](std::string_view spec) {
    return object("ray.io/v1", "RayJob", R"("spec":)" + std::string(spec));
  };
  check({
      {job(R"({"deletionStrategy":{}})"),
       R"(spec.deletionStrategy: Invalid value: "object": needs both onSuccess and onFailure, or deletionRules)"},
      {job(R"({"deletionStrategy":{"onSuccess":{"policy":"DeleteSelf"},"onFailure":{"policy":"DeleteNone"}}})"),
       ""},
      {job(R"({"deletionStrategy":{"deletionRules":[]}})"),
       "spec.deletionStrategy.deletionRules: Invalid value: 0: spec.deletionStrategy.deletionRules "
       "in body should have at least 1 items"},
      {job(R"({"deletionStrategy":{"deletionRules":[{"policy":"DeleteSelf","condition":{"ttlSeconds":5}}]}})"),
       R"(spec.deletionStrategy.deletionRules[0].condition: Invalid value: "object": needs jobStatus or jobDeploymentStatus)"},
      {job(R"({"deletionStrategy":{"deletionRules":[{"policy":"Explode","condition":{"jobStatus":"FAILED"}}]}})"),
       R"(spec.deletionStrategy.deletionRules[0].policy: Unsupported value: "Explode")"},
      {job("{}"), ""},  // neither cluster nor selector is the controller's to say
  });
  const Json old = run(job(R"({"managedBy":"ray.io/kuberay-operator"})")).object;
  EXPECT_EQ(run(job(R"({"managedBy":"kueue.x-k8s.io/multikueue"})"), &old).errors,
            std::vector<std::string>{
                R"(spec.managedBy: Invalid value: "string": the managedBy field is immutable)"});
}

TEST(NodeRules, NobodyHasLessThanNothing) {
  const auto node = [](std::string_view status) {
    return object("v1", "Node", R"("status":{)" + std::string(status) + "}");
  };
  const std::string addresses =
      R"("addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"InternalIP","address":"10.0.0.1"}])";
  check({
      {node(R"("capacity":{"cpu":"1500m","pods":"110","a.io/gpu":2,"memory":"1Gi"})"), ""},
      {node(R"("allocatable":{"cpu":"-4"})"),
       R"(status.allocatable.cpu: Invalid value: "-4": must be greater than or equal to 0)"},
      {node(R"("capacity":{"a.io/gpu":-1})"),
       R"(status.capacity.a.io/gpu: Invalid value: "-1": must be greater than or equal to 0)"},
      {node(R"("allocatable":{"pods":"1500m"})"),
       R"(status.allocatable.pods: Invalid value: "1500m": must be an integer)"},
      {node(R"("allocatable":{"a.io/gpu":"500m"})"),
       R"(status.allocatable.a.io/gpu: Invalid value: "500m": must be an integer)"},
      {node(addresses), ""},
  });
  const Json old = run(node(R"("capacity":{"cpu":"1"})")).object;
  EXPECT_EQ(
      run(node(addresses), &old).errors,
      std::vector<std::string>{
          R"(status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"10.0.0.1"})"});
}

TEST(VolcanoRules, NumbersHaveRoomFor32Bits) {
  const std::string wide = R"(<nil>: Invalid value: "": Checked value must be of type integer )"
                           "with format int32 in ";
  const auto queue = [](std::string_view priority) {
    return object("scheduling.volcano.sh/v1beta1", "Queue",
                  R"("spec":{"priority":)" + std::string(priority) + "}");
  };
  check({
      {queue("2147483647"), ""},
      {queue("2147483648"), wide + "spec.priority"},
      {object("batch.volcano.sh/v1alpha1", "Job",
              R"("spec":{"tasks":[{"name":"a","replicas":2147483648}]})"),
       wide + "spec.tasks[0].replicas"},
      {object("scheduling.volcano.sh/v1beta1", "PodGroup",
              R"("spec":{"minTaskMember":{"a":-2147483649}})"),
       wide + "spec.minTaskMember"},
  });
}

TEST(VolcanoRules, OfItsJobs) {
  const auto job = [](std::string_view spec) {
    return object("batch.volcano.sh/v1alpha1", "Job", R"("spec":)" + std::string(spec));
  };
  const std::string task =
      R"("tasks":[{"name":"t","replicas":1,"template":{"spec":{"containers":[{"name":"a"}]}}}])";
  check({
      {job(R"({"tasks":[]})"),
       "spec.tasks: Invalid value: 0: spec.tasks in body should have at least 1 items"},
      {job("{" + task + "}"), ""},
      {job("{" + task + R"(,"networkTopology":{"highestTierAllowed":1,"highestTierName":"rack"}})"),
       "spec.networkTopology: Invalid value"},
      {job("{" + task + R"(,"policies":[{"event":"Never","action":"AbortJob"}]})"),
       R"(spec.policies[0].event: Unsupported value: "Never")"},
  });
  const Json old = run(job("{" + task + "}")).object;
  EXPECT_EQ(text_at(old, {"spec", "queue"}), "default");
}

TEST(PriorityRules, ValuesStayAndSystemNamesAreReserved) {
  check({{object("scheduling.k8s.io/v1", "PriorityClass", R"("value":2000000000)"),
          "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"}});
  const Json old = run(object("scheduling.k8s.io/v1", "PriorityClass", R"("value":1)")).object;
  EXPECT_EQ(run(object("scheduling.k8s.io/v1", "PriorityClass", R"("value":2)"), &old).errors,
            std::vector<std::string>{"value: Invalid value: 2: field is immutable"});
}

TEST(ServiceRules, FieldsOfOneTypeAreRefusedInAnother) {
  const auto service = [](std::string_view more) {
    return object("v1", "Service", R"("spec":{"ports":[{"port":80}])" + std::string(more) + "}");
  };
  check({
      {service(R"(,"externalTrafficPolicy":"Local")"),
       "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
       "externally-accessible services"},
      {service(R"(,"externalTrafficPolicy":"Local","externalIPs":["1.2.3.4"])"), ""},
      {service(R"(,"loadBalancerClass":"a.b/c")"),
       "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
      {service(R"(,"type":"LoadBalancer","loadBalancerClass":"a b")"),
       "spec.loadBalancerClass: Invalid value: \"a b\": name part must consist"},
      {service(R"(,"allocateLoadBalancerNodePorts":true)"),
       "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when"},
      {service(R"(,"healthCheckNodePort":30000)"),
       "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is"},
      {service(R"(,"type":"LoadBalancer","loadBalancerSourceRanges":["foo"])"),
       "spec.LoadBalancerSourceRanges[0]: Invalid value: \"foo\": must be a valid CIDR value"},
      {service(R"(,"type":"LoadBalancer","loadBalancerSourceRanges":["1.2.3.4/8"])"),
       "spec.LoadBalancerSourceRanges[0]: Invalid value: \"1.2.3.4/8\": must not have bits set "
       "beyond the prefix length"},
      {service(R"(,"type":"LoadBalancer","loadBalancerSourceRanges":["10.0.0.0/8"])"), ""},
      {service(R"(,"ipFamilies":["Foo"])"),
       "spec.ipFamilies[0]: Unsupported value: \"Foo\": supported values: \"IPv4\", \"IPv6\""},
      {service(R"(,"ipFamilies":["IPv6"])"),
       "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster"},
      {service(R"(,"ipFamilyPolicy":"RequireDualStack")"),
       "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured"},
      {service(R"(,"trafficDistribution":"Foo")"),
       "spec.trafficDistribution: Unsupported value: \"Foo\": supported values: \"PreferClose\""},
      {service(
           R"(,"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}})"),
       "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than "
       "0 and less than 86400"},
      {service(R"(,"clusterIP":"None","type":"NodePort")"),
       "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort"},
      {object("v1", "Service", R"("spec":{"ports":[{"port":80,"appProtocol":"a b"}]})"),
       "spec.ports[0].appProtocol: Invalid value: \"a b\": name part must consist"},
  });
  const testing::Outcome out =
      run(service(R"(,"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}})"));
  EXPECT_EQ(find(out.object, {"spec", "sessionAffinityConfig"}), nullptr);
}

TEST(EndpointRules, AddressesCanBeReachedAndPortsToldApart) {
  const auto slice = [](std::string_view type, std::string_view rest) {
    return object("discovery.k8s.io/v1", "EndpointSlice",
                  R"("addressType":")" + std::string(type) + R"(",)" + std::string(rest));
  };
  const auto subset = [](std::string_view one) {
    return object("v1", "Endpoints", R"("subsets":[)" + std::string(one) + "]");
  };
  check({
      {slice("IPv4", R"("endpoints":[{"addresses":["1.2.3.4"]}])"), ""},
      {slice("IPv4", R"("endpoints":[{"addresses":["x"]}])"),
       "endpoints[0].addresses[0]: Invalid value: \"x\": must be a valid IP address"},
      {slice("IPv4", R"("endpoints":[{"addresses":["::2"]}])"),
       "endpoints[0].addresses[0]: Invalid value: \"::2\": must be an IPv4 address"},
      {slice("FQDN", R"("endpoints":[{"addresses":["A b"]}])"),
       "endpoints[0].addresses[0]: Invalid value: \"A b\": a lowercase RFC 1123 subdomain"},
      {slice("IPv4", R"("endpoints":[{"addresses":["1.2.3.4"],"nodeName":"A b"}])"),
       "endpoints[0].nodeName: Invalid value: \"A b\": a lowercase RFC 1123 subdomain"},
      {slice("IPv4", R"("endpoints":[],"ports":[{"port":80,"name":"a"},{"port":81,"name":"a"}])"),
       "ports[1].name: Duplicate value: \"a\""},
      {subset("{}"), "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
      {subset(R"({"addresses":[{"ip":"127.0.0.1"}]})"), ""},
      {subset(R"({"addresses":[{"ip":"0.0.0.0"}]})"),
       "subsets[0].addresses[0].ip: Invalid value: \"0.0.0.0\": may not be unspecified"},
      {subset(R"({"addresses":[{"ip":"1.2.3.4"}],"ports":[{"port":1},{"port":2}]})"),
       "subsets[0].ports[0].name: Required value"},
  });
}

TEST(RbacRules, AServiceAccountOfANamespacedBindingNeedsNoNamespace) {
  const auto binding = [](std::string_view kind) {
    return object(
        "rbac.authorization.k8s.io/v1", kind,
        R"("subjects":[{"kind":"ServiceAccount","name":"robot"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"})");
  };
  check(
      {{object("rbac.authorization.k8s.io/v1", "RoleBinding",
               R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"a/b"})"),
        "roleRef.name: Invalid value: \"a/b\": may not contain '/'"},
       {binding("RoleBinding"), ""},
       {binding("ClusterRoleBinding"), "subjects[0].namespace: Required value"}});
}

TEST(EventConversion, IsARename) {
  const KindSchemaPtr schema = testing::schemas().find("events.k8s.io", "v1", "events");
  EXPECT_EQ(schema->stored_kind(), kinds::kEvent);
  Json event = testing::parse(
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","regarding":{"name":"p"},"note":"n","reportingController":"c","deprecatedCount":2})");
  const std::string served = to_json(event);
  schema->to_stored(event);
  EXPECT_EQ(
      to_json(event),
      R"({"apiVersion":"v1","kind":"Event","involvedObject":{"name":"p"},"message":"n","reportingComponent":"c","count":2})");
  schema->from_stored(event);
  EXPECT_EQ(to_json(event), served);
}

TEST(PolicyRules, BudgetsQuotasAndLimits) {
  const auto spec = [](std::string_view version, std::string_view kind, std::string_view body) {
    return object(version, kind, R"("spec":)" + std::string(body));
  };
  check({
      {spec("policy/v1", "PodDisruptionBudget", R"({"minAvailable":"50%"})"), ""},
      {spec("policy/v1", "PodDisruptionBudget", R"({"minAvailable":1,"maxUnavailable":1})"),
       R"(spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set)"},
      {spec("policy/v1", "PodDisruptionBudget", R"({"minAvailable":"150%"})"),
       R"(spec.minAvailable: Invalid value: "150%": must not be greater than 100%)"},
      {spec("v1", "ResourceQuota", R"({"hard":{"pods":"-1"}})"),
       R"(spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0)"},
      {spec("v1", "ResourceQuota", R"({"scopes":["Terminating","NotTerminating"]})"),
       R"(spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes)"},
      {spec("v1", "ResourceQuota", R"({"scopes":["Sometimes"]})"),
       R"(spec.scopes: Invalid value: ["Sometimes"]: unsupported scope)"},
      {spec("v1", "LimitRange",
            R"({"limits":[{"type":"Container","min":{"cpu":"2"},"max":{"cpu":"1"}}]})"),
       R"(spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1)"},
      {spec("v1", "LimitRange", R"({"limits":[{"type":"Pod","default":{"cpu":"2"}}]})"),
       "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"},
  });
  const Json made =
      run(spec("v1", "LimitRange",
               R"({"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Gi"}}]})"))
          .object;
  const Json& item = (*array_at(made, {"spec", "limits"}))[0];
  EXPECT_EQ(text_at(item, {"default", "cpu"}), "2");
  EXPECT_EQ(text_at(item, {"defaultRequest", "cpu"}), "2");
  EXPECT_EQ(text_at(item, {"defaultRequest", "memory"}), "1Gi");
}

}  // namespace
}  // namespace krater::api
