"""Admission webhooks that users run, met with the real kubectl."""
import json
import re
import time

from harness import Http
from webhook_server import Raw, allow, configuration, deny, patch, webhook


def add_label(key, value):
    return lambda request: patch({"op": "add", "path": "/metadata/labels",
                                  "value": {**request["object"]["metadata"].get("labels", {}), key: value}})


def label_of(cluster, namespace, kind, name, key):
    return cluster.get(kind, name, "-n", namespace)["metadata"].get("labels", {}).get(key)


def test_a_mutating_webhook_adds_a_label(simulated, namespace, hooks, installed):
    hooks.answers["/label"] = add_label("touched", "yes")
    installed(configuration("Mutating", "label", webhook("label.hooks.example.com", hooks.client_config("/label"), namespace)))
    simulated.kubectl("create", "configmap", "a", "-n", namespace, "--from-literal=k=v")
    assert label_of(simulated, namespace, "configmap", "a", "touched") == "yes"
    request = hooks.asked("/label")[-1]
    assert request["operation"] == "CREATE" and request["name"] == "a" and request["namespace"] == namespace
    assert request["userInfo"]["username"] == "kubernetes-admin" and "system:masters" in request["userInfo"]["groups"]
    assert request["options"]["fieldManager"] == "kubectl-create" and request["dryRun"] is False
    assert request["object"]["data"] == {"k": "v"} and request["oldObject"] is None
    assert "uid" not in request["object"]["metadata"]
    # A rehearsal is told that it is one, and shows what would come of it.
    shown = json.loads(simulated.kubectl("create", "configmap", "b", "-n", namespace, "--dry-run=server", "-o", "json"))
    assert shown["metadata"]["labels"] == {"touched": "yes"}
    assert hooks.asked("/label")[-1]["dryRun"] is True
    assert simulated.get("configmap", "b", "-n", namespace) is None
    # Applying what is there already changes nothing, but is asked about.
    simulated.kubectl("label", "configmap", "a", "-n", namespace, "mine=1")
    assert hooks.asked("/label")[-1]["oldObject"]["metadata"]["labels"] == {"touched": "yes"}
    assert "label   1" in re.sub(" +", "   ", simulated.kubectl("get", "mutatingwebhookconfigurations"))


def test_a_validating_webhook_denies_in_its_own_words(simulated, namespace, hooks, installed):
    hooks.answers["/deny"] = lambda request: deny("not on my watch", 422, "Unprocessable")
    installed(configuration("Validating", "deny", webhook(
        "deny.hooks.example.com", hooks.client_config("/deny"), namespace, operations=("CREATE", "DELETE"),
        objectSelector={"matchExpressions": [{"key": "fine", "operator": "DoesNotExist"}]})))
    said = simulated.kubectl_fails("create", "configmap", "a", "-n", namespace)
    assert 'admission webhook "deny.hooks.example.com" denied the request: not on my watch' in said
    http = Http(simulated)
    code, status = http("POST", f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "a"}})
    http.close()
    assert (code, status["reason"], status["status"]) == (422, "Unprocessable", "Failure")
    assert simulated.get("configmap", "a", "-n", namespace) is None
    simulated.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": namespace, "labels": {"fine": "1"}}})


def test_a_webhook_that_says_nothing_refuses_or_is_ignored(simulated, namespace, hooks, installed):
    hooks.answers["/silent"] = lambda request: None
    installed(configuration("Validating", "silent", webhook(
        "silent.hooks.example.com", hooks.client_config("/silent"), namespace, timeoutSeconds=1)))
    begin = time.monotonic()
    said = simulated.kubectl_fails("create", "configmap", "a", "-n", namespace)
    assert time.monotonic() - begin < 30
    assert (f'failed calling webhook "silent.hooks.example.com": failed to call webhook: Post '
            f'"https://127.0.0.1:{hooks.port}/silent?timeout=1s": context deadline exceeded') in said
    installed(configuration("Validating", "silent", webhook(
        "silent.hooks.example.com", hooks.client_config("/silent"), namespace, timeoutSeconds=1, failurePolicy="Ignore")))
    simulated.kubectl("create", "configmap", "a", "-n", namespace)


def test_a_webhook_that_never_answers_stalls_nobody_else(simulated, namespace, hooks, installed):
    hooks.answers["/never"] = lambda request: None
    installed(configuration("Mutating", "never", webhook(
        "never.hooks.example.com", hooks.client_config("/never"), namespace, timeoutSeconds=15,
        objectSelector={"matchLabels": {"slow": "yes"}})))
    url = f"/api/v1/namespaces/{namespace}/configmaps"
    waiting = [Http(simulated) for _ in range(20)]
    for i, http in enumerate(waiting):  # asked, and not waited for
        http.connection.request("POST", url, json.dumps({"metadata": {"name": f"slow-{i}", "labels": {"slow": "yes"}}}),
                                {"Content-Type": "application/json"})
    simulated.wait("all of them are being asked about", lambda: len(hooks.asked("/never")) == 20)
    http = Http(simulated)
    times = []
    for i in range(100):
        begin = time.monotonic()
        assert http("POST", url, {"metadata": {"name": f"fast-{i}"}})[0] == 201
        times.append(time.monotonic() - begin)
    http.close()
    times.sort()
    print(f"with 20 writes waiting for a webhook: p50 {times[50] * 1000:.1f} ms, p99 {times[98] * 1000:.1f} ms")
    assert times[98] < 5, times
    for http in waiting:
        assert http.connection.getresponse().status == 500
        http.close()


def test_nonsense_is_a_failure_that_says_what_is_wrong(simulated, namespace, hooks, installed):
    installed(configuration("Validating", "odd", webhook("odd.hooks.example.com", hooks.client_config("/odd"), namespace)))

    def refusal(answer):
        hooks.answers["/odd"] = lambda request: answer
        return simulated.kubectl_fails("create", "configmap", "a", "-n", namespace)

    assert "couldn't get version/kind; json parse error" in refusal(Raw("<html>"))
    assert "expected response.uid=" in refusal({"allowed": True, "uid": "other"})
    assert "validating webhook may not return response.patch" in refusal(patch({"op": "remove", "path": "/data"}))
    assert "the server could not find the requested resource" in refusal(Raw("", 404))
    assert 'an error on the server (\\"boom\\") has prevented' in refusal(Raw("boom", 500)).replace('("boom")', '(\\"boom\\")')
    assert "larger than 3145728 bytes" in refusal(Raw("x" * (4 << 20)))
    hooks.answers["/odd"] = lambda request: allow()
    simulated.kubectl("create", "configmap", "a", "-n", namespace)


def test_an_authority_that_is_not_the_webhooks(simulated, namespace, hooks, installed, tmp_path):
    from webhook_server import Authority
    config = {**hooks.client_config("/x"), "caBundle": Authority(tmp_path).bundle}
    installed(configuration("Validating", "stranger", webhook("stranger.hooks.example.com", config, namespace)))
    said = simulated.kubectl_fails("create", "configmap", "a", "-n", namespace)
    assert "tls: failed to verify certificate: x509: certificate signed by unknown authority" in said
    assert hooks.asked("/x") == []


def test_conditions_are_read_before_anybody_is_asked(simulated, namespace, hooks, installed):
    hooks.answers["/if"] = lambda request: deny("asked")
    installed(configuration("Validating", "if", webhook(
        "if.hooks.example.com", hooks.client_config("/if"), namespace,
        matchConditions=[{"name": "named", "expression": "object.metadata.name.startsWith('ask')"}])))
    simulated.kubectl("create", "configmap", "quiet", "-n", namespace)
    assert hooks.asked("/if") == []
    assert "denied the request: asked" in simulated.kubectl_fails("create", "configmap", "ask-me", "-n", namespace)
    bad = configuration("Validating", "bad", webhook("bad", {"url": "http://x"}, namespace, timeoutSeconds=40, matchConditions=[
        {"name": "x", "expression": "1 +"}]))
    said = simulated.kubectl_fails("create", "-f", "-", stdin=json.dumps(bad))
    for words in ("at least three segments", "'https' is the only allowed URL scheme", "between 1 and 30 seconds",
                  "webhooks[0].matchConditions[0].expression"):
        assert words in said


def test_a_service_is_found_and_certified_by_its_name(simulated, namespace, hooks, installed):
    hooks.answers["/svc"] = add_label("by", "service")
    config = {"service": {"namespace": "default", "name": "hook", "path": "/svc", "port": hooks.port},
              "caBundle": hooks.authority.bundle}
    installed(configuration("Mutating", "svc", webhook("svc.hooks.example.com", config, namespace)))
    said = simulated.kubectl_fails("create", "configmap", "a", "-n", namespace)
    assert f'Post "https://hook.default.svc:{hooks.port}/svc?timeout=10s": service "hook" not found' in said
    simulated.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": "default"},
                     "spec": {"type": "ExternalName", "externalName": "localhost"}})
    before = hooks.connections
    for i in range(5):
        simulated.kubectl("create", "configmap", f"a{i}", "-n", namespace)
    assert label_of(simulated, namespace, "configmap", "a4", "by") == "service"
    assert hooks.connections == before + 1  # one connection for all
    simulated.kubectl("delete", "service", "hook", "-n", "default")


def test_what_controllers_make_is_asked_about_too(simulated, namespace, hooks, installed):
    hooks.answers["/pods"] = add_label("touched", "yes")
    hooks.answers["/bind"] = lambda request: {"allowed": True, "warnings": ["bound"]}
    installed(configuration("Mutating", "pods", webhook(
        "pods.hooks.example.com", hooks.client_config("/pods"), namespace, resources=("pods",), operations=("CREATE",))))
    installed(configuration("Validating", "bind", webhook(
        "bind.hooks.example.com", hooks.client_config("/bind"), namespace, resources=("pods/binding",), operations=("CREATE",))))
    simulated.kubectl("create", "deployment", "web", "-n", namespace, "--image=busybox", "--replicas=3")
    simulated.kubectl("rollout", "status", "deployment/web", "-n", namespace, "--timeout=60s", timeout=70)
    pods = simulated.get("pods", "-n", namespace)["items"]
    assert [pod["metadata"]["labels"]["touched"] for pod in pods] == ["yes"] * 3
    assert {request["userInfo"]["username"] for request in hooks.asked("/pods")} == {
        "system:serviceaccount:kube-system:replicaset-controller"}
    bound = hooks.asked("/bind")  # again about one whose write lost a race
    assert {(request["name"], request["object"]["target"]["name"]) for request in bound} == {
        (pod["metadata"]["name"], pod["spec"]["nodeName"]) for pod in pods}
    assert len(bound) < 2 * len(pods), bound
    assert all(request["kind"] == {"group": "", "version": "v1", "kind": "Binding"} for request in bound)


def test_warnings_reach_the_client_and_metrics_count(simulated, namespace, hooks, installed):
    hooks.answers["/warn"] = lambda request: {"allowed": True, "warnings": ["this is unwise"]}
    installed(configuration("Validating", "warn", webhook("warn.hooks.example.com", hooks.client_config("/warn"), namespace)))
    code, _, err = simulated.try_kubectl("create", "configmap", "a", "-n", namespace)
    assert code == 0 and "Warning: this is unwise" in err
    metrics = simulated.kubectl("get", "--raw", "/metrics")
    labels = 'name="warn.hooks.example.com",operation="CREATE",rejected="false",type="validating"'
    assert f"apiserver_admission_webhook_request_total{{code=\"200\",{labels}}} 1" in metrics
    assert f"apiserver_admission_webhook_admission_duration_seconds_count{{{labels}}} 1" in metrics


def test_users_kinds_in_another_version(simulated, namespace, hooks, installed):
    hooks.answers["/kinds"] = add_label("seen", "yes")
    version = {"served": True, "storage": False,
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
                   "size": {"type": "integer"}}}}}}}
    simulated.apply({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                     "metadata": {"name": "hooked.hooks.example.com"},
                     "spec": {"group": "hooks.example.com", "scope": "Namespaced",
                              "names": {"plural": "hooked", "singular": "hooked", "kind": "Hooked"},
                              "versions": [{**version, "name": "v1", "storage": True}, {**version, "name": "v1beta1"}]}})
    simulated.kubectl("wait", "--for=condition=Established", "crd/hooked.hooks.example.com", "--timeout=60s")
    one = webhook("kinds.hooks.example.com", hooks.client_config("/kinds"), namespace, resources=("hooked",),
                  groups=("hooks.example.com",))
    one["rules"][0]["apiVersions"] = ["v1beta1"]
    installed(configuration("Mutating", "kinds", one))
    simulated.apply({"apiVersion": "hooks.example.com/v1", "kind": "Hooked",
                     "metadata": {"name": "a", "namespace": namespace}, "spec": {"size": 1}})
    assert label_of(simulated, namespace, "hooked.v1.hooks.example.com", "a", "seen") == "yes"
    request = hooks.asked("/kinds")[-1]
    assert request["kind"]["version"] == "v1beta1" and request["requestKind"]["version"] == "v1"
    assert request["object"]["apiVersion"] == "hooks.example.com/v1beta1"
    simulated.kubectl("delete", "crd", "hooked.hooks.example.com")
