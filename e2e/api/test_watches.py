"""Watches as new informers, browsers and clients of protobuf open them."""
import base64
import json
import ssl
import subprocess

import pytest
import websocket

import harness
import wire

MAPS = "/api/v1/namespaces/{}/configmaps"


def made_in(cluster, namespace, name, **labels):
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, "labels": labels}})


def lines(cluster, path, count, accept="application/json"):
    """The first events of a watch."""
    session = wire.Wire(cluster).tls()
    session.sendall(f"GET {path} HTTP/1.1\r\nHost: krater\r\nAccept: {accept}\r\n\r\n".encode())
    reader = session.makefile("rb")
    status = int(reader.readline().split()[1])
    headers = {}
    while (line := reader.readline().strip()):
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    if status != 200:
        return status, json.loads(reader.read(int(headers["content-length"])))
    body = b""
    while body.count(b"\n") < count:
        body += reader.read(int(reader.readline(), 16))
        reader.readline()
    session.close()
    return status, [json.loads(line) for line in body.splitlines()[:count]]


def test_a_watch_list_is_the_state_a_mark_and_what_follows(simulated, namespace):
    made_in(simulated, namespace, "a")
    made_in(simulated, namespace, "b", x="y")
    begin = f"{MAPS.format(namespace)}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    listed = json.loads(simulated.kubectl("get", "--raw", MAPS.format(namespace)))
    names = sorted(item["metadata"]["name"] for item in listed["items"])
    for version in ("", "&resourceVersion=0", f"&resourceVersion={listed['metadata']['resourceVersion']}"):
        status, events = lines(simulated, begin + version, len(names) + 1)
        assert status == 200 and sorted(e["object"]["metadata"]["name"] for e in events[:-1]) == names
        mark = events[-1]
        assert mark["type"] == "BOOKMARK" and mark["object"]["kind"] == "ConfigMap"
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert int(mark["object"]["metadata"]["resourceVersion"]) >= int(listed["metadata"]["resourceVersion"])
    status, refused = lines(simulated, f"{MAPS.format(namespace)}?watch=1&sendInitialEvents=true", 1)
    assert (status, refused["reason"]) == (422, "Invalid")
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert lines(simulated, begin, 1, accept=table)[0] == 406


def test_kubectl_waits_through_a_watch_list(simulated, namespace):
    made_in(simulated, namespace, "a")
    environment = dict(simulated.environment(), KUBE_FEATURE_WatchListClient="true")
    waiting = subprocess.Popen(["kubectl", "wait", "configmap/a", "-n", namespace, "--for=jsonpath={.data.k}=v", "--timeout=30s"],
                               env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    simulated.kubectl("patch", "configmap", "a", "-n", namespace, "-p", '{"data":{"k":"v"}}')
    out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0 and "condition met" in out


def browser(cluster, path, token, protocols, **options):
    """As a page opens it: the token among the subprotocols, for a page can set no header."""
    bearer = "base64url.bearer.authorization.k8s.io." + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
    return websocket.create_connection(f"wss://{cluster.listen}{path}", timeout=20, sslopt={"cert_reqs": ssl.CERT_NONE},
                                       subprotocols=[bearer, *protocols], **options)


def test_a_browser_watches_over_a_websocket(simulated, namespace):
    simulated.kubectl("create", "serviceaccount", "page", "-n", namespace)
    simulated.kubectl("create", "rolebinding", "page", "--clusterrole", "view", f"--serviceaccount={namespace}:page", "-n", namespace)
    token = simulated.kubectl("create", "token", "page", "-n", namespace).strip()
    made_in(simulated, namespace, "a", x="y")
    path = f"{MAPS.format(namespace)}?watch=1&labelSelector=x%3Dy"
    for protocols, kind in ((("v1.mine",), websocket.ABNF.OPCODE_TEXT), (("binary.k8s.io",), websocket.ABNF.OPCODE_BINARY)):
        page = browser(simulated, path, token, protocols, origin="https://dashboard.example")
        assert page.subprotocol == protocols[0]
        opcode, data = page.recv_data()
        event = json.loads(data)
        assert opcode == kind and event["type"] == "ADDED" and event["object"]["metadata"]["name"] == "a"
        simulated.kubectl("label", "configmap", "a", "-n", namespace, "--overwrite", f"n=v{kind}")
        assert json.loads(page.recv())["type"] == "MODIFIED"
        page.close()
    with pytest.raises(websocket.WebSocketBadStatusException, match="401"):
        browser(simulated, path, "nonsense", ("v1.mine",))
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        browser(simulated, "/api/v1/secrets?watch=1", token, ("v1.mine",))


def test_a_page_of_another_site_cannot_use_the_browsers_certificate(simulated):
    rough = wire.Wire(simulated)

    def open_from(origin):
        return websocket.create_connection(f"wss://{simulated.listen}/api/v1/nodes?watch=1", timeout=20, origin=origin,
                                           sslopt={"context": rough.context})
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        open_from("https://evil.example")
    own = open_from(f"https://{simulated.listen}")
    assert json.loads(own.recv())["type"] == "ADDED"
    own.close()


def test_protobuf_is_answered_where_nothing_else_is_read(simulated, namespace):
    made_in(simulated, namespace, "a")
    connection = harness.Http(simulated).connection

    def get(path, accept="application/vnd.kubernetes.protobuf"):
        connection.request("GET", path, headers={"Accept": accept})
        reply = connection.getresponse()
        return reply.status, reply.getheader("Content-Type"), reply.read()
    for path, kind in ((f"{MAPS.format(namespace)}/a", b"ConfigMap"), (MAPS.format(namespace), b"ConfigMapList"),
                       ("/api/v1/nodes", b"NodeList"), (f"{MAPS.format(namespace)}/none", b"Status")):
        status, content_type, body = get(path)
        assert content_type == "application/vnd.kubernetes.protobuf" and body.startswith(b"k8s\0")
        assert b"\x0a" in body[:6] and kind in body[:40], body[:60]
    assert get("/apis/ray.io/v1/rayjobs")[0] == 406
    assert get(MAPS.format(namespace), "application/vnd.kubernetes.protobuf, */*")[1] == "application/json"
    frames = wire.Wire(simulated).tls()
    frames.sendall((f"GET {MAPS.format(namespace)}?watch=1&timeoutSeconds=1 HTTP/1.0\r\n"
                    "Accept: application/vnd.kubernetes.protobuf\r\n\r\n").encode())
    answer = frames.makefile("rb").read()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/vnd.kubernetes.protobuf;stream=watch" in head
    seen = 0
    while body:
        length = int.from_bytes(body[:4], "big")
        event, body = body[4:4 + length], body[4 + length:]
        assert len(event) == length and b"ADDED" in event[:10] and b"k8s\0" in event
        seen += 1
    assert seen >= 1
