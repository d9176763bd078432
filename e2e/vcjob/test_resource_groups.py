"""Resource groups of Volcano's pod webhook, with the configuration that upstream's suites never give it."""
import gangs

PLACE = ("-n", "volcano-system", "configmap", "volcano-admission-configmap")
GROUPS = """
resourceGroups:
- resourceGroup: management
  object: {key: namespace, value: [mng]}
  schedulerName: default-scheduler
  tolerations: [{effect: NoSchedule, key: taint, operator: Exists}]
  labels: {volcano.sh/nodetype: management}
- resourceGroup: cpu
  object: {key: annotation, value: ["volcano.sh/resource-group: cpu"]}
  schedulerName: volcano
  labels: {volcano.sh/nodetype: cpu}
- resourceGroup: gpu
  labels: {volcano.sh/nodetype: gpu}
"""


def configure(cluster, text):
    gangs.apply(cluster, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": PLACE[-1], "namespace": "volcano-system"},
                          "data": {"volcano-admission.conf": text}})


def spec_of(cluster, name, group=None, namespace="default", **spec):
    pod = gangs.pod(name, **spec)
    pod["metadata"].update(namespace=namespace, annotations={"volcano.sh/resource-group": group} if group else {})
    gangs.apply(cluster, pod)
    return cluster.get("pod", name, "-n", namespace)["spec"]


def log(cluster):
    return cluster.kubectl("logs", "-n", "volcano-system", "deployment/volcano-admission")


def test_pods_are_put_into_groups(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.wait("there is a namespace", lambda: cluster.get("namespace", "volcano-system"))
        cluster.kubectl("create", "namespace", "mng")
        assert "nodeSelector" not in spec_of(cluster, "before", "cpu")
        configure(cluster, GROUPS)
        # It counts with the next pod.
        managed = spec_of(cluster, "m", namespace="mng", schedulerName="volcano", nodeSelector={"disk": "ssd"})
        assert managed["nodeSelector"] == {"disk": "ssd", "volcano.sh/nodetype": "management"}
        assert managed["schedulerName"] == "volcano"
        assert [t["key"] for t in managed["tolerations"]][-1] == "taint"
        cpu = spec_of(cluster, "c", "cpu", schedulerName="default-scheduler")
        assert (cpu["nodeSelector"], cpu["schedulerName"]) == ({"volcano.sh/nodetype": "cpu"}, "volcano")
        assert spec_of(cluster, "g", "gpu")["nodeSelector"] == {"volcano.sh/nodetype": "gpu"}
        assert "nodeSelector" not in spec_of(cluster, "nobodys", "other")
        cluster.wait("it is told", lambda: "verdict=loaded groups=3" in log(cluster))


def test_a_mistake_is_named_and_the_last_good_groups_stay(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.wait("there is a namespace", lambda: cluster.get("namespace", "volcano-system"))
        configure(cluster, GROUPS)
        assert spec_of(cluster, "good", "gpu")["nodeSelector"] == {"volcano.sh/nodetype": "gpu"}
        configure(cluster, GROUPS.replace("labels: {volcano.sh/nodetype: gpu}", "lables: {volcano.sh/nodetype: none}"))
        assert spec_of(cluster, "still", "gpu")["nodeSelector"] == {"volcano.sh/nodetype": "gpu"}
        cluster.wait("an event names it", lambda: any(
            e["reason"] == "InvalidAdmissionConfiguration" and "resourceGroups[2].lables: unknown field" in e["message"]
            for e in cluster.get("events", "-n", "volcano-system")["items"]))
        cluster.kubectl("delete", *PLACE)
        assert "nodeSelector" not in spec_of(cluster, "after", "gpu")
