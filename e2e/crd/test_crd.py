"""Kinds that users add, with the real kubectl and the Python client."""
import copy
import json
import threading

import kubernetes
import pytest

import harness

COLUMNS = [{"name": "Spec", "type": "string", "jsonPath": ".spec.cronSpec"},
           {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
           {"name": "Wide", "type": "string", "jsonPath": ".spec.image", "priority": 1},
           {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]


def definition(group, plural="crontabs", kind="CronTab", scope="Namespaced", **version):
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "description": "What to do and when.", "required": ["cronSpec"], "properties": {
            "cronSpec": {"type": "string", "description": "When, as cron says it.",
                         "pattern": r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$"},
            "image": {"type": "string"},
            "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1},
            "port": {"x-kubernetes-int-or-string": True},
            "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "steps": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                      "items": {"type": "object", "required": ["name"],
                                "properties": {"name": {"type": "string"}, "do": {"type": "string"}}}}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}}}}
    made = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                                     "statusReplicasPath": ".status.replicas",
                                                     "labelSelectorPath": ".status.selector"}},
            "selectableFields": [{"jsonPath": ".spec.image"}],
            "additionalPrinterColumns": COLUMNS, **version}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope,
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "shortNames": ["ct"],
                               "categories": ["all"]},
                     "versions": [made]}}


def tab(group, name, version="v1", **spec):
    return {"apiVersion": f"{group}/{version}", "kind": "CronTab", "metadata": {"name": name},
            "spec": {"cronSpec": "* * * * */5", **spec}}


def define(cluster, manifest):
    cluster.apply(manifest)
    cluster.kubectl("wait", "--for", "condition=established", "--timeout=30s", f"crd/{manifest['metadata']['name']}")


@pytest.fixture(scope="module")
def crontabs(simulated):
    group = "stable.example.com"
    define(simulated, definition(group))
    return group


def test_a_new_kind_is_there_at_once(simulated, crontabs, namespace):
    listed = simulated.kubectl("api-resources", "--api-group", crontabs)
    assert "crontabs" in listed and "ct" in listed and "CronTab" in listed
    assert f"{crontabs}/v1" in simulated.kubectl("api-versions")
    assert "customresourcedefinitions" in simulated.kubectl("api-resources", "--categories=api-extensions", "-o", "name")
    simulated.apply(tab(crontabs, "mine", image="a"), "-n", namespace)
    table = simulated.kubectl("get", "ct", "-n", namespace).splitlines()
    assert table[0].split() == ["NAME", "SPEC", "REPLICAS", "AGE"]
    assert table[1].split()[:2] == ["mine", "*"] and "WIDE" not in table[0]
    assert "WIDE" in simulated.kubectl("get", "ct", "-n", namespace, "-o", "wide")
    assert "crontab.stable.example.com/mine" in simulated.kubectl("get", "all", "-n", namespace, "-o", "name")
    assert "crontabs.stable.example.com" in simulated.kubectl("get", "crd")
    described = simulated.kubectl("describe", "ct", "mine", "-n", namespace)
    assert "Cron Spec:" in described and "Generation:" in described


def test_explain_reads_the_users_words(simulated, crontabs):
    assert "What to do and when." in simulated.kubectl("explain", "crontabs.spec")
    assert "When, as cron says it." in simulated.kubectl("explain", "ct.spec.cronSpec")
    assert "cronSpec" in simulated.kubectl("explain", "crontab", "--recursive")


def test_objects_are_checked_filled_and_pruned(simulated, crontabs, namespace):
    bad = simulated.kubectl_fails("apply", "-n", namespace, "-f", "-",
                                  stdin=json.dumps(tab(crontabs, "bad", cronSpec="soon", replicas=11)))
    assert "spec.cronSpec in body should match" in bad
    assert "spec.replicas in body should be less than or equal to 10" in bad
    assert "Required value" in simulated.kubectl_fails(
        "create", "-n", namespace, "-f", "-",
        stdin=json.dumps({"apiVersion": f"{crontabs}/v1", "kind": "CronTab", "metadata": {"name": "x"}, "spec": {}}))
    unknown = tab(crontabs, "odd", surprise=1, anything={"goes": {"here": True}}, port="http")
    assert 'unknown field "spec.surprise"' in simulated.kubectl_fails("create", "-n", namespace, "-f", "-",
                                                                       stdin=json.dumps(unknown))
    simulated.kubectl("create", "-n", namespace, "--validate=false", "-f", "-", stdin=json.dumps(unknown))
    made = simulated.get("ct", "odd", "-n", namespace)
    assert "surprise" not in made["spec"]
    assert made["spec"]["anything"] == {"goes": {"here": True}} and made["spec"]["port"] == "http"
    assert made["spec"]["replicas"] == 1 and made["metadata"]["generation"] == 1


def test_patches_scale_and_status(simulated, crontabs, namespace):
    simulated.apply(tab(crontabs, "sized"), "-n", namespace)
    simulated.kubectl("patch", "ct", "sized", "-n", namespace, "--type=merge", "-p", '{"spec":{"image":"b"}}')
    simulated.kubectl("patch", "ct", "sized", "-n", namespace, "--type=json",
                      "-p", '[{"op":"replace","path":"/spec/image","value":"c"}]')
    http = harness.Http(simulated)
    status, answer = http("PATCH", f"/apis/{crontabs}/v1/namespaces/{namespace}/crontabs/sized", {"spec": {"image": "d"}},
                          "application/strategic-merge-patch+json")
    http.close()
    assert status == 415 and answer["reason"] == "UnsupportedMediaType"
    assert "accepted media types include: application/json-patch+json, application/merge-patch+json" in answer["message"]
    simulated.kubectl("scale", "ct", "sized", "-n", namespace, "--replicas=3")
    simulated.kubectl("patch", "ct", "sized", "-n", namespace, "--subresource=status", "--type=merge",
                      "-p", '{"status":{"replicas":2,"selector":"a=b"},"spec":{"image":"ignored"}}')
    scale = json.loads(simulated.kubectl(
        "get", "--raw", f"/apis/{crontabs}/v1/namespaces/{namespace}/crontabs/sized/scale"))
    assert scale["spec"]["replicas"] == 3 and scale["status"] == {"replicas": 2, "selector": "a=b"}
    made = simulated.get("ct", "sized", "-n", namespace)
    assert made["spec"]["image"] == "c" and made["metadata"]["generation"] == 4
    simulated.kubectl("wait", "ct/sized", "-n", namespace, "--for=jsonpath={.status.replicas}=2", "--timeout=10s")
    listed = simulated.kubectl("get", "ct", "-n", namespace, "--field-selector", "spec.image=c", "-o", "name")
    assert listed.strip() == "crontab.stable.example.com/sized"
    assert "field label not supported: spec.cronSpec" in simulated.kubectl_fails("get", "ct", "-n", namespace, "--field-selector",
                                                                  "spec.cronSpec=x")


def test_server_side_apply_knows_the_lists(simulated, crontabs, namespace):
    for manager, step in (("one", {"name": "a", "do": "x"}), ("two", {"name": "b", "do": "y"})):
        simulated.apply(tab(crontabs, "shared", steps=[step]), "-n", namespace, "--server-side", f"--field-manager={manager}")
    assert [s["name"] for s in simulated.get("ct", "shared", "-n", namespace)["spec"]["steps"]] == ["a", "b"]
    conflict = simulated.kubectl_fails("apply", "-n", namespace, "--server-side", "--field-manager=two", "-f", "-",
                                       stdin=json.dumps(tab(crontabs, "shared", steps=[{"name": "a", "do": "z"}])))
    assert 'conflict with "one"' in conflict and "--force-conflicts" in conflict


def test_versions_and_a_restart(tmp_path):
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1")
    cluster.start()
    try:
        group = "versions.example.com"
        manifest = definition(group)
        newer = copy.deepcopy(manifest["spec"]["versions"][0])
        newer.update(name="v2", storage=False)
        old = manifest["spec"]["versions"][0]
        old.update(deprecated=True, deprecationWarning="use v2")
        manifest["spec"]["versions"].append(newer)
        define(cluster, manifest)
        made = cluster.try_kubectl("create", "-f", "-", stdin=json.dumps(tab(group, "t")))
        assert made[0] == 0 and "Warning: use v2" in made[2]
        assert cluster.get(f"crontabs.v2.{group}", "t")["apiVersion"] == f"{group}/v2"
        assert cluster.get(f"crontabs.v1.{group}", "t")["apiVersion"] == f"{group}/v1"
        cluster.stop()
        cluster.start()
        assert cluster.get("ct", "t")["spec"]["cronSpec"] == "* * * * */5"
        # A default that comes later is there at once, in all that is stored.
        newer["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["zone"] = {"type": "string", "default": "UTC"}
        cluster.apply(manifest)
        cluster.wait("the new default", lambda: cluster.get(f"crontabs.v2.{group}", "t")["spec"].get("zone") == "UTC")
    finally:
        cluster.stop()


def test_deleting_a_definition_takes_its_objects_along(simulated, namespace):
    group = "leaving.example.com"
    define(simulated, definition(group, plural="leavers", kind="Leaver"))
    leaver = {"apiVersion": f"{group}/v1", "kind": "Leaver", "spec": {"cronSpec": "* * * * *"}}
    for name in ("a", "b"):
        simulated.apply({**leaver, "metadata": {"name": name}}, "-n", namespace)
    simulated.apply({**leaver, "metadata": {"name": "held", "finalizers": ["example.com/hold"]}}, "-n", namespace)
    simulated.kubectl("delete", "crd", f"leavers.{group}", "--wait=false")
    simulated.wait("objects to go", lambda: simulated.kubectl(
        "get", "leavers", "-n", namespace, "-o", "name").strip() == f"leaver.{group}/held")
    simulated.wait("the definition to say so", lambda: {c["type"]: c for c in simulated.get("crd", f"leavers.{group}")["status"]["conditions"]}[
        "Terminating"]["reason"] == "InstanceDeletionInProgress")
    assert "not allowed while custom resource definition is terminating" in simulated.kubectl_fails(
        "create", "-n", namespace, "-f", "-", stdin=json.dumps({**leaver, "metadata": {"name": "late"}}))
    simulated.kubectl("patch", "leaver", "held", "-n", namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    simulated.kubectl("wait", "--for=delete", f"crd/leavers.{group}", "--timeout=60s", timeout=90)
    simulated.wait("the kind to disappear", lambda: group not in simulated.kubectl("api-versions"))
    assert "the server doesn't have a resource type" in simulated.kubectl_fails("get", "leavers", "-n", namespace)


def test_owners_namespaces_and_quotas_know_new_kinds(simulated, crontabs):
    simulated.kubectl("create", "namespace", "crd-space")
    simulated.kubectl("create", "quota", "q", "-n", "crd-space", f"--hard=count/crontabs.{crontabs}=1")
    simulated.apply(tab(crontabs, "owner"), "-n", "crd-space")
    assert "exceeded quota" in simulated.kubectl_fails("create", "-n", "crd-space", "-f", "-",
                                                       stdin=json.dumps(tab(crontabs, "second")))
    owner = simulated.get("ct", "owner", "-n", "crd-space")
    simulated.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "owned", "ownerReferences": [{"apiVersion": f"{crontabs}/v1", "kind": "CronTab", "name": "owner",
                                              "uid": owner["metadata"]["uid"]}]}}, "-n", "crd-space")
    simulated.kubectl("delete", "ct", "owner", "-n", "crd-space")
    simulated.wait("the owned to go", lambda: simulated.get("configmap", "owned", "-n", "crd-space") is None)
    simulated.wait("the quota to be free", lambda: simulated.get("quota", "q", "-n", "crd-space")
                   ["status"]["used"][f"count/crontabs.{crontabs}"] == "0")
    simulated.apply(tab(crontabs, "again"), "-n", "crd-space")
    simulated.kubectl("delete", "namespace", "crd-space", "--timeout=60s")
    assert simulated.get("ct", "again", "-n", "crd-space") is None


def test_definitions_of_built_in_kinds_are_accepted_and_change_nothing(simulated, namespace):
    before = simulated.kubectl("explain", "rayjob.spec")
    manifest = definition("ray.io", plural="rayjobs", kind="RayJob")
    manifest["metadata"]["annotations"] = {"controller-gen.kubebuilder.io/version": "v0.16.1"}
    manifest["metadata"]["creationTimestamp"] = None
    manifest["spec"]["names"].update(shortNames=[], categories=["all"])
    manifest["spec"]["preserveUnknownFields"] = False
    # As large as those of the operator: too large for client-side apply, there as here.
    words = manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    for i in range(2500):
        words[f"field{i}"] = {"type": "string", "description": "x" * 100}
    text = json.dumps(manifest)
    assert "Too long" in simulated.kubectl_fails("apply", "-f", "-", stdin=text)
    simulated.apply(text, "--server-side")
    simulated.kubectl("wait", "--for", "condition=established", "--timeout=30s", "crd/rayjobs.ray.io")
    assert simulated.kubectl("explain", "rayjob.spec") == before
    simulated.apply({"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "kept"},
                     "spec": {"entrypoint": "true", "suspend": True, "rayClusterSpec": {
                         "headGroupSpec": {"rayStartParams": {}, "template": {"spec": {"containers": [
                             {"name": "head", "image": "rayproject/ray:2.9.0"}]}}}}}}, "-n", namespace)
    simulated.kubectl("replace", "-f", "-", stdin=json.dumps(simulated.get("crd", "rayjobs.ray.io")))
    simulated.kubectl("delete", "crd", "rayjobs.ray.io", "--timeout=30s")
    assert simulated.get("rayjob", "kept", "-n", namespace) is not None
    simulated.kubectl("create", "-f", "-", stdin=text)
    simulated.kubectl("delete", "crd", "rayjobs.ray.io", "--timeout=30s")


def test_rules_of_a_schema_hold(simulated, namespace):
    group = "rules.example.com"
    manifest = definition(group, plural="ruled", kind="Ruled")
    spec = manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["x-kubernetes-validations"] = [{"rule": "self.replicas <= 3 || has(self.image)", "message": "many need an image"}]
    spec["properties"]["image"]["x-kubernetes-validations"] = [{"rule": "self == oldSelf", "message": "image is immutable"}]
    define(simulated, manifest)
    ruled = {"apiVersion": f"{group}/v1", "kind": "Ruled", "metadata": {"name": "r"},
             "spec": {"cronSpec": "* * * * *", "replicas": 4}}
    refused = simulated.kubectl_fails("create", "-n", namespace, "-f", "-", stdin=json.dumps(ruled))
    assert 'The Ruled "r" is invalid: spec: Invalid value: "object": many need an image' in refused
    ruled["spec"]["image"] = "a"
    simulated.apply(ruled, "-n", namespace)
    ruled["spec"]["image"] = "b"
    assert "image is immutable" in simulated.kubectl_fails("apply", "-n", namespace, "-f", "-", stdin=json.dumps(ruled))
    spec["x-kubernetes-validations"] = [{"rule": "self.nothing > 1"}]
    broken = simulated.kubectl_fails("apply", "-f", "-", stdin=json.dumps(manifest))
    assert "x-kubernetes-validations[0].rule" in broken and "undefined field 'nothing'" in broken


def test_definitions_that_are_no_good_are_refused(simulated):
    manifest = definition("bad.example.com")
    manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"] = {}
    refused = simulated.kubectl_fails("create", "-f", "-", stdin=json.dumps(manifest))
    assert ("spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Required value: "
            "must not be empty for specified object fields") in refused
    manifest = definition("bad.example.com")
    manifest["metadata"]["name"] = "wrong.bad.example.com"
    assert 'must be spec.names.plural+"."+spec.group' in simulated.kubectl_fails("create", "-f", "-",
                                                                              stdin=json.dumps(manifest))


def test_the_python_client_defines_watches_and_deletes(simulated, namespace):
    api_client = kubernetes.config.new_client_from_config(str(simulated.kubeconfig))
    group = "python.example.com"
    extensions = kubernetes.client.ApiextensionsV1Api(api_client)
    custom = kubernetes.client.CustomObjectsApi(api_client)
    extensions.create_custom_resource_definition(definition(group))
    simulated.kubectl("wait", "--for", "condition=established", "--timeout=30s", f"crd/crontabs.{group}")
    seen = []
    start = custom.list_namespaced_custom_object(group, "v1", namespace, "crontabs")["metadata"]["resourceVersion"]

    def follow():
        for event in kubernetes.watch.Watch().stream(custom.list_namespaced_custom_object, group, "v1", namespace,
                                                     "crontabs", timeout_seconds=60, resource_version=start):
            seen.append((event["type"], event["object"]["metadata"]["name"]))
            if event["type"] == "DELETED":
                return

    follower = threading.Thread(target=follow)
    follower.start()
    custom.create_namespaced_custom_object(group, "v1", namespace, "crontabs", tab(group, "p"))
    custom.patch_namespaced_custom_object(group, "v1", namespace, "crontabs", "p", {"spec": {"replicas": 2}})
    custom.patch_namespaced_custom_object_status(group, "v1", namespace, "crontabs", "p", {"status": {"replicas": 2}})
    assert custom.get_namespaced_custom_object_scale(group, "v1", namespace, "crontabs", "p")["status"]["replicas"] == 2
    extensions.delete_custom_resource_definition(f"crontabs.{group}")
    follower.join(60)
    assert not follower.is_alive()
    assert seen == [("ADDED", "p"), ("MODIFIED", "p"), ("MODIFIED", "p"), ("DELETED", "p")]
    with pytest.raises(kubernetes.client.ApiException) as gone:
        simulated.wait("the kind to go", lambda: extensions.read_custom_resource_definition(f"crontabs.{group}") is None)
    assert gone.value.status == 404
