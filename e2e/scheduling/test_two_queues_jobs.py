"""The two queues of test_two_queues.py with Volcano Jobs, as their users submit them: kubectl apply; on a simulated node,
and on one whose pods are real processes that are told to go and start again."""
import json

import pytest

import gangs
import harness
import vcjobs
from two_queues import CONFIG, allocated, counts, two_queues

# Says when it begins and when it is told to end.
LIFE = "trap 'echo ended >> /life/$POD; exit 143' TERM; echo began >> /life/$POD; sleep 3600 & wait"


class Machine:
    """One node of 8 CPU; `lives`: where its pods, if they are real, tell of themselves."""

    def __init__(self, cluster, lives=None):
        self.cluster, self.lives = cluster, lives

    def job(self, name, queue, pods, cpu, least=None, priority=None):
        task = vcjobs.task("w", replicas=pods, cpu=cpu, minAvailable=least or pods)
        if self.lives:
            spec = task["template"]["spec"]
            spec["volumes"] = [{"name": "life", "hostPath": {"path": str(self.lives), "type": "Directory"}}]
            spec["containers"][0].update(command=["sh", "-c", LIFE], volumeMounts=[{"name": "life", "mountPath": "/life"}], env=[
                {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
        return vcjobs.job(name, task, least=least or pods, queue=queue, **({"priorityClassName": priority} if priority else {}))

    def life(self, pod):
        """What a real pod, and those before it of the same name, have told."""
        told = self.lives / pod
        return told.read_text().split() if told.exists() else []

    def lived(self, pods, *words):
        if self.lives:
            self.cluster.wait(f"{pods} lived {words}", lambda: all(self.life(pod) == list(words) for pod in pods))


@pytest.fixture(params=["simulated", "process"])
def machine(request, tmp_path):
    if request.param == "simulated":
        with gangs.nodes(tmp_path, 1, 8) as cluster:
            yield Machine(cluster)
        return
    lives = tmp_path / "lives"
    lives.mkdir()
    cluster = harness.Cluster(tmp_path, "--stop-pods", "--cpu", "8", "--memory", "64Gi")
    cluster.start()
    try:
        cluster.wait_nodes(1)
        yield Machine(cluster, lives)
    finally:
        cluster.stop()


def running(cluster, name):
    return sorted(pod for pod, phase in vcjobs.pods(cluster, name).items() if phase == "Running")


def group_phase(cluster, name):
    return vcjobs.group(cluster, name).get("status", {}).get("phase")


def told_of(cluster, name, reason):
    """Messages of events with this reason about an object whose name begins so."""
    return [e["message"] for e in cluster.get("events")["items"] if e["reason"] == reason and e["involvedObject"]["name"].startswith(name)]


def says(cluster, name, *parts):
    def look():
        conditions = vcjobs.group(cluster, name).get("status", {}).get("conditions", [])
        text = next((c["message"] for c in conditions if c["type"] == "Unschedulable" and c["status"] == "True"), "")
        return text if text and all(part in text for part in parts) else None
    return cluster.wait(f"{name} says {parts}", look, timeout=gangs.SOON)


def test_a_job_waits_for_what_is_guaranteed_to_others_and_borrows_what_may_be_lent(machine):
    cluster = machine.cluster
    gangs.configure(cluster, CONFIG)
    error = cluster.kubectl_fails("apply", "-f", "-", stdin=json.dumps(
        gangs.queue("production", deserved={"cpu": "2"}, guarantee={"resource": {"cpu": "3"}})))
    assert "deserved[cpu]=2 must be >= guarantee[cpu]=3" in error, error
    two_queues(cluster, "3")
    cluster.wait("the queues are open", lambda: all(cluster.get("queue", q)["status"].get("state") == "Open" for q in ("research", "production")))
    gangs.apply(cluster, machine.job("job-a1", "research", 3, "2"))
    vcjobs.wait_phase(cluster, "job-a1", "Pending")
    says(cluster, "job-a1", "requested 6", "limit 5", 'cpu 3 is guaranteed to queue "production"',
         'It would start with cpu 1 more in queue "research"', "or with minAvailable 2")
    cluster.wait("its events say so", lambda: any("insufficient cpu" in text for text in told_of(cluster, "job-a1-", "Unschedulable")))
    cluster.wait("the queue counts it", lambda: counts(cluster, "research") == {"pending": 1})
    # Nobody makes pods for a job that is not admitted.
    gangs.stays(cluster, "no pod is made", lambda: vcjobs.pods(cluster, "job-a1") == {}, seconds=2)
    cluster.kubectl("delete", "vcjob", "job-a1")
    gangs.apply(cluster, machine.job("job-a1", "research", 3, "2", least=2))
    cluster.wait("two of three run", lambda: len(running(cluster, "job-a1")) == 2, timeout=30)
    vcjobs.wait_phase(cluster, "job-a1", "Running")
    gangs.stays(cluster, "no more than may be lent", lambda: len(running(cluster, "job-a1")) == 2, seconds=2)
    machine.lived(running(cluster, "job-a1"), "began")


def test_jobs_that_lend_and_take_back(machine):
    cluster = machine.cluster
    gangs.configure(cluster, CONFIG)
    two_queues(cluster, "2")
    gangs.apply(cluster, gangs.priority_class("urgent", 100), machine.job("job-a1", "research", 3, "2"))
    vcjobs.wait_phase(cluster, "job-a1", "Running")
    cluster.wait("research has borrowed", lambda: allocated(cluster, "research") == "6")
    cluster.wait("the queue counts it", lambda: counts(cluster, "research") == {"running": 1})
    lent = running(cluster, "job-a1")
    cluster.wait("an event tells of it", lambda: any("pod group is ready" in text for text in told_of(cluster, "job-a1-", "Scheduled")))
    cluster.wait("and one of its pod", lambda: f"Successfully assigned default/{lent[0]} to " in cluster.kubectl("describe", "pod", lent[0]))
    machine.lived(lent, "began")
    before = gangs.uids(cluster, *lent)
    gangs.apply(cluster, machine.job("job-p1", "production", 2, "2"))
    vcjobs.wait_phase(cluster, "job-p1", "Running")
    # The gang went whole; its pods are made anew and wait for nodes, admitted as the job is.
    cluster.wait("the pods of job-a1 are others", lambda: (
        len(vcjobs.pods(cluster, "job-a1")) == 3 and not set(gangs.uids(cluster, *vcjobs.pods(cluster, "job-a1")).values()) & set(before.values())), timeout=30)
    cluster.wait("it queues for nodes", lambda: group_phase(cluster, "job-a1") == "Inqueue", timeout=30)
    assert running(cluster, "job-a1") == [], cluster.dump()
    machine.lived(before, "began", "ended")
    for pod in before:
        gangs.wait_evicted(cluster, pod, "because of reclaim")
    assert vcjobs.status(cluster, "job-a1").get("retryCount", 0) == 0, "an eviction by the scheduler costs no retry"
    cluster.wait("queues tell", lambda: (allocated(cluster, "research"), allocated(cluster, "production")) == ("0", "4"))
    cluster.wait("queues count", lambda: (counts(cluster, "research"), counts(cluster, "production")) == ({"inqueue": 1}, {"running": 1}))
    says(cluster, "job-a1", 'queue "research" deserves no more (cpu: requested 6, allocated 0, deserved 2), so nothing is taken from others',
         'queue "production" holds cpu 4 and deserves cpu 6', "It would start with cpu 2 more free on node ")
    cluster.wait("the log tells who decided", lambda: any(
        all(part in line for part in ("action=reclaim", "verdict=evicted", "queue=production", "decided by plugin"))
        for line in cluster.kubectl("logs", "-n", "volcano-system", "deployment/volcano-scheduler").splitlines()))
    # Enough is idle: plain allocation.
    gangs.apply(cluster, machine.job("job-p2", "production", 1, "3", priority="urgent"))
    vcjobs.wait_phase(cluster, "job-p2", "Running")
    assert len(running(cluster, "job-p1")) == 2, cluster.dump()
    cluster.wait("the unschedulable gang is told of", lambda: "FailedScheduling" in cluster.kubectl("describe", "pod", lent[0]))
    cluster.kubectl("delete", "vcjob", "job-p1", "job-p2")
    cluster.wait("job-a1 runs again", lambda: len(running(cluster, "job-a1")) == 3, timeout=60)
    vcjobs.wait_phase(cluster, "job-a1", "Running")
    cluster.wait("its group runs", lambda: group_phase(cluster, "job-a1") == "Running")
    cluster.wait("and has borrowed again", lambda: (allocated(cluster, "research"), allocated(cluster, "production")) == ("6", "0"))
    machine.lived(before, "began", "ended", "began")


def test_a_queue_that_gives_nothing_back_keeps_its_jobs(machine):
    cluster = machine.cluster
    gangs.configure(cluster, CONFIG)
    two_queues(cluster, "2", reclaimable=False)
    gangs.apply(cluster, machine.job("job-a1", "research", 3, "2"))
    vcjobs.wait_phase(cluster, "job-a1", "Running")
    gangs.apply(cluster, machine.job("job-p1", "production", 2, "2"))
    says(cluster, "job-p1", 'queue "research" holds cpu 4 beyond what it deserves, and gives nothing back')
    gangs.stays(cluster, "research keeps it", lambda: len(running(cluster, "job-a1")) == 3)
    machine.lived(running(cluster, "job-a1"), "began")


def test_an_urgent_job_takes_a_place_within_its_queue_only(machine):
    cluster = machine.cluster
    gangs.configure(cluster, CONFIG)
    two_queues(cluster, "2")
    gangs.apply(cluster, gangs.priority_class("urgent", 100), machine.job("loan", "research", 3, "1", least=1), machine.job("job-p1", "production", 2, "2"))
    vcjobs.wait_phase(cluster, "job-p1", "Running")
    cluster.wait("research has borrowed", lambda: len(running(cluster, "loan")) == 3, timeout=30)
    machine.lived(["job-p1-w-0", "job-p1-w-1"], "began")
    gangs.apply(cluster, machine.job("job-p2", "production", 1, "3", priority="urgent"))
    vcjobs.wait_phase(cluster, "job-p2", "Running")
    cluster.wait("job-p1 waits", lambda: running(cluster, "job-p1") == [], timeout=30)
    assert len(running(cluster, "loan")) == 3, cluster.dump()
    machine.lived(["job-p1-w-0", "job-p1-w-1"], "began", "ended")
    machine.lived(running(cluster, "loan") + running(cluster, "job-p2"), "began")
