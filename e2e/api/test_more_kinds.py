"""Kinds that are kept for others to act on, with the unmodified kubectl."""
import json

import harness


def named(cluster, namespace, *args):
    return cluster.kubectl("get", *args, "-n", namespace, "-o", "name").split()


def test_what_kubectl_creates_of_itself(simulated, namespace):
    """kubectl sends these as protobuf."""
    n = ("-n", namespace)
    simulated.kubectl("create", "ingress", "web", "--class=nginx", "--rule=a.example.com/x*=svc:80", "--rule=b.example.com/=svc:http,tls=secret", *n)
    cells = simulated.kubectl("get", "ing", "web", "--no-headers", *n).split()
    assert cells[:3] == ["web", "nginx", "a.example.com,b.example.com"] and "443" in cells, cells
    assert "a.example.com" in simulated.kubectl("describe", "ingress", "web", *n)
    refused = simulated.kubectl_fails("create", "ingress", "bad", "--rule=10.0.0.1/x=svc:80", *n)
    assert "must be a DNS name, not an IP address" in refused, refused

    simulated.kubectl("create", "deployment", "d", "--image=i", "--replicas=1", *n)
    simulated.kubectl("autoscale", "deployment", "d", "--min=1", "--max=4", "--cpu-percent=50", *n)
    cells = simulated.kubectl("get", "hpa", "d", "--no-headers", *n).split()
    assert cells[:2] == ["d", "Deployment/d"] and cells[-4:-1] == ["1", "4", "0"], cells
    one = json.loads(simulated.kubectl("get", "--raw", f"/apis/autoscaling/v1/namespaces/{namespace}/horizontalpodautoscalers/d"))
    two = json.loads(simulated.kubectl("get", "--raw", f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/d"))
    assert one["spec"]["targetCPUUtilizationPercentage"] == 50
    assert two["spec"]["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 50}
    assert "Deployment/d" in simulated.kubectl("describe", "hpa", "d", *n)


def test_applied_kinds_keep_what_they_say(simulated, namespace):
    n = ("-n", namespace)
    things = [
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "np"},
         "spec": {"podSelector": {"matchLabels": {"a": "b"}}, "ingress": [{"ports": [{"protocol": "TCP", "port": 80}]}]}},
        {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc"},
         "spec": {"replicas": 0, "selector": {"a": "b"}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}},
        {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "pt"},
         "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
        {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "rs"},
         "spec": {"serveConfigV2": "applications: []", "rayClusterConfig": {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": {"containers": [{"name": "h", "image": "i"}]}}}}}},
        {"apiVersion": "ray.io/v1", "kind": "RayCronJob", "metadata": {"name": "rcj"}, "spec": {"schedule": "0 * * * *", "jobTemplate": {"entrypoint": "true"}}},
    ]
    for thing in things:
        simulated.apply(thing, *n)
        assert "unchanged" in simulated.apply(thing, *n), thing["kind"]
        assert simulated.get(thing["kind"].lower(), thing["metadata"]["name"], *n)["kind"] == thing["kind"]
        assert "FIELD" in simulated.kubectl("explain", thing["kind"].lower()) or "FIELDS" in simulated.kubectl("explain", thing["kind"].lower())
    assert simulated.get("netpol", "np", *n)["spec"]["policyTypes"] == ["Ingress"]
    assert simulated.kubectl("get", "rc", "rc", "--no-headers", *n).split()[:4] == ["rc", "0", "0", "0"]
    assert simulated.kubectl("get", "podtemplates", "pt", "--no-headers", *n).split() == ["pt", "c", "i", "a=b"]
    simulated.kubectl("scale", "rc/rc", "--replicas=2", *n)
    assert simulated.get("rc", "rc", *n)["spec"]["replicas"] == 2
    bad = {**things[4], "metadata": {"name": "bad"}, "spec": {**things[4]["spec"], "schedule": "never"}}
    assert "spec.schedule" in simulated.kubectl_fails("apply", "-f", "-", *n, stdin=json.dumps(bad))


def test_cluster_wide_kinds(simulated):
    things = [
        {"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "ic"}, "spec": {"controller": "example.com/ingress"}},
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "slow"}, "handler": "slow"},
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "other"}, "provisioner": "example.com/disks"},
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example.com"}, "spec": {"attachRequired": False}},
        {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": "hn"},
         "spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "n1"}}}]}},
        {"apiVersion": "nodeinfo.volcano.sh/v1alpha1", "kind": "Numatopology", "metadata": {"name": "nt"}, "spec": {"policies": {"CPUManagerPolicy": "static"}}},
    ]
    for thing in things:
        simulated.apply(thing)
        assert "unchanged" in simulated.apply(thing), thing["kind"]
        simulated.kubectl("get", thing["kind"].lower(), thing["metadata"]["name"])
        simulated.kubectl("delete", thing["kind"].lower(), thing["metadata"]["name"])
    names = simulated.kubectl("get", "pc", "-o", "name").split()
    assert {"priorityclass.scheduling.k8s.io/system-cluster-critical", "priorityclass.scheduling.k8s.io/system-node-critical"} <= set(names)


def test_a_runtime_class_adds_overhead_and_nodes(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "boxed"}, "handler": "boxed",
                     "overhead": {"podFixed": {"cpu": "250m"}}, "scheduling": {"nodeSelector": {"box": "yes"}}})
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
            "spec": {"runtimeClassName": "boxed", "containers": [{"name": "c", "image": "i"}]}}
    simulated.apply(made, *n)
    spec = simulated.get("pod", "p", *n)["spec"]
    assert spec["overhead"] == {"cpu": "250m"} and spec["nodeSelector"] == {"box": "yes"}
    made["metadata"]["name"], made["spec"]["runtimeClassName"] = "q", "none"
    refused = simulated.kubectl_fails("apply", "-f", "-", *n, stdin=json.dumps(made))
    assert 'pods "q" is forbidden: pod rejected: RuntimeClass "none" not found' in refused, refused
    simulated.kubectl("delete", "runtimeclass", "boxed")


def test_prune_without_an_allowlist(simulated, namespace):
    """It asks for every kind of its own list, persistent volumes and ingresses among them."""
    n = ("-n", namespace)

    def config_map(name):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, "labels": {"set": "mine"}}, "data": {"a": "b"}}

    for name in ("keep", "drop"):
        simulated.apply(config_map(name))
    out = simulated.apply(config_map("keep"), "--prune", "-l", "set=mine", *n)
    assert "configmap/drop pruned" in out, out
    assert set(named(simulated, namespace, "cm", "-l", "set=mine")) == {"configmap/keep"}


def test_server_side_apply_of_a_scale(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "deployment", "d", "--image=i", "--replicas=1", *n)
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d", "namespace": namespace}, "spec": {"replicas": 3}}
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/d/scale"
    http = harness.Http(simulated)
    status, body = http("PATCH", path + "?fieldManager=sizer&force=true", scale, "application/apply-patch+yaml")
    http.close()
    assert status == 200 and body["spec"]["replicas"] == 3, body
    entries = json.loads(simulated.kubectl("get", "deploy", "d", *n, "-o", "json", "--show-managed-fields"))["metadata"]["managedFields"]
    mine = [e for e in entries if e["manager"] == "sizer"]
    assert [(e["operation"], e.get("subresource")) for e in mine] == [("Apply", "scale")], mine
