"""Nodes come by certificate request, as kubelets do: with a bootstrap token, approved by rule or by people, renewed by themselves."""
import base64
import datetime
import subprocess

import pytest

from two_processes import Server, mode

APPROVAL = "kubeadm:node-autoapprove-bootstrap"


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path).start()
    yield made
    made.stop_server()


def x509(path, *what):
    return subprocess.run(["openssl", "x509", "-noout", *what, "-in", str(path)], check=True, capture_output=True, text=True).stdout


def close_the_door(server):
    """People decide: the binding says that it is to be left alone, and is empty."""
    server.kubectl("annotate", "clusterrolebinding", APPROVAL, "rbac.authorization.kubernetes.io/autoupdate=false", "--overwrite")
    server.kubectl("patch", "clusterrolebinding", APPROVAL, "--type=merge", "-p", '{"subjects":null}')


def test_a_node_asks_with_its_token_and_is_let_in(server):
    token = server.token()
    agent = server.agent("edge-1", "--bootstrap-token", token)
    try:
        server.wait_ready("edge-1")
        request = server.request_of("system:bootstrap:")
        assert request["metadata"]["name"].startswith("node-csr-")
        spec = request["spec"]
        assert spec["username"] == f"system:bootstrap:{token[:6]}"
        assert "system:bootstrappers:kubeadm:default-node-token" in spec["groups"]
        assert spec["signerName"] == "kubernetes.io/kube-apiserver-client-kubelet"
        assert sorted(spec["usages"]) == ["client auth", "digital signature"]
        approved = request["status"]["conditions"][0]
        assert (approved["type"], approved["reason"]) == ("Approved", "AutoApproved")
        assert approved["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."
        assert server.kubectl("get", "csr", "--no-headers").split()[-1] == "Approved,Issued"
        pem = server.directory / "edge-1" / "node-pki" / "node.pem"
        assert mode(pem) == 0o600 and mode(pem.parent) == 0o700
        assert not (pem.parent / "pending.key").exists()
        assert "O = system:nodes, CN = system:node:edge-1" in x509(pem, "-subject")
    finally:
        agent.stop()


def test_people_approve_where_the_rule_is_taken_away(server):
    close_the_door(server)
    agent = server.agent("edge-1", "--token", server.token())
    try:
        request = server.wait("the node asks", lambda: server.request_of("system:bootstrap:"))
        name = request["metadata"]["name"]
        assert server.kubectl("get", "csr", "--no-headers").split()[-1] == "Pending"
        agent.stop()  # whoever is restarted meanwhile goes on with the same request
        asked = agent.text().count("agent.certificate_requested")
        agent = server.agent("edge-1", "--token", server.token())
        server.wait("it has asked again", lambda: agent.text().count("agent.certificate_requested") > asked)
        assert [r["metadata"]["name"] for r in server.get("csr")["items"]] == [name]
        server.stop_server()
        server.start()  # a restart does not open the door again
        assert not server.get("clusterrolebinding", APPROVAL).get("subjects")
        server.kubectl("certificate", "approve", name)
        server.wait_ready("edge-1")
    finally:
        agent.stop()


def test_a_denied_node_is_told_why(server):
    close_the_door(server)
    agent = server.agent("edge-1", "--token", server.token())
    request = server.wait("the node asks", lambda: server.request_of("system:bootstrap:"))
    server.kubectl("certificate", "deny", request["metadata"]["name"])
    assert agent.process.wait(60) == 1
    assert "certificate signing request is denied, reason: KubectlDeny" in agent.text()
    assert server.get("node", "edge-1") is None


def test_a_certificate_is_renewed_without_a_restart_and_over_one_of_the_server(tmp_path):
    server = Server(tmp_path, "--cluster-signing-duration", "60s").start()
    agent = server.agent("edge-1", "--token", server.token())
    pem = server.directory / "edge-1" / "node-pki" / "node.pem"
    try:
        server.wait_ready("edge-1")
        seen = [x509(pem, "-serial")]

        def renewed():
            now = x509(pem, "-serial")
            if now != seen[-1]:
                seen.append(now)
            return now

        server.wait("it has another certificate", lambda: renewed() and len(seen) > 1, timeout=90)
        own = server.request_of("system:node:edge-1")
        assert own["metadata"]["name"].startswith("csr-")
        assert own["status"]["conditions"][0]["message"] == (
            "Auto approving self kubelet client certificate after SubjectAccessReview.")
        server.stop_server()
        server.start()
        server.wait("and one more after the server's restart", lambda: renewed() and len(seen) > 2, timeout=120)
        server.wait("its log tells of both", lambda: agent.text().count("agent.certificate_renewed") >= 2)
        assert agent.process.poll() is None
        # The first certificate has ended; the node works with the newest.
        server.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                      "spec": {"containers": [{"name": "c", "image": "x"}]}})
        server.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=60s", timeout=90)
    finally:
        agent.stop()
        server.stop_server()


def bootstrap_secret(expires, **more):
    data = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
            "expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"), **more}
    return {"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
            "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}, "stringData": data}


def later(**delta):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**delta)


def test_tokens_as_kubeadm_makes_them_serve_too(server):
    authority = server.data / "pki" / "ca.crt"
    given = ("--bootstrap-token", "abcdef.0123456789abcdef", "--certificate-authority", str(authority))
    # Without the group it may authenticate, and no more.
    server.apply(bootstrap_secret(later(hours=1)))
    refused = server.agent("edge-1", *given)
    assert refused.process.wait(60) == 1
    assert 'User "system:bootstrap:abcdef" cannot create resource "certificatesigningrequests"' in refused.text(), refused.text()
    server.apply(bootstrap_secret(later(hours=1), **{"auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token"}))
    agent = server.agent("edge-1", *given)
    try:
        server.wait_ready("edge-1")
    finally:
        agent.stop()


def test_tokens_whose_time_is_over_are_taken_away(server):
    server.apply(bootstrap_secret(later(seconds=12)))
    assert server.get("secret", "bootstrap-token-abcdef", "-n", "kube-system")
    server.kubectl("wait", "--for=delete", "secret/bootstrap-token-abcdef", "-n", "kube-system", "--timeout=60s", timeout=90)
    server.token()
    kept = server.get("secrets", "-n", "kube-system", "--field-selector=type=bootstrap.kubernetes.io/token")["items"]
    assert len(kept) == 1
    assert b"T" in base64.b64decode(kept[0]["data"]["expiration"])


def as_node(name):
    return ("--as", f"system:node:{name}", "--as-group", "system:nodes")


def test_a_node_is_kept_to_what_is_its_own(server):
    first = server.agent("edge-1", "--token", server.token())
    second = server.agent("edge-2", "--token", server.token())
    try:
        server.wait_ready("edge-1")
        server.wait_ready("edge-2")
        me = as_node("edge-1")
        server.kubectl("label", "node", "edge-1", "example.com/disk=fast", *me)
        for label in ("node-restriction.kubernetes.io/tier=1", "node-role.kubernetes.io/control-plane="):
            refused = server.kubectl_fails("label", "node", "edge-1", label, *me)
            assert refused.strip().endswith(f': nodes "edge-1" is forbidden: is not allowed to modify labels: {label.split("=")[0]}') and refused.count("is forbidden") == 1, refused
        refused = server.kubectl_fails("taint", "node", "edge-1", "k=v:NoSchedule", *me)
        assert 'node "edge-1" is not allowed to modify taints' in refused, refused
        assert "cannot read 'edge-2', only its own Node object" in server.kubectl_fails("get", "node", "edge-2", *me)
        for name, node in (("mine", "edge-1"), ("other", "edge-2")):
            server.kubectl("create", "secret", "generic", name, "--from-literal=k=v")
            server.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                          "spec": {"nodeName": node, "containers": [{"name": "c", "image": "x", "envFrom": [{"secretRef": {"name": name}}]}]}})
        assert server.kubectl("get", "secret", "mine", *me, "-o", "name").strip() == "secret/mine"
        assert "no relationship found between node 'edge-1' and this object" in server.kubectl_fails("get", "secret", "other", *me)
        uid = {name: server.get("pod", name)["metadata"]["uid"] for name in ("mine", "other")}
        server.kubectl("create", "token", "default", "--bound-object-kind=Pod", "--bound-object-name=mine",
                       f"--bound-object-uid={uid['mine']}", *me)
        refused = server.kubectl_fails("create", "token", "default", "--bound-object-kind=Pod", "--bound-object-name=other",
                                       f"--bound-object-uid={uid['other']}", *me)
        assert "node requested token bound to a pod scheduled on a different node" in refused, refused
        assert "node requested token not bound to a pod" in server.kubectl_fails("create", "token", "default", *me)
    finally:
        first.stop()
        second.stop()


def test_many_simulated_nodes_still_share_one_certificate(server):
    agent = server.agent("sim", "--token", server.token(), "--nodes", "3")
    try:
        server.wait("three nodes", lambda: len(server.get("nodes")["items"]) == 3)
        assert server.get("csr")["items"] == []
    finally:
        agent.stop()
