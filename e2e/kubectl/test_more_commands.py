"""The rest of what people type, each with the unmodified kubectl: editing, watching in every form, waiting, explaining, describing."""
import base64
import json
import subprocess

import pytest

from watching import Talk


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def sim_pod(name, run_time="600s"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}, "annotations": {"krater.io/sim-run-time": run_time}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox:1.36"}]}}


def edit(cluster, script, *args):
    """kubectl edit with an editor that runs a sed script over the file."""
    return subprocess.run(["kubectl", "edit", *args], env=dict(cluster.environment(), KUBE_EDITOR=f"sed -i -e {script!r}"), text=True,
                          capture_output=True, timeout=60)


def test_edit(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(config_map("settings", a="1"), *n)
    done = edit(simulated, 's/a: "1"/a: "2"/', "cm", "settings", *n)
    assert done.returncode == 0 and "edited" in done.stdout, done.stdout + done.stderr
    assert simulated.get("cm", "settings", *n)["data"] == {"a": "2"}
    done = edit(simulated, "s/nothing/else/", "cm", "settings", *n)
    assert "no changes" in done.stderr + done.stdout, done.stdout + done.stderr
    simulated.kubectl("create", "-f", "-", *n, stdin=json.dumps(sim_pod("p")))
    done = edit(simulated, "s/busybox:1.36/busybox:1.37/", "pod", "p", *n)
    assert done.returncode == 0, done.stdout + done.stderr
    assert simulated.get("pod", "p", *n)["spec"]["containers"][0]["image"] == "busybox:1.37"


def test_labels_and_annotations(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply({"apiVersion": "v1", "kind": "List", "items": [config_map(x, a="1") for x in ("one", "two")]}, *n)
    assert simulated.kubectl("label", "cm", "one", "two", "team=x", *n).count("labeled") == 2
    assert "already has a value" in simulated.kubectl_fails("label", "cm", "one", "team=y", *n)
    simulated.kubectl("label", "--overwrite", "cm", "-l", "team=x", "team=y", *n)
    assert simulated.kubectl("label", "cm", "one", "--list", *n).strip() == "team=y"
    assert "team" in simulated.kubectl("get", "cm", "-L", "team", *n).lower()
    assert simulated.kubectl("annotate", "cm", "one", "note=hello world", *n).strip() == "configmap/one annotated"
    assert "the object has been modified" in simulated.kubectl_fails("label", "cm", "one", "team-", "--resource-version=1", *n)
    assert "a valid label" in simulated.kubectl_fails("label", "cm", "one", "bad=-x-", *n)


@pytest.mark.parametrize("form,expected", [
    ((), "watched   0/1"), (("-o", "wide"), "NOMINATED NODE"), (("-o", "name"), "pod/watched"), (("-o", "json"), '"kind": "Pod"'),
    (("-o", "custom-columns=N:.metadata.name,P:.status.phase"), "watched   Running"), (("-o", "jsonpath={.status.phase} "), "Running"),
    (("--output-watch-events",), "MODIFIED")])
def test_watch_in_every_form(simulated, namespace, form, expected):
    n = ("-n", namespace)
    simulated.apply(config_map("first", a="1"), *n)
    watch = Talk(simulated, "get", "pods", "-w", *form, *n, watches=True)
    try:
        simulated.kubectl("create", "-f", "-", *n, stdin=json.dumps(sim_pod("watched")))
        simulated.kubectl("wait", "--for=condition=Ready", "pod/watched", *n, "--timeout=30s")
        simulated.kubectl("label", "pod", "watched", "late=yes", *n)
        simulated.wait(f"{expected} is printed", lambda: expected in watch.said())
    finally:
        watch.stop()


def test_wait_in_every_form(simulated, namespace):
    n = ("-n", namespace)
    waiting = subprocess.Popen(["kubectl", "wait", "--for=create", "pod/late", "--timeout=30s", *n], env=simulated.environment(),
                               text=True, stdout=subprocess.PIPE)
    simulated.kubectl("create", "-f", "-", *n, stdin=json.dumps(sim_pod("late")))
    assert "condition met" in waiting.communicate(timeout=40)[0]
    simulated.kubectl("wait", "--for=condition=Ready", "pod/late", *n, "--timeout=30s")
    simulated.kubectl("wait", "--for=condition=Ready=true", "pod", "-l", "app=late", *n, "--timeout=30s")
    simulated.kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/late", *n, "--timeout=30s")
    simulated.kubectl("wait", "--for=jsonpath={.spec.nodeName}", "pod", "--all", *n, "--timeout=30s")
    assert "timed out" in simulated.kubectl_fails("wait", "--for=condition=Never", "pod/late", *n, "--timeout=1s")
    simulated.kubectl("delete", "pod", "late", "--wait=false", *n)
    simulated.kubectl("wait", "--for=delete", "pod/late", *n, "--timeout=30s")
    assert "NotFound" in simulated.kubectl_fails("wait", "--for=condition=Ready", "pod/late", *n, "--timeout=1s")


def test_every_kind_is_explained_and_described(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(sim_pod("p"), *n)
    simulated.kubectl("create", "job", "j", "--image=busybox", *n)
    simulated.kubectl("create", "secret", "generic", "s", "--from-literal=a=b", *n)
    simulated.kubectl("create", "service", "clusterip", "svc", "--tcp=80:80", *n)
    simulated.apply({"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "r"}, "spec": {"suspend": True, "entrypoint": "true", "rayClusterSpec": {
        "headGroupSpec": {"rayStartParams": {}, "template": {"spec": {"containers": [{"name": "h", "image": "rayproject/ray:2.46.0"}]}}}}}}, *n)
    kinds = simulated.kubectl("api-resources", "--verbs=get,list", "--no-headers", "-o", "name").split()
    assert len(kinds) > 15
    for kind in kinds:
        plural, _, group = kind.partition(".")
        explained = simulated.kubectl("explain", "--recursive", plural, *(["--api-version", version_of(simulated, kind)] if group else []))
        assert "metadata\t<ObjectMeta>" in explained, explained[:500]
        items = simulated.get(kind, "-A")["items"]
        if items:
            name, space = items[0]["metadata"]["name"], items[0]["metadata"].get("namespace")
            described = simulated.kubectl("describe", kind, name, *(["-n", space] if space else []))
            assert name in described, described
            # The row of one object has as many cells as there are columns.
            row = simulated.kubectl("get", kind, name, "-o", "wide", *(["-n", space] if space else []))
            assert len(row.splitlines()) == 2, row


def version_of(cluster, kind):
    plural, _, group = kind.partition(".")
    for line in cluster.kubectl("api-resources", "--no-headers", "--api-group", group).splitlines():
        words = line.split()
        if words[0] == plural:
            return next(w for w in words[1:] if "/" in w)
    raise AssertionError(kind)


def test_tokens_of_service_accounts(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "serviceaccount", "robot", *n)
    token = simulated.kubectl("create", "token", "robot", "--duration=20m", "--audience=vault", *n).strip()
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["aud"] == ["vault"] and claims["sub"] == f"system:serviceaccount:{namespace}:robot"
    assert claims["exp"] - claims["iat"] == 1200
    assert "not found" in simulated.kubectl_fails("create", "token", "nobody", *n)
    token = simulated.kubectl("create", "token", "robot", *n).strip()
    anonymous = ("--token", token, "--server", simulated.url, "--insecure-skip-tls-verify", "--kubeconfig", "/dev/null")
    assert f"system:serviceaccount:{namespace}:robot" in simulated.kubectl("auth", "whoami", *anonymous)
    assert "forbidden" in simulated.kubectl_fails("get", "secrets", *n, *anonymous)


def test_what_one_may(simulated):
    assert simulated.kubectl("auth", "can-i", "create", "pods/log").strip() == "yes"
    assert "*.*" in simulated.kubectl("auth", "can-i", "--list")
    who = json.loads(simulated.kubectl("auth", "whoami", "-o", "json"))
    assert "system:masters" in who["status"]["userInfo"]["groups"]


def test_raw_paths(simulated):
    assert json.loads(simulated.kubectl("get", "--raw", "/api/v1/namespaces/default"))["metadata"]["name"] == "default"
    assert json.loads(simulated.kubectl("get", "--raw", "/version"))["major"] == "1"
    assert "NotFound" in simulated.kubectl_fails("get", "--raw", "/apis/nowhere/v1")
    assert "apiserver_" in simulated.kubectl("get", "--raw", "/metrics")


def test_kinds_that_do_not_scale_say_so(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(config_map("c", a="1"), *n)
    assert "could not find the requested resource" in simulated.kubectl_fails("scale", "cm", "c", "--replicas=2", *n)


def test_last_applied_is_shown_and_set(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(config_map("c", a="1"), *n)
    assert '"a":"1"' in simulated.kubectl("apply", "view-last-applied", "cm", "c", "-o", "json", *n).replace(" ", "")
    file = simulated.directory / "last.json"
    file.write_text(json.dumps(dict(config_map("c", a="1", b="2"), metadata={"name": "c", "namespace": namespace})))
    simulated.kubectl("apply", "set-last-applied", "-f", str(file))
    assert '"b":"2"' in simulated.get("cm", "c", *n)["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
    assert simulated.get("cm", "c", *n)["data"] == {"a": "1"}


def test_prune_with_an_allowlist(simulated, namespace):
    n = ("-n", namespace)
    two = [dict(config_map(x, a="1"), metadata={"name": x, "labels": {"set": "mine"}}) for x in ("keep", "drop")]
    flags = ("--prune", "-l", "set=mine", "--prune-allowlist=core/v1/ConfigMap", *n)
    simulated.apply({"apiVersion": "v1", "kind": "List", "items": two}, *flags)
    assert "configmap/drop pruned" in simulated.apply(two[0], *flags)
    assert simulated.get("cm", "drop", *n) is None and simulated.get("cm", "keep", *n)


def test_run_expose_and_set_image(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("run", "web", "--image=nginx:1", "--port=80", "--labels=app=web", *n)
    simulated.kubectl("expose", "pod", "web", "--name=web", *n)
    service = simulated.get("svc", "web", *n)["spec"]
    assert service["selector"] == {"app": "web"} and service["ports"][0]["port"] == 80
    simulated.kubectl("set", "image", "pod/web", "web=nginx:2", *n)
    assert simulated.get("pod", "web", *n)["spec"]["containers"][0]["image"] == "nginx:2"
    simulated.kubectl("wait", "--for=condition=Ready", "pod/web", *n, "--timeout=30s")
    simulated.wait("the service has an address", lambda: simulated.get("endpoints", "web", *n).get("subsets"))


def test_events_are_listed_and_narrowed(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "-f", "-", *n, stdin=json.dumps(sim_pod("told")))
    simulated.kubectl("wait", "--for=condition=Ready", "pod/told", *n, "--timeout=30s")
    told = simulated.wait("its event", lambda: (lambda out: out if "Scheduled" in out else None)(
        simulated.kubectl("events", "--for", "pod/told", *n)))
    assert told.splitlines()[0].split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert "Scheduled" in simulated.kubectl("get", "events", *n, "--field-selector=reason=Scheduled")
    assert simulated.kubectl("events", *n, "--types=Warning").strip() in ("", f"No events found in {namespace} namespace.")
