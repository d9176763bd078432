// Rows as kubectl shows them. Each case is an object and its cells, joined by " | ".
#include <gtest/gtest.h>

#include "api/machinery/json_path.h"
#include "api/machinery/schema.h"

namespace krater::api {
namespace {

const WallTime kNow = *parse_rfc3339("2026-01-01T01:00:00Z");

std::string row(std::string_view resource, std::string_view object) {
  static const std::unique_ptr<SchemaSet> schemas = make_builtin_schemas();
  const KindSchemaPtr schema = schemas->find_resource(resource);
  auto parsed = parse_json(object);
  EXPECT_TRUE(schema != nullptr && parsed.has_value()) << object;
  const JsonArray cells = schema->cells(*parsed, kNow);
  EXPECT_EQ(cells.size(), schema->columns().size());
  std::string out;
  for (const Json& cell : cells) {
    if (!out.empty()) out += " | ";
    out += cell.is_string() ? std::string(view(cell.get_string())) : to_json(cell);
  }
  return out;
}

constexpr std::string_view kCreated = R"("creationTimestamp":"2026-01-01T00:00:00Z")";

std::string meta(std::string_view more = "") {
  return R"("metadata":{"name":"x",)" + std::string(kCreated) + std::string(more) + "}";
}

std::string pod(std::string_view spec, std::string_view status, std::string_view more_meta = "") {
  return "{" + meta(more_meta) + R"(,"spec":)" + std::string(spec) + R"(,"status":)" +
         std::string(status) + "}";
}

TEST(PodRow, ShowsTheStateThatMatters) {
  constexpr std::string_view kOne = R"({"containers":[{"name":"a"}]})";
  constexpr std::string_view kTail = " | 60m | <none> | <none> | <none> | <none>";
  const struct {
    std::string_view rule;
    std::string object;
    std::string_view want;
  } cases[] = {
      {"pending", pod(kOne, R"({"phase":"Pending"})"), "x | 0/1 | Pending | 0"},
      {"running and ready",
       pod(kOne,
           R"({"phase":"Running","containerStatuses":[{"name":"a","ready":true,"restartCount":0,"state":{"running":{}}}]})"),
       "x | 1/1 | Running | 0"},
      {"crash loop with the time of the last end",
       pod(kOne,
           R"({"phase":"Running","containerStatuses":[{"name":"a","ready":false,"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"finishedAt":"2026-01-01T00:55:00Z"}}}]})"),
       "x | 0/1 | CrashLoopBackOff | 3 (5m ago)"},
      {"ended with an exit code",
       pod(kOne,
           R"({"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}}]})"),
       "x | 0/1 | ExitCode:3 | 0"},
      {"ended by a signal",
       pod(kOne,
           R"({"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}]})"),
       "x | 0/1 | Signal:9 | 0"},
      {"completed",
       pod(kOne,
           R"({"phase":"Succeeded","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]})"),
       "x | 0/1 | Completed | 0"},
      {"one of two completed, the other runs",
       pod(R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"phase":"Running","containerStatuses":[{"name":"a","state":{"terminated":{"reason":"Completed"}}},{"name":"b","ready":true,"state":{"running":{}}}]})"),
       "x | 1/2 | NotReady | 0"},
      {"first init container runs",
       pod(R"({"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]})",
           R"({"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"running":{}}},{"name":"j","state":{"waiting":{"reason":"PodInitializing"}}}]})"),
       "x | 0/1 | Init:0/2 | 0"},
      {"init container failed",
       pod(R"({"initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})",
           R"({"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":2,"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]})"),
       "x | 0/1 | Init:Error | 2"},
      {"a sidecar counts",
       pod(R"({"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})",
           R"({"phase":"Running","initContainerStatuses":[{"name":"s","started":true,"ready":true,"restartCount":1,"state":{"running":{}}}],"containerStatuses":[{"name":"a","ready":true,"state":{"running":{}}}]})"),
       "x | 2/2 | Running | 1"},
      {"terminating",
       pod(kOne, R"({"phase":"Running"})", R"(,"deletionTimestamp":"2026-01-01T00:59:00Z")"),
       "x | 0/1 | Terminating | 0"},
      {"lost with its node",
       pod(kOne, R"({"phase":"Running","reason":"NodeLost"})",
           R"(,"deletionTimestamp":"2026-01-01T00:59:00Z")"),
       "x | 0/1 | Unknown | 0"},
      {"gated",
       pod(kOne,
           R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]})"),
       "x | 0/1 | SchedulingGated | 0"},
  };
  for (const auto& item : cases)
    EXPECT_EQ(row("pods", item.object), std::string(item.want) + std::string(kTail)) << item.rule;
}

TEST(Rows, OfEachKind) {
  const struct {
    std::string_view resource;
    std::string object;
    std::string_view want;
  } cases[] = {
      {"nodes",
       "{" +
           meta(
               R"(,"labels":{"node-role.kubernetes.io/worker":"","node-role.kubernetes.io/control-plane":""})") +
           R"(,"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"kubeletVersion":"v1","osImage":"Debian"}}})",
       "x | Ready,SchedulingDisabled | control-plane,worker | 60m | v1 | 10.0.0.1 | <none> | "
       "Debian | <unknown> | <unknown>"},
      {"services",
       "{" + meta() +
           R"(,"spec":{"type":"NodePort","clusterIP":"10.1.0.5","clusterIPs":["10.1.0.5"],"ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"selector":{"b":"2","a":"1"}}})",
       "x | NodePort | 10.1.0.5 | <none> | 80:30080/TCP,53/UDP | 60m | a=1,b=2"},
      {"persistentvolumes",
       "{" + meta() +
           R"(,"spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],"persistentVolumeReclaimPolicy":"Retain","claimRef":{"namespace":"d","name":"c"},"storageClassName":"s","volumeMode":"Filesystem"},"status":{"phase":"Bound"}})",
       "x | 5Gi | RWO,RWX | Retain | Bound | d/c | s | <unset> |  | 60m | Filesystem"},
      {"persistentvolumeclaims",
       "{" + meta() +
           R"(,"spec":{"volumeName":"v","storageClassName":"s","volumeMode":"Filesystem"},"status":{"phase":"Bound","capacity":{"storage":"5Gi"},"accessModes":["ReadWriteOnce"]}})",
       "x | Bound | v | 5Gi | RWO | s | <unset> | 60m | Filesystem"},
      {"persistentvolumeclaims",
       "{" + meta(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")") +
           R"(,"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}})",
       "x | Terminating |  |  |  |  | <unset> | 60m | Filesystem"},
      {"storageclasses.storage.k8s.io",
       "{" + meta(R"(,"annotations":{"storageclass.kubernetes.io/is-default-class":"true"})") +
           R"(,"provisioner":"p","reclaimPolicy":"Delete","volumeBindingMode":"Immediate"})",
       "x (default) | p | Delete | Immediate | false | 60m"},
      {"ingresses.networking.k8s.io",
       "{" + meta() +
           R"(,"spec":{"tls":[{}],"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}]},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})",
       "x | <none> | a,b,c + 1 more... | 1.2.3.4 | 80, 443 | 60m"},
      {"networkpolicies.networking.k8s.io",
       "{" + meta() + R"(,"spec":{"podSelector":{"matchLabels":{"a":"b"}}}})", "x | a=b | 60m"},
      {"certificatesigningrequests.certificates.k8s.io",
       "{" + meta() +
           R"(,"spec":{"signerName":"s/n","username":"u","expirationSeconds":3600},"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"}]}})",
       "x | 60m | s/n | u | 60m | Approved,Issued"},
      {"horizontalpodautoscalers.autoscaling",
       "{" + meta() +
           R"(,"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"minReplicas":1,"maxReplicas":5,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}})",
       "x | Deployment/d | cpu: <unknown>/80% | 1 | 5 | 0 | 60m"},
      {"replicationcontrollers",
       "{" + meta() +
           R"(,"spec":{"replicas":2,"selector":{"a":"b"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":1}})",
       "x | 2 | 1 | 0 | 60m | c | i | a=b"},
      {"services", "{" + meta() + R"(,"spec":{"type":"LoadBalancer","clusterIP":"None"}})",
       "x | LoadBalancer | None | <pending> | <none> | 60m | <none>"},
      {"endpoints",
       "{" + meta() +
           R"(,"subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"1.1.1.2"}],"ports":[{"port":80},{"port":81}]}]})",
       "x | 1.1.1.1:80,1.1.1.2:80,1.1.1.1:81 + 1 more... | 60m"},
      {"endpointslices.discovery.k8s.io",
       "{" + meta() +
           R"(,"addressType":"IPv4","ports":[{"port":80}],"endpoints":[{"addresses":["1.1.1.1"]}]})",
       "x | IPv4 | 80 | 1.1.1.1 | 60m"},
      {"namespaces", "{" + meta() + R"(,"status":{"phase":"Active"}})", "x | Active | 60m"},
      {"configmaps", "{" + meta() + R"(,"data":{"a":"1"},"binaryData":{"b":"AA=="}})",
       "x | 2 | 60m"},
      {"secrets", "{" + meta() + R"(,"type":"Opaque","data":{"a":"1"}})", "x | Opaque | 1 | 60m"},
      {"serviceaccounts", "{" + meta() + "}", "x | 0 | 60m"},
      {"leases.coordination.k8s.io", "{" + meta() + R"(,"spec":{"holderIdentity":"n1"}})",
       "x | n1 | 60m"},
      {"priorityclasses.scheduling.k8s.io",
       "{" + meta() + R"(,"value":5,"preemptionPolicy":"Never"})", "x | 5 | false | 60m | Never"},
      {"jobs.batch",
       "{" + meta() +
           R"(,"spec":{"completions":3,"template":{"spec":{"containers":[{"name":"a","image":"i"}]}},"selector":{"matchLabels":{"k":"v"}}},"status":{"succeeded":1,"startTime":"2026-01-01T00:58:00Z"}})",
       "x | Running | 1/3 | 2m | 60m | a | i | k=v"},
      {"jobs.batch",
       "{" + meta() +
           R"(,"spec":{"parallelism":2},"status":{"conditions":[{"type":"Failed","status":"True"}]}})",
       "x | Failed | 0/1 of 2 |  | 60m |  |  | <none>"},
      {"deployments.apps",
       "{" + meta() +
           R"(,"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}},"selector":{"matchLabels":{"k":"v"},"matchExpressions":[{"key":"e","operator":"Exists"}]}},"status":{"readyReplicas":1,"updatedReplicas":2,"availableReplicas":1}})",
       "x | 1/3 | 2 | 1 | 60m | a,b | i,j | e,k=v"},
      {"replicasets.apps",
       "{" + meta() + R"(,"spec":{"replicas":3,"selector":{}},"status":{"replicas":2}})",
       "x | 3 | 2 | 0 | 60m |  |  | <none>"},
      {"statefulsets.apps",
       "{" + meta() + R"(,"spec":{"replicas":2},"status":{"readyReplicas":1}})",
       "x | 1/2 | 60m |  | "},
      {"daemonsets.apps",
       "{" + meta() +
           R"(,"spec":{"selector":{"matchLabels":{"k":"v"}},"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}},"status":{"desiredNumberScheduled":3,"currentNumberScheduled":2,"numberReady":1,"updatedNumberScheduled":2,"numberAvailable":1}})",
       "x | 3 | 2 | 1 | 2 | 1 | disk=ssd | 60m |  |  | k=v"},
      {"controllerrevisions.apps",
       "{" +
           meta(
               R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"s","controller":true}])") +
           R"(,"revision":4})",
       "x | statefulset.apps/s | 4 | 60m"},
      {"cronjobs.batch",
       "{" + meta() +
           R"(,"spec":{"schedule":"* * * * *","suspend":true,"timeZone":"Europe/Vienna"},"status":{"active":[{}],"lastScheduleTime":"2026-01-01T00:59:00Z"}})",
       "x | * * * * * | Europe/Vienna | True | 1 | 60s | 60m |  |  | <none>"},
      {"poddisruptionbudgets.policy",
       "{" + meta() + R"(,"spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":2}})",
       "x | 50% | N/A | 2 | 60m"},
      {"resourcequotas",
       "{" + meta() + R"(,"status":{"hard":{"pods":"3","limits.cpu":"4"},"used":{"pods":"1"}}})",
       "x | pods: 1/3 | limits.cpu: 0/4 | 60m"},
      {"limitranges", "{" + meta() + "}", "x | 2026-01-01T00:00:00Z"},
      {"events",
       "{" + meta() +
           R"(,"type":"Warning","reason":"Failed","message":" no luck \n","involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec"},"source":{"component":"kubelet","host":"n1"},"firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:59:30Z","count":4})",
       "30s | Warning | Failed | pod/p | spec | kubelet, n1 | no luck | 60m | 4 | x"},
      {"rayjobs.ray.io",
       "{" + meta() +
           R"(,"status":{"jobStatus":"RUNNING","jobDeploymentStatus":"Running","rayClusterName":"c","startTime":"2026-01-01T00:00:10Z"}})",
       "x | RUNNING | Running | c | 2026-01-01T00:00:10Z | null | 60m"},
      {"rayclusters.ray.io",
       "{" + meta() +
           R"(,"status":{"desiredWorkerReplicas":2,"desiredCPU":"3","state":"ready","head":{"podIP":"1.2.3.4"}}})",
       "x | 2 | null | 3 | null | null | null | ready | 60m | 1.2.3.4 | null"},
      {"podgroups.scheduling.volcano.sh",
       "{" + meta() + R"(,"spec":{"minMember":3,"queue":"q"},"status":{"phase":"Inqueue"}})",
       "x | Inqueue | 3 | null | 60m | q"},
      {"queues.scheduling.volcano.sh", "{" + meta() + R"(,"spec":{"parent":"root"}})", "x | root"},
      {"jobs.batch.volcano.sh",
       "{" + meta() +
           R"(,"spec":{"queue":"q"},"status":{"state":{"phase":"Running"},"minAvailable":2,"running":2}})",
       "x | Running | 2 | 2 | 60m | q"},
  };
  for (const auto& item : cases) EXPECT_EQ(row(item.resource, item.object), item.want);
}

TEST(CellPath, FindsTheFirstMatch) {
  auto object = parse_json(
      R"({"a":{"b.c":1,"list":[{"type":"X","v":1},{"type":"Ready","v":"yes"}]},"t":"nonsense"})");
  const auto cell = [&](std::string_view path, std::string_view type) {
    auto compiled = CellPath::compile(path);
    return compiled ? to_json(compiled->cell(*object, type, kNow)) : "no path";
  };
  EXPECT_EQ(cell(R"(.a.b\.c)", "integer"), "1");
  EXPECT_EQ(cell(".a['b.c']", "integer"), "1");
  EXPECT_EQ(cell(R"(.a.list[?(@.type=="Ready")].v)", "string"), "\"yes\"");
  EXPECT_EQ(cell("{.a.list[0].v}", "string"), "\"1\"");
  EXPECT_EQ(cell(".a.list[-1].v", "string"), "\"yes\"");
  EXPECT_EQ(cell(".a.list[*].v", "number"), "1");
  EXPECT_EQ(cell(".a.list[1].v", "integer"), "null");
  EXPECT_EQ(cell(".nothing", "string"), "null");
  EXPECT_EQ(cell(".t", "date"), "\"<invalid>\"");
  EXPECT_EQ(cell(".a[", "string"), "no path");
}

}  // namespace
}  // namespace krater::api
