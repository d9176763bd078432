"""Objects of a size that nobody means: the server makes what it can bit by bit, stays there for everybody else, and gets
rid of it all again."""
import json
import time

import pytest

import vcjobs

MOST = 2147483647


def pods_in(cluster, namespace):
    """How many pods a namespace has, without reading them."""
    page = json.loads(cluster.kubectl("get", "--raw", f"/api/v1/namespaces/{namespace}/pods?limit=1"))
    return len(page["items"]) + page["metadata"].get("remainingItemCount", 0)


def pause(name="c", cpu="100m"):
    return {"name": name, "image": "busybox:1.36", "command": ["sleep", "3600"], "resources": {"requests": {"cpu": cpu}}}


def answers(cluster):
    """Seconds until a write and a read of somebody else are done."""
    begin = time.monotonic()
    cluster.kubectl("create", "configmap", "somebody-else", "-n", "default")
    cluster.kubectl("delete", "configmap", "somebody-else", "-n", "default")
    return time.monotonic() - begin


@pytest.mark.timeout(1800)
def test_a_job_of_twenty_thousand_tasks_comes_bit_by_bit_and_goes(simulated, namespace):
    wanted = 20_000
    job = vcjobs.job("huge", vcjobs.task("w", replicas=wanted), least=1)
    job["metadata"]["namespace"] = namespace
    simulated.apply(job)
    simulated.wait("its first pods run", lambda: any(
        p["status"].get("phase") == "Running" for p in simulated.get("pods", "-n", namespace, "--field-selector", "status.phase=Running")["items"]))
    slowest = 0.0
    deadline = time.monotonic() + 900
    while pods_in(simulated, namespace) < wanted:
        slowest = max(slowest, answers(simulated))
        assert time.monotonic() < deadline, f"{pods_in(simulated, namespace)} pods of {wanted}"
    print(f"while {wanted} pods were made, the slowest write and delete of somebody else took {slowest:.1f} s")
    assert slowest < 30

    # Another job is not behind all of them for ever: it is small, and its priority is higher.
    simulated.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "soon"}, "value": 1000})
    simulated.kubectl("delete", "vcjob", "huge", "-n", namespace, "--wait=false")
    simulated.apply(vcjobs.job("small", vcjobs.task("w", replicas=2), least=2, priorityClassName="soon"), "-n", namespace)
    vcjobs_phase = lambda: ((simulated.get("vcjob", "small", "-n", namespace) or {}).get("status", {}).get("state") or {}).get("phase")
    simulated.wait("the small job runs", lambda: vcjobs_phase() == "Running", timeout=180)
    simulated.wait("nothing of the large one is left", lambda: pods_in(simulated, namespace) == 2, timeout=600, interval=1)
    simulated.wait("but the small one's group", lambda: [
        group["metadata"]["name"].split("-")[0] for group in simulated.get("podgroups", "-n", namespace)["items"]] == ["small"])


def test_what_asks_for_two_thousand_million_pods_gets_its_quota(simulated, namespace):
    allowed = 40
    simulated.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": str(allowed)}}},
                    "-n", namespace)
    labels = {"app": "much"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [pause(cpu="10m")]}}
    once = {"spec": {"restartPolicy": "Never", "containers": [pause(cpu="10m")]}}
    apps = {"replicas": MOST, "selector": {"matchLabels": labels}, "template": template}
    group = {"groupName": "w", "replicas": MOST, "minReplicas": 0, "maxReplicas": MOST, "rayStartParams": {},
             "template": {"spec": {"containers": [pause("worker", "10m")]}}}
    head = {"rayStartParams": {}, "template": {"spec": {"containers": [pause("head", "10m")]}}}
    many = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "much"}, "spec": apps},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "much"},
         "spec": {**apps, "serviceName": "much", "podManagementPolicy": "Parallel"}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "much"},
         "spec": {"parallelism": MOST, "completions": MOST, "template": once}},
        {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "much"},
         "spec": {"headGroupSpec": head, "workerGroupSpecs": [group]}},
        vcjobs.job("much", vcjobs.task("w", replicas=MOST, cpu="10m"), least=1),
        vcjobs.job("hosts", vcjobs.task("w", replicas=MOST, cpu="10m"), least=1, plugins={"svc": [], "ssh": [], "env": []}),
        vcjobs.job("gang", vcjobs.task("w", replicas=MOST, cpu="10m"), least=MOST),
    ]
    for one in many:
        simulated.apply(one, "-n", namespace)
    simulated.wait("the quota is used up", lambda: pods_in(simulated, namespace) == allowed, timeout=120)
    assert answers(simulated) < 30
    simulated.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "modest"},
                     "spec": {**apps, "replicas": 2}}, "-n", "default")
    simulated.kubectl("rollout", "status", "deployment/modest", "-n", "default", "--timeout=60s", timeout=90)
    simulated.kubectl("delete", "deployment", "modest", "-n", "default")
    assert pods_in(simulated, namespace) == allowed
    simulated.wait("an event says why", lambda: any("exceeded quota" in event["message"] for event in simulated.get(
        "events", "-n", namespace, "--field-selector", "reason=FailedCreate")["items"]))
    assert simulated.process.poll() is None
