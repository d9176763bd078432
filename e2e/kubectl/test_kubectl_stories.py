"""What people type: each story with the unmodified kubectl, on simulated nodes where no process is needed."""
import json

from watching import Talk


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def sim_pod(name, run_time=None, **extra):
    annotations = {"krater.io/sim-run-time": run_time} if run_time else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations, "labels": {"app": name}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": ["true"]}], **extra}}


def test_version_discovery_and_health(simulated):
    assert "Server Version" in simulated.kubectl("version")
    resources = simulated.kubectl("api-resources", "--no-headers", "-o", "name").split()
    for expected in ("pods", "nodes", "configmaps", "secrets", "jobs.batch", "rayjobs.ray.io", "rayclusters.ray.io",
                     "podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh", "jobs.batch.volcano.sh",
                     "leases.coordination.k8s.io", "priorityclasses.scheduling.k8s.io", "events.events.k8s.io"):
        assert expected in resources, resources
    versions = simulated.kubectl("api-versions").split()
    assert {"v1", "batch/v1", "ray.io/v1", "scheduling.volcano.sh/v1beta1"} <= set(versions)
    assert simulated.kubectl("get", "--raw", "/livez") == "ok"


def test_apply_get_edit_label_annotate_delete(simulated, namespace):
    n = ("-n", namespace)
    assert "created" in simulated.apply(config_map("settings", a="1"), *n)
    assert "unchanged" in simulated.apply(config_map("settings", a="1"), *n)
    assert "configured" in simulated.apply(config_map("settings", a="2", b="3"), *n)
    assert simulated.kubectl("get", "cm", "settings", *n, "-o", "jsonpath={.data.a}{.data.b}") == "23"
    simulated.kubectl("label", "cm", "settings", "team=x", *n)
    simulated.kubectl("annotate", "cm", "settings", "note=hello world", *n)
    assert simulated.kubectl("get", "cm", "-l", "team=x", *n, "-o", "name").strip() == "configmap/settings"
    assert "settings" in simulated.kubectl("get", "cm", "--show-labels", *n)
    simulated.kubectl("label", "cm", "settings", "team-", *n)
    assert simulated.kubectl("get", "cm", "-l", "team=x", *n, "-o", "name").strip() == ""
    simulated.kubectl("patch", "cm", "settings", *n, "--type=json", "-p", '[{"op":"remove","path":"/data/b"}]')
    simulated.kubectl("patch", "cm", "settings", *n, "--type=merge", "-p", '{"data":{"c":"4"}}')
    simulated.kubectl("patch", "cm", "settings", *n, "-p", '{"data":{"d":"5"}}')
    assert simulated.get("cm", "settings", *n)["data"] == {"a": "2", "c": "4", "d": "5"}
    assert "deleted" in simulated.kubectl("delete", "cm", "settings", *n)
    assert 'configmaps "settings" not found' in simulated.kubectl_fails("get", "cm", "settings", *n)


def test_create_commands_send_protobuf(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "configmap", "one", "--from-literal=k=v", *n)
    simulated.kubectl("create", "secret", "generic", "two", "--from-literal=password=s3cret", *n)
    simulated.kubectl("create", "serviceaccount", "three", *n)
    simulated.kubectl("create", "job", "four", "--image=busybox", *n, "--", "true")
    assert simulated.get("cm", "one", *n)["data"] == {"k": "v"}
    assert simulated.get("secret", "two", *n)["data"] == {"password": "czNjcmV0"}
    job = simulated.get("job", "four", *n)
    assert job["spec"]["template"]["spec"]["containers"][0]["command"] == ["true"]
    token = simulated.kubectl("create", "token", "three", *n).strip()
    assert token.count(".") == 2


def test_dry_run_and_diff_change_nothing(simulated, namespace):
    n = ("-n", namespace)
    assert "server dry run" in simulated.apply(config_map("dry", a="1"), *n, "--dry-run=server")
    assert simulated.get("cm", "dry", *n) is None
    simulated.apply(config_map("dry", a="1"), *n)
    code, out, _ = simulated.try_kubectl("diff", "-f", "-", *n, stdin=json.dumps(config_map("dry", a="2")))
    assert code == 1 and "+  a: \"2\"" in out, out
    assert simulated.get("cm", "dry", *n)["data"]["a"] == "1"


def test_watch_and_wait(simulated, namespace):
    n = ("-n", namespace)
    watch = Talk(simulated, "get", "pods", "-w", "-o", "name", *n, watches=True)
    try:
        simulated.apply(sim_pod("short", run_time="12s"), *n)
        simulated.kubectl("wait", "--for=condition=Ready", "pod/short", *n, "--timeout=30s")
        simulated.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/short", *n, "--timeout=30s")
        simulated.kubectl("delete", "pod", "short", *n)
        simulated.kubectl("wait", "--for=delete", "pod/short", *n, "--timeout=30s")
        simulated.wait("the watch has told it all", lambda: watch.said().split().count("pod/short") >= 3)
    finally:
        watch.stop()


def test_lists_in_chunks_sorted_and_selected(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "v1", "kind": "List", "items": [config_map(f"c{i:03}", i=str(i)) for i in range(60)]}, *n)
    names = simulated.kubectl("get", "cm", *n, "--chunk-size=7", "-o", "name").split()
    assert [f"configmap/c{i:03}" for i in range(60)] == [x for x in names if "/c0" in x]
    assert simulated.kubectl("get", "cm", *n, "--field-selector=metadata.name=c007", "-o", "name").split() == ["configmap/c007"]
    backwards = simulated.kubectl("get", "cm", *n, "--sort-by=.metadata.name").splitlines()
    assert backwards[0].split() == ["NAME", "DATA", "AGE"]


def test_describe_explain_events(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(sim_pod("told", run_time="60s"), *n)
    simulated.kubectl("wait", "--for=condition=Ready", "pod/told", *n, "--timeout=30s")
    described = simulated.wait("its event is told", lambda: (lambda text: text if "Events:" in text and "Scheduled" in text else None)(
        simulated.kubectl("describe", "pod", "told", *n)))
    assert "Node:" in described, described
    assert "FIELD: containers" in simulated.kubectl("explain", "pod.spec.containers")
    assert "entrypoint" in simulated.kubectl("explain", "rayjob.spec")
    assert "Scheduled" in simulated.kubectl("events", "--for", "pod/told", *n)
    node = simulated.get("nodes")["items"][0]["metadata"]["name"]
    assert "Allocated resources" in simulated.kubectl("describe", "node", node)


def test_replace_and_conflict(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(config_map("swap", a="1"), *n)
    live = simulated.get("cm", "swap", *n)
    simulated.kubectl("patch", "cm", "swap", *n, "--type=merge", "-p", '{"data":{"a":"2"}}')
    live["data"]["a"] = "3"
    assert "the object has been modified" in simulated.kubectl_fails("replace", "-f", "-", stdin=json.dumps(live))
    del live["metadata"]["resourceVersion"]
    simulated.kubectl("replace", "-f", "-", stdin=json.dumps(live))
    assert simulated.get("cm", "swap", *n)["data"]["a"] == "3"


def test_jobs_cascade_and_logs_of_a_job(simulated, namespace):
    n = ("-n", namespace)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "three"},
           "spec": {"completions": 3, "parallelism": 2, "template": {
               "metadata": {"annotations": {"krater.io/sim-run-time": "200ms"}},
               "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}}}
    simulated.apply(job, *n)
    simulated.kubectl("wait", "--for=condition=complete", "job/three", *n, "--timeout=60s")
    assert simulated.get("job", "three", *n)["status"]["succeeded"] == 3
    assert len(simulated.get("pods", *n, "-l", "job-name=three")["items"]) == 3
    simulated.kubectl("delete", "job", "three", *n, "--cascade=foreground")
    simulated.wait("its pods are gone", lambda: simulated.get("pods", *n)["items"] == [])


def test_cordon_taint_and_scheduling(simulated, namespace):
    n = ("-n", namespace)
    nodes = [item["metadata"]["name"] for item in simulated.get("nodes")["items"]]
    simulated.kubectl("cordon", *nodes)
    try:
        simulated.apply(sim_pod("waits", run_time="60s"), *n)
        simulated.wait("it says why", lambda: "Unschedulable" in simulated.kubectl("describe", "pod", "waits", *n)
                       or "unschedulable" in simulated.kubectl("describe", "pod", "waits", *n))
        assert not simulated.get("pod", "waits", *n)["spec"].get("nodeName")
    finally:
        simulated.kubectl("uncordon", *nodes)
    simulated.kubectl("wait", "--for=condition=Ready", "pod/waits", *n, "--timeout=30s")


def test_auth(simulated):
    assert simulated.kubectl("auth", "can-i", "create", "pods").strip() == "yes"
    assert "kubernetes-admin" in simulated.kubectl("auth", "whoami")
