"""A server and agents of their own: join by token, authority pinned, a node's certificate is enough afterwards."""
import subprocess

import pytest

import harness
from two_processes import Server


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path).start()
    yield made
    made.stop_server()


def test_agents_join_by_token_and_come_back_without_one(server):
    joined = server.agent("edge-1", "--token", server.token())
    try:
        server.wait("the node is Ready", lambda: server.kubectl("get", "nodes", "--no-headers").split()[:2] == ["edge-1", "Ready"])
    finally:
        joined.stop()
    again = server.agent("edge-1")
    try:
        server.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
        server.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=60s", timeout=90)
    finally:
        again.stop()


def test_pods_of_different_agents_have_different_addresses(server):
    agents = [server.agent(name, "--token", server.token()) for name in ("edge-1", "edge-2")]
    try:
        for name in ("edge-1", "edge-2"):
            server.wait_ready(name)
            server.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "nodeName": name, "containers": [{"name": "c", "image": "x"}]}})
            server.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s", timeout=90)
        assert len({p["status"]["podIP"] for p in server.get("pods")["items"]}) == 2
    finally:
        for agent in agents:
            agent.stop()


def test_a_bad_token_and_a_foreign_authority_are_refused(server, tmp_path_factory):
    good = server.token()
    wrong_secret = good[:7] + "0123456789abcdef" + good[23:]
    refused = server.agent("edge-2", "--token", wrong_secret)
    assert refused.process.wait(60) == 1
    assert "Unauthorized" in refused.text() or "nauthorized" in refused.text(), refused.text()
    wrong_hash = good[:24] + ("0" if good[24] != "0" else "1") + good[25:]
    refused = server.agent("edge-3", "--token", wrong_hash)
    assert refused.process.wait(60) == 1
    assert "another authority" in refused.text()
    assert server.get("nodes")["items"] == []


def test_kubeconfig_and_version_are_printed(server):
    text = subprocess.run([harness.BINARY, "kubeconfig", "--data-dir", str(server.data)], check=True, text=True, capture_output=True).stdout
    (server.directory / "printed").write_text(text)
    done = subprocess.run(["kubectl", "--kubeconfig", str(server.directory / "printed"), "auth", "whoami"], text=True, capture_output=True)
    assert "kubernetes-admin" in done.stdout, done.stderr
    assert subprocess.run([harness.BINARY, "version"], text=True, capture_output=True).stdout.startswith("krater ")
    missing = subprocess.run([harness.BINARY, "kubeconfig", "--data-dir", str(server.directory / "nothing")], text=True, capture_output=True)
    assert missing.returncode == 1 and "no cluster in" in missing.stderr


def test_a_second_server_on_the_same_directory_says_so(server):
    other = subprocess.run([harness.BINARY, "server", "--data-dir", str(server.data), "--listen", "127.0.0.1:0"], text=True,
                           capture_output=True, timeout=30)
    assert other.returncode == 1
    assert str(server.data) in other.stderr, other.stderr
    taken = subprocess.run([harness.BINARY, "server", "--data-dir", str(server.directory / "other"), "--listen", server.listen], text=True,
                           capture_output=True, timeout=30)
    assert taken.returncode == 1 and server.listen.split(":")[1] in taken.stderr, taken.stderr
