"""RayJobs from the field on real Ray: retries, clean-up after the end, heads that end."""
import importlib.util
import json
import pathlib
import time

import pytest

spec = importlib.util.spec_from_file_location("rayjobs", pathlib.Path(__file__).parent / "rayjobs.py")
rayjobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rayjobs)

pytestmark = pytest.mark.ray


def small(name, entrypoint="true", workers=1, **extra):
    """A RayJob without queue whose cluster asks for little."""
    job = rayjobs.sample(name, entrypoint=entrypoint, cpu="250m", workers=workers)[1]
    job["metadata"]["labels"].pop("volcano.sh/queue-name", None)
    for group in [job["spec"]["rayClusterSpec"]["headGroupSpec"], *job["spec"]["rayClusterSpec"]["workerGroupSpecs"]]:
        pod = group["template"]["spec"]
        pod.pop("volumes", None)
        for container in pod["containers"]:
            container.pop("volumeMounts", None)
            container["resources"]["limits"].pop("cpu", None)  # Ray's start would take minutes
    for field in ("shutdownAfterJobFinishes", "ttlSecondsAfterFinished"):
        job["spec"].pop(field, None)
    job["spec"].update(extra)
    return job


def status(cluster, namespace, name):
    return (cluster.get("rayjob", name, "-n", namespace) or {}).get("status", {})


def ended(cluster, namespace, name, timeout=200):
    return cluster.wait(f"rayjob {name} ends", timeout=timeout, condition=lambda: (
        lambda s: s if s.get("jobDeploymentStatus") in ("Complete", "Failed") else None)(status(cluster, namespace, name)))


def test_every_attempt_gets_a_fresh_cluster(cluster, namespace):
    """KR-02 with one retry less."""
    cluster.apply(small("retry", "false", backoffLimit=1, shutdownAfterJobFinishes=True, submitterConfig={"backoffLimit": 0}), "-n", namespace)
    seen, states, deadline = [], [], time.monotonic() + 240
    while True:
        now = status(cluster, namespace, "retry")
        attempt = (now.get("rayClusterName"), now.get("jobId"))
        if all(attempt) and attempt not in seen:
            seen.append(attempt)
        if now.get("jobDeploymentStatus") not in states:
            states.append(now.get("jobDeploymentStatus"))
        alive = [c for c in cluster.get("rayclusters", "-n", namespace)["items"] if not c["metadata"].get("deletionTimestamp")]
        assert len(alive) <= 1, alive
        if now.get("jobDeploymentStatus") == "Failed":
            break
        assert time.monotonic() < deadline, cluster.dump()
        time.sleep(0.2)
    assert len(seen) == 2 and len({c for c, _ in seen}) == 2 and len({j for _, j in seen}) == 2, seen
    assert (now["jobStatus"], now["reason"], now["failed"], now.get("succeeded", 0)) == ("FAILED", "AppFailed", 2, 0), now
    cluster.wait("the last cluster goes too", lambda: cluster.get("rayclusters", "-n", namespace)["items"] == [], timeout=60)
    assert cluster.get("rayjob", "retry", "-n", namespace) is not None


def test_submitter_retries_can_be_turned_off(cluster, namespace):
    """KR-04."""
    cluster.apply(small("once", "false", submitterConfig={"backoffLimit": 0}), "-n", namespace)
    assert ended(cluster, namespace, "once")["jobDeploymentStatus"] == "Failed"
    assert cluster.get("job", "once", "-n", namespace)["spec"]["backoffLimit"] == 0
    assert len(cluster.get("pods", "-n", namespace, "-l", "job-name=once")["items"]) == 1
    cluster.kubectl("delete", "rayjob", "once", "-n", namespace, timeout=120)
    cluster.apply(small("thrice", "true"), "-n", namespace)
    job = cluster.wait("its submitter", lambda: cluster.get("job", "thrice", "-n", namespace), timeout=120)
    assert job["spec"]["backoffLimit"] == 2 and job["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def test_clean_up_after_the_end_by_ttl_and_by_rules(cluster, namespace):
    """KR-10."""
    rules = [{"condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": ttl}, "policy": policy}
             for ttl, policy in ((10, "DeleteWorkers"), (20, "DeleteCluster"), (30, "DeleteSelf"))]
    cluster.apply(small("ttl", shutdownAfterJobFinishes=True, ttlSecondsAfterFinished=10), "-n", namespace)
    cluster.apply(small("staged", deletionStrategy={"deletionRules": rules}), "-n", namespace)
    assert ended(cluster, namespace, "ttl")["jobStatus"] == "SUCCEEDED"
    name = ended(cluster, namespace, "staged")["rayClusterName"]
    finish = time.monotonic()

    def workers():
        return cluster.get("pods", "-n", namespace, "-l", f"ray.io/cluster={name},ray.io/node-type=worker")["items"]

    assert workers()
    cluster.wait("the workers go", lambda: not workers(), timeout=30)
    assert 8 <= time.monotonic() - finish
    head = cluster.get("pods", "-n", namespace, "-l", f"ray.io/cluster={name},ray.io/node-type=head")["items"]
    assert [p["status"]["phase"] for p in head] == ["Running"]
    cluster.wait("the cluster goes", lambda: cluster.get("raycluster", name, "-n", namespace) is None, timeout=40)
    assert 18 <= time.monotonic() - finish
    assert cluster.get("rayjob", "staged", "-n", namespace) is not None
    cluster.wait("the job goes", lambda: cluster.get("rayjob", "staged", "-n", namespace) is None, timeout=40)
    assert 28 <= time.monotonic() - finish
    cluster.wait("and with it the submitter", lambda: cluster.get("job", "staged", "-n", namespace) is None, timeout=30)
    assert cluster.get("raycluster", status(cluster, namespace, "ttl")["rayClusterName"], "-n", namespace) is None
    assert cluster.kubectl("logs", "job/ttl", "-n", namespace)


def head_of(cluster, namespace, name):
    heads = [p for p in cluster.get("pods", "-n", namespace, "-l", f"ray.io/cluster={name},ray.io/node-type=head")["items"]
             if not p["metadata"].get("deletionTimestamp")]
    return heads[0] if len(heads) == 1 else None


def ready(pod):
    return pod and any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def ray_cluster(name, restart):
    job = small(name)
    cluster = {"headGroupSpec": job["spec"]["rayClusterSpec"]["headGroupSpec"]}
    cluster["headGroupSpec"]["template"]["spec"]["restartPolicy"] = restart
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": cluster}


def test_a_head_that_failed_is_replaced_and_one_that_restarts_is_kept(cluster, namespace):
    """KR-21, first half."""
    cluster.apply(ray_cluster("phoenix", "Never"), "-n", namespace)
    cluster.apply(ray_cluster("always", "Always"), "-n", namespace)
    first = {}
    for name in ("phoenix", "always"):
        first[name] = cluster.wait(f"{name} is ready", timeout=90, condition=lambda name=name: (
            lambda p: p if ready(p) else None)(head_of(cluster, namespace, name)))
        container = first[name]["spec"]["containers"][0]["name"]
        cluster.try_kubectl("exec", "-n", namespace, first[name]["metadata"]["name"], "-c", container, "--", "sh", "-c", "pkill -9 gcs_server; kill -9 1")
    again = cluster.wait("phoenix has a new head", timeout=120, condition=lambda: (
        lambda p: p if ready(p) and p["metadata"]["uid"] != first["phoenix"]["metadata"]["uid"] else None)(head_of(cluster, namespace, "phoenix")))
    assert again["metadata"]["uid"] != first["phoenix"]["metadata"]["uid"]
    kept = cluster.wait("always has restarted", timeout=120, condition=lambda: (
        lambda p: p if ready(p) and p["status"]["containerStatuses"][0]["restartCount"] >= 1 else None)(head_of(cluster, namespace, "always")))
    assert kept["metadata"]["uid"] == first["always"]["metadata"]["uid"]


def test_a_head_whose_init_step_fails_is_not_made_in_a_hot_loop(cluster, namespace):
    """KR-21, second half."""
    doomed = small("doomed", preRunningDeadlineSeconds=30, shutdownAfterJobFinishes=True)
    del doomed["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    pod = doomed["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    pod["restartPolicy"] = "Never"
    pod["initContainers"] = [{"name": "gate", "image": "busybox:1.36", "command": ["sh", "-c", "exit 42"]}]
    cluster.apply(json.dumps(doomed), "-n", namespace)
    seen, deadline = {}, time.monotonic() + 90
    while status(cluster, namespace, "doomed").get("jobDeploymentStatus") != "Failed":
        for one in cluster.get("pods", "-n", namespace)["items"]:
            seen.setdefault(one["metadata"]["uid"], time.monotonic())
        assert time.monotonic() < deadline, cluster.dump()
        time.sleep(0.2)
    assert status(cluster, namespace, "doomed")["reason"] == "PreRunningDeadlineExceeded"
    starts = sorted(seen.values())
    assert 2 <= len(starts) < 8, starts
    gaps = [b - a for a, b in zip(starts, starts[1:])]
    assert all(later > earlier for earlier, later in zip(gaps, gaps[1:])), gaps
    time.sleep(10)
    assert {p["metadata"]["uid"] for p in cluster.get("pods", "-n", namespace)["items"]} <= set(seen)
