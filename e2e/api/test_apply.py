"""Server-side apply as people and controllers use it: who owns which field, conflicts, giving up, moving over from client-side apply."""
import json

import harness
import pytest


def config_map(name="c", annotations=None, **data):
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    if annotations:
        made["metadata"]["annotations"] = annotations
    return made


def ssa(cluster, n, manifest, *args):
    return cluster.apply(manifest, "--server-side", *n, *args)


def ssa_fails(cluster, n, manifest, *args):
    return cluster.kubectl_fails("apply", "--server-side", *n, *args, "-f", "-", stdin=json.dumps(manifest))


def managers(cluster, n, *what):
    entries = cluster.get(*what, *n, "--show-managed-fields")["metadata"].get("managedFields", [])
    return {(e["manager"], e["operation"], e.get("subresource", "")): e["fieldsV1"] for e in entries}


@pytest.fixture
def http(simulated):
    made = harness.Http(simulated)
    yield made
    made.close()


def test_apply_creates_changes_and_leaves_alone(simulated, namespace):
    n = ("-n", namespace)
    assert "serverside-applied" in ssa(simulated, n, config_map(a="1"))
    assert managers(simulated, n, "cm", "c") == {("kubectl", "Apply", ""): {"f:data": {"f:a": {}}}}
    before = simulated.get("cm", "c", *n)
    ssa(simulated, n, config_map(a="1"))
    assert simulated.get("cm", "c", *n) == before  # resourceVersion and times too
    ssa(simulated, n, config_map(b="2"))
    assert simulated.get("cm", "c", *n)["data"] == {"b": "2"}
    assert "managedFields" not in simulated.kubectl("get", "cm", "c", *n, "-o", "yaml")
    assert "managedFields" in simulated.kubectl("get", "cm", "c", *n, "-o", "yaml", "--show-managed-fields")


def test_conflicts_force_and_shared_fields(simulated, namespace):
    n = ("-n", namespace)
    ssa(simulated, n, config_map(a="1", b="1"), "--field-manager=one")
    err = ssa_fails(simulated, n, config_map(a="2"), "--field-manager=two")
    assert 'Apply failed with 1 conflict: conflict with "one": .data.a' in err, err
    assert "--force-conflicts" in err, err
    simulated.kubectl("patch", "cm", "c", *n, "--type=merge", "-p", '{"data":{"b":"3"}}')
    err = ssa_fails(simulated, n, config_map(a="2", b="2"), "--field-manager=two")
    assert "Apply failed with 2 conflicts" in err and 'conflicts with "kubectl-patch" using v1:\n- .data.b' in err, err
    ssa(simulated, n, config_map(a="1"), "--field-manager=two")  # the same value: both own it
    ssa(simulated, n, config_map(b="1"), "--field-manager=one", "--force-conflicts")
    assert simulated.get("cm", "c", *n)["data"] == {"a": "1", "b": "1"}
    assert managers(simulated, n, "cm", "c") == {("one", "Apply", ""): {"f:data": {"f:b": {}}},
                                                 ("two", "Apply", ""): {"f:data": {"f:a": {}}}}


def test_conflicts_are_told_to_programs(http, namespace):
    path = f"/api/v1/namespaces/{namespace}/configmaps/c"
    apply = "application/apply-patch+yaml"
    status, _ = http("PATCH", path + "?fieldManager=one", "apiVersion: v1\nkind: ConfigMap\ndata: {a: '1'}\n", apply)
    assert status == 201
    status, told = http("PATCH", path + "?fieldManager=two", config_map(a="2"), apply)
    assert (status, told["reason"]) == (409, "Conflict")
    assert told["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}]
    status, told = http("PATCH", path, config_map(a="1"), apply)
    assert (status, told["reason"]) == (422, "Invalid")
    assert "fieldManager: Required value: is required for apply patch" in told["message"], told
    status, told = http("PATCH", path + "?force=true", {"data": {"a": "2"}}, "application/merge-patch+json")
    assert status == 422 and "may not be specified for non-apply patch" in told["message"], told
    status, told = http("PATCH", path + "?fieldManager=" + "m" * 129, config_map(a="1"), apply)
    assert status == 422 and "fieldManager: Too long" in told["message"], told
    typed = {"apiVersion": "v1", "kind": "ConfigMap"}
    for body, why in ((dict(config_map(a="1"), apiVersion="v2"), "invalid object type: /v2, Kind=ConfigMap"),
                      (config_map("other", a="1"), "does not match the name on the URL"),
                      ({"data": {}}, "invalid object type: /, Kind="),
                      (dict(typed, metadata={"managedFields": [{}]}), "metadata.managedFields must be nil"),
                      (dict(typed, data={}, spec={}), ".spec: field not declared in schema"),
                      ("a: [", "error decoding YAML")):
        status, told = http("PATCH", path + "?fieldManager=two", body, apply)
        assert (status, told["reason"]) == (400, "BadRequest") and why in told["message"], told


def test_ports_of_one_number_are_two(simulated, namespace):
    n = ("-n", namespace)

    def service(rev, *protocols):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns", "labels": {"rev": rev}},
                "spec": {"selector": {"app": "dns"}, "ports": [
                    {"name": {"TCP": "dns", "UDP": "dns-udp"}[p], "port": 53, "protocol": p, "targetPort": 1053} for p in protocols]}}

    def ports():
        return [(p["name"], p["port"], p["protocol"]) for p in simulated.get("svc", "dns", *n)["spec"]["ports"]]
    both = [("dns", 53, "TCP"), ("dns-udp", 53, "UDP")]
    for rev in "12":
        ssa(simulated, n, service(rev, "TCP", "UDP"))
        assert ports() == both
    ssa(simulated, n, service("3", "TCP"))
    assert ports() == both[:1]
    ssa(simulated, n, service("3", "TCP", "UDP"))
    assert ports() == both
    address = simulated.get("svc", "dns", *n)["spec"]["clusterIP"]
    assert address and address != "None"


def test_container_ports_without_protocol_match_those_with_it(simulated, namespace):
    n = ("-n", namespace)

    def pod(*ports):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns"}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "main", "image": "busybox", "ports": [dict(p, containerPort=1053) for p in ports]}]}}
    ssa(simulated, n, pod({"name": "dns"}, {"name": "dns-udp", "protocol": "UDP"}))
    before = simulated.wait("it has a node", lambda: (lambda p: p if p["spec"]["nodeName"] else None)(simulated.get("pod", "dns", *n)))
    ports = before["spec"]["containers"][0]["ports"]
    assert [(p["name"], p["protocol"]) for p in ports] == [("dns", "TCP"), ("dns-udp", "UDP")]
    ssa(simulated, n, pod({"name": "dns", "protocol": "TCP"}, {"name": "dns-udp", "protocol": "UDP"}))
    assert simulated.get("pod", "dns", *n)["spec"] == before["spec"]


def test_nested_fields_of_custom_kinds_are_given_up(simulated, namespace):
    n = ("-n", namespace)

    def cluster(**head):
        return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "rc"}, "spec": {"suspend": True, "headGroupSpec": {
            "rayStartParams": {}, "template": {"spec": {"containers": [{"name": "head", "image": "rayproject/ray:2.46.0", **head}]}}}}}
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    ssa(simulated, n, cluster(env=env))
    simulated.kubectl("patch", "raycluster", "rc", *n, "--type=json", "-p", json.dumps([
        {"op": "add", "path": "/spec/headGroupSpec/template/spec/containers/0/env/-", "value": {"name": "MINE", "value": "x"}}]))
    # A JSON patch owns only what it changed: the applier keeps its entries.
    ssa(simulated, n, cluster(env=env[1:]))
    head = simulated.get("raycluster", "rc", *n)["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert head["env"] == [env[1], {"name": "MINE", "value": "x"}]
    generation = simulated.get("raycluster", "rc", *n)["metadata"]["generation"]
    ssa(simulated, n, cluster(env=env[1:]))
    assert simulated.get("raycluster", "rc", *n)["metadata"]["generation"] == generation


def test_moving_over_from_client_side_apply(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(config_map(a="1", b="1"), *n)
    assert ("kubectl-client-side-apply", "Update", "") in managers(simulated, n, "cm", "c")
    # Fields the last client-side apply set are taken over silently, and what is no longer applied goes.
    ssa(simulated, n, config_map(a="2"))
    live = simulated.get("cm", "c", *n)
    assert live["data"]["a"] == "2"
    owners = managers(simulated, n, "cm", "c")
    assert ("kubectl", "Apply", "") in owners and ("kubectl-client-side-apply", "Update", "") not in owners, owners
    ssa(simulated, n, config_map(a="3"))
    assert simulated.get("cm", "c", *n)["data"] == {"a": "3"}
    # And back: the annotation has kept up with what was applied.
    assert "configured" in simulated.apply(config_map(a="4"), *n)
    assert simulated.get("cm", "c", *n)["data"] == {"a": "4"}


def test_status_has_an_entry_and_a_door_of_its_own(simulated, http, namespace):
    n = ("-n", namespace)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
           "spec": {"schedulerName": "nobody", "containers": [{"name": "c", "image": "busybox"}]}}
    simulated.kubectl("create", *n, "-f", "-", stdin=json.dumps(pod))
    path = f"/api/v1/namespaces/{namespace}/pods/p/status?fieldManager=gate"
    condition = {"type": "example.com/ready", "status": "True"}
    status, told = http("PATCH", path, {"apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": "x"},
                                        "status": {"conditions": [condition]}}, "application/apply-patch+yaml")
    assert status == 200, told
    live = simulated.get("pod", "p", *n)
    assert condition.items() <= next(c for c in live["status"]["conditions"] if c["type"] == condition["type"]).items()
    assert "nodeName" not in live["spec"]
    assert ("gate", "Apply", "status") in managers(simulated, n, "pod", "p")
    assert ("kubectl-create", "Update", "") in managers(simulated, n, "pod", "p")


def test_dry_run_and_diff_show_the_outcome_and_change_nothing(simulated, namespace):
    n = ("-n", namespace)
    assert "serverside-applied (server dry run)" in ssa(simulated, n, config_map(a="1"), "--dry-run=server")
    assert simulated.get("cm", "c", *n) is None
    ssa(simulated, n, config_map(a="1"))
    code, out, err = simulated.try_kubectl("diff", "--server-side", *n, "-f", "-", stdin=json.dumps(config_map(a="2")))
    assert code == 1 and '+  a: "2"' in out, out + err
    code, out, err = simulated.try_kubectl("diff", "--server-side", *n, "-f", "-", stdin=json.dumps(config_map(a="1")))
    assert (code, out) == (0, ""), out + err
    assert simulated.get("cm", "c", *n)["data"] == {"a": "1"}


def test_quantities_written_otherwise_change_nothing(simulated, namespace):
    n = ("-n", namespace)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "q"}, "spec": {"schedulerName": "nobody", "containers": [
        {"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "0.5", "memory": "0.5Gi"}}}]}}
    ssa(simulated, n, pod)
    before = simulated.get("pod", "q", *n, "--show-managed-fields")
    assert before["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "512Mi"}
    pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "500m", "memory": "536870912"}
    ssa(simulated, n, pod)
    ssa(simulated, n, pod, "--field-manager=other")  # no conflict either
    after = simulated.get("pod", "q", *n)
    assert after["spec"] == before["spec"]


def test_objects_nobody_tracked_belong_to_before_first_apply(simulated, namespace):
    n = ("-n", namespace)
    # The namespace's service account is made by a controller of the server.
    simulated.wait("the default service account", lambda: simulated.get("sa", "default", *n))
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "labels": {"x": "y"}}}
    ssa(simulated, n, account)
    owners = managers(simulated, n, "sa", "default")
    assert owners[("kubectl", "Apply", "")] == {"f:metadata": {"f:labels": {"f:x": {}}}}, owners


def test_a_large_object_is_applied_by_the_server_only(simulated, namespace):
    n = ("-n", namespace)
    large = config_map("large", k="x" * 300_000)
    assert "metadata.annotations: Too long" in simulated.kubectl_fails("apply", *n, "-f", "-", stdin=json.dumps(large))
    ssa(simulated, n, large)
    assert simulated.get("cm", "large", *n)["data"]["k"] == "x" * 300_000


def test_user_agents_name_managers(simulated, http, namespace):
    status, _ = http("POST", f"/api/v1/namespaces/{namespace}/configmaps", config_map(a="1"), agent="my-operator/v1.2 (linux)")
    assert status == 201
    assert list(managers(simulated, ("-n", namespace), "cm", "c")) == [("my-operator", "Update", "")]


def test_who_gives_up_everything_leaves_the_object_its_name(simulated, namespace):
    n = ("-n", namespace)
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    for part in ({"labels": {"app": "b"}}, {"annotations": {"app": "b"}}, {"finalizers": ["example.com/a"]}):
        ssa(simulated, n, {**bare, "metadata": {"name": "c", **part}}, "--field-manager=one")
        ssa(simulated, n, bare, "--field-manager=one")
        left = simulated.get("cm", "c", *n)["metadata"]
        assert left["name"] == "c" and not left.keys() & part.keys(), left
        assert [c["metadata"]["name"] for c in simulated.get("cm", *n)["items"] if c["metadata"]["uid"] == left["uid"]] == ["c"]
    simulated.kubectl("label", "cm", "c", "more=1", *n)
    simulated.kubectl("delete", "cm", "c", *n, "--timeout=60s")
