// The pipeline of a write, case by case: an object as a user sends it, and what becomes of it.
#include "api/machinery/testing/pipeline.h"

#include <gtest/gtest.h>

#include "api/machinery/keep_spelling.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using testing::run;
using testing::schemas;
using Outcome = testing::Outcome;

std::string pod(std::string_view spec) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":)" + std::string(spec) +
         "}";
}

std::string with_container(std::string_view fields) {
  return pod(R"({"containers":[{"name":"main","image":"busybox:1.36",)" + std::string(fields) +
             "}]}");
}

TEST(Pipeline, APodGetsTheDefaultsOfUpstream) {
  const Outcome out = run(pod(
      R"({"containers":[{"name":"a","image":"busybox"},{"name":"b","image":"repo:5000/x:1"}]})"));
  EXPECT_TRUE(out.errors.empty()) << join(out.errors, "\n");
  EXPECT_EQ(
      to_json(*find(out.object, {"spec"})),
      R"({"containers":[{"name":"a","image":"busybox","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"},)"
      R"({"name":"b","image":"repo:5000/x:1","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],)"
      R"("dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30,"enableServiceLinks":true})");
  EXPECT_EQ(text_at(out.object, {"status", "phase"}), "Pending");
}

TEST(Pipeline, TemplatesGetNoneOfTheDefaultsThatPodsAloneHave) {
  const Outcome out = run(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}}}})");
  EXPECT_TRUE(out.errors.empty()) << join(out.errors, "\n");
  const Json& spec = *find(out.object, {"spec", "template", "spec"});
  const Json& container = array_at(spec, {"containers"})->at(0);
  EXPECT_EQ(to_json(*find(container, {"resources"})), R"({"limits":{"cpu":"1"}})");
  EXPECT_EQ(find(spec, {"enableServiceLinks"}), nullptr);
  EXPECT_EQ(find(array_at(container, {"ports"})->at(0), {"hostPort"}), nullptr);
  EXPECT_EQ(text_at(spec, {"dnsPolicy"}), "ClusterFirst");
}

TEST(Pipeline, EveryDefaultOfAnObjectIsThereAfterOnePassAndAnotherChangesNothing) {
  const Outcome once = run(with_container(
      R"("resources":{"limits":{"cpu":"0.5"}},"readinessProbe":{"httpGet":{"port":80}})"));
  const Json& container = array_at(once.object, {"spec", "containers"})->at(0);
  EXPECT_EQ(text_at(container, {"resources", "requests", "cpu"}), "500m");
  EXPECT_EQ(text_at(container, {"readinessProbe", "httpGet", "scheme"}), "HTTP");
  EXPECT_EQ(text_at(container, {"readinessProbe", "httpGet", "path"}), "/");
  EXPECT_EQ(int_at(container, {"readinessProbe", "failureThreshold"}), 3);
  EXPECT_EQ(to_json(run(to_json(once.object)).object), to_json(once.object));
}

TEST(Pipeline, UnknownFieldsAreReportedWithTheirPathsAndGo) {
  const Outcome out = run(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","foo":1},"spec":{"containers":[{"name":"a","image":"b","imagePolicy":"x"}],"bar":{}}})");
  EXPECT_EQ(out.unknown,
            (std::vector<std::string>{R"(unknown field "metadata.foo")",
                                      R"(unknown field "spec.containers[0].imagePolicy")",
                                      R"(unknown field "spec.bar")"}));
  EXPECT_EQ(find(out.object, {"spec", "bar"}), nullptr);
}

TEST(Pipeline, WrongTypesReadAsGoSaysThem) {
  const struct {
    std::string spec, error;
  } cases[] = {
      {R"({"containers":"x"})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {R"({"containers":[{"name":"a","image":5}]})",
       "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type "
       "string"},
      {R"({"containers":[{"name":"a","image":"b","env":[{"name":"A","value":1}]}]})",
       "json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of "
       "type string"},
      {R"({"priority":1.5})",
       "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type "
       "int32"},
      {R"({"hostNetwork":"yes"})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(run(pod(item.spec)).type_error,
              "Pod in version \"v1\" cannot be handled as a Pod: " + item.error);
  }
}

TEST(Pipeline, BrokenPodsAreRefusedInKubernetesWords) {
  const struct {
    std::string object, error;
  } cases[] = {
      {pod("{}"), "spec.containers: Required value"},
      {pod(R"({"containers":[{"name":"a"}]})"), "spec.containers[0].image: Required value"},
      {pod(R"({"containers":[{"name":"a","image":"x"},{"name":"a","image":"x"}]})"),
       R"(spec.containers[1].name: Duplicate value: "a")"},
      {pod(R"({"restartPolicy":"Sometimes","containers":[{"name":"a","image":"x"}]})"),
       R"(spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure")"},
      {with_container(R"("ports":[{"containerPort":70000}])"),
       "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and "
       "65535, inclusive"},
      {with_container(R"("volumeMounts":[{"name":"v","mountPath":"/v"}])"),
       R"(spec.containers[0].volumeMounts[0].name: Not found: "v")"},
      {with_container(R"("resources":{"limits":{"nvidia.com/gpu":"0.5"}})"),
       R"(spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer)"},
      {with_container(R"("resources":{"requests":{"cpu":"-1"}})"),
       R"(spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0)"},
      {with_container(R"("resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}})"),
       R"(spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1)"},
      {with_container(R"("livenessProbe":{})"),
       "spec.containers[0].livenessProbe: Required value: must specify a handler type"},
      {pod(R"({"tolerations":[{"value":"x"}],"containers":[{"name":"a","image":"x"}]})"),
       R"(spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys")"},
  };
  for (const auto& item : cases) {
    const Outcome out = run(item.object);
    ASSERT_EQ(out.type_error, "");
    EXPECT_NE(std::find(out.errors.begin(), out.errors.end(), item.error), out.errors.end())
        << "wanted " << item.error << "\ngot " << join(out.errors, "\n");
  }
}

TEST(Pipeline, QuantitiesAreStoredInCanonicalForm) {
  const struct {
    std::string_view written, stored;
  } cases[] = {{R"("0.5")", "500m"},
               {R"("1000m")", "1"},
               {R"("0.5Gi")", "512Mi"},
               {R"("1e3")", "1e3"},
               {R"("1048576")", "1048576"},
               {R"("0.001Mi")", "1048576m"},
               {"2", "2"},
               {"0.25", "250m"}};
  for (const auto& item : cases) {
    const Outcome out = run(
        with_container(R"("resources":{"requests":{"memory":)" + std::string(item.written) + "}}"));
    EXPECT_EQ(text_at(array_at(out.object, {"spec", "containers"})->at(0),
                      {"resources", "requests", "memory"}),
              item.stored);
  }
}

TEST(Pipeline, EqualAmountsKeepTheWordsTheyHad) {
  const Json old = testing::parse(R"({"spec":{"containers":[
      {"name":"a","resources":{"requests":{"memory":"512Mi","cpu":"1"}}},
      {"name":"b","resources":{"requests":{"memory":"1Gi"}}}]}})");
  Json now = testing::parse(R"({"spec":{"containers":[
      {"name":"b","resources":{"requests":{"memory":"1073741824","cpu":"1"}}},
      {"name":"a","resources":{"requests":{"memory":"536870912","cpu":"2"}}}]}})");
  keep_spelling(testing::schemas().find("", "v1", "pods")->root(), now, old);
  EXPECT_EQ(now, testing::parse(R"({"spec":{"containers":[
      {"name":"b","resources":{"requests":{"memory":"1Gi","cpu":"1"}}},
      {"name":"a","resources":{"requests":{"memory":"512Mi","cpu":"2"}}}]}})"));
}

TEST(Pipeline, ABadQuantityNamesItsField) {
  const Outcome out = run(with_container(R"("resources":{"requests":{"memory":"1GB"}})"));
  EXPECT_NE(out.type_error.find("spec.containers[0].resources.requests[memory]: "),
            std::string::npos)
      << out.type_error;
}

TEST(Pipeline, EqualPortNumbersOfUnlikeProtocolsAreTwoPorts) {
  const auto service = [](std::string_view ports) {
    return R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"dns"},"spec":{"ports":)" +
           std::string(ports) + "}}";
  };
  const Outcome both =
      run(service(R"([{"name":"a","port":53},{"name":"b","port":53,"protocol":"UDP"}])"));
  EXPECT_TRUE(both.errors.empty()) << join(both.errors, "\n");
  EXPECT_EQ(array_at(both.object, {"spec", "ports"})->size(), 2U);
  const Outcome twice =
      run(service(R"([{"name":"a","port":53},{"name":"b","port":53,"protocol":"TCP"}])"));
  EXPECT_EQ(twice.errors, std::vector<std::string>{
                              R"(spec.ports[1]: Duplicate value: {"port":53,"protocol":"TCP"})"});
}

TEST(Pipeline, ZeroAndAbsentAreOneWhereTheOriginalTypesSaySo) {
  const Outcome out = run(pod(
      R"({"hostNetwork":false,"nodeName":"","nodeSelector":{},"priority":0,"activeDeadlineSeconds":null,"containers":[{"name":"a","image":"x","args":[]}]})"));
  EXPECT_EQ(find(out.object, {"spec", "hostNetwork"}), nullptr);
  EXPECT_EQ(find(out.object, {"spec", "nodeName"}), nullptr);
  EXPECT_EQ(find(out.object, {"spec", "nodeSelector"}), nullptr);
  EXPECT_EQ(find(out.object, {"spec", "activeDeadlineSeconds"}), nullptr);
  EXPECT_EQ(int_at(out.object, {"spec", "priority"}), 0);  // a pointer: zero is a value
}

constexpr std::string_view kRayJob =
    R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j"},"spec":{
  "entrypoint":"python x.py","rayClusterSpec":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[
  {"name":"ray-head","image":"rayproject/ray:2.52.0","resources":{"requests":{"cpu":"0.5"}},"ports":[{"containerPort":6379}]}]}}},
  "workerGroupSpecs":[{"groupName":"w","replicas":2,"template":{"spec":{"containers":[{"name":"w"}]}}}]}}})";

TEST(Pipeline, ARayJobGetsTheDefaultsOfItsDefinitionAndNoOthers) {
  const Outcome out = run(kRayJob);
  EXPECT_TRUE(out.errors.empty()) << join(out.errors, "\n");
  EXPECT_TRUE(out.unknown.empty()) << join(out.unknown, "\n");
  EXPECT_EQ(text_at(out.object, {"spec", "submissionMode"}), "K8sJobMode");
  EXPECT_EQ(int_at(out.object, {"spec", "backoffLimit"}), 0);
  const Json& group = array_at(out.object, {"spec", "rayClusterSpec", "workerGroupSpecs"})->at(0);
  EXPECT_EQ(int_at(group, {"maxReplicas"}), 2147483647);
  EXPECT_EQ(int_at(group, {"numOfHosts"}), 1);
  const Json& head = array_at(out.object, {"spec", "rayClusterSpec", "headGroupSpec", "template",
                                           "spec", "containers"})
                         ->at(0);
  EXPECT_EQ(text_at(head, {"resources", "requests", "cpu"}), "0.5");  // kept as written
  EXPECT_EQ(find(head, {"imagePullPolicy"}), nullptr);
  EXPECT_EQ(text_at(array_at(head, {"ports"})->at(0), {"protocol"}), "TCP");  // a key of the list
}

TEST(Pipeline, BrokenCustomObjectsAreRefusedInTheWordsOfTheirSchema) {
  const struct {
    std::string object, error;
  } cases[] = {
      {R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"c"},"spec":{}})",
       "spec.headGroupSpec: Required value"},
      {R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"c"},"spec":{"backoffLimit":"x"}})",
       R"(spec.backoffLimit: Invalid value: "string": spec.backoffLimit in body must be of type integer: "string")"},
      {R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"c"},"spec":{"preRunningDeadlineSeconds":0}})",
       "spec.preRunningDeadlineSeconds: Invalid value: 0: spec.preRunningDeadlineSeconds in body "
       "should be greater than or equal to 1"},
      {R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"c"},"spec":{"managedBy":"me"}})",
       R"(spec.managedBy: Invalid value: "string": the managedBy field value must be either 'ray.io/kuberay-operator' or 'kueue.x-k8s.io/multikueue')"},
      {R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":0}})",
       "spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1"},
      {R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"dequeueStrategy":"lifo"}})",
       R"(spec.dequeueStrategy: Unsupported value: "lifo": supported values: "fifo", "traverse")"},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(run(item.object).errors, std::vector<std::string>{item.error});
  }
}

TEST(Pipeline, MetadataOfCustomObjectsIsTyped) {
  const Outcome wrong = run(
      R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j","labels":{"a":1}},"spec":{}})");
  EXPECT_EQ(wrong.type_error,
            "RayJob in version \"v1\" cannot be handled as a RayJob: json: cannot unmarshal number "
            "into Go struct field ObjectMeta.metadata.labels of type string");
  const Outcome bad_label = run(
      R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j","labels":{"a b":"x"}},"spec":{}})");
  ASSERT_EQ(bad_label.errors.size(), 1U);
  EXPECT_EQ(bad_label.errors[0].substr(0, 38), R"(metadata.labels: Invalid value: "a b":)");
}

TEST(Pipeline, ABoundPodMayChangeItsImageAndLittleElse) {
  const Outcome stored = run(pod(R"({"nodeName":"n1","containers":[{"name":"a","image":"x:1"}]})"));
  const Json old = stored.object;
  Json changed = old;
  changed.at("spec").at("containers").as_array()[0].as_object()["image"] = "x:2";
  EXPECT_TRUE(run(to_json(changed), &old).errors.empty());
  changed.at("spec").as_object()["nodeName"] = "n2";
  const Outcome out = run(to_json(changed), &old);
  ASSERT_EQ(out.errors.size(), 1U);
  EXPECT_EQ(out.errors[0].substr(0, 56),
            "spec: Forbidden: pod updates may not change fields other");
}

TEST(Pipeline, JobsAreDefaultedAndRefuseRestartPolicyAlways) {
  const auto job = [](std::string_view policy) {
    return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{)" +
           std::string(policy) + R"("containers":[{"name":"a","image":"x"}]}}}})";
  };
  const Outcome out = run(job(R"("restartPolicy":"Never",)"));
  EXPECT_TRUE(out.errors.empty()) << join(out.errors, "\n");
  EXPECT_EQ(int_at(out.object, {"spec", "completions"}), 1);
  EXPECT_EQ(int_at(out.object, {"spec", "parallelism"}), 1);
  EXPECT_EQ(int_at(out.object, {"spec", "backoffLimit"}), 6);
  EXPECT_EQ(text_at(out.object, {"spec", "podReplacementPolicy"}), "TerminatingOrFailed");
  // Labels are the pods' own, once these are known.
  EXPECT_EQ(find(out.object, {"metadata", "labels"}), nullptr);
  Json known = out.object;
  set_path(known, {"spec", "selector", "matchLabels", "a"}, "b");
  EXPECT_EQ(text_at(run(to_json(known)).object, {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(
      run(job("")).errors,
      std::vector<std::string>{
          R"(spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never")"});
}

TEST(Pipeline, SecretTextEndsUpInData) {
  const Outcome out = run(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"hello"}})");
  EXPECT_EQ(text_at(out.object, {"data", "a"}), "aGVsbG8=");
  EXPECT_EQ(find(out.object, {"stringData"}), nullptr);
  EXPECT_EQ(text_at(out.object, {"type"}), "Opaque");
}

TEST(CheckName, EachKindHasItsRule) {
  const auto check = [](std::string_view resource, std::string_view name, bool prefix = false) {
    return schemas().find_resource(resource)->check_name(name, prefix);
  };
  EXPECT_EQ(check("pods", "a.b-c"), "");
  EXPECT_NE(check("pods", "A_b"), "");
  EXPECT_NE(check("namespaces", "a.b"), "");
  EXPECT_NE(check("services", "1a"), "");
  EXPECT_EQ(check("services", "a1"), "");
  EXPECT_EQ(check("pods", "job-", true), "");
  EXPECT_NE(check("pods", "job-"), "");
}

}  // namespace
}  // namespace krater::api
