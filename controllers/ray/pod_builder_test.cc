#include "controllers/ray/pod_builder.h"

#include <gtest/gtest.h>

#include "controllers/ray/gang_size.h"
#include "controllers/ray/names.h"
#include "controllers/ray/services.h"
#include "controllers/ray/start_params.h"
#include "controllers/ray/testing/objects.h"
#include "controllers/ray/versions.h"

namespace krater::controllers {
namespace {

// Keeps the document that the context refers to.
struct Fixture {
  explicit Fixture(const std::string& spec, Labels annotations = {}) : json(*parse_json(spec)) {
    context.cluster_annotations = std::move(annotations);
  }
  Json json;
  PodContext context{
      .cluster = "c", .name_space = "ns", .version = "krater-t", .spec = RayClusterSpec(json)};
  Json worker(std::size_t group = 0) {
    return build_worker_pod(context, context.spec.workers().at(group), {});
  }
};

std::string env_of(const Json& container, std::string_view name) {
  std::string found = "(none)";
  for (const Json& entry : *array_at(container, {"env"})) {
    if (string_at(entry, {"name"}) != name) continue;
    found = found == "(none)" ? text_at(entry, {"value"})
                              : found + " and again " + text_at(entry, {"value"});
  }
  return found;
}
const Json& ray(const Json& pod) {
  return array_at(pod, {"spec", "containers"})->front();
}

TEST(StartCommand, ReadsAsKubeRayWritesIt) {
  EXPECT_EQ(start_command(true, {{"block", "true"},
                                 {"dashboard-agent-listen-port", "52365"},
                                 {"dashboard-host", "0.0.0.0"},
                                 {"memory", "2000000000"},
                                 {"metrics-export-port", "8080"},
                                 {"num-cpus", "1"}}),
            "ray start --head  --block  --dashboard-agent-listen-port=52365  "
            "--dashboard-host=0.0.0.0  --memory=2000000000 "
            " --metrics-export-port=8080  --num-cpus=1 ");
}

TEST(StartCommand, OddParamsAreSwitchesValuesOrDropped) {
  Fixture f(
      R"({"headGroupSpec":{"rayStartParams":{"no-monitor":"true","include-dashboard":"false","metrics-export-port":"9999"},
      "template":{"spec":{"containers":[{"name":"ray-head","resources":{"limits":{"cpu":"500m","memory":"512Mi"}}}]}}},
      "workerGroupSpecs":[{"groupName":"npu","rayStartParams":{"block":"false","verbose":"false",
      "resources":"\"{\\\"NPU\\\": 1, \\\"zone\\\": 1}\""},"template":{"spec":{"containers":[{"name":"w"}]}}}]})");
  const std::string head = env_of(ray(build_head_pod(f.context)), "KUBERAY_GEN_RAY_START_CMD");
  EXPECT_EQ(head,
            "ray start --head  --block  --dashboard-agent-listen-port=52365  "
            "--dashboard-host=0.0.0.0  --include-dashboard=false "
            " --memory=536870912  --metrics-export-port=9999  --no-monitor  --num-cpus=1 ");
  const std::string worker = env_of(ray(f.worker()), "KUBERAY_GEN_RAY_START_CMD");
  EXPECT_EQ(worker,
            "ray start  --address=c-head-svc.ns.svc.cluster.local:6379  --block  "
            "--dashboard-agent-listen-port=52365 "
            " --metrics-export-port=8080  --resources=\"{\\\"NPU\\\": 1, \\\"zone\\\": 1}\" ");
}

TEST(StartParams, AcceleratorsAndStructuredResourcesReachRay) {
  Fixture f(
      R"({"headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},"workerGroupSpecs":[
      {"groupName":"g","template":{"spec":{"containers":[{"name":"w","resources":{"limits":{"nvidia.com/gpu":"2","google.com/tpu":"4"}}}]}}},
      {"groupName":"s","resources":{"cpu":"1500m","memory":"1Gi","GPU":"1","fast-disk":"3","half":"1.5","tenth":"100u","big":"2Ki","exp":"12e6"},"labels":{"b":"2","a":"1"},
       "template":{"spec":{"containers":[{"name":"w"}]}}}]})");
  const auto groups = f.context.spec.workers();
  const Labels limits = complete_start_params(groups[0], "x:1");
  EXPECT_EQ(limits.at("num-gpus"), "2");
  EXPECT_EQ(limits.at("resources"), R"('{"TPU":4}')");
  const Labels structured = complete_start_params(groups[1], "x:1");
  EXPECT_EQ(structured.at("num-cpus"), "2");
  EXPECT_EQ(structured.at("num-gpus"), "1");
  EXPECT_EQ(structured.at("memory"), "1073741824");
  EXPECT_EQ(structured.at("resources"),
            R"('{"big":2048,"exp":12000000,"fast-disk":3,"half":1.5,"tenth":0.0001}')");
  EXPECT_EQ(structured.at("labels"), "a=1,b=2");
}

TEST(HeadPod, IsBuiltAsKubeRayBuildsIt) {
  Fixture f(test::cluster_spec());
  Json pod = build_head_pod(f.context);
  EXPECT_FALSE(
      text_at(pod, {"metadata", "annotations", "ray.io/upgrade-strategy-recreate-hash"}).empty());
  erase_path(pod, {"metadata", "annotations", "ray.io/upgrade-strategy-recreate-hash"});
  EXPECT_EQ(
      to_json(pod),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns","labels":{"app.kubernetes.io/created-by":"kuberay-operator",)"
      R"("app.kubernetes.io/name":"kuberay","ray.io/cluster":"c","ray.io/group":"headgroup","ray.io/identifier":"c-head",)"
      R"("ray.io/is-ray-node":"yes","ray.io/node-type":"head"},"annotations":{"ray.io/ft-enabled":"false",)"
      R"("ray.io/kuberay-version":"krater-t"}},"spec":{"containers":[{"name":"ray-head","image":"rayproject/ray:2.53.0",)"
      R"("resources":{"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"256m","memory":"256Mi"}},)"
      R"("ports":[{"name":"metrics","containerPort":8080}],"command":["/bin/bash","-c","--"],)"
      R"("args":["ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ray start --head  --block  --dashboard-agent-listen-port=52365 )"
      R"( --dashboard-host=0.0.0.0  --memory=2147483648  --metrics-export-port=8080  --num-cpus=1 "],)"
      R"("env":[{"name":"RAY_CLUSTER_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['ray.io/cluster']"}}},)"
      R"({"name":"RAY_CLUSTER_NAMESPACE","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}},)"
      R"({"name":"RAY_CLOUD_INSTANCE_ID","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},)"
      R"({"name":"RAY_NODE_TYPE_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['ray.io/group']"}}},)"
      R"({"name":"KUBERAY_GEN_RAY_START_CMD","value":"ray start --head  --block  --dashboard-agent-listen-port=52365 )"
      R"( --dashboard-host=0.0.0.0  --memory=2147483648  --metrics-export-port=8080  --num-cpus=1 "},)"
      R"({"name":"RAY_PORT","value":"6379"},{"name":"RAY_ADDRESS","value":"127.0.0.1:6379"},)"
      R"({"name":"RAY_USAGE_STATS_KUBERAY_IN_USE","value":"1"},)"
      R"({"name":"RAY_USAGE_STATS_EXTRA_TAGS","value":"kuberay_version=krater-t;kuberay_crd=RayCluster"},)"
      R"({"name":"RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE","value":"1"}],)"
      R"("volumeMounts":[{"name":"shared-mem","mountPath":"/dev/shm"}],)"
      R"("livenessProbe":{"httpGet":{"path":"/api/healthz","port":52365},"initialDelaySeconds":30,"timeoutSeconds":5,)"
      R"("periodSeconds":5,"successThreshold":1,"failureThreshold":120},)"
      R"("readinessProbe":{"httpGet":{"path":"/api/healthz","port":52365},"initialDelaySeconds":10,"timeoutSeconds":5,)"
      R"("periodSeconds":5,"successThreshold":1,"failureThreshold":10}}],)"
      R"("volumes":[{"name":"shared-mem","emptyDir":{"medium":"Memory","sizeLimit":"2Gi"}}]}})");
}

TEST(WorkerPod, WaitsForTheHeadAndKnowsItsAddress) {
  Fixture f(test::cluster_spec());
  const Json pod = f.worker();
  EXPECT_EQ(env_of(ray(pod), "FQ_RAY_IP"), "c-head-svc.ns.svc.cluster.local");
  EXPECT_EQ(env_of(ray(pod), "RAY_IP"), "c-head-svc");
  EXPECT_EQ(env_of(ray(pod), "RAY_ADDRESS"), "c-head-svc.ns.svc.cluster.local:6379");
  const Json& wait = array_at(pod, {"spec", "initContainers"})->front();
  EXPECT_EQ(text_at(wait, {"name"}), "wait-gcs-ready");
  EXPECT_EQ(text_at(wait, {"image"}), "rayproject/ray:2.53.0");
  EXPECT_EQ(env_of(wait, "FQ_RAY_IP"), "c-head-svc.ns.svc.cluster.local");
  EXPECT_EQ(to_json(*find(wait, {"resources", "requests"})), R"({"cpu":"200m","memory":"256Mi"})");
  EXPECT_NE(to_json(wait).find("ray health-check --address c-head-svc.ns.svc.cluster.local:6379"),
            std::string::npos);
  EXPECT_EQ(int_at(ray(pod), {"livenessProbe", "timeoutSeconds"}), 2);
  EXPECT_EQ(text_at(pod, {"metadata", "labels", "ray.io/worker-group-replica-index"}), "0");
}

TEST(WorkerPod, UserEnvVolumesAndCommandAreMergedNotTrampled) {
  const std::string worker = R"("template":{"spec":{)";
  Fixture f(
      R"({"headGroupSpec":{"template":{"spec":{"containers":[{"name":"ray-head","command":["/bin/bash","-c","--"],
      "args":["echo first; $KUBERAY_GEN_RAY_START_CMD"]}]}}},"workerGroupSpecs":[
      {"groupName":"wg",)" +
          worker + R"("containers":[{"name":"w","env":[{"name":"MY_VAR","value":"x"},
        {"name":"RAY_ADDRESS","value":"10.0.0.9:1234"}],"resources":{"requests":{"cpu":"100m","memory":"256Mi"},
        "limits":{"cpu":"500m","memory":"1Gi"}}}]}}},
      {"groupName":"ownshm",)" +
          worker + R"("volumes":[{"name":"shm","emptyDir":{"medium":"Memory","sizeLimit":"128Mi"}}],
        "containers":[{"name":"w","volumeMounts":[{"name":"shm","mountPath":"/dev/shm"}]}]}}},
      {"groupName":"plasma","rayStartParams":{"plasma-directory":"/tmp"},)" +
          worker + R"("containers":[{"name":"w"}]}}}]})",
      {{"ray.io/overwrite-container-cmd", "true"}});
  const Json wg = f.worker(0);
  EXPECT_EQ(env_of(ray(wg), "RAY_ADDRESS"), "10.0.0.9:1234");
  EXPECT_EQ(env_of(ray(wg), "RAY_PORT"), "6379");
  EXPECT_EQ(text_at(array_at(ray(wg), {"env"})->front(), {"name"}), "MY_VAR");
  EXPECT_EQ(to_json(*find(wg, {"spec", "volumes"})),
            R"([{"name":"shared-mem","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}])");
  const Json ownshm = f.worker(1);
  EXPECT_EQ(to_json(*find(ray(ownshm), {"volumeMounts"})),
            R"([{"name":"shm","mountPath":"/dev/shm"}])");
  EXPECT_EQ(find(f.worker(2), {"spec", "volumes"}), nullptr);
  const Json head = build_head_pod(f.context);
  EXPECT_EQ(to_json(*find(ray(head), {"args"})), R"(["echo first; $KUBERAY_GEN_RAY_START_CMD"])");
  EXPECT_TRUE(env_of(ray(head), "KUBERAY_GEN_RAY_START_CMD").starts_with("ray start --head "));
}

TEST(RayContainer, OverwritingTheCommandIsAskedForInAnyLetters) {
  const auto command = [](Labels of_cluster, const std::string& of_template) {
    Fixture f(R"({"headGroupSpec":{"template":{"metadata":{"annotations":)" + of_template +
                  R"(},"spec":{"containers":[{"name":"h","command":["a"]}]}}}})",
              std::move(of_cluster));
    const Json pod = build_head_pod(f.context);
    return to_json(*find(ray(pod), {"command"})) + " " +
           text_at(pod, {"metadata", "annotations", "ray.io/overwrite-container-cmd"});
  };
  const std::string key = "ray.io/overwrite-container-cmd";
  EXPECT_EQ(command({{key, "True"}}, "{}"), R"(["a"] true)");
  EXPECT_EQ(command({}, R"({")" + key + R"(":"TRUE"})"), R"(["a"] TRUE)");
  EXPECT_EQ(command({{key, "no"}}, "{}"), R"(["/bin/bash","-c","--"] )");
  EXPECT_EQ(command({}, R"({")" + key + R"(":"false"})"), R"(["/bin/bash","-c","--"] false)");
}

TEST(ServeService, IsFoundByItsLabels) {
  Fixture f(test::cluster_spec());
  const Result<Json> service = serve_service(f.context);
  ASSERT_TRUE(service.has_value());
  EXPECT_EQ(
      to_json(*find(*service, {"metadata", "labels"})),
      R"({"ray.io/originated-from-cr-name":"c","ray.io/originated-from-crd":"RayCluster","ray.io/serve":"c-serve"})");
  EXPECT_EQ(to_json(*find(*service, {"spec", "ports"})), R"([{"name":"serve","port":8000}])");
  EXPECT_EQ(to_json(*find(*service, {"spec", "selector"})), R"({"ray.io/cluster":"c"})");
}

TEST(RayContainer, AUsersCommandRunsBeforeRay) {
  Fixture f(
      R"({"headGroupSpec":{"template":{"spec":{"containers":[{"name":"h","command":["echo"],"args":["hi"]}]}}}})");
  const std::string args = text_at(
      JsonObject{{"a", array_at(ray(build_head_pod(f.context)), {"args"})->front()}}, {"a"});
  EXPECT_TRUE(args.starts_with(
      " echo  hi  && ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ray start --head "))
      << args;
}

TEST(Probes, AskInTheContainerBeforeRay253) {
  Fixture f(
      R"({"rayVersion":"2.46.0","headGroupSpec":{"rayStartParams":{"dashboard-port":"9000"},"template":{"spec":{"containers":[{"name":"h"}]}}}})");
  const std::string probe =
      to_json(*find(ray(build_head_pod(f.context)), {"readinessProbe", "exec", "command"}));
  EXPECT_NE(probe.find("localhost:52365/api/local_raylet_healthz"), std::string::npos);
  EXPECT_NE(probe.find("localhost:9000/api/gcs_healthz"), std::string::npos);
}

TEST(Versions, ReadRayReleasesWithSuffixes) {
  EXPECT_TRUE(at_least("2.53.0", {2, 53, 0}));
  EXPECT_TRUE(at_least("2.100.1-py310", {2, 53, 0}));
  EXPECT_TRUE(at_least("3.0.0rc1", {2, 53, 0}));
  EXPECT_FALSE(at_least("2.9.3", {2, 53, 0}));
  EXPECT_FALSE(at_least("", {0, 0, 0}));
  EXPECT_FALSE(at_least("nightly", {0, 0, 0}));
}

TEST(GangSize, CountsPodsAsTheyWillBe) {
  Fixture f(test::cluster_spec());
  const GangSize size = gang_size(f.context, {});
  EXPECT_EQ(size.members, 3);
  EXPECT_EQ(to_json(size.resources.to_json_object()), R"({"cpu":"768m","memory":"768Mi"})");
}

TEST(GangSize, CountsWhatRuntimeClassesAdd) {
  Fixture f(
      R"({"headGroupSpec":{"template":{"spec":{"runtimeClassName":"box","containers":[{"name":"h","resources":{"requests":{"cpu":"1"}}}]}}},"workerGroupSpecs":[{"groupName":"g","replicas":2,"template":{"spec":{"runtimeClassName":"none","containers":[{"name":"w","resources":{"requests":{"cpu":"1"}}}]}}}]})");
  const ObjectPtr box = *Object::parse(
      ObjectKey::of(kRuntimeClassKind, "", "box"), Revision(1),
      std::make_shared<const std::string>(
          R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"box"},"overhead":{"podFixed":{"cpu":"250m"}}})"));
  const GangSize size =
      gang_size(f.context, [&](const std::string& name) { return name == "box" ? box : nullptr; });
  EXPECT_EQ(size.resources.at("cpu"), 3250);
}

TEST(GangSize, ClampsReplicasAndLeavesOutSuspendedGroups) {
  const auto members = [](const std::string& group) {
    Fixture f(
        R"({"headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},"workerGroupSpecs":[{"groupName":"g",)" +
        group +
        R"("template":{"spec":{"containers":[{"name":"w","resources":{"requests":{"cpu":"1"}}}]}}}]})");
    const GangSize size = gang_size(f.context, {});
    EXPECT_EQ(size.resources.at("cpu"), (size.members - 1) * 1000);  // the same count in both
    return size.members;
  };
  EXPECT_EQ(members(R"("replicas":0,"minReplicas":2,)"), 3);
  EXPECT_EQ(members(R"("replicas":9,"maxReplicas":4,)"), 5);
  EXPECT_EQ(members(R"("replicas":2,"numOfHosts":4,)"), 9);
  EXPECT_EQ(members(R"("replicas":2,"suspend":true,)"), 1);
}

TEST(Names, StayWithinWhatKubernetesAllows) {
  const std::string longest(53, 'a');
  Fixture f(test::cluster_spec());
  EXPECT_EQ(head_service_name(longest, f.context.spec), longest + "-head-svc");
  EXPECT_EQ(head_pod_base(longest), std::string(50, 'a') + "-head");
  EXPECT_LE(worker_pod_base(longest, "group").size() + 6, 63U);
  EXPECT_EQ(label_value(std::string(60, 'x') + "-head").size(), 63U);
  EXPECT_EQ(label_value("-" + std::string(62, 'x')), "r" + std::string(62, 'x'));
  EXPECT_EQ(suffix_of("a").size(), 5U);
  EXPECT_NE(suffix_of("a"), suffix_of("b"));
}

TEST(HeadService, IsHeadlessAndFindsTheHeadBeforeItIsReady) {
  Fixture f(test::cluster_spec());
  EXPECT_EQ(
      to_json(*find(head_service(f.context), {"spec"})),
      R"({"selector":{"app.kubernetes.io/created-by":"kuberay-operator","app.kubernetes.io/name":"kuberay","ray.io/cluster":"c",)"
      R"("ray.io/identifier":"c-head","ray.io/node-type":"head"},"ports":[{"name":"client","port":10001,"appProtocol":"tcp"},)"
      R"({"name":"dashboard","port":8265,"appProtocol":"tcp"},{"name":"gcs-server","port":6379,"appProtocol":"tcp"},)"
      R"({"name":"metrics","port":8080,"appProtocol":"tcp"},{"name":"serve","port":8000,"appProtocol":"tcp"}],)"
      R"("clusterIP":"None","publishNotReadyAddresses":true})");
}

TEST(RecreateHash, IgnoresCountsAndPlacement) {
  const auto hash = [](const std::string& spec) {
    Fixture f(spec);
    return recreate_hash(f.context.spec);
  };
  EXPECT_EQ(hash(test::cluster_spec(1)),
            hash(test::cluster_spec(5, R"("upgradeStrategy":{"type":"Recreate"},)")));
  EXPECT_NE(hash(test::cluster_spec(1)),
            hash(test::cluster_spec(1, R"("headServiceAnnotations":{"a":"b"},)")));
}

}  // namespace
}  // namespace krater::controllers
