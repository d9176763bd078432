// Likewise those of pods, Jobs and what makes pods.
#include <gtest/gtest.h>

#include "api/machinery/rules/rules.h"
#include "api/machinery/testing/rule_cases.h"

namespace krater::api {
namespace {

using testing::Case;
using testing::check;
using testing::object;
using testing::run;

TEST(PodRules, HostPortsAndSidecars) {
  const auto pod = [](std::string_view spec) {
    return object("v1", "Pod", R"("spec":)" + std::string(spec));
  };
  check({
      {pod(R"({"hostNetwork":true,"containers":[{"name":"a","image":"x","ports":[{"containerPort":80,"hostPort":81}]}]})"),
       "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when "
       "`hostNetwork` is true"},
      {pod(R"({"containers":[{"name":"a","image":"x","ports":[{"containerPort":1,"hostPort":5},{"containerPort":2,"hostPort":5}]}]})"),
       R"(spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//5")"},
      {pod(R"({"containers":[{"name":"a","image":"x","ports":[{"containerPort":1,"hostPort":5}]},{"name":"b","image":"x","ports":[{"containerPort":1,"hostPort":5}]}]})"),
       R"(spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//5")"},
      {pod(R"({"initContainers":[{"name":"i","image":"x","ports":[{"containerPort":1,"hostPort":5}]}],"containers":[{"name":"a","image":"x","ports":[{"containerPort":1,"hostPort":5},{"containerPort":2,"hostPort":5,"protocol":"UDP"},{"containerPort":3,"hostPort":5,"hostIP":"127.0.0.1"},{"containerPort":4},{"containerPort":6}]}]})"),
       ""},
      {pod(R"({"initContainers":[{"name":"i","image":"x","restartPolicy":"Never"}],"containers":[{"name":"a","image":"x"}]})"),
       R"(spec.initContainers[0].restartPolicy: Unsupported value: "Never": supported values: "Always")"},
      {pod(R"({"initContainers":[{"name":"a","image":"x"}],"containers":[{"name":"a","image":"x"}]})"),
       R"(spec.initContainers[0].name: Duplicate value: "a")"},
      {pod(R"({"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}],"containers":[{"name":"a","image":"x"}]})"),
       "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"},
      {pod(R"({"volumes":[{"name":"v"}],"containers":[{"name":"a","image":"x"}]})"),
       ""},  // an empty directory
      {pod(R"({"containers":[{"name":"a","image":"x","env":[{"name":"E","valueFrom":{}}]}]})"),
       "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of"},
  });
  const testing::Outcome out = run(pod(
      R"({"hostNetwork":true,"containers":[{"name":"a","image":"x","ports":[{"containerPort":80}]}]})"));
  EXPECT_EQ(int_at(array_at(out.object, {"spec", "containers"})->at(0).at("ports").as_array().at(0),
                   {"hostPort"}),
            80);
}

TEST(PodRules, NamesAddressesAndNumbersOfTheSpec) {
  const auto pod = [](std::string_view more, std::string_view container = "") {
    return object("v1", "Pod",
                  R"("spec":{"containers":[{"name":"a","image":"x")" + std::string(container) +
                      "}]" + std::string(more) + "}");
  };
  const std::string c = "spec.containers[0].";
  check({
      {object("v1", "Pod", R"("spec":{"containers":[{"name":"a","image":" x"}]})"),
       c + "image: Invalid value: \" x\": must not have leading or trailing whitespace"},
      {pod(R"(,"dnsPolicy":"None")"),
       "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"},
      {pod(R"(,"dnsConfig":{"nameservers":["x"]})"),
       "spec.dnsConfig.nameservers[0]: Invalid value: \"x\": must be a valid IP address"},
      {pod(R"(,"terminationGracePeriodSeconds":-1)"), ""},
      {pod(R"(,"readinessGates":[{"conditionType":"a b"}])"),
       "spec.readinessGates[0].conditionType: Invalid value: \"a b\": name part must consist"},
      {pod(R"(,"schedulingGates":[{"name":"a b"}])"),
       "spec.schedulingGates[0]: Invalid value: \"a b\": name part must consist"},
      {pod(R"(,"schedulingGates":[{"name":"a"}],"nodeName":"n")"),
       "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
      {pod(R"(,"ephemeralContainers":[{"name":"e","image":"x"}])"),
       "spec.ephemeralContainers: Forbidden: cannot be set on create"},
      {pod(R"(,"securityContext":{"supplementalGroups":[-1]})"),
       "spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and"},
      {pod(R"(,"securityContext":{"seccompProfile":{"type":"Localhost"}})"),
       "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when"},
      {pod(R"(,"resourceClaims":[{"name":"a"}])"),
       R"(spec.resourceClaims[0]: Invalid value: {"name":"a"}: must specify one of: )"},
      {pod(R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway","minDomains":2}])"),
       "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains "
       "if"},
      {pod("", R"(,"lifecycle":{"preStop":{"sleep":{"seconds":100}}})"),
       c + "lifecycle.preStop.sleep: Invalid value: 100: must be non-negative and less than "
           "terminationGracePeriodSeconds (30)"},
      {pod("", R"(,"readinessProbe":{"exec":{"command":["a"]},"terminationGracePeriodSeconds":3})"),
       c + "readinessProbe.terminationGracePeriodSeconds: Invalid value: 3: must not be set for"},
      {pod("", R"(,"envFrom":[{"prefix":"=a","configMapRef":{"name":"m"}}])"),
       c + "envFrom[0].prefix: Invalid value: \"=a\": a valid environment variable name"},
      {pod("", R"(,"env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}}])"),
       c + "env[0].valueFrom.fieldRef.fieldPath: Unsupported value: \"metadata.labels\": "
           "supported"},
      {pod("", R"(,"env":[{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.x"}}}])"),
       c + "env[0].valueFrom.resourceFieldRef.resource: Unsupported value: \"limits.x\": "
           "supported"},
      {pod("", R"(,"resources":{"limits":{"hugepages-2Mi":"3Mi","cpu":"1"}})"),
       c + "resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer "
           "multiple of hugepages-2Mi"},
      {pod("", R"(,"resources":{"limits":{"hugepages-2Mi":"4Mi"}})"),
       c + "resources: Forbidden: HugePages require cpu or memory"},
      {pod(R"(,"volumes":[{"name":"v","nfs":{"server":"s","path":"a"}}])"),
       "spec.volumes[0].nfs.path: Invalid value: \"a\": must be an absolute path"},
      {pod(R"(,"volumes":[{"name":"v","ephemeral":{}}])"),
       "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"},
      {pod(R"(,"volumes":[{"name":"v","emptyDir":{"sizeLimit":"-1"}}])"),
       "spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource"},
      {pod("",
           R"(,"env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a b']"}}}])"),
       c + "env[0].valueFrom.fieldRef: Invalid value: \"a b\": name part must consist of"},
      {pod("",
           R"(,"env":[{"name":"E","valueFrom":{"fieldRef":{"apiVersion":"v2","fieldPath":"metadata.name"}}}])"),
       c + "env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"metadata.name\": error "
           "converting "
           "fieldPath: unsupported pod version: v2"},
      {pod("", R"(,"resources":{"limits":{"requests.nvidia.com/gpu":"1"}})"),
       c + "resources.limits[requests.nvidia.com/gpu]: Invalid value: "
           "\"requests.nvidia.com/gpu\": doesn't follow extended resource name standard"},
      {pod("", R"(,"resources":{"claims":[{"name":"x"}]})"),
       c + "resources.claims[0]: Not found: \"x\": must be one of the names in "
           "pod.spec.resourceClaims which is empty"},
      {pod(R"(,"resourceClaims":[{"name":"y","resourceClaimName":"r"},{"name":"x","resourceClaimName":"s"}])",
           R"(,"resources":{"claims":[{"name":"z"}]})"),
       c + "resources.claims[0]: Not found: \"z\": must be one of the names in "
           "pod.spec.resourceClaims: x, y"},
      {pod("",
           R"(,"livenessProbe":{"httpGet":{"path":"/","port":1,"httpHeaders":[{"name":"a b","value":"1"}]}})"),
       c + "livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must "
           "consist of"},
      {pod(R"(,"volumes":[{"name":"v"}])",
           R"(,"volumeMounts":[{"name":"v","mountPath":"/v","mountPropagation":"Bidirectional"}])"),
       c + "volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is "
           "available only to privileged containers"},
      {pod(R"(,"volumes":[{"name":"v"}])",
           R"(,"volumeMounts":[{"name":"v","mountPath":"/v","recursiveReadOnly":"Enabled"}])"),
       c + "volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is "
           "true"},
      {pod(R"(,"volumes":[{"name":"v"}])",
           R"(,"volumeMounts":[{"name":"v","mountPath":"/v","readOnly":true,"recursiveReadOnly":"IfPossible"}])"),
       ""},
      {pod(R"(,"securityContext":{"sysctls":[{"name":"net.ipv4/ip_local_port_range","value":"1"}]})"),
       ""},
      {pod(R"(,"securityContext":{"sysctls":[{"name":"a..b","value":"1"}]})"),
       "spec.securityContext.sysctls[0].name: Invalid value: \"a..b\": must have at most 253 "
       "characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*"},
      {pod(R"(,"securityContext":{"sysctls":[{"name":"a","value":"1"},{"name":"a","value":"2"}]})"),
       "spec.securityContext.sysctls[1].name: Duplicate value: \"a\""},
      {pod(R"(,"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":"status.podIP"}}]}}])"),
       "spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: "
       "\"status.podIP\": supported values: \"metadata.annotations\", "},
      {pod(R"(,"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"a","resourceFieldRef":{"resource":"limits.cpu"}}]}}])"),
       "spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName: Required value"},
      {pod(R"(,"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"a","resourceFieldRef":{"containerName":"a","resource":"limits.foo"}}]}}])"),
       "spec.volumes[0].downwardAPI.items[0].resourceFieldRef.resource: Unsupported value: "
       "\"limits.foo\""},
      {pod(R"(,"volumes":[{"name":"v","downwardAPI":{"items":[{"path":"a"}]}}])"),
       "spec.volumes[0].downwardAPI.items[0]: Required value: one of fieldRef and "
       "resourceFieldRef"},
  });
  // What an older server took and nobody changed stays.
  const Json old = run(pod(R"(,"readinessGates":[{"conditionType":"a b"}])")).object;
  EXPECT_TRUE(run(pod(R"(,"readinessGates":[{"conditionType":"a b"}])"), &old).errors.empty());
}

TEST(DownwardRules, OnlyWhatAPodCanBeToldIsAccepted) {
  const auto pod = [](const std::string& source) {
    return object(
        "v1", "Pod",
        R"("spec":{"containers":[{"name":"a","image":"i","env":[{"name":"X","valueFrom":)" +
            source + "}]}]}");
  };
  const std::string at = "spec.containers[0].env[0].valueFrom.";
  check({
      {pod(R"({"fieldRef":{"fieldPath":"metadata.annotations['a/b']"}})"), ""},
      {pod(R"({"fieldRef":{"fieldPath":"spec.nothing"}})"),
       at +
           "fieldRef.fieldPath: Invalid value: \"spec.nothing\": error converting fieldPath: field "
           "label not supported: spec.nothing"},
      {pod(R"({"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}})"), ""},
      {pod(R"({"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}})"), ""},
      {pod(R"({"resourceFieldRef":{"resource":"limits.memory","divisor":"1m"}})"),
       at + "resourceFieldRef.divisor: Invalid value: \"1m\": only divisor's values 1, 1k,"},
  });
}

TEST(JobRules, TemplatesAndSelectorsStay) {
  const auto job = [](std::string_view image, std::string_view more = "") {
    return object(
        "batch/v1", "Job",
        R"("spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":")" +
            std::string(image) + R"("}]}})" + std::string(more) + "}");
  };
  check({{job("a", R"(,"completionMode":"Indexed","parallelism":2)"),
          "spec.completions: Required value: when completion mode is Indexed"},
         {job("a", R"(,"parallelism":-1)"),
          "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"}});
  const Json old = run(job("a")).object;
  const auto changed = run(job("b"), &old);
  ASSERT_EQ(changed.errors.size(), 1U);
  EXPECT_EQ(changed.errors[0].substr(0, 29), "spec.template: Invalid value:");
  EXPECT_TRUE(run(job("a", R"(,"parallelism":3,"completions":1)"), &old).errors.empty());
}

TEST(JobRules, WhileSuspendedOnlyThePlaceOfItsPodsMayChange) {
  const auto job = [](std::string_view suspend, std::string_view pod_spec,
                      std::string_view metadata = "{}", std::string_view status = "") {
    return object("batch/v1", "Job",
                  R"("spec":{"suspend":)" + std::string(suspend) + R"(,"template":{"metadata":)" +
                      std::string(metadata) + R"(,"spec":{"restartPolicy":"Never",)" +
                      std::string(pod_spec) + "}}}" + std::string(status));
  };
  const std::string a = R"("containers":[{"name":"a","image":"a"}])";
  const std::string placed =
      a +
      R"(,"nodeSelector":{"k":"v"},"tolerations":[{"operator":"Exists"}],"schedulingGates":[{"name":"g"}])";
  const std::string near_node =
      a +
      R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"}]}]}}})";
  const std::string near_pod =
      a +
      R"(,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k","labelSelector":{"matchLabels":{"a":"b"}}}]}})";
  const Json old = run(job("true", a)).object;
  const auto refused = [](const std::string& now, const Json& before) {
    const auto out = run(now, &before);
    return out.errors.size() == 1 && out.errors[0].starts_with("spec.template: Invalid value:") &&
           out.errors[0].ends_with(": field is immutable");
  };
  for (const std::string& now :
       {job("true", placed), job("false", placed), job("true", near_node),
        job("true", a, R"({"labels":{"a":"b"},"annotations":{"c":"d"}})")}) {
    EXPECT_TRUE(run(now, &old).errors.empty()) << now;
  }
  const Json was_near = run(job("true", near_node)).object;
  EXPECT_TRUE(run(job("true", a), &was_near).errors.empty());
  for (const std::string& now :
       {job("true", R"("containers":[{"name":"a","image":"b"}])"),
        job("true", R"("containers":[{"name":"a","image":"a","env":[{"name":"E","value":"1"}]}])"),
        job("true", a + R"(,"activeDeadlineSeconds":3)"), job("true", near_pod)}) {
    EXPECT_TRUE(refused(now, old)) << now;
  }
  const Json begun =
      run(job("true", a, "{}", R"(,"status":{"startTime":"2026-01-01T00:00:00Z"})")).object;
  EXPECT_TRUE(refused(job("true", placed), begun));
  EXPECT_TRUE(refused(job("true", placed), run(job("false", a)).object));
}

TEST(JobRules, IndexesAndPoliciesFitTheJob) {
  const auto job = [](std::string_view more) {
    return object(
        "batch/v1", "Job",
        R"("spec":{"template":{"spec":{"restartPolicy":"Never","initContainers":[{"name":"i","image":"x"}],"containers":[{"name":"a","image":"x"}]}})" +
            std::string(more) + "}");
  };
  const auto indexed = [&](std::string_view more) {
    return job(R"(,"completionMode":"Indexed","completions":2)" + std::string(more));
  };
  const auto success = [&](std::string_view rule) {
    return indexed(R"(,"successPolicy":{"rules":[)" + std::string(rule) + "]}");
  };
  const auto failure = [&](std::string_view rule) {
    return job(R"(,"podFailurePolicy":{"rules":[)" + std::string(rule) + "]}");
  };
  const std::string many = R"(,"completionMode":"Indexed","completions":100001)";
  const std::string rule = "spec.successPolicy.rules[0]";
  const std::string failed = "spec.podFailurePolicy.rules[0]";
  check({
      {indexed(R"(,"backoffLimitPerIndex":1,"maxFailedIndexes":2)"), ""},
      {indexed(R"(,"backoffLimitPerIndex":1,"maxFailedIndexes":3)"),
       "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions"},
      {job(many), ""},
      {job(many + R"(,"backoffLimitPerIndex":1)"),
       "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"},
      {job(many + R"(,"backoffLimitPerIndex":1,"maxFailedIndexes":10001)"),
       "spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when "
       "completions are above 100000 and used with backoff limit per index"},
      {job(many + R"(,"backoffLimitPerIndex":1,"maxFailedIndexes":1,"parallelism":10001)"),
       "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when "},
      {job(R"(,"podFailurePolicy":{"rules":[]})"), ""},
      {failure(
           R"({"action":"FailJob","onExitCodes":{"operator":"In","containerName":"i","values":[1]}})"),
       ""},
      {failure(
           R"({"action":"FailJob","onExitCodes":{"operator":"In","containerName":"nope","values":[1]}})"),
       failed + ".onExitCodes.containerName: Invalid value: \"nope\": must be one of the container "
                "or initContainer names in the pod template"},
      {failure(R"({"action":"FailJob","onExitCodes":{"operator":"In","values":[]}})"),
       failed + ".onExitCodes.values: Invalid value: []: at least one value is required"},
      {failure(R"({"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}})"),
       failed +
           ".action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set"},
      {failure(R"({"action":"Ignore","onPodConditions":[{"type":"a b"}]})"),
       failed + ".onPodConditions[0].type: Invalid value: \"a b\": name part must consist of"},
      {failure(R"({"action":"Ignore","onPodConditions":[{"type":"a","status":"x"}]})"),
       failed +
           R"(.onPodConditions[0].status: Unsupported value: "x": supported values: "False", )"},
      {indexed(R"(,"successPolicy":{"rules":[]})"),
       "spec.successPolicy.rules: Required value: at least one rules must be specified when the "
       "successPolicy is specified"},
      {success(R"({"succeededIndexes":"0-1","succeededCount":2})"), ""},
      {success("{}"),
       rule + ": Required value: at least one of succeededCount or succeededIndexes must be "
              "specified"},
      {success(R"({"succeededIndexes":"0-5"})"),
       rule +
           ".succeededIndexes: Invalid value: \"0-5\": error parsing succeededIndexes: too large "
           "index: \"5\""},
      {success(R"({"succeededIndexes":"1,0"})"),
       rule + ".succeededIndexes: Invalid value: \"1,0\": error parsing succeededIndexes: "
              "non-increasing order, previous: 1, current: 0"},
      {success(R"({"succeededIndexes":"1-1"})"),
       rule + ".succeededIndexes: Invalid value: \"1-1\": error parsing succeededIndexes: "
              "non-increasing order, previous: 1, current: 1"},
      {success(R"({"succeededIndexes":"0-1-2"})"),
       rule + ".succeededIndexes: Invalid value: \"0-1-2\": error parsing succeededIndexes: the "
              "fragment \"0-1-2\" violates"},
      {success(R"({"succeededIndexes":"x"})"),
       rule + ".succeededIndexes: Invalid value: \"x\": error parsing succeededIndexes: cannot "
              "convert string to integer for index: \"x\""},
      {success(R"({"succeededIndexes":"0","succeededCount":2})"),
       rule + ".succeededCount: Invalid value: 2: must be less than or equal to 1 (the number of "
              "indexes in the specified succeededIndexes field)"},
      {success(R"({"succeededCount":3})"),
       rule + ".succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of "
              "specified completions)"},
  });
  const Json old = run(indexed(R"(,"parallelism":2)")).object;
  const std::string three = R"(,"completionMode":"Indexed","completions":3)";
  EXPECT_TRUE(run(job(three + R"(,"parallelism":3)"), &old).errors.empty());
  EXPECT_EQ(run(job(three + R"(,"parallelism":2)"), &old).errors,
            std::vector<std::string>{"spec.completions: Invalid value: 3: can only be modified in "
                                     "tandem with spec.parallelism"});
}

TEST(JobRules, PoliciesAndSelectorsOfTheUsersOwn) {
  const auto job = [](std::string_view more, std::string_view labels = "{}") {
    return object(
        "batch/v1", "Job",
        R"("spec":{"template":{"metadata":{"labels":)" + std::string(labels) +
            R"(},"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"x"}]}})" +
            std::string(more) + "}");
  };
  check({
      {job(R"(,"manualSelector":true,"selector":{"matchLabels":{"a":"b"}})", R"({"a":"b"})"), ""},
      {job(R"(,"manualSelector":true,"selector":{"matchLabels":{"a":"b"}})", R"({"a":"c"})"),
       "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match"},
      {job(R"(,"manualSelector":true)"), "spec.selector: Required value"},
      {job(R"(,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[0]}}]})"),
       "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for"},
      {job(R"(,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3,2]}}]})"),
       "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,2]: must be ordered"},
      {job(R"(,"maxFailedIndexes":3)"),
       "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"},
      {job(R"(,"successPolicy":{"rules":[{"succeededCount":1}]})"),
       "spec.successPolicy: Invalid value: "},
      {job(R"(,"managedBy":"a b")"),
       "spec.managedBy: Invalid value: \"a b\": must be a domain-prefixed path"},
      {job(R"(,"completionMode":"Indexed","completions":200000,"parallelism":200000)"),
       "spec.parallelism: Invalid value: 200000: must be less than or equal to 100000"},
  });
}

TEST(WorkloadRules, SelectorsFitTemplatesAndStrategiesMakeSense) {
  const auto deployment = [](std::string_view more) {
    return object(
        "apps/v1", "Deployment",
        R"("spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}})" +
            std::string(more) + "}");
  };
  const auto pods = [](std::string_view kind, std::string_view selector, std::string_view pod) {
    return object(
        "apps/v1", kind,
        R"("spec":{"selector":)" + std::string(selector) +
            R"(,"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}])" +
            std::string(pod) + "}}}");
  };
  check({
      {deployment(""), ""},
      {pods("Deployment", R"({"matchLabels":{"app":"b"}})", ""),
       R"(spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`)"},
      {pods("Deployment", "{}", ""),
       "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
      {pods("ReplicaSet", "{}", ""),
       "spec.selector: Invalid value: {}: empty selector is invalid for ReplicaSet"},
      {object("apps/v1", "ReplicaSet", R"("spec":{})"), "spec.selector: Required value"},
      {pods("ReplicaSet", R"({"matchLabels":{"app":"a"}})", R"(,"restartPolicy":"Never")"),
       R"(spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always")"},
      {pods("Deployment", R"({"matchLabels":{"app":"a"}})", R"(,"activeDeadlineSeconds":5)"),
       "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet "
       "is not Supported"},
      {deployment(R"(,"replicas":-1)"),
       "spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
      {deployment(R"(,"strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}})"),
       "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is "
       "'Recreate'"},
      {deployment(R"(,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}})"),
       "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
       "`maxSurge` is 0"},
      {deployment(R"(,"strategy":{"rollingUpdate":{"maxUnavailable":"200%"}})"),
       R"(spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "200%": must not be greater than 100%)"},
      {deployment(R"(,"strategy":{"rollingUpdate":{"maxSurge":"many"}})"),
       R"(spec.strategy.rollingUpdate.maxSurge: Invalid value: "many": a valid percent string)"},
      {deployment(R"(,"progressDeadlineSeconds":5,"minReadySeconds":5)"),
       "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"},
  });
  const Json old = run(deployment("")).object;
  EXPECT_EQ(int_at(old, {"spec", "replicas"}), 1);
  EXPECT_EQ(int_at(old, {"spec", "revisionHistoryLimit"}), 10);
  EXPECT_EQ(int_at(old, {"spec", "progressDeadlineSeconds"}), 600);
  EXPECT_EQ(text_at(old, {"spec", "strategy", "type"}), "RollingUpdate");
  EXPECT_EQ(text_at(old, {"spec", "strategy", "rollingUpdate", "maxSurge"}), "25%");
  const auto other = run(
      object(
          "apps/v1", "Deployment",
          R"("spec":{"selector":{"matchLabels":{"app":"b"}},"template":{"metadata":{"labels":{"app":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}})"),
      &old);
  EXPECT_EQ(
      other.errors,
      std::vector<std::string>{
          R"(spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable)"});
}

TEST(WorkloadRules, SetsAndCronJobs) {
  const auto set = [](std::string_view kind, std::string_view more) {
    return object(
        "apps/v1", kind,
        R"("spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}})" +
            std::string(more) + "}");
  };
  const auto cron = [](std::string_view schedule, std::string_view more = "",
                       std::string_view job = "") {
    return object(
        "batch/v1", "CronJob",
        R"("spec":{"schedule":")" + std::string(schedule) + "\"" + std::string(more) +
            R"(,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})" +
            std::string(job) + "}}}");
  };
  check({
      {set("StatefulSet", ""), ""},
      {set("StatefulSet", R"(,"volumeClaimTemplates":[{"metadata":{"name":"v"}}])"),
       "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is "
       "required"},
      {set("StatefulSet", R"(,"podManagementPolicy":"Any")"),
       R"(spec.podManagementPolicy: Unsupported value: "Any": supported values: "OrderedReady", "Parallel")"},
      {set("DaemonSet", ""), ""},
      {set("DaemonSet", R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}})"),
       "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when "
       "maxSurge is 0"},
      {set("DaemonSet", R"(,"updateStrategy":{"rollingUpdate":{"maxSurge":1}})"),
       "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
       "maxUnavailable is non-zero"},
      {cron("*/5 * * * *"), ""},
      {cron("never"),
       R"(spec.schedule: Invalid value: "never": expected exactly 5 fields, found 1: [never])"},
      {cron("CRON_TZ=UTC * * * * *"),
       R"(spec.schedule: Invalid value: "CRON_TZ=UTC * * * * *": cannot use TZ or CRON_TZ)"},
      {cron("* * * * *", R"(,"timeZone":"Local")"),
       R"(spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone)"},
      {cron("* * * * *", "", R"(,"manualSelector":true)"),
       "spec.jobTemplate.spec.manualSelector: Unsupported value: \"true\""},
  });
  // The template of a CronJob is not filled in as a Job is.
  const Json made = run(cron("* * * * *")).object;
  EXPECT_EQ(find(made, {"spec", "jobTemplate", "spec", "completions"}), nullptr);
  EXPECT_EQ(int_at(made, {"spec", "failedJobsHistoryLimit"}), 1);
  const Json old = run(set("StatefulSet", R"(,"serviceName":"a")")).object;
  EXPECT_EQ(int_at(old, {"spec", "updateStrategy", "rollingUpdate", "partition"}), 0);
  const auto changed = run(set("StatefulSet", R"(,"serviceName":"b","replicas":3)"), &old);
  ASSERT_EQ(changed.errors.size(), 1U);
  EXPECT_EQ(changed.errors[0].substr(0, 60),
            "spec: Forbidden: updates to statefulset spec for fields othe");
}

}  // namespace
}  // namespace krater::api
