"""What the server does with writes that are easy to get wrong: patches, finalizers, sizes, quantities, names."""
import json


def config_map(name, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"a": "1"}}


def pod(name, **resources):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "schedulerName": "nobody",
                     "containers": [{"name": "main", "image": "busybox:1.36", "resources": resources}]}}


def patch(cluster, n, what, kind, body):
    return cluster.try_kubectl("patch", *what, *n, "--type", kind, "-p", json.dumps(body))


def test_strategic_patches_are_for_built_in_kinds_only(simulated, namespace):
    simulated.apply({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "pq"},
                     "spec": {"weight": 1, "capability": {"cpu": "1"}}})
    queue = ("queue", "pq")
    try:
        code, _, err = patch(simulated, (), queue, "strategic", {"spec": {"weight": 2}})
        assert code != 0 and "application/merge-patch+json" in err, err
        assert simulated.get(*queue)["spec"]["weight"] == 1
        assert patch(simulated, (), queue, "merge", {"spec": {"capability": {"cpu": None, "memory": "2Gi"}}})[0] == 0
        before = simulated.get(*queue)
        assert before["spec"]["capability"] == {"memory": "2Gi"}
        code, _, err = patch(simulated, (), queue, "json", [{"op": "test", "path": "/spec/weight", "value": 9},
                                                            {"op": "replace", "path": "/spec/weight", "value": 5}])
        assert code != 0 and "/spec/weight" in err, err
        assert patch(simulated, (), queue, "merge", {"spec": {"weight": 1}})[0] == 0
        after = simulated.get(*queue)
        assert (after["spec"], after["metadata"]["generation"]) == (before["spec"], before["metadata"]["generation"])
    finally:
        simulated.kubectl("delete", "queue", "pq")


def test_a_stale_version_in_a_patch_is_a_conflict(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(config_map("stale"), *n)
    code, _, err = patch(simulated, n, ("cm", "stale"), "merge", {"metadata": {"resourceVersion": "1", "labels": {"x": "y"}}})
    assert code != 0 and "the object has been modified" in err, err


def test_ports_of_one_number_and_two_protocols_both_stay(simulated, namespace):
    n = ("-n", namespace)

    def service(target):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns"}, "spec": {"selector": {"app": "dns"}, "ports": [
            {"name": "dns", "port": 53, "protocol": "TCP", "targetPort": target},
            {"name": "dns-udp", "port": 53, "protocol": "UDP", "targetPort": 1053}]}}
    simulated.apply(service(1053), *n)
    simulated.apply(service(1054), *n)
    ports = [(p["name"], p["port"], p["protocol"], p["targetPort"]) for p in simulated.get("svc", "dns", *n)["spec"]["ports"]]
    assert ports == [("dns", 53, "TCP", 1054), ("dns-udp", 53, "UDP", 1053)]


def test_finalizers_hold_an_object_and_its_namespace(simulated):
    simulated.kubectl("create", "namespace", "hang")
    n = ("-n", "hang")
    simulated.apply(config_map("held", finalizers=["example.com/hold"]), *n)
    simulated.kubectl("delete", "cm", "held", "--wait=false", *n)
    marked = simulated.get("cm", "held", *n)["metadata"]["deletionTimestamp"]
    code, _, err = patch(simulated, n, ("cm", "held"), "merge", {"metadata": {"finalizers": ["example.com/hold", "example.com/b"]}})
    assert code != 0 and "no new finalizers can be added" in err, err
    assert patch(simulated, n, ("cm", "held"), "merge", {"data": {"a": "2"}})[0] == 0
    simulated.kubectl("delete", "namespace", "hang", "--wait=false")
    assert simulated.get("cm", "held", *n)["metadata"]["deletionTimestamp"] == marked
    told = simulated.wait("the namespace says what holds it", lambda: (lambda s: s if "example.com/hold" in s else None)(
        json.dumps(simulated.get("namespace", "hang")["status"])))
    assert "Terminating" in told
    assert "because it is being terminated" in simulated.kubectl_fails("create", "cm", "late", *n)
    assert patch(simulated, n, ("cm", "held"), "json", [{"op": "remove", "path": "/metadata/finalizers"}])[0] == 0
    simulated.kubectl("wait", "--for=delete", "namespace/hang", "--timeout=60s", timeout=90)


def test_large_objects(simulated, namespace):
    n = ("-n", namespace)

    def large(name, size):
        return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "x" * size}})
    err = simulated.kubectl_fails("apply", *n, "-f", "-", stdin=large("l", 300_000))
    assert "metadata.annotations: Too long" in err and "262144" in err, err
    simulated.kubectl("create", *n, "-f", "-", stdin=large("l", 300_000))
    assert simulated.get("cm", "l", *n)["data"]["k"] == "x" * 300_000
    assert "data: Too long: may not be more than 1048576" in simulated.kubectl_fails("create", *n, "-f", "-", stdin=large("m", 1_200_000))
    assert "Request entity too large" in simulated.kubectl_fails("create", *n, "-f", "-", stdin=large("n", 5_000_000))
    assert simulated.kubectl("get", "--raw", "/livez") == "ok"


def test_quantities_are_canonical_and_reapplying_writes_nothing(simulated, namespace):
    n = ("-n", namespace)
    cases = [({"cpu": "0.5", "memory": "0.5Gi"}, {"cpu": "500m", "memory": "512Mi"}),
             ({"cpu": "1000m", "memory": "1e3"}, {"cpu": "1", "memory": "1e3"}),
             ({"cpu": "1", "memory": "1048576"}, {"cpu": "1", "memory": "1048576"}),
             ({"cpu": "10m", "memory": "0.001Mi"}, {"cpu": "10m", "memory": "1048576m"})]
    for number, (asked, stored) in enumerate(cases):
        manifest = pod(f"q{number}", requests=asked)
        simulated.apply(manifest, *n)
        before = simulated.get("pod", f"q{number}", *n)
        assert before["spec"]["containers"][0]["resources"]["requests"] == stored
        simulated.apply(manifest, *n)
        assert simulated.get("pod", f"q{number}", *n)["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
        code, out, err = simulated.try_kubectl("diff", *n, "-f", "-", stdin=json.dumps(manifest))
        assert (code, out) == (0, ""), out + err
    for resources, word in (({"limits": {"nvidia.com/gpu": "0.5"}}, "nvidia.com/gpu"), ({"requests": {"memory": "1GB"}}, "memory"),
                            ({"requests": {"cpu": "-1"}}, "cpu"), ({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, "cpu limit")):
        assert word in simulated.kubectl_fails("create", *n, "-f", "-", stdin=json.dumps(pod("refused", **resources)))


def test_generated_names(simulated, namespace):
    n = ("-n", namespace)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "load-"}}
    assert "generate name" in simulated.kubectl_fails("apply", *n, "-f", "-", stdin=json.dumps(manifest))
    many = json.dumps({"apiVersion": "v1", "kind": "List", "items": [manifest] * 60})
    names = simulated.kubectl("create", *n, "-o", "name", "-f", "-", stdin=many).split()
    assert len(set(names)) == 60
    assert all(len(x) == len("configmap/load-") + 5 and not set("aeiou013") & set(x[-5:]) for x in names), names
    manifest["metadata"]["generateName"] = "p" * 60
    name = simulated.kubectl("create", *n, "-o", "jsonpath={.metadata.name}", "-f", "-", stdin=json.dumps(manifest))
    assert len(name) == 63 and name.startswith("p" * 58)


def test_the_api_is_a_service_of_its_own(simulated):
    service = simulated.get("service", "kubernetes", "-n", "default")
    assert service["spec"]["clusterIP"] == "10.96.0.1"


def test_drain_evicts_and_leaves_the_node_cordoned(simulated, namespace):
    n = ("-n", namespace)
    running = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "moved"},
               "spec": {"containers": [{"name": "c", "image": "busybox"}]}}
    simulated.apply(running, *n)
    simulated.kubectl("wait", "--for=condition=Ready", "pod/moved", *n, "--timeout=30s")
    node = simulated.get("pod", "moved", *n)["spec"]["nodeName"]
    try:
        simulated.kubectl("drain", node, "--force", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s", timeout=90)
        assert simulated.get("pod", "moved", *n) is None
        assert simulated.get("node", node)["spec"]["unschedulable"] is True
    finally:
        simulated.kubectl("uncordon", node)
