"""batch/v1 Jobs on the process runtime: retries, clean-up, indexes."""
import datetime
import json
import time


def job(name, script, restart="Never", metadata=None, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, **(metadata or {})},
            "spec": {"template": {"spec": {"restartPolicy": restart, "containers": [
                {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script]}]}}, **spec}}


def pods_of(cluster, namespace, name):
    return cluster.get("pods", "-n", namespace, "-l", f"job-name={name}")["items"]


def condition(cluster, namespace, name, kind):
    made = cluster.get("job", name, "-n", namespace) or {}
    return next((c for c in made.get("status", {}).get("conditions", []) if c["type"] == kind and c["status"] == "True"), None)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_backoff_limit_with_never_and_with_on_failure(cluster, namespace):
    """JB-01."""
    cluster.apply(job("never2", "exit 1", backoffLimit=2), "-n", namespace)
    cluster.apply(job("onfail2", "exit 1", restart="OnFailure", backoffLimit=2), "-n", namespace)
    failed = cluster.wait("never2 fails", lambda: condition(cluster, namespace, "never2", "Failed"), timeout=120)
    assert failed["reason"] == "BackoffLimitExceeded"
    failed = cluster.wait("onfail2 fails", lambda: condition(cluster, namespace, "onfail2", "Failed"), timeout=120)
    assert failed["reason"] == "BackoffLimitExceeded"
    pods = pods_of(cluster, namespace, "never2")
    assert [p["status"]["phase"] for p in pods] == ["Failed"] * 3
    starts = sorted(moment(p["metadata"]["creationTimestamp"]) for p in pods)
    gaps = [(b - a).total_seconds() for a, b in zip(starts, starts[1:])]
    assert gaps[0] >= 9 and gaps[1] >= 19, gaps
    for name in ("never2", "onfail2"):
        status = cluster.get("job", name, "-n", namespace)["status"]
        assert status.get("active", 0) == 0 and "completionTime" not in status
    assert cluster.get("job", "never2", "-n", namespace)["status"]["failed"] == 3
    cluster.wait("the pod of onfail2 is removed", lambda: pods_of(cluster, namespace, "onfail2") == [], timeout=60)


def test_ttl_seconds_after_finished(cluster, namespace):
    """JB-04; the long wait is 40 s here instead of 60 s."""
    cluster.apply(job("t0", "true", ttlSecondsAfterFinished=0), "-n", namespace)
    cluster.apply(job("f5", "exit 1", ttlSecondsAfterFinished=5, backoffLimit=0), "-n", namespace)
    cluster.apply(job("fin", "true", ttlSecondsAfterFinished=5, metadata={"finalizers": ["example.com/hold"]}), "-n", namespace)
    cluster.apply(job("stays", "true"), "-n", namespace)
    cluster.apply(job("t25", "true", ttlSecondsAfterFinished=25), "-n", namespace)
    cluster.wait("t25 is complete", lambda: condition(cluster, namespace, "t25", "Complete"), timeout=60)
    ended = moment(cluster.get("job", "t25", "-n", namespace)["status"]["completionTime"])
    cluster.kubectl("patch", "job", "t25", "-n", namespace, "--type=merge", "-p", '{"spec":{"ttlSecondsAfterFinished":40}}')
    cluster.wait("t0 is gone with its pod", lambda: cluster.get("job", "t0", "-n", namespace) is None
                 and pods_of(cluster, namespace, "t0") == [], timeout=60)
    cluster.wait("f5 is gone", lambda: cluster.get("job", "f5", "-n", namespace) is None, timeout=60)
    cluster.wait("fin is being deleted", timeout=60, condition=lambda: cluster.get("job", "fin", "-n", namespace)["metadata"].get("deletionTimestamp"))
    cluster.wait("t25 is gone", lambda: cluster.get("job", "t25", "-n", namespace) is None, timeout=90)
    gone_after = (datetime.datetime.now(datetime.timezone.utc) - ended).total_seconds()
    assert gone_after >= 40, gone_after
    assert cluster.get("job", "fin", "-n", namespace) is not None
    cluster.kubectl("patch", "job", "fin", "-n", namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    cluster.wait("fin is gone", lambda: cluster.get("job", "fin", "-n", namespace) is None, timeout=60)
    assert condition(cluster, namespace, "stays", "Complete")


def test_indexed_completions(cluster, namespace):
    """JB-05."""
    cluster.apply(job("all", "sleep 4", completions=5, parallelism=2, completionMode="Indexed"), "-n", namespace)

    def of_index(index):
        return [p for p in pods_of(cluster, namespace, "all") if p["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == str(index)]

    one = cluster.wait("index 1 runs", timeout=60, condition=lambda: [p for p in of_index(1) if p["status"].get("phase") == "Running"])[0]
    assert one["metadata"]["name"].startswith("all-1-") and one["spec"]["hostname"] == "all-1"
    cluster.kubectl("delete", "pod", one["metadata"]["name"], "-n", namespace, "--wait=false")
    zero = cluster.wait("index 0 has succeeded", timeout=60, condition=lambda: [p for p in of_index(0) if p["status"].get("phase") == "Succeeded"])[0]
    cluster.wait("and is counted", timeout=60, condition=lambda: "0" in
                 cluster.get("job", "all", "-n", namespace)["status"].get("completedIndexes", ""))
    cluster.kubectl("delete", "pod", zero["metadata"]["name"], "-n", namespace, "--force", "--grace-period=0")
    deadline = time.monotonic() + 120
    while not condition(cluster, namespace, "all", "Complete"):
        assert time.monotonic() < deadline, cluster.dump()
        assert of_index(0) == [], "index 0 is not run again"
        assert len([p for p in of_index(1) if not p["metadata"].get("deletionTimestamp")]) <= 1
        time.sleep(0.3)
    status = cluster.get("job", "all", "-n", namespace)["status"]
    assert (status["completedIndexes"], status["succeeded"]) == ("0-4", 5)

    cluster.apply(job("some", "test $JOB_COMPLETION_INDEX != 2", completions=5, parallelism=5, completionMode="Indexed",
                      backoffLimitPerIndex=1), "-n", namespace)
    failed = cluster.wait("some fails", lambda: condition(cluster, namespace, "some", "Failed"), timeout=120)
    assert failed["reason"] == "FailedIndexes"
    status = cluster.get("job", "some", "-n", namespace)["status"]
    assert (status["failedIndexes"], status["completedIndexes"]) == ("2", "0,1,3,4")
    tries = [p for p in pods_of(cluster, namespace, "some") if p["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "2"]
    assert len(tries) == 2

    cluster.apply(job("nothing", "true", completions=0), "-n", namespace)
    cluster.wait("completions 0 is complete", lambda: condition(cluster, namespace, "nothing", "Complete"), timeout=60)
    cluster.apply(job("paused", "true", parallelism=0), "-n", namespace)
    time.sleep(2)
    assert pods_of(cluster, namespace, "paused") == []
    cluster.kubectl("patch", "job", "paused", "-n", namespace, "--type=merge", "-p", json.dumps({"spec": {"parallelism": 1}}))
    cluster.wait("it goes on when raised", lambda: condition(cluster, namespace, "paused", "Complete"), timeout=60)
