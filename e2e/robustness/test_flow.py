"""One client floods the server: it is told to come back, and everybody else is served meanwhile."""
import json
import socket
import ssl
import threading
import time

import pytest

import harness
import wire

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    made = harness.Cluster(tmp_path_factory.mktemp("krater"), "--runtime", "simulated", "--nodes", "1",
                           "--max-requests-inflight", "8", "--max-mutating-requests-inflight", "4")
    made.start()
    for name in ("flood", "quiet"):
        made.kubectl("create", "serviceaccount", name)
        made.kubectl("create", "rolebinding", name, "--clusterrole", "edit", f"--serviceaccount=default:{name}")
    yield made
    made.stop()


class TokenClient:
    """One connection with a token."""

    def __init__(self, cluster, token):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        host, port = cluster.listen.split(":")
        self.socket = context.wrap_socket(socket.create_connection((host, int(port)), timeout=20))
        self.token = token

    def begin(self, method, path, length):
        self.socket.sendall((f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
                             f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n").encode())

    def request(self, method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.begin(method, path, len(data))
        self.socket.sendall(data)
        return self.answer()

    def answer(self):
        reader = self.socket.makefile("rb")
        status = int(reader.readline().split()[1])
        headers = {}
        while (line := reader.readline().strip()):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, reader.read(int(headers["content-length"]))

    def close(self):
        self.socket.close()


def test_a_flood_is_refused_and_others_are_served(narrow):
    token = {name: narrow.kubectl("create", "token", name).strip() for name in ("flood", "quiet")}
    slow = [TokenClient(narrow, token["flood"]) for _ in range(4)]
    for client in slow:  # four bodies that do not come
        client.begin("POST", MAPS, 1000)
        client.socket.sendall(b"{")
    refused = narrow.wait("the fifth is refused",
                          lambda: (answer := TokenClient(narrow, token["flood"]).request("POST", MAPS, {}))[0] == 429 and answer)
    assert refused[1]["retry-after"] == "1"
    status = json.loads(refused[2])
    assert status["reason"] == "TooManyRequests" and status["details"]["retryAfterSeconds"] == 1
    made = TokenClient(narrow, token["quiet"]).request(
        "POST", MAPS, {"metadata": {"name": "from-the-quiet-one"}})
    assert made[0] == 201
    assert TokenClient(narrow, token["flood"]).request("GET", MAPS)[0] == 200
    narrow.kubectl("create", "configmap", "from-the-administrator")
    assert narrow.kubectl("get", "--raw", "/readyz") == "ok"
    assert 'apiserver_request_terminations_total{code="429"' in narrow.kubectl("get", "--raw", "/metrics")
    for client in slow:
        client.close()
    narrow.wait("its places are free again",
                lambda: TokenClient(narrow, token["flood"]).request("POST", MAPS, {"metadata": {"generateName": "f-"}})[0] == 201)


def test_kubectl_waits_and_succeeds(narrow):
    """client-go takes 429 with Retry-After as an order to come back."""
    token = narrow.kubectl("create", "token", "flood").strip()
    slow = [TokenClient(narrow, token) for _ in range(4)]
    for client in slow:
        client.begin("POST", MAPS, 1000)
    narrow.wait("it is full", lambda: TokenClient(narrow, token).request("POST", MAPS, {})[0] == 429)
    threading.Timer(1.5, lambda: [client.close() for client in slow]).start()
    begin = time.monotonic()
    narrow.kubectl("--kubeconfig", "/dev/null", "--server", narrow.url, "--insecure-skip-tls-verify", "--token", token,
                   "create", "configmap", "patient", "-n", "default")
    assert time.monotonic() - begin > 0.9


def test_whoever_says_nothing_is_left(narrow):
    """No request after the handshake, half a head, half a body: each is cut off in its time."""
    rough = wire.Wire(narrow)
    half_a_head = rough.tls()
    half_a_head.sendall(b"GET /livez HTTP/1.1\r\nX-Slow: ")
    half_a_head.settimeout(60)
    assert half_a_head.recv(100) == b""  # within ServerLimits::header
    no_handshake = rough.tcp()
    no_handshake.settimeout(60)
    assert no_handshake.recv(100) == b""
