"""What people who run pods have reported as broken elsewhere: exit codes, logs, expansion, downward values, emptyDir, probes."""
import datetime
import json
import re
import subprocess
import time

import pytest

import harness
from watching import Talk


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Four CPUs to tell of, and logs that rotate early."""
    made = harness.Cluster(tmp_path_factory.mktemp("krater"), "--stop-pods", "--cpu", "4", "--container-log-max-size", "1Mi",
                           "--container-log-max-files", "3")
    made.start()
    made.wait_nodes(1)
    yield made
    made.stop()


def pod(name, *containers, **spec):
    metadata = {"name": name, **spec.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"restartPolicy": "Never", "containers": list(containers), **spec}}


def shell(script, name="main", **extra):
    return {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", script], **extra}


def phase(cluster, namespace, name):
    return cluster.get("pod", name, "-n", namespace)["status"].get("phase")


def status_of(cluster, namespace, name, container="main"):
    statuses = cluster.get("pod", name, "-n", namespace)["status"].get("containerStatuses") or []
    return next((one for one in statuses if one["name"] == container), {})


def logs(cluster, namespace, *what):
    """What there is of them; nothing as long as the container has not begun."""
    return cluster.try_kubectl("logs", *what, "-n", namespace)[1]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_exit_codes_reasons_and_phases_for_each_restart_policy(cluster, namespace):
    term = "sleep 100 & kill -TERM $!; wait $!; exit $?"
    cluster.apply({"apiVersion": "v1", "kind": "List", "items": [
        pod("ok-never", shell("exit 0")), pod("bad-never", shell("exit 7")), pod("sig-never", shell(term)),
        pod("ok-onfailure", shell("exit 0"), restartPolicy="OnFailure"), pod("bad-onfailure", shell("exit 7"), restartPolicy="OnFailure"),
        pod("ok-always", shell("exit 0"), restartPolicy="Always"),
        pod("nocmd", {"name": "main", "image": "busybox:1.36", "command": ["/no/such/program"]}),
        pod("two", shell("exit 0"), shell("sleep 45; exit 1", name="late"))]}, "-n", namespace)

    def ended(name, container="main"):
        return cluster.wait(f"{name} ends", timeout=90, condition=lambda: status_of(cluster, namespace, name, container).get("state", {}).get("terminated"))
    for name, wanted, code, reason in (("ok-never", "Succeeded", 0, "Completed"), ("bad-never", "Failed", 7, "Error"),
                                       ("sig-never", "Failed", 143, "Error"), ("ok-onfailure", "Succeeded", 0, "Completed")):
        state = ended(name)
        assert (state["exitCode"], state["reason"]) == (code, reason), name
        assert phase(cluster, namespace, name) == wanted, name
        assert status_of(cluster, namespace, name)["restartCount"] == 0, name
    ended("two")
    assert phase(cluster, namespace, "two") == "Running", "one of two still runs"
    nocmd = ended("nocmd")
    assert nocmd["exitCode"] in (127, 128) and "/no/such/program" in nocmd["message"]
    cluster.wait("bad-onfailure restarts", lambda: status_of(cluster, namespace, "bad-onfailure").get("restartCount", 0) >= 1)
    assert phase(cluster, namespace, "bad-onfailure") == "Running"
    again = cluster.wait("ok-always restarts", lambda: (lambda s: s if s.get("restartCount", 0) >= 1 and s.get("lastState") else None)(
        status_of(cluster, namespace, "ok-always")))
    assert again["lastState"]["terminated"]["reason"] == "Completed"
    cluster.wait("crash loop", lambda: "CrashLoopBackOff" in cluster.kubectl("get", "pod", "bad-onfailure", "-n", namespace))
    table = {line.split()[0]: line.split()[2] for line in cluster.kubectl("get", "pods", "-n", namespace, "--no-headers").splitlines()}
    assert (table["ok-never"], table["bad-never"]) == ("Completed", "Error"), table
    ended("two", "late")
    assert phase(cluster, namespace, "two") == "Failed"


def test_logs_over_rotation_previous_tail_and_since(cluster, namespace):
    line = "x" * 98
    cluster.apply(pod("chat", shell(f"sleep 3; i=0; while [ $i -lt 60000 ]; do echo $i {line}; i=$((i+1)); [ $((i%2000)) -ne 0 ] || sleep 0.5; done")),
                  "-n", namespace)
    cluster.apply(pod("again", shell("echo run at $(date +%s%N); sleep 2; exit 1"), restartPolicy="Always"), "-n", namespace)
    cluster.apply(pod("long", shell("head -c 100000 /dev/zero | tr '\\0' y; echo; sleep 600")), "-n", namespace)
    cluster.apply(pod("waits", {"name": "main", "image": "no.such/image:1"}), "-n", namespace)
    cluster.kubectl("wait", "--for=condition=Ready", "pod/chat", "-n", namespace, "--timeout=60s")
    follow = Talk(cluster, "logs", "-f", "chat", "-n", namespace)
    try:
        cluster.wait("it talks", lambda: len(logs(cluster, namespace, "--tail=5", "chat").splitlines()) == 5)
        for _ in range(10):
            assert len(cluster.kubectl("logs", "--tail=5", "chat", "-n", namespace).splitlines()) == 5
        files = cluster.data / "node" / "pods" / cluster.get("pod", "chat", "-n", namespace)["metadata"]["uid"] / "logs" / "main"
        numbers = [int(one.split()[0]) for one in follow.end(timeout=200).splitlines()]
    finally:
        follow.stop()
    assert numbers == list(range(60000)), "consecutive over several rotations"
    assert len(list(files.iterdir())) == 3 and sum(f.stat().st_size for f in files.iterdir()) < 4 << 20
    tail = cluster.kubectl("logs", "--tail=5", "chat", "-n", namespace).splitlines()
    assert [int(one.split()[0]) for one in tail] == list(range(59995, 60000))
    stamps = [one.split()[0] for one in cluster.kubectl("logs", "--timestamps", "--tail=50", "chat", "-n", namespace).splitlines()]
    assert stamps == sorted(stamps) and all(re.fullmatch(r"[\d-]+T[\d:]+\.\d{9}Z", one) for one in stamps)
    assert len(cluster.kubectl("logs", "--limit-bytes=100", "chat", "-n", namespace)) == 100
    recent = [one.split()[0] for one in cluster.kubectl("logs", "--timestamps", "--since=2s", "chat", "-n", namespace).splitlines()]
    assert all(time.time() - seconds(one[:26] + "Z") < 20 for one in recent)  # not all of what took longer to say
    cluster.wait("it was restarted", lambda: status_of(cluster, namespace, "again").get("restartCount", 0) >= 1)
    assert cluster.kubectl("logs", "--previous", "again", "-n", namespace).startswith("run at ")
    cluster.wait("the long line", lambda: len(logs(cluster, namespace, "long")) == 100001)
    assert cluster.kubectl("logs", "long", "-n", namespace) == "y" * 100000 + "\n"
    # kubectl itself looks for the name first: ask as a program would.
    refused = cluster.kubectl_fails("get", "--raw", f"/api/v1/namespaces/{namespace}/pods/again/log?container=nosuch")
    assert "BadRequest" in refused and "nosuch is not valid for pod again, choose one of: [main]" in refused
    assert "waiting to start" in cluster.kubectl_fails("logs", "waits", "-n", namespace)


def test_references_in_env_command_and_args_are_expanded(cluster, namespace):
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "base"}, "data": {"HOST": "db", "DUP": "1"}}, "-n", namespace)
    env = [("PORT", "80"), ("URL", "http://$(HOST):$(PORT)"), ("EARLY", "$(LATE)"), ("LATE", "z"), ("ESC", "$$(PORT)"), ("UNK", "$(NOPE)"),
           ("SELF", "$(SELF)"), ("DUP", "2")]
    cluster.apply(pod("expand", {"name": "main", "image": "busybox:1.36", "envFrom": [{"configMapRef": {"name": "base"}}],
                                 "env": [{"name": n, "value": v} for n, v in env],
                                 "command": ["sh", "-c", "env | sort; echo \"$0 $1 $2\"; echo shell $PORT"],
                                 "args": ["$(PORT)", "$(NOPE)", "$$(PORT)"]}), "-n", namespace)
    cluster.wait("it ends", lambda: phase(cluster, namespace, "expand") == "Succeeded")
    lines = cluster.kubectl("logs", "expand", "-n", namespace).splitlines()
    for wanted in ("URL=http://db:80", "EARLY=$(LATE)", "LATE=z", "ESC=$(PORT)", "UNK=$(NOPE)", "SELF=$(SELF)", "DUP=2", "80 $(NOPE) $(PORT)",
                   "shell 80"):
        assert wanted in lines, wanted


def test_downward_values_and_labels_that_change(cluster, namespace):
    def resource(name, wanted, **extra):
        return {"name": name, "valueFrom": {"resourceFieldRef": {"resource": wanted, **extra}}}

    def field(name, path):
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    cluster.apply(pod("down", shell("env | sort; sleep 3600",
                      resources={"requests": {"cpu": "125m", "memory": "32Mi"}, "limits": {"cpu": "250m", "memory": "64Mi"}},
                      volumeMounts=[{"name": "info", "mountPath": "/info"}],
                      env=[resource("CPU_LIM", "limits.cpu"), resource("CPU_LIM_M", "limits.cpu", divisor="1m"), resource("MEM_LIM", "limits.memory"),
                           resource("MEM_LIM_MI", "limits.memory", divisor="1Mi"), resource("CPU_REQ_M", "requests.cpu", divisor="1m"),
                           resource("NOLIM_CPU", "limits.cpu", containerName="free"), field("POD", "metadata.name"),
                           field("NS", "metadata.namespace"), field("IP", "status.podIP"), field("NODE", "spec.nodeName"),
                           field("ANN", "metadata.annotations['example.com/note']")]), shell("sleep 3600", name="free"),
                      metadata={"labels": {"v": "1"}, "annotations": {"example.com/note": "hello"}},
                      volumes=[{"name": "info", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]),
                  "-n", namespace)
    cluster.kubectl("wait", "--for=condition=Ready", "pod/down", "-n", namespace, "--timeout=60s")
    told = cluster.get("pod", "down", "-n", namespace)
    lines = cluster.wait("the environment", lambda: (lambda l: l if "POD=down" in l else None)(
        cluster.kubectl("logs", "down", "-c", "main", "-n", namespace).splitlines()))
    for wanted in ("CPU_LIM=1", "CPU_LIM_M=250", "MEM_LIM=67108864", "MEM_LIM_MI=64", "CPU_REQ_M=125", "NOLIM_CPU=4", f"NS={namespace}",
                   f"IP={told['status']['podIP']}", f"NODE={told['spec']['nodeName']}", "ANN=hello"):
        assert wanted in lines, wanted
    labels = cluster.data / "node" / "pods" / told["metadata"]["uid"] / "volumes" / "info" / "labels"
    assert labels.read_text() == 'v="1"'
    cluster.kubectl("label", "pod", "down", "v=2", "--overwrite", "-n", namespace)
    cluster.wait("the file follows", lambda: labels.read_text() == 'v="2"', timeout=90)
    for name, source in (("milli", {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1m"}}),
                         ("path", {"fieldRef": {"fieldPath": "spec.nothing"}})):
        assert "Invalid" in cluster.kubectl_fails("apply", "-f", "-", "-n", namespace, stdin=json.dumps(
            pod(name, shell("true", env=[{"name": "X", "valueFrom": source}]))))


def test_empty_dirs_have_their_limit_and_live_as_long_as_the_pod(cluster, namespace):
    cluster.apply(pod("mem", shell("df -k /scratch | tail -1; dd if=/dev/zero of=/scratch/a bs=1M count=50 2>/dev/null && echo fits; "
                                   "dd if=/dev/zero of=/scratch/b bs=1M count=100 2>&1 | grep -o 'No space left'; sleep 3600",
                                   resources={"limits": {"memory": "256Mi"}}, volumeMounts=[{"name": "s", "mountPath": "/scratch"}]),
                      volumes=[{"name": "s", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}]), "-n", namespace)

    def keep():
        mounts = [{"name": "s", "mountPath": "/scratch"}]
        return pod("keep", shell("ls /scratch; [ -e /scratch/was-here ] || echo \"found: $(ls /scratch)\" >/scratch/was-here; "
                                 "while [ ! -e /scratch/end ]; do sleep 0.2; done; rm /scratch/end; exit 1",
                                 volumeMounts=mounts),
                   shell("until [ -s /scratch/was-here ]; do sleep 0.1; done; cat /scratch/was-here; touch /scratch/end; sleep 3600", name="peer", volumeMounts=mounts),
                   restartPolicy="Always", terminationGracePeriodSeconds=1, volumes=[{"name": "s", "emptyDir": {"sizeLimit": "10Mi"}}])
    cluster.apply(keep(), "-n", namespace)
    cluster.apply(pod("grows", shell("dd if=/dev/zero of=/scratch/big bs=1M count=20 2>/dev/null; sleep 3600",
                                     volumeMounts=[{"name": "s", "mountPath": "/scratch"}]), terminationGracePeriodSeconds=1,
                      volumes=[{"name": "s", "emptyDir": {"sizeLimit": "10Mi"}}]), "-n", namespace)
    cluster.apply(pod("eats", shell("dd if=/dev/zero of=/big bs=1M count=20 2>/dev/null; sleep 3600", resources={"limits": {"ephemeral-storage": "5Mi"}}),
                      terminationGracePeriodSeconds=1), "-n", namespace)
    text = cluster.wait("the third write", lambda: (lambda t: t if "No space" in t else None)(logs(cluster, namespace, "mem")))
    assert text.split()[1] == "65536" and "fits" in text
    cluster.wait("keep restarts", lambda: status_of(cluster, namespace, "keep").get("restartCount", 0) >= 1)
    cluster.wait("the file is still there", lambda: logs(cluster, namespace, "keep", "-c", "main") == "was-here\n")
    assert cluster.kubectl("logs", "keep", "-c", "peer", "-n", namespace) == "found: \n", "both see the same files"
    cluster.kubectl("delete", "pod", "keep", "-n", namespace, timeout=60)
    cluster.apply(keep(), "-n", namespace)
    cluster.wait("the new pod runs", lambda: status_of(cluster, namespace, "keep", "peer").get("ready"))
    assert cluster.wait("the new pod has looked", lambda: logs(cluster, namespace, "keep", "-c", "peer")) == "found: \n", "a new pod's is empty"
    evicted = cluster.wait("the pod that outgrew its volume is evicted", timeout=120, condition=lambda: (
        lambda p: p if p["status"]["phase"] == "Failed" and p["status"]["containerStatuses"][0]["state"]["terminated"] else None)(
        cluster.get("pod", "grows", "-n", namespace)))
    assert evicted["status"]["reason"] == "Evicted" and "10Mi" in evicted["status"]["message"]
    assert evicted["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] in (137, 143)
    eats = cluster.wait("so is the pod that fills the disk", timeout=120, condition=lambda: (
        lambda p: p if p["status"].get("phase") == "Failed" else None)(cluster.get("pod", "eats", "-n", namespace)))
    assert (eats["status"]["reason"], eats["status"]["message"]) == (
        "Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ")
    assert {c["type"]: c["status"] for c in evicted["status"]["conditions"]}["Ready"] == "False"
    # The column tells of the containers rather than of the pod, as in Kubernetes.
    assert cluster.kubectl("get", "pod", "grows", "-n", namespace, "--no-headers").split()[1:3] == ["0/1", "Error"]


def test_probes_count_for_one_run_and_wait_for_startup(cluster, namespace):
    def check(path, **extra):
        return {"exec": {"command": ["cat", path]}, **extra}
    cluster.apply(pod("unready", shell("sleep 3600", readinessProbe={"exec": {"command": ["false"]}, "periodSeconds": 2}),
                      restartPolicy="Always", terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.apply(pod("dies", shell("trap '' TERM; touch /tmp/ok; sleep 20; rm /tmp/ok; while true; do sleep 1; done",
                                    livenessProbe=check("/tmp/ok", periodSeconds=5, failureThreshold=3, terminationGracePeriodSeconds=2)),
                      restartPolicy="Always", terminationGracePeriodSeconds=60), "-n", namespace)
    cluster.apply(pod("slowstart", shell("sleep 30; touch /tmp/ok; sleep 3600", startupProbe=check("/tmp/ok", periodSeconds=2, failureThreshold=30),
                                         livenessProbe=check("/tmp/ok", periodSeconds=2, failureThreshold=1)),
                      restartPolicy="Always", terminationGracePeriodSeconds=1), "-n", namespace)
    cluster.apply(pod("hangs", shell("sleep 3600", readinessProbe={"exec": {"command": ["sleep", "54321"]}, "periodSeconds": 2, "timeoutSeconds": 1}),
                      terminationGracePeriodSeconds=1), "-n", namespace)
    slow = cluster.wait("slowstart is ready", timeout=100, condition=lambda: (
        lambda s: s if s.get("ready") else None)(status_of(cluster, namespace, "slowstart")))
    assert slow["restartCount"] == 0
    ready = next(c for c in cluster.get("pod", "slowstart", "-n", namespace)["status"]["conditions"] if c["type"] == "Ready")
    took = seconds(ready["lastTransitionTime"]) - seconds(slow["state"]["running"]["startedAt"])
    assert 29 <= took <= 45, took
    unready = cluster.get("pod", "unready", "-n", namespace)["status"]
    assert unready["phase"] == "Running" and unready["containerStatuses"][0]["restartCount"] == 0
    assert {c["type"]: c["status"] for c in unready["conditions"]}["ContainersReady"] == "False"

    def runs(count):
        return cluster.wait(f"dies has restarted {count} times", timeout=120, condition=lambda: (
            lambda s: s if s.get("restartCount", 0) == count and s.get("lastState") else None)(status_of(cluster, namespace, "dies")))

    def lived(status):
        last = status["lastState"]["terminated"]
        return seconds(last["finishedAt"]) - seconds(last["startedAt"])
    first = runs(1)
    # With the pod's own 60 s to end in, it would be over 90.
    assert 29 <= lived(first) <= 75 and first["lastState"]["terminated"]["exitCode"] == 137

    def told(name, reason):
        return [e for e in cluster.get("events", "-n", namespace)["items"] if e["involvedObject"]["name"] == name and e["reason"] == reason]
    cluster.wait("three failures and the end are told", lambda: sum(e.get("count", 1) for e in told("dies", "Unhealthy")) >= 3 and told("dies", "Killing"))
    assert lived(runs(2)) >= 30, "a new run starts at nought"
    cluster.wait("a probe that took too long is told", lambda: any("timed out" in e["message"] for e in told("hangs", "Unhealthy")))
    cluster.wait("processes of probes that took too long are gone", lambda: int(subprocess.run(
        ["pgrep", "-c", "-f", "^sleep 54321"], capture_output=True, text=True).stdout) <= 1)
