"""What clients see where a kube-apiserver stood before: each story is one that ended differently here once."""
import json

import harness
import pytest


@pytest.fixture
def http(simulated):
    made = harness.Http(simulated)
    yield made
    made.close()


def pod(name="p", **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "busybox", "command": ["sleep", "1000"]}], **spec}}


def test_the_same_pod_is_applied_twice(simulated, namespace):
    n = ("-n", namespace)
    manifest = pod(tolerations=[{"key": "a", "operator": "Exists"}])
    simulated.apply(manifest, "--server-side", *n)
    before = simulated.get("pod", "p", *n)["spec"]["tolerations"]
    assert len(before) == 3  # those that every pod has, too
    simulated.apply(manifest, "--server-side", *n)
    assert simulated.get("pod", "p", *n)["spec"]["tolerations"] == before


def test_claims_stay_within_limit_ranges(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"},
                     "spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}}]}}, *n)
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "v"},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}}}
    err = simulated.kubectl_fails("create", *n, "-f", "-", stdin=json.dumps(claim))
    assert 'persistentvolumeclaims "v" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi' in err, err
    claim["spec"]["resources"]["requests"]["storage"] = "1Gi"
    simulated.kubectl("create", *n, "-f", "-", stdin=json.dumps(claim))


def test_a_namespace_takes_its_content_along_whatever_was_patched(simulated, http):
    name = "as-kube-finalizers"
    simulated.kubectl("create", "namespace", name)
    simulated.kubectl("create", "configmap", "c", "-n", name)
    simulated.kubectl("patch", "namespace", name, "--type=merge", "-p", '{"spec":{"finalizers":null}}')
    assert simulated.get("namespace", name)["spec"]["finalizers"] == ["kubernetes"]
    simulated.kubectl("delete", "namespace", name, "--timeout=60s")
    assert http("GET", f"/api/v1/namespaces/{name}/configmaps/c")[0] == 404


def test_clients_from_before_1_22_evict(simulated, namespace, http):
    simulated.apply(pod(), "-n", namespace)
    path = f"/api/v1/namespaces/{namespace}/pods/p/eviction"
    code, body = http("POST", path, {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"}})
    assert (code, body["status"]) == (201, "Success"), body
    code, body = http("POST", path, {"apiVersion": "policy/v2", "kind": "Eviction", "metadata": {"name": "p"}})
    assert code == 400, body


def test_a_service_changes_its_type_and_leaves_the_old_ones_fields(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
                     "spec": {"type": "LoadBalancer", "loadBalancerClass": "a.b/c", "ports": [{"port": 80}]}}, *n)
    assert simulated.get("svc", "s", *n)["spec"]["externalTrafficPolicy"] == "Cluster"
    simulated.kubectl("patch", "svc", "s", *n, "--type=merge", "-p", '{"spec":{"type":"ClusterIP"}}')
    spec = simulated.get("svc", "s", *n)["spec"]
    assert not spec.keys() & {"externalTrafficPolicy", "allocateLoadBalancerNodePorts", "loadBalancerClass"}, spec
    assert "nodePort" not in spec["ports"][0]
    simulated.kubectl("patch", "svc", "s", *n, "--type=merge", "-p", '{"spec":{"type":"ExternalName","externalName":"a.b"}}')
    spec = simulated.get("svc", "s", *n)["spec"]
    assert not spec.keys() & {"clusterIP", "clusterIPs", "ipFamilies", "internalTrafficPolicy"}, spec


def test_an_ingress_port_goes_from_number_to_name(simulated, namespace):
    n = ("-n", namespace)

    def ingress(port):
        return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"},
                "spec": {"defaultBackend": {"service": {"name": "s", "port": port}}}}
    simulated.apply(ingress({"number": 80}), "--server-side", "--field-manager=one", *n)
    simulated.apply(ingress({"name": "http"}), "--server-side", "--field-manager=two", "--force-conflicts", *n)
    assert simulated.get("ingress", "i", *n)["spec"]["defaultBackend"]["service"]["port"] == {"name": "http"}


def test_templates_stay_as_they_were_written(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
                     "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                         "metadata": {"labels": {"a": "b"}},
                         "spec": {"containers": [{"name": "c", "image": "busybox", "command": ["sleep", "1000"],
                                                  "resources": {"limits": {"cpu": "100m"}}}]}}}}, *n)
    template = simulated.get("deployment", "d", *n)["spec"]["template"]["spec"]
    assert template["containers"][0]["resources"] == {"limits": {"cpu": "100m"}}
    assert "enableServiceLinks" not in template
    pods = simulated.wait("its pod", lambda: simulated.get("pods", *n, "-l", "a=b")["items"])
    assert pods[0]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "100m"}
    assert pods[0]["spec"]["enableServiceLinks"] is True


def test_who_edits_writes_no_endpoints(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "rolebinding", "e", "--clusterrole=edit", "--user=eve", *n)

    def may(verb, what):
        return simulated.try_kubectl("auth", "can-i", verb, what, "--as=eve", *n)[1].strip() == "yes"
    assert may("create", "configmaps") and may("create", "events.events.k8s.io")
    assert not may("create", "endpoints") and may("get", "endpoints")


def test_labels_come_with_a_status_and_jobs_keep_their_pods(simulated, namespace, http):
    n = ("-n", namespace)
    simulated.apply(pod(), *n)
    simulated.kubectl("patch", "pod", "p", *n, "--subresource=status", "--type=merge", "-p", '{"metadata":{"labels":{"l":"1"}}}')
    assert simulated.get("pod", "p", *n)["metadata"]["labels"] == {"l": "1"}
    simulated.kubectl("create", "job", "j", "--image=busybox", *n, "--", "sleep", "1000")
    assert simulated.get("job", "j", *n)["metadata"]["labels"]["job-name"] == "j"
    pods = simulated.wait("its pod", lambda: simulated.get("pods", *n, "-l", "job-name=j")["items"])
    http("DELETE", f"/apis/batch/v1/namespaces/{namespace}/jobs/j")
    simulated.wait("the job gone", lambda: simulated.get("job", "j", *n) is None)
    kept = simulated.get("pod", pods[0]["metadata"]["name"], *n)
    assert kept is not None and "ownerReferences" not in kept["metadata"]
