"""The audit log as an administrator meets it: a policy file in, JSON lines out, nothing of Secrets that was not asked for."""
import json
import os

import pytest

import harness

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  users: ["system:node:krater-0"]
- level: None
  nonResourceURLs: ["/api*", "/openapi*", "/version", "/readyz*", "/livez*"]
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: RequestResponse
  verbs: [create, patch, delete]
  resources: [{group: "", resources: [configmaps]}]
- level: Metadata
"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    directory = tmp_path_factory.mktemp("krater")
    (directory / "policy.yaml").write_text(POLICY)
    made = harness.Cluster(directory, "--runtime", "simulated", "--nodes", "1", "--audit-policy-file",
                           str(directory / "policy.yaml"), "--audit-log-path", str(directory / "audit.log"),
                           "--audit-log-maxsize", "1", "--audit-log-maxbackup", "2")
    made.start()
    yield made
    made.stop()


def events(cluster, **wanted):
    """Of one object, in their order; the log is written a moment after the answer."""
    lines = []
    for path in sorted(cluster.directory.glob("audit*.log")):
        text = path.read_text()
        lines += text[:text.rfind("\n") + 1].splitlines()  # the last one may be on its way
    found = [json.loads(line) for line in lines]
    return [e for e in found if all(e.get("objectRef", {}).get(key) == value for key, value in wanted.items())]


def test_who_did_what_is_in_the_log(audited):
    audited.kubectl("create", "configmap", "seen", "--from-literal=a=1")
    audited.kubectl("label", "configmap", "seen", "x=y")
    audited.kubectl("delete", "configmap", "seen")
    told = audited.wait("all three are written",
                        lambda: len(found := [e for e in events(audited, resource="configmaps", name="seen")
                                              if e["verb"] in ("create", "patch", "delete")]) == 3 and found)
    made, labelled, deleted = told
    assert [e["verb"] for e in told] == ["create", "patch", "delete"]
    for event in told:
        assert event["kind"] == "Event" and event["apiVersion"] == "audit.k8s.io/v1"
        assert event["stage"] == "ResponseComplete" and event["level"] == "RequestResponse"
        assert event["user"]["username"] == "kubernetes-admin" and "system:masters" in event["user"]["groups"]
        assert event["sourceIPs"] == ["127.0.0.1"] and event["userAgent"].startswith("kubectl/")
        assert event["annotations"]["authorization.k8s.io/decision"] == "allow"
        assert event["requestReceivedTimestamp"] <= event["stageTimestamp"]
    assert made["responseStatus"]["code"] == 201
    assert made["requestObject"]["data"] == {"a": "1"} and made["responseObject"]["data"] == {"a": "1"}
    assert "managedFields" not in made["responseObject"]["metadata"]
    assert labelled["requestObject"] == {"metadata": {"labels": {"x": "y"}}}
    assert deleted["responseObject"]["status"] == "Success"
    assert len({e["auditID"] for e in told}) == 3


def test_secrets_are_named_and_not_told(audited):
    audited.kubectl("create", "secret", "generic", "hidden", "--from-literal=k=do-not-tell")
    audited.kubectl("get", "secret", "hidden", "-o", "yaml")
    told = audited.wait("both are written", lambda: len(found := events(audited, resource="secrets", name="hidden")) >= 2 and found)
    assert {e["verb"] for e in told} == {"create", "get"}
    for path in audited.directory.glob("audit*.log"):
        text = path.read_text()
        assert "do-not-tell" not in text and "ZG8tbm90LXRlbGw" not in text
        assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_refusal_and_whom_somebody_acted_as_are_told(audited):
    audited.kubectl_fails("get", "secrets", "--as", "bob")
    told = audited.wait("it is written", lambda: [e for e in events(audited, resource="secrets")
                                                  if e.get("impersonatedUser", {}).get("username") == "bob"])
    assert told[0]["user"]["username"] == "kubernetes-admin"
    assert told[0]["responseStatus"]["code"] == 403 and told[0]["responseStatus"]["reason"] == "Forbidden"
    assert told[0]["annotations"]["authorization.k8s.io/decision"] == "forbid"


def test_the_log_is_rotated_and_counted(audited):
    body = "x" * 200_000
    for number in range(12):
        audited.kubectl("create", "configmap", f"large-{number}", "--from-file=k=/dev/stdin", stdin=body)
    rotated = audited.wait("old files are made, and no more kept than asked for",
                           lambda: len(found := list(audited.directory.glob("audit-*.log"))) == 2 and found)
    assert all(path.stat().st_size <= 1 << 20 for path in rotated)
    metrics = audited.kubectl("get", "--raw", "/metrics")
    assert 'apiserver_audit_error_total{plugin="log"} 0' in metrics
    assert 'apiserver_audit_level_total{level="RequestResponse"}' in metrics


def test_a_bad_policy_does_not_start(tmp_path):
    (tmp_path / "policy.yaml").write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Everything}]\n")
    broken = harness.Cluster(tmp_path, "--runtime", "simulated", "--audit-policy-file", str(tmp_path / "policy.yaml"),
                             "--audit-log-path", str(tmp_path / "audit.log"))
    with pytest.raises(AssertionError, match='rules\\[0\\].level: Unsupported value: "Everything"'):
        broken.start()
