"""RayJobs on real Ray: the issue's main path, as a user sees it with kubectl."""
import importlib.util
import pathlib

import pytest

from harness import NodeTraces

spec = importlib.util.spec_from_file_location("rayjobs", pathlib.Path(__file__).parent / "rayjobs.py")
rayjobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rayjobs)

pytestmark = [pytest.mark.ray, pytest.mark.timeout(900)]


@pytest.fixture(scope="module", autouse=True)
def ray_queue(cluster):
    cluster.apply(rayjobs.queue("ray-batch"))


def status(cluster, namespace, name):
    return (cluster.get("rayjob", name, "-n", namespace) or {}).get("status", {})


def ended(cluster, namespace, name, timeout=300):
    return cluster.wait(f"rayjob {name} ends", timeout=timeout, condition=lambda: (
        lambda s: s if s.get("jobDeploymentStatus") in ("Complete", "Failed") else None)(status(cluster, namespace, name)))


def pod_group_of(cluster, namespace, name):
    groups = cluster.get("podgroups", "-n", namespace)["items"]
    mine = [g for g in groups if g["metadata"]["name"] == f"ray-{name}-pg"]
    return mine[0] if mine else None


def unschedulable_message(group):
    for condition in (group or {}).get("status", {}).get("conditions", []):
        if condition["type"] == "Unschedulable" and condition["status"] == "True":
            return condition["message"]
    return ""


def test_a_rayjob_runs_on_both_workers_and_succeeds(cluster, namespace):
    cluster.apply(rayjobs.as_list(rayjobs.sample("good")), "-n", namespace)
    final = ended(cluster, namespace, "good")
    assert final["jobStatus"] == "SUCCEEDED" and final["jobDeploymentStatus"] == "Complete", cluster.dump()
    output = cluster.kubectl("logs", "-n", namespace, "-l", "job-name=good", "--tail=-1")
    assert "primes below 40000: 4203" in output
    assert "hosts used:" in output

    ray_cluster = cluster.get("rayclusters", "-n", namespace)["items"][0]
    assert ray_cluster["metadata"]["name"] == final["rayClusterName"]
    assert ray_cluster["metadata"]["labels"]["ray.io/originated-from-cr-name"] == "good"
    assert ray_cluster["status"]["state"] == "ready"
    group = pod_group_of(cluster, namespace, "good")
    # After the end the adapter cleans up: either nothing is left or the group no longer counts the submitter.
    if group:
        assert group["spec"]["queue"] == "ray-batch"
    job = cluster.get("job", "good", "-n", namespace)
    assert {c["type"] for c in job["status"]["conditions"]} >= {"Complete"}
    pods = cluster.get("pods", "-n", namespace)["items"]
    types = sorted(p["metadata"]["labels"].get("ray.io/node-type", "submitter") for p in pods)
    assert types == ["head", "submitter", "worker", "worker"]
    table = cluster.kubectl("get", "rayjob", "good", "-n", namespace)
    assert table.split("\n")[0].split() == ["NAME", "JOB", "STATUS", "DEPLOYMENT", "STATUS", "RAY", "CLUSTER", "NAME", "START",
                                            "TIME", "END", "TIME", "AGE"]
    assert "SUCCEEDED" in table and "Complete" in table


def test_a_program_that_exits_1_fails_with_appfailed_and_its_log(cluster, namespace):
    cluster.apply(rayjobs.as_list(rayjobs.sample("bad", program="print('about to fail')\nraise SystemExit(1)\n")), "-n", namespace)
    final = ended(cluster, namespace, "bad")
    assert final["jobStatus"] == "FAILED" and final["jobDeploymentStatus"] == "Failed", final
    assert final["reason"] == "AppFailed", final
    assert "about to fail" in cluster.kubectl("logs", "-n", namespace, "-l", "job-name=bad", "--tail=-1")


def test_a_job_larger_than_the_node_waits_as_a_whole_and_says_what_is_missing(cluster, namespace):
    cluster.apply(rayjobs.as_list(rayjobs.sample("huge", cpu="40")), "-n", namespace)
    group = cluster.wait("the pod group says why it waits", lambda: (
        lambda g: g if unschedulable_message(g) else None)(pod_group_of(cluster, namespace, "huge")))
    assert group["spec"]["minMember"] == 3
    described = cluster.kubectl("describe", "podgroup", "ray-huge-pg", "-n", namespace)
    assert "cpu" in described and "120" in described, described
    bound = [p["metadata"]["name"] for p in cluster.get("pods", "-n", namespace)["items"] if p["spec"].get("nodeName")]
    assert bound == []
    assert status(cluster, namespace, "huge")["jobDeploymentStatus"] == "Initializing"


def test_a_waiting_job_runs_when_another_one_ends(cluster, namespace):
    cpus = int(cluster.get("nodes")["items"][0]["status"]["allocatable"]["cpu"])
    each = f"{cpus * 1000 // 4}m"
    # Two jobs of 3 members with a quarter of the node each: only one of them fits.
    cluster.apply(rayjobs.as_list(rayjobs.sample("first", cpu=each)), "-n", namespace)
    cluster.wait("the first runs", lambda: status(cluster, namespace, "first").get("jobDeploymentStatus") == "Running", timeout=240)
    cluster.apply(rayjobs.as_list(rayjobs.sample("second", cpu=each)), "-n", namespace)
    cluster.wait("the second waits with a reason", lambda: unschedulable_message(pod_group_of(cluster, namespace, "second")))
    assert ended(cluster, namespace, "first")["jobStatus"] == "SUCCEEDED"
    second = [p for p in cluster.get("pods", "-n", namespace)["items"] if p["metadata"]["labels"].get("ray.io/cluster", "").startswith("second")]
    assert not any(p["spec"].get("nodeName") for p in second), "nothing of the second may start while the first is there"
    cluster.kubectl("delete", "rayjob", "first", "-n", namespace, timeout=120)
    assert ended(cluster, namespace, "second")["jobStatus"] == "SUCCEEDED"


def test_delete_leaves_nothing_behind(cluster, namespace):
    before = NodeTraces.of(cluster)
    cluster.apply(rayjobs.as_list(rayjobs.sample("gone", program="import ray, time\nray.init()\ntime.sleep(600)\n")), "-n", namespace)
    cluster.wait("it runs", lambda: status(cluster, namespace, "gone").get("jobStatus") == "RUNNING", timeout=240)
    cluster.kubectl("delete", "rayjob", "gone", "-n", namespace, timeout=120)
    for kind in ("rayjobs", "rayclusters", "podgroups", "jobs", "pods"):
        cluster.wait(f"no {kind} left", lambda kind=kind: cluster.get(kind, "-n", namespace)["items"] == [], timeout=90)
    cluster.wait("no process, mount, network namespace or cgroup left",
                 lambda: not NodeTraces.since(cluster, before))
