"""Cases from the field, the API's part of them, each as a whole story."""
import concurrent.futures
import json
import pathlib
import threading

import harness


def create(http, namespace, plural, manifest, group="/api/v1"):
    status, made = http("POST", f"{group}/namespaces/{namespace}/{plural}", manifest)
    assert status == 201, made
    return made


def test_generated_names_under_load(simulated, namespace):
    """5000 objects from one manifest, 20 at a time: all made, all distinct, in the reduced alphabet."""
    connections = threading.local()

    def one(_):
        if not hasattr(connections, "http"):
            connections.http = harness.Http(simulated)
        return create(connections.http, namespace, "configmaps", {"metadata": {"generateName": "load-"}, "data": {"a": "1"}})["metadata"]
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        made = list(pool.map(one, range(5000)))
    names = {m["name"] for m in made}
    assert len(names) == 5000
    for name in names:
        assert name.startswith("load-") and len(name) == 10 and not set("aeiou013") & set(name[5:]), name
    http = harness.Http(simulated)
    long = "p" * 60
    pod = create(http, namespace, "pods", {"metadata": {"generateName": long}, "spec": {
        "schedulerName": "nobody", "containers": [{"name": "c", "image": "busybox"}]}})["metadata"]
    assert len(pod["name"]) == 63 and pod["name"].startswith("p" * 58) and pod["generateName"] == long
    create(http, namespace, "jobs", {"metadata": {"name": "j" * 63}, "spec": {"suspend": True, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}}}, "/apis/batch/v1")
    http.close()


def ray_cluster(name):
    def template(container):
        return {"spec": {"containers": [{"name": container, "image": "rayproject/ray:2.46.0", "resources": {"requests": {"cpu": "100m"}}}]}}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": {
        "headGroupSpec": {"rayStartParams": {}, "template": template("head")},
        "workerGroupSpecs": [{"groupName": "w", "replicas": 1, "minReplicas": 1, "maxReplicas": 1, "rayStartParams": {}, "template": template("w")}]}}


def pods_of(cluster, n, name):
    return cluster.get("pods", *n, "-l", f"ray.io/cluster={name}")["items"]


def running_cluster(cluster, n, name):
    cluster.apply(ray_cluster(name), *n)
    cluster.wait("both pods of the cluster", lambda: len(pods_of(cluster, n, name)) == 2)


def test_an_orphaned_ray_cluster_leaves_its_pods(simulated, namespace):
    n = ("-n", namespace)
    running_cluster(simulated, n, "left")
    before = {p["metadata"]["uid"] for p in pods_of(simulated, n, "left")}
    simulated.kubectl("delete", "raycluster", "left", *n, "--cascade=orphan")
    pods = pods_of(simulated, n, "left")
    assert {p["metadata"]["uid"] for p in pods} == before
    assert all("ownerReferences" not in p["metadata"] and "deletionTimestamp" not in p["metadata"] for p in pods)


def test_a_ray_cluster_deleted_in_the_foreground_waits_for_its_pods(simulated, namespace):
    n = ("-n", namespace)
    running_cluster(simulated, n, "held")
    # One pod cannot go before its finalizer is gone.
    pod = pods_of(simulated, n, "held")[0]["metadata"]["name"]
    simulated.kubectl("patch", "pod", pod, *n, "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/hold"]}}')
    simulated.kubectl("delete", "raycluster", "held", *n, "--cascade=foreground", "--wait=false")
    simulated.wait("the other pod is gone", lambda: [p["metadata"]["name"] for p in pods_of(simulated, n, "held")] == [pod])
    parent = simulated.get("raycluster", "held", *n)["metadata"]
    assert "foregroundDeletion" in parent["finalizers"] and parent["deletionTimestamp"], parent
    simulated.kubectl("patch", "pod", pod, *n, "--type=json", "-p", '[{"op":"remove","path":"/metadata/finalizers"}]')
    simulated.wait("parent and pod are gone",
                   lambda: simulated.get("raycluster", "held", *n) is None and not pods_of(simulated, n, "held"))


def resident_mb(cluster):
    for line in pathlib.Path(f"/proc/{cluster.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    raise AssertionError("no VmRSS")


def test_a_list_of_large_objects_costs_no_memory_for_long(simulated, namespace):
    http = harness.Http(simulated)
    for number in range(200):
        create(http, namespace, "configmaps", {"metadata": {"name": f"large-{number:03}"}, "data": {"k": "x" * 300_000}})
    http.close()
    before = resident_mb(simulated)
    for _ in range(3):
        lines = simulated.kubectl("get", "cm", "-n", namespace, "--no-headers", timeout=120).splitlines()
        assert len([line for line in lines if line.startswith("large-")]) == 200
    assert simulated.wait("memory is near what it was", lambda: resident_mb(simulated) < before + 60)


def test_a_pod_of_a_thousand_variables_runs(simulated, namespace):
    n = ("-n", namespace)
    env = [{"name": f"V{number:04}", "value": "x" * 100} for number in range(1000)]
    simulated.kubectl("create", *n, "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wide"},
        "spec": {"containers": [{"name": "c", "image": "busybox", "env": env}]}}))
    simulated.kubectl("wait", "--for=condition=Ready", "pod/wide", *n, "--timeout=30s")
    assert simulated.get("pod", "wide", *n)["spec"]["containers"][0]["env"] == env


def test_a_status_patch_leaves_the_generation_alone(simulated, namespace):
    simulated.apply({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "pq3"}, "spec": {"weight": 1}})
    try:
        before = simulated.get("queue", "pq3")["metadata"]["generation"]
        simulated.kubectl("patch", "queue", "pq3", "--subresource=status", "--type=merge", "-p", '{"status":{"reservation":{}},"spec":{"weight":7}}')
        after = simulated.get("queue", "pq3")
        assert (after["metadata"]["generation"], after["spec"]["weight"]) == (before, 1)
        simulated.kubectl("patch", "queue", "pq3", "--type=merge", "-p", '{"spec":{"weight":2}}')
        assert simulated.get("queue", "pq3")["metadata"]["generation"] == before + 1
        version = simulated.get("queue", "pq3")["metadata"]["resourceVersion"]
        simulated.kubectl("patch", "queue", "pq3", "--type=merge", "-p", '{"spec":{"weight":2}}')
        assert simulated.get("queue", "pq3")["metadata"]["generation"] == before + 1 and version
    finally:
        simulated.kubectl("delete", "queue", "pq3")
