"""What people have reported of RayJobs: retries, submitters, clean-up, heads that end. With a stub for Ray: a head that
runs its entrypoint as a shell command. All of them run at once, each test then looks at its own."""
import datetime
import json
import os
import pathlib
import signal
import time

import pytest

import harness
from watching import Watch

STUB = pathlib.Path(__file__).parent.parent / "raystub"


def template(name, **spec):
    return {"spec": {"containers": [{"name": name, "image": "ray-stub:test",
                                     "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}}}], **spec}}


def cluster_spec(workers=1, **head):
    group = {"groupName": "wg", "replicas": 1, "minReplicas": 1, "maxReplicas": 2, "rayStartParams": {}, "template": template("ray-worker")}
    return {"headGroupSpec": {"rayStartParams": {}, "template": template("ray-head", **head)}, **({"workerGroupSpecs": [group]} if workers else {})}


def ray_job(name, entrypoint, ray_cluster=None, **spec):
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name},
            "spec": {"entrypoint": entrypoint, "rayClusterSpec": ray_cluster or cluster_spec(), **spec}}


def ray_cluster(name, policy):
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": cluster_spec(workers=0, restartPolicy=policy)}


GATE = {"name": "gate", "image": "busybox:1.36", "command": ["sh", "-c", "exit 42"]}
RULES = {"deletionRules": [{"condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": seconds}, "policy": policy}
                           for seconds, policy in ((10, "DeleteWorkers"), (20, "DeleteCluster"), (30, "DeleteSelf"))]}

MANIFESTS = {
    "kr02": [ray_job("retry3", "false", backoffLimit=2, shutdownAfterJobFinishes=True)],
    "kr04": [ray_job("once", "false", submitterConfig={"backoffLimit": 0})],
    "kr04-usual": [ray_job("once", "false")],
    "kr08": [ray_job("good", "true", shutdownAfterJobFinishes=True)],
    "kr10": [ray_job("ttl20", "echo the last words", shutdownAfterJobFinishes=True, ttlSecondsAfterFinished=20),
             ray_job("staged", "true", deletionStrategy=RULES)],
    "kr21": [ray_cluster("phoenix", "Never"), ray_cluster("always", "Always"),
             ray_job("doomed", "true", cluster_spec(workers=0, restartPolicy="Never", initContainers=[GATE]),
                     preRunningDeadlineSeconds=60, shutdownAfterJobFinishes=True)],
}
WATCHED = [("kr02", "rayjobs"), ("kr02", "rayclusters"), ("kr04", "pods"), ("kr10", "pods"), ("kr10", "rayclusters"), ("kr10", "rayjobs"),
           ("kr21", "pods")]


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    """A node with room for all at once; its clusters go one by one at the end, so that their deletion is seen too."""
    made = harness.Cluster(tmp_path_factory.mktemp("krater"), "--stop-pods", "--cpu", "32", "--memory", "64Gi",
                           images={"ray-stub*": str(STUB)}).start()
    made.watches = {}
    try:
        made.wait_nodes(1)
        for name in MANIFESTS:
            made.kubectl("create", "namespace", name)
        for name, kind in WATCHED:
            made.watches[name, kind] = Watch(made, kind, name)
        for name, objects in MANIFESTS.items():
            made.apply({"apiVersion": "v1", "kind": "List", "items": objects}, "-n", name)
        yield made
    finally:
        for watch in made.watches.values():
            watch.stop()
        made.stop()


def status(cluster, namespace, name, kind="rayjob"):
    return (cluster.get(kind, name, "-n", namespace) or {}).get("status", {})


def ended(cluster, namespace, name, timeout=150):
    return cluster.wait(f"{name} ends", timeout=timeout, condition=lambda: (
        lambda s: s if s.get("jobDeploymentStatus") in ("Complete", "Failed") else None)(status(cluster, namespace, name)))


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def heads(cluster, namespace, name):
    return [p for p in cluster.get("pods", "-n", namespace, "-l", "ray.io/node-type=head")["items"]
            if p["metadata"]["labels"]["ray.io/cluster"].startswith(name)]


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


def ready_head(cluster, name, but=None):
    return cluster.wait(f"{name} has a ready head", timeout=120, condition=lambda: next(
        (p for p in heads(cluster, "kr21", name) if is_ready(p) and p["metadata"]["uid"] != but), None))


def test_a_head_that_was_evicted_is_replaced(stub):
    """KR-21, phoenix."""
    old = ready_head(stub, "phoenix")["metadata"]
    stub.kubectl("patch", "pod", old["name"], "-n", "kr21", "--subresource=status", "--type=merge", "-p",
                 json.dumps({"status": {"phase": "Failed", "reason": "Evicted", "message": "the node was low on something"}}))
    new = ready_head(stub, "phoenix", but=old["uid"])["metadata"]
    stub.wait("one head is left", lambda: [p["metadata"]["uid"] for p in heads(stub, "kr21", "phoenix")] == [new["uid"]], timeout=60)

    def seen():
        return [(kind, o) for _, kind, o in stub.watches["kr21", "pods"].seen() if o["metadata"]["uid"] == old["uid"]]
    stub.wait("the watch has seen the old one go", lambda: seen()[-1][0] == "DELETED")
    told = [o for _, o in seen()]
    assert all(o["status"]["phase"] == "Failed" for o in told[-2:]), "what is final stays"


def test_a_head_whose_process_ends_is_restarted_in_place(stub):
    """KR-21, always."""
    head = ready_head(stub, "always")["metadata"]
    groups = [p for p in harness.control_groups(f"**/pod{head['uid']}/ray-head/cgroup.procs") if p.read_text()]
    os.kill(min(int(pid) for pid in groups[0].read_text().split()), signal.SIGKILL)
    stub.wait("the container is restarted", timeout=60, condition=lambda: (
        stub.get("pod", head["name"], "-n", "kr21")["status"]["containerStatuses"][0]["restartCount"] == 1))
    assert ready_head(stub, "always")["metadata"]["uid"] == head["uid"]
    assert [p["metadata"]["uid"] for p in heads(stub, "kr21", "always")] == [head["uid"]]


def test_a_head_that_can_never_start_is_not_made_over_and_over(stub):
    """KR-21, doomed."""
    final = ended(stub, "kr21", "doomed")
    assert (final["jobDeploymentStatus"], final["reason"]) == ("Failed", "PreRunningDeadlineExceeded"), final

    def made():
        return [(at, o) for at, kind, o in stub.watches["kr21", "pods"].seen()
                if kind == "ADDED" and o["metadata"]["labels"].get("ray.io/cluster", "").startswith("doomed")]
    before = made()
    assert 1 < len(before) < 8, len(before)
    gaps = [b[0] - a[0] for a, b in zip(before, before[1:])]
    assert gaps[-1] > gaps[0] and gaps[-1] > 5, gaps
    over = time.monotonic() + 10
    while time.monotonic() < over:
        assert len(made()) == len(before), "no head is made after the end"
        time.sleep(1)


def test_what_is_not_contradictory_runs(stub):
    """KR-08, the good one."""
    final = ended(stub, "kr08", "good")
    assert (final["jobDeploymentStatus"], final["jobStatus"]) == ("Complete", "SUCCEEDED"), final


def test_the_retries_of_a_submitter_can_be_turned_off(stub):
    """KR-04."""
    for namespace, limit in (("kr04", 0), ("kr04-usual", 2)):
        final = ended(stub, namespace, "once")
        assert (final["jobDeploymentStatus"], final["jobStatus"]) == ("Failed", "FAILED"), final
        job = stub.get("job", "once", "-n", namespace)
        assert job["spec"]["backoffLimit"] == limit
        assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    submitters = stub.wait("the watch has seen the submitter", lambda: {
        o["metadata"]["uid"] for _, _, o in stub.watches["kr04", "pods"].seen() if o["metadata"]["labels"].get("job-name") == "once"})
    assert len(submitters) == 1


def test_a_finished_job_is_cleared_away_in_stages(stub):
    """KR-10."""
    over = {name: moment(stub.wait(f"{name} is over", timeout=150, condition=lambda name=name: next(
        (o["status"]["endTime"] for _, _, o in stub.watches["kr10", "rayjobs"].seen()
         if o["metadata"]["name"] == name and o.get("status", {}).get("jobDeploymentStatus") == "Complete"), None)))
        for name in ("ttl20", "staged")}

    def gone(kind, name, label=None):
        """When the first object of this RayJob began to go: the time, and the revision, which orders what different watches tell."""
        return stub.wait(f"{kind} of {name} {label or ''} go", timeout=90, condition=lambda: next((
            (at - over[name], int(o["metadata"]["resourceVersion"])) for at, event, o in stub.watches["kr10", kind].seen()
            if (event == "DELETED" or o["metadata"].get("deletionTimestamp")) and o["metadata"]["name"].startswith(name)
            and (label is None or o["metadata"]["labels"].get("ray.io/node-type") == label)), None))

    # None comes before its time, and each before the next one is due, with ten seconds to spare on a slow machine.
    job, workers, ray = gone("rayjobs", "staged"), gone("pods", "staged", "worker"), gone("rayclusters", "staged")
    assert 9 <= workers[0] <= 29 and 19 <= ray[0] <= 39 and 29 <= job[0] <= 49, (workers, ray, job)
    assert workers[1] < ray[1] < job[1], (workers, ray, job)
    assert gone("pods", "staged", "head")[1] > ray[1], "the head stays until the cluster goes"
    stub.wait("its submitter goes with it", lambda: stub.get("job", "staged", "-n", "kr10") is None)
    ray = gone("rayclusters", "ttl20")
    assert 19 <= ray[0] <= 40, ray
    assert stub.get("rayjob", "ttl20", "-n", "kr10") is not None
    assert "the last words" in stub.kubectl("logs", "job/ttl20", "-n", "kr10")


def test_each_retry_has_a_cluster_of_its_own(stub):
    """KR-02."""
    stub.wait("retry3 is over", timeout=240, condition=lambda: status(stub, "kr02", "retry3").get("jobDeploymentStatus") == "Failed")
    stub.wait("the last cluster goes", lambda: stub.get("rayclusters", "-n", "kr02")["items"] == [], timeout=60)
    final = status(stub, "kr02", "retry3")
    assert (final["jobStatus"], final["reason"], final["failed"], final.get("succeeded", 0)) == ("FAILED", "AppFailed", 3, 0), final
    def seen():
        return [o.get("status", {}) for _, _, o in stub.watches["kr02", "rayjobs"].seen()]
    stub.wait("the watches have seen the end", lambda: seen()[-1].get("jobDeploymentStatus") == "Failed" and [
        event for _, event, _ in stub.watches["kr02", "rayclusters"].seen()].count("DELETED") == 3)
    seen = seen()
    assert len({s["rayClusterName"] for s in seen if s.get("rayClusterName")}) == 3
    assert len({s["jobId"] for s in seen if s.get("jobId")}) == 3
    assert any(s.get("jobDeploymentStatus") == "Retrying" for s in seen)
    there = set()
    for _, event, o in stub.watches["kr02", "rayclusters"].seen():
        if event == "DELETED":
            there.discard(o["metadata"]["uid"])
        else:
            there.add(o["metadata"]["uid"])
        assert len(there) <= 1, "the old one is gone before the next is made"


def test_a_namespace_with_clusters_goes_without_a_storm(stub):
    """Controllers do not insist on what a namespace that ends takes no more."""
    stub.wait("doomed is over", timeout=150, condition=lambda: status(stub, "kr21", "doomed").get("jobDeploymentStatus") == "Failed")
    before = len(stub.log.read_text(errors="replace").splitlines())
    stub.kubectl("delete", "namespace", "kr21", "--timeout=90s", timeout=120)
    lines = stub.log.read_text(errors="replace").splitlines()[before:]
    assert not [line for line in lines if "controller.write_failed" in line and "being terminated" in line]
    assert len([line for line in lines if " W " in line and "kr21" in line]) < 5, lines


def test_rules_that_are_overdue_together_take_the_farthest_reaching(stub):
    """KR-10's variation: the server is away while two rules come due. Last: it restarts the cluster of all."""
    stub.kubectl("create", "namespace", "kr10-late")
    stub.apply(ray_job("staged", "true", deletionStrategy=RULES), "-n", "kr10-late")
    over = moment(ended(stub, "kr10-late", "staged")["endTime"])
    pods = "/api/v1/namespaces/kr10-late/pods"
    before = json.loads(stub.kubectl("get", "--raw", pods))["metadata"]["resourceVersion"]
    stub.kill()
    time.sleep(max(0.0, over + 24 - time.time()))
    stub.start()
    stub.wait("the cluster goes", lambda: stub.get("rayclusters", "-n", "kr10-late")["items"] == [])
    stub.wait("the job goes", lambda: stub.get("rayjob", "staged", "-n", "kr10-late") is None)
    assert time.time() - over >= 29
    told = stub.kubectl("get", "--raw", f"{pods}?watch=true&resourceVersion={before}&timeoutSeconds=5")
    going = [o["metadata"]["labels"].get("ray.io/node-type") for o in (json.loads(line)["object"] for line in told.splitlines())
             if o["metadata"].get("deletionTimestamp")]
    assert "head" in going, "the cluster went as a whole"
    failures = [line for line in stub.log.read_text(errors="replace").splitlines() if "controller.write_failed" in line and "kr10-late" in line]
    assert len(failures) < 3, failures
