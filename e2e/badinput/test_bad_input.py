"""Bad input: a clear error where the user looks, nothing lost, no crash."""
import json
import ssl
import urllib.error
import urllib.request

import pytest
import yaml


def raw(cluster, method, path, body, content_type="application/json"):
    """A request without kubectl's own checks, with the kubeconfig's certificate. (status, parsed body)."""
    import base64
    import pathlib
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    directory = pathlib.Path(cluster.directory)
    for name, value in (("ca", config["clusters"][0]["cluster"]["certificate-authority-data"]),
                        ("crt", config["users"][0]["user"]["client-certificate-data"]),
                        ("key", config["users"][0]["user"]["client-key-data"])):
        (directory / f"raw.{name}").write_bytes(base64.b64decode(value))
    context = ssl.create_default_context(cafile=str(directory / "raw.ca"))
    context.load_cert_chain(str(directory / "raw.crt"), str(directory / "raw.key"))
    data = body if isinstance(body, bytes) else body.encode()
    request = urllib.request.Request(cluster.url + path, data=data, method=method, headers={"Content-Type": content_type})
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as reply:
            return reply.status, json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("body", ["{", '{"metadata":{"name":"x"}', "[]", "null", '"text"', "{'a':1}", "\x00\x01", ""])
def test_malformed_json_is_a_bad_request(simulated, body):
    code, status = raw(simulated, "POST", MAPS, body)
    assert code == 400 and status["kind"] == "Status" and status["reason"] == "BadRequest", status


def test_wrong_types_are_named(simulated):
    code, status = raw(simulated, "POST", PODS, json.dumps(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wrong"}, "spec": {"containers": "none"}}))
    assert code == 400 and "containers" in status["message"], status


def test_unknown_fields_under_strict_validation(simulated):
    body = json.dumps({"metadata": {"name": "strict"}, "data": {}, "colour": "red"})
    code, status = raw(simulated, "POST", MAPS + "?fieldValidation=Strict", body)
    assert code == 400 and 'unknown field "colour"' in status["message"], status
    code, stored = raw(simulated, "POST", MAPS + "?fieldValidation=Ignore", body)
    assert code == 201 and "colour" not in stored


def test_duplicate_fields_under_strict_validation(simulated):
    code, status = raw(simulated, "POST", MAPS + "?fieldValidation=Strict", '{"metadata":{"name":"dup"},"data":{"a":"1","a":"2"}}')
    assert code == 400 and "duplicate field" in status["message"], status


def test_a_body_of_four_megabytes_is_too_large(simulated):
    code, status = raw(simulated, "POST", MAPS, json.dumps({"metadata": {"name": "big"}, "data": {"a": "x" * (4 << 20)}}))
    assert code == 413 and status["reason"] == "RequestEntityTooLarge", status


@pytest.mark.parametrize("depth", [300, 5000, 200000])
def test_a_depth_bomb_is_refused(simulated, depth):
    code, status = raw(simulated, "POST", MAPS, '{"metadata":{"name":"deep"},"x":' + "[" * depth + "]" * depth + "}")
    assert code == 400 and status["kind"] == "Status", status


def test_a_yaml_alias_bomb_is_refused(simulated):
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"] + [f"a{i}: &a{i} [{','.join([f'*a{i-1}'] * 10)}]" for i in range(1, 12)]
    code, status = raw(simulated, "POST", MAPS, "\n".join(lines), "application/yaml")
    assert code == 400, status


def test_names_over_length_are_invalid(simulated):
    code, status = raw(simulated, "POST", MAPS, json.dumps({"metadata": {"name": "n" * 254}}))
    assert code == 422 and status["reason"] == "Invalid", status
    assert "must be no more than 253" in status["message"], status
    code, status = raw(simulated, "POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": "n" * 64}}))
    assert code == 422 and "must be no more than 63" in status["message"], status


def test_amounts_below_nothing_and_numbers_beyond_32_bits(simulated):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "minus"}, "status": {"allocatable": {"cpu": "-4", "pods": "1500m"}}}
    refused = simulated.kubectl_fails("create", "-f", "-", stdin=json.dumps(node))
    assert 'status.allocatable.cpu: Invalid value: "-4": must be greater than or equal to 0' in refused
    assert 'status.allocatable.pods: Invalid value: "1500m": must be an integer' in refused
    name = simulated.get("nodes")["items"][0]["metadata"]["name"]
    assert "must be greater than or equal to 0" in simulated.kubectl_fails(
        "patch", "node", name, "--subresource=status", "-p", '{"status":{"capacity":{"cpu":"-4"}}}')
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "wide"}, "spec": {"priority": 2147483648}}
    assert "value must be of type integer with format int32 in spec.priority" in simulated.kubectl_fails("create", "-f", "-", stdin=json.dumps(queue))


def test_a_rayjob_with_neither_cluster_nor_selector_says_so(simulated, namespace):
    simulated.apply({"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "empty"},
                     "spec": {"entrypoint": "python x.py"}}, "-n", namespace)
    status = simulated.wait("the status tells", lambda: (lambda s: s if s.get("jobDeploymentStatus") == "ValidationFailed" else None)(
        (simulated.get("rayjob", "empty", "-n", namespace) or {}).get("status", {})))
    assert "rayClusterSpec" in status["message"] and "clusterSelector" in status["message"], status
    simulated.wait("an event tells", lambda: any(e["reason"] == "InvalidRayJobSpec" for e in simulated.get("events", "-n", namespace)["items"]))


def test_an_image_no_runtime_knows_and_a_missing_executable(cluster, namespace):
    def pod(name, image, command):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image, "command": command}]}}
    cluster.apply(pod("unknown-image", "example.com/nobody/knows:1", ["true"]), "-n", namespace)
    cluster.apply(pod("no-executable", "busybox:1.36", ["/no/such/program"]), "-n", namespace)

    def container(name):
        statuses = (cluster.get("pod", name, "-n", namespace) or {}).get("status", {}).get("containerStatuses", [])
        return statuses[0]["state"] if statuses else {}

    waiting = cluster.wait("the image problem shows", lambda: (
        lambda s: s["waiting"] if s.get("waiting", {}).get("reason") in ("ErrImagePull", "ImagePullBackOff") else None)(container("unknown-image")))
    assert "example.com/nobody/knows:1" in waiting["message"], waiting
    ended = cluster.wait("the missing program shows", lambda: container("no-executable").get("terminated"))
    assert ended["exitCode"] in (127, 128) and "/no/such/program" in ended.get("message", ""), ended


def test_nothing_of_all_that_hurt(simulated):
    assert simulated.process.poll() is None
    assert simulated.kubectl("get", "--raw", "/readyz") == "ok"
    assert not any(c["metadata"]["name"] in ("big", "deep", "dup") for c in simulated.get("configmaps")["items"])
