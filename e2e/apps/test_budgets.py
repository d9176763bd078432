"""Disruption budgets, drains, quotas and limit ranges with the unmodified kubectl, on simulated nodes."""
import json

from watching import Talk


def deployment(replicas, **container):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
                     "template": {"metadata": {"labels": {"app": "web"}},
                                  "spec": {"containers": [{"name": "c", "image": "x", **container}]}}}}


def test_drain_waits_for_the_budget(simulated, namespace):
    n = ("-n", namespace)
    manifest = deployment(2)
    node = simulated.get("nodes")["items"][3]["metadata"]["name"]
    manifest["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    simulated.apply(manifest, *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    simulated.kubectl("create", "pdb", "web", "--selector=app=web", "--min-available=2", *n)
    simulated.wait("it has counted", lambda: simulated.get("pdb", "web", *n)["status"].get("currentHealthy") == 2)
    cells = simulated.kubectl("get", "pdb", "--no-headers", *n).split()
    assert cells[:4] == ["web", "2", "N/A", "0"]
    assert "Allowed disruptions:" in simulated.kubectl("describe", "pdb", "web", *n)
    drain = Talk(simulated, "drain", node, "--ignore-daemonsets", "--pod-selector=app=web", "--timeout=120s")
    why = "Cannot evict pod as it would violate the pod's disruption budget"
    try:
        simulated.wait("the node is cordoned", lambda: simulated.get("node", node)["spec"].get("unschedulable"))
        pod = simulated.get("pods", *n)["items"][0]["metadata"]["name"]
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        refused = simulated.kubectl_fails("create", "--raw", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", "-f", "-",
                                          stdin=json.dumps(eviction))
        assert why + "." in refused
        simulated.wait("kubectl is told so too, and tries again", lambda: why in drain.remarked())
        assert len(simulated.get("pods", *n)["items"]) == 2
        simulated.kubectl("patch", "pdb", "web", *n, "-p", '{"spec":{"minAvailable":0}}')
        out = drain.end(timeout=150)
        assert drain.process.returncode == 0, out + drain.remarked()
        assert "drained" in out and "evicted" in out
    finally:
        drain.stop()
        simulated.kubectl("uncordon", node)


def test_a_quota_is_never_overdrawn(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "quota", "small", "--hard=pods=3,requests.cpu=2,count/configmaps=3", *n)
    status = simulated.get("quota", "small", *n)["status"]
    assert status["hard"] == {"pods": "3", "requests.cpu": "2", "count/configmaps": "3"} and status["used"]["pods"] == "0"
    refused = simulated.kubectl_fails("run", "silent", "--image=x", *n)
    assert "failed quota: small: must specify requests.cpu for: silent" in refused
    simulated.apply(deployment(6, resources={"requests": {"cpu": "500m"}}), *n)
    simulated.wait("as many as allowed", lambda: simulated.get("quota", "small", *n)["status"]["used"]["pods"] == "3")
    assert len(simulated.get("pods", *n)["items"]) == 3
    condition = simulated.wait("it says why", lambda: next(
        (c for c in simulated.get("deploy", "web", *n)["status"]["conditions"] if c["type"] == "ReplicaFailure"), None))
    assert 'is forbidden: exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=3' in condition["message"]
    assert "requests.cpu: 1500m/2" in simulated.kubectl("get", "quota", *n)
    row = next(line for line in simulated.kubectl("describe", "quota", "small", *n).splitlines() if line.startswith("pods"))
    assert row.split() == ["pods", "3", "3"]
    maps = {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}"}} for i in range(4)]}
    refused = simulated.kubectl_fails("apply", "-f", "-", *n, stdin=json.dumps(maps))
    assert "exceeded quota: small, requested: count/configmaps=1" in refused
    used = int(simulated.get("quota", "small", *n)["status"]["used"]["count/configmaps"])
    assert used == len(simulated.get("cm", *n)["items"]) == 3
    simulated.kubectl("scale", "deploy/web", "--replicas=1", *n)
    simulated.wait("it is given back", lambda: simulated.get("quota", "small", *n)["status"]["used"] == {
        "pods": "1", "requests.cpu": "500m", "count/configmaps": "3"})
    assert "small" in simulated.kubectl("describe", "namespace", namespace)


def test_limit_ranges_fill_in_and_refuse(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "250m"}, "max": {"cpu": "1"}}]}}, *n)
    simulated.kubectl("run", "p", "--image=x", *n)
    pod = simulated.get("pod", "p", *n)
    assert pod["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m"}, "requests": {"cpu": "250m"}}
    assert pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"].startswith("LimitRanger plugin set: cpu request")
    big = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": {"containers": [
        {"name": "c", "image": "x", "resources": {"limits": {"cpu": "2"}}}]}}
    refused = simulated.kubectl_fails("create", "-f", "-", *n, stdin=json.dumps(big))
    assert "maximum cpu usage per Container is 1, but limit is 2" in refused
    assert "Container" in simulated.kubectl("describe", "limits", "l", *n)
