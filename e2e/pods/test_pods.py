"""Pods on the process runtime: what a kubelet's users rely on."""
import subprocess
import time

import pytest

from watching import Talk


def pod(name, *containers, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
            "spec": {"restartPolicy": "Never", "containers": list(containers), **spec}}


def shell(script, name="c", **extra):
    return {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", script], **extra}


def finished(cluster, namespace, name, timeout=60):
    return cluster.wait(f"pod {name} ends", timeout=timeout, condition=lambda: (
        lambda p: p if p and p["status"].get("phase") in ("Succeeded", "Failed") else None)(cluster.get("pod", name, "-n", namespace)))


def test_exit_codes_signals_and_phases(cluster, namespace):
    cluster.apply(pod("ok", shell("echo fine; exit 0")), "-n", namespace)
    cluster.apply(pod("three", shell("exit 3")), "-n", namespace)
    # Two dollars stand for one in a command; the first process of a pod cannot be killed from inside.
    cluster.apply(pod("killed", shell("sh -c 'kill -9 $$$$'; exit $?")), "-n", namespace)
    assert finished(cluster, namespace, "ok")["status"]["phase"] == "Succeeded"
    three = finished(cluster, namespace, "three")
    assert three["status"]["phase"] == "Failed"
    state = three["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (state["exitCode"], state["reason"]) == (3, "Error")
    assert finished(cluster, namespace, "killed")["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
    assert cluster.kubectl("logs", "ok", "-n", namespace) == "fine\n"


def test_own_namespaces_and_address(cluster, namespace):
    cluster.apply(pod("alone", shell("hostname; ps -e -o pid= | wc -l; ip -4 -o addr show eth0 | awk '{print $4}'; cat /etc/hosts")), "-n", namespace)
    done = finished(cluster, namespace, "alone")
    lines = cluster.kubectl("logs", "alone", "-n", namespace).splitlines()
    assert lines[0] == "alone"
    assert int(lines[1]) < 12, "its own process namespace"
    assert lines[2].split("/")[0] == done["status"]["podIP"]
    assert any("alone" in line and done["status"]["podIP"] in line for line in lines[3:])


@pytest.mark.parametrize("host_network", [False, True])
def test_containers_share_their_processes(cluster, namespace, host_network):
    name, mark = ("hosts", 43210) if host_network else ("own", 43211)
    one = shell(f"sleep {mark} & wait; echo woken", name="one", readinessProbe={"exec": {"command": ["pgrep", "-xf", f"sleep {mark}"]}, "periodSeconds": 1})
    two = shell(f"(sleep 0.2 &); until p=$(pgrep -xf 'sleep {mark}'); do sleep 0.1; done; setsid sleep {mark}.5 & "
                # Who has ended is buried soon; a probe that ends just now may still be seen.
                f"cat /proc/1/comm; sleep 1; for i in 1 2 3 4 5 6 7 8 9 10; do n=$(ps -eo stat= | grep -c Z); [ $n = 0 ] && break; sleep 0.1; done; "
                f"echo $n; kill $p", name="two")
    cluster.apply(pod(name, one, two, shareProcessNamespace=True, hostNetwork=host_network), "-n", namespace)
    done = finished(cluster, namespace, name)
    assert done["status"]["phase"] == "Succeeded", cluster.dump()
    assert cluster.kubectl("logs", name, "-c", "one", "-n", namespace) == "woken\n"
    assert cluster.kubectl("logs", name, "-c", "two", "-n", namespace) == "pause\n0\n", "the first process buries orphans"
    cluster.kubectl("delete", "pod", name, "-n", namespace, timeout=60)
    cluster.wait("what a container left behind goes with the pod", lambda: f"sleep {mark}" not in subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout)


def test_environment_and_volumes(cluster, namespace):
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"colour": "blue", "file.txt": "text\n"}}, "-n", namespace)
    cluster.kubectl("create", "secret", "generic", "hush", "--from-literal=word=quiet", "-n", namespace)
    container = shell(
        "echo $A $COLOUR $WORD $POD_NAME $CPU; cat /conf/file.txt /hush/word; echo; df -k /ram /heap | tail -2 | awk '{print $2}'; "
        "ls /var/run/secrets/kubernetes.io/serviceaccount",
        env=[{"name": "B", "value": "two"}, {"name": "A", "value": "one-$(B)-$$(B)"},
             {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "colour"}}},
             {"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "hush", "key": "word"}}},
             {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
             {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}],
        resources={"limits": {"cpu": "250m", "memory": "64Mi"}},
        volumeMounts=[{"name": "conf", "mountPath": "/conf"}, {"name": "hush", "mountPath": "/hush"}, {"name": "ram", "mountPath": "/ram"}, {"name": "heap", "mountPath": "/heap"}])
    cluster.apply(pod("full", container, volumes=[
        {"name": "conf", "configMap": {"name": "conf"}}, {"name": "hush", "secret": {"secretName": "hush"}},
        {"name": "ram", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}}, {"name": "heap", "emptyDir": {"medium": "Memory"}}]), "-n", namespace)
    assert finished(cluster, namespace, "full")["status"]["phase"] == "Succeeded", cluster.dump()
    lines = cluster.kubectl("logs", "full", "-n", namespace).splitlines()
    assert lines[0] == "one-two-$(B) blue quiet full 250"
    assert lines[1:3] == ["text", "quiet"]
    assert [int(line) for line in lines[3:5]] == [8192, 65536], "no more than asked for, nor than the pod has"
    assert set(lines[5:]) == {"ca.crt", "namespace", "token"}


def test_init_containers_run_in_order_and_a_service_name_resolves(cluster, namespace):
    server = pod("server", shell("cd /tmp && echo hello > index.html && exec python3 -m http.server 8080",
                                 readinessProbe={"httpGet": {"path": "/index.html", "port": 8080}, "periodSeconds": 1}))
    server["spec"]["containers"][0]["image"] = "python:3.11"
    cluster.apply(server, "-n", namespace)
    for name, address in (("web", None), ("web-headless", "None")):
        spec = {"selector": {"app": "server"}, "ports": [{"port": 80 if address is None else 8080, "targetPort": 8080}]}
        if address:
            spec["clusterIP"] = address
        cluster.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}, "-n", namespace)
    cluster.kubectl("wait", "--for=condition=Ready", "pod/server", "-n", namespace, "--timeout=60s")
    # Nodes and name servers hear of a service's pods a moment after the pods are ready.
    fetch = "until python3 -c \"import urllib.request as u; print(u.urlopen('http://%s', timeout=10).read().decode().strip())\"; do sleep 0.5; done 2>/dev/null"
    client = pod("client", {"name": "c", "image": "python:3.11", "command": ["sh", "-c",
                 f"cat /turns/order; {fetch % 'web'}; {fetch % ('web-headless.' + namespace + '.svc.cluster.local:8080')}"],
                 "volumeMounts": [{"name": "turns", "mountPath": "/turns"}]},
                 volumes=[{"name": "turns", "emptyDir": {}}])
    client["spec"]["initContainers"] = [
        {"name": n, "image": "busybox", "command": ["sh", "-c", f"echo {n} >> /turns/order"], "volumeMounts": [{"name": "turns", "mountPath": "/turns"}]}
        for n in ("first", "second")]
    cluster.apply(client, "-n", namespace)
    assert finished(cluster, namespace, "client")["status"]["phase"] == "Succeeded", cluster.dump()
    assert cluster.kubectl("logs", "client", "-n", namespace).split() == ["first", "second", "hello", "hello"]


def test_restarts_back_off_and_previous_logs(cluster, namespace):
    cluster.apply(pod("again", shell("echo run; exit 1"), restartPolicy="OnFailure"), "-n", namespace)
    cluster.wait("it was restarted", timeout=90, condition=lambda: (cluster.get("pod", "again", "-n", namespace)["status"]
                 .get("containerStatuses") or [{}])[0].get("restartCount", 0) >= 2)
    cluster.wait("it backs off", lambda: "CrashLoopBackOff" in cluster.kubectl("get", "pod", "again", "-n", namespace))
    assert cluster.kubectl("logs", "again", "--previous", "-n", namespace) == "run\n"


def test_termination_grace_and_follow(cluster, namespace):
    cluster.apply(pod("polite", shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"),
                      terminationGracePeriodSeconds=20), "-n", namespace)
    cluster.kubectl("wait", "--for=condition=Ready", "pod/polite", "-n", namespace, "--timeout=60s")
    follow = Talk(cluster, "logs", "-f", "polite", "-n", namespace)
    cluster.wait("the log shows it is up", lambda: "up\n" in follow.said())
    cluster.kubectl("delete", "pod", "polite", "-n", namespace, timeout=60)
    assert follow.end() == "up\nbye\n"


def test_liveness_probe_restarts(cluster, namespace):
    cluster.apply(pod("sick", shell("touch /tmp/ok; sleep 3; rm /tmp/ok; sleep 600",
                                    livenessProbe={"exec": {"command": ["cat", "/tmp/ok"]}, "periodSeconds": 1, "failureThreshold": 2}),
                      restartPolicy="Always", terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.wait("it was restarted", timeout=90, condition=lambda: (cluster.get("pod", "sick", "-n", namespace)["status"]
                 .get("containerStatuses") or [{}])[0].get("restartCount", 0) >= 1)
    cluster.wait("an event says why", lambda: "Unhealthy" in cluster.kubectl("events", "--for", "pod/sick", "-n", namespace))


def test_hooks_messages_and_a_program_that_does_not_want_to_end(cluster, namespace):
    cluster.apply(pod("hooked", shell("while [ ! -e /tmp/begun ]; do sleep 0.1; done; echo begun; trap 'cat /tmp/asked; exit 0' TERM; while :; do sleep 0.1; done",
                                      lifecycle={"postStart": {"exec": {"command": ["touch", "/tmp/begun"]}},
                                                 "preStop": {"exec": {"command": ["sh", "-c", "echo asked first > /tmp/asked"]}}})), "-n", namespace)
    cluster.apply(pod("message", shell("echo the last words > /dev/termination-log; exit 4")), "-n", namespace)
    cluster.apply(pod("from-log", shell("echo seen in the log; exit 5", terminationMessagePolicy="FallbackToLogsOnError")), "-n", namespace)
    cluster.apply(pod("stubborn", shell("trap '' TERM; while :; do sleep 0.1; done"), terminationGracePeriodSeconds=2), "-n", namespace)
    for name, words in (("message", "the last words\n"), ("from-log", "seen in the log\n")):
        assert finished(cluster, namespace, name)["status"]["containerStatuses"][0]["state"]["terminated"]["message"] == words
    cluster.kubectl("wait", "--for=condition=Ready", "pod/hooked", "pod/stubborn", "-n", namespace, "--timeout=60s")
    follow = Talk(cluster, "logs", "-f", "hooked", "-n", namespace)
    cluster.wait("the first hook has run", lambda: "begun\n" in follow.said())
    cluster.kubectl("delete", "pod", "hooked", "stubborn", "-n", namespace, timeout=60)
    assert follow.end() == "begun\nasked first\n"


def events_of(cluster, namespace, name):
    return [(e["type"], e["reason"], e["message"]) for e in cluster.get("events", "-n", namespace)["items"] if e["involvedObject"]["name"] == name]


WEB = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, self.headers["User-Agent"], self.headers["X-Asked"], flush=True)
        self.send_response(int(self.path[1:4]))
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("", 8080), Handler).serve_forever()
"""


def test_hooks_over_http_and_tcp_and_hooks_that_fail(cluster, namespace):
    ask = {"port": 8080, "httpHeaders": [{"name": "X-Asked", "value": "nicely"}]}
    web = {"name": "c", "image": "python:3.11", "command": ["python3", "-u", "-c", WEB], "ports": [{"name": "web", "containerPort": 8080}],
           "readinessProbe": {"httpGet": {"path": "/200/probe", "port": "web"}, "periodSeconds": 1},
           # Whatever the program answers will do for a hook.
           "lifecycle": {"preStop": {"httpGet": {"path": "/404/stop", **ask}}}}
    cluster.apply(pod("web", web, terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.apply(pod("tcp", shell("exec python3 -m http.server 8080", lifecycle={"postStart": {"exec": {
        "command": ["sh", "-c", "until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8080))' 2>&1; do sleep 0.2; done"]}},
        "preStop": {"tcpSocket": {"port": 8080}}}), terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.apply(pod("order", shell("sleep 600", name="first", lifecycle={"postStart": {"exec": {"command": ["sleep", "3"]}}}),
                      shell("sleep 600", name="second"), terminationGracePeriodSeconds=1), "-n", namespace)
    for name, hook in (("bad-exec", {"exec": {"command": ["sh", "-c", "echo the password is 12345; exit 3"]}}),
                       ("bad-http", {"httpGet": {"path": "/", "port": 1}}), ("bad-tcp", {"tcpSocket": {"port": 1}})):
        cluster.apply(pod(name, shell("sleep 600", lifecycle={"postStart": hook}), terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.apply(pod("slow-stop", shell("trap 'exit 0' TERM; while :; do sleep 0.1; done", lifecycle={"preStop": {"exec": {"command": ["sleep", "600"]}}}),
                      terminationGracePeriodSeconds=3), "-n", namespace)
    for name in ("bad-exec", "bad-http", "bad-tcp"):
        failed = finished(cluster, namespace, name)["status"]
        assert failed["phase"] == "Failed" and failed["containerStatuses"][0]["state"]["terminated"]["exitCode"] in (137, 143), failed
        cluster.wait("both events are told", lambda name=name: {
            ("Warning", "FailedPostStartHook", "PostStartHook failed"), ("Normal", "Killing", "FailedPostStartHook")} <= set(
            events_of(cluster, namespace, name)))
        assert not any("12345" in message for _, _, message in events_of(cluster, namespace, name))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "pod/tcp", "pod/order", "pod/slow-stop", "-n", namespace, "--timeout=60s")
    states = {s["name"]: s["state"]["running"]["startedAt"] for s in cluster.get("pod", "order", "-n", namespace)["status"]["containerStatuses"]}
    assert states["second"] > states["first"], "what comes later waits for the hook"
    follow = Talk(cluster, "logs", "-f", "web", "-n", namespace)
    cluster.wait("its log is followed", lambda: "/200/probe" in follow.said())
    begun = time.monotonic()
    cluster.kubectl("delete", "pod", "web", "tcp", "slow-stop", "-n", namespace, timeout=60)
    assert time.monotonic() - begun < 25, "a hook has no more time than the pod"
    lines = follow.end().splitlines()
    assert lines[0] == "/200/probe kube-probe/1.32 None" and lines[-1] == "/404/stop kube-lifecycle/1.32 nicely", lines
    for name in ("web", "tcp"):
        assert not [e for e in events_of(cluster, namespace, name) if "Failed" in e[1]]


def test_a_pod_reaches_the_api_with_its_own_token(cluster, namespace):
    """Also where the server listens on loopback alone, as here."""
    program = """
import json, os, ssl, urllib.error, urllib.request as u
directory = "/var/run/secrets/kubernetes.io/serviceaccount/"
trust = ssl.create_default_context(cafile=directory + "ca.crt")
def ask(host, token):
    body = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode()
    request = u.Request(f"https://{host}/apis/authentication.k8s.io/v1/selfsubjectreviews", data=body,
                        headers={"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    try:
        return json.load(u.urlopen(request, timeout=10, context=trust))["status"]["userInfo"]["username"]
    except urllib.error.HTTPError as refused:
        return refused.code
token = open(directory + "token").read()
print(ask(os.environ["KUBERNETES_SERVICE_HOST"] + ":" + os.environ["KUBERNETES_SERVICE_PORT"], token))
print(ask("kubernetes.default.svc", token))
print(ask("kubernetes.default.svc", "not-a-token"))
"""
    who = f"system:serviceaccount:{namespace}:default"
    for name, host in (("inside", False), ("on-the-host", True)):
        cluster.apply(pod(name, {"name": "c", "image": "python:3.11", "command": ["python3", "-c", program]}, hostNetwork=host,
                          dnsPolicy="ClusterFirstWithHostNet" if host else "ClusterFirst"), "-n", namespace)
    for name in ("inside", "on-the-host"):
        assert finished(cluster, namespace, name)["status"]["phase"] == "Succeeded", cluster.kubectl("logs", name, "-n", namespace)
        assert cluster.kubectl("logs", name, "-n", namespace).split() == [who, who, "401"]


@pytest.mark.ray
def test_a_grpc_probe_asks_the_server_for_its_health(cluster, namespace):
    """Ray's own control service speaks grpc.health.v1."""
    def ray(name, **grpc):
        return pod(name, {"name": "c", "image": "rayproject/ray:2.9.0", "command": ["sh", "-c", "ray start --head --block --include-dashboard=false --num-cpus=1"],
                          "readinessProbe": {"grpc": {"port": 6379, **grpc}, "periodSeconds": 2, "timeoutSeconds": 2, "failureThreshold": 1}},
                   terminationGracePeriodSeconds=1)
    cluster.apply(ray("healthy"), "-n", namespace)
    cluster.kubectl("wait", "--for=condition=Ready", "pod/healthy", "-n", namespace, "--timeout=120s", timeout=150)
    cluster.kubectl("delete", "pod", "healthy", "-n", namespace, timeout=60)
    cluster.apply(pod("no-grpc", shell("exec python3 -m http.server 6379", readinessProbe={"grpc": {"port": 6379}, "periodSeconds": 1}),
                      terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.wait("it is told why", lambda: any(reason == "Unhealthy" and "Readiness probe failed: error: health rpc probe failed" in message
                                               for _, reason, message in events_of(cluster, namespace, "no-grpc")))


def test_capabilities_users_and_sub_paths(cluster, namespace):
    show = "grep CapBnd /proc/self/status | awk '{print $2}'; id -u"
    cluster.apply(pod("usual", shell(show)), "-n", namespace)
    cluster.apply(pod("bare", shell(show, securityContext={"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}})), "-n", namespace)
    cluster.apply(pod("more", shell(show, securityContext={"capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}})), "-n", namespace)
    for name, mask, user in (("usual", "a80425fb", "0"), ("bare", "00000000", "1000"), ("more", "00001000", "0")):
        assert finished(cluster, namespace, name)["status"]["phase"] == "Succeeded", cluster.dump()
        lines = cluster.kubectl("logs", name, "-n", namespace).split()
        assert (lines[0][-8:], lines[1]) == (mask, user), name
    volumes = [{"name": "v", "emptyDir": {}}]
    escape = pod("escape", shell("ls /sub", volumeMounts=[{"name": "v", "mountPath": "/sub", "subPath": "link"}]), volumes=volumes)
    escape["spec"]["initContainers"] = [shell("ln -s /etc /v/link; ln -s ../../../../../../../../etc /v/far; mkdir /v/etc; touch /v/etc/inside", name="init",
                                              volumeMounts=[{"name": "v", "mountPath": "/v"}])]
    cluster.apply(escape, "-n", namespace)
    assert finished(cluster, namespace, "escape")["status"]["phase"] == "Succeeded"
    assert cluster.kubectl("logs", "escape", "-n", namespace) == "inside\n", "a link in a volume does not lead out of it"
    fresh = pod("fresh", shell("echo x > /a/f && cat /v/made/f", securityContext={"runAsUser": 1000}, volumeMounts=[
        {"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/a", "subPath": "made"}]), volumes=volumes)
    cluster.apply(fresh, "-n", namespace)
    assert finished(cluster, namespace, "fresh")["status"]["phase"] == "Succeeded", cluster.dump()
