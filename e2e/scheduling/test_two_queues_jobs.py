"""The two queues of test_two_queues.py with Volcano Jobs, as their users submit them: kubectl apply, on simulated nodes."""
import gangs
import vcjobs
from two_queues import CONFIG, allocated, two_queues


def job(name, queue, pods, cpu, least=None, priority=None):
    spec = {"queue": queue, **({"priorityClassName": priority} if priority else {})}
    return vcjobs.job(name, vcjobs.task("w", replicas=pods, cpu=cpu, minAvailable=least or pods), least=least or pods, **spec)


def running(cluster, name):
    return sorted(pod for pod, phase in vcjobs.pods(cluster, name).items() if phase == "Running")


def group_phase(cluster, name):
    return vcjobs.group(cluster, name).get("status", {}).get("phase")


def says(cluster, name, *parts):
    def look():
        conditions = vcjobs.group(cluster, name).get("status", {}).get("conditions", [])
        text = next((c["message"] for c in conditions if c["type"] == "Unschedulable" and c["status"] == "True"), "")
        return text if text and all(part in text for part in parts) else None
    return cluster.wait(f"{name} says {parts}", look, timeout=15)


def test_a_job_waits_for_what_is_guaranteed_to_others_and_borrows_what_may_be_lent(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        two_queues(cluster, "3")
        gangs.apply(cluster, job("job-a1", "research", 3, "2"))
        vcjobs.wait_phase(cluster, "job-a1", "Pending")
        says(cluster, "job-a1", "requested 6", "limit 5", 'cpu 3 is guaranteed to queue "production"')
        # Nobody makes pods for a job that is not admitted.
        gangs.stays(cluster, "no pod is made", lambda: vcjobs.pods(cluster, "job-a1") == {}, seconds=2)
        cluster.kubectl("delete", "vcjob", "job-a1")
        gangs.apply(cluster, job("job-a1", "research", 3, "2", least=2))
        cluster.wait("two of three run", lambda: len(running(cluster, "job-a1")) == 2, timeout=30)
        vcjobs.wait_phase(cluster, "job-a1", "Running")
        gangs.stays(cluster, "no more than may be lent", lambda: len(running(cluster, "job-a1")) == 2, seconds=2)


def test_jobs_that_lend_and_take_back(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        two_queues(cluster, "2")
        gangs.apply(cluster, gangs.priority_class("urgent", 100), job("job-a1", "research", 3, "2"))
        vcjobs.wait_phase(cluster, "job-a1", "Running")
        cluster.wait("research has borrowed", lambda: allocated(cluster, "research") == "6")
        before = gangs.uids(cluster, *running(cluster, "job-a1"))
        gangs.apply(cluster, job("job-p1", "production", 2, "2"))
        vcjobs.wait_phase(cluster, "job-p1", "Running")
        # The gang went whole; its pods are made anew and wait for nodes, admitted as the job is.
        cluster.wait("the pods of job-a1 are others", lambda: (
            len(vcjobs.pods(cluster, "job-a1")) == 3 and not set(gangs.uids(cluster, *vcjobs.pods(cluster, "job-a1")).values()) & set(before.values())), timeout=30)
        cluster.wait("it queues for nodes", lambda: group_phase(cluster, "job-a1") == "Inqueue", timeout=30)
        assert running(cluster, "job-a1") == [], cluster.dump()
        for pod in before:
            assert any("because of reclaim" in message for message in gangs.evictions(cluster, pod)), cluster.dump()
        assert vcjobs.status(cluster, "job-a1").get("retryCount", 0) == 0, "an eviction by the scheduler costs no retry"
        cluster.wait("queues tell", lambda: (allocated(cluster, "research"), allocated(cluster, "production")) == ("0", "4"))
        log = cluster.kubectl("logs", "-n", "volcano-system", "deployment/volcano-scheduler")
        assert any("action=reclaim" in line and "verdict=evicted" in line and "queue=production" in line for line in log.splitlines()), log
        # Enough is idle: plain allocation.
        gangs.apply(cluster, job("job-p2", "production", 1, "3", priority="urgent"))
        vcjobs.wait_phase(cluster, "job-p2", "Running")
        assert len(running(cluster, "job-p1")) == 2, cluster.dump()
        cluster.kubectl("delete", "vcjob", "job-p1", "job-p2")
        cluster.wait("job-a1 runs again", lambda: len(running(cluster, "job-a1")) == 3, timeout=60)
        vcjobs.wait_phase(cluster, "job-a1", "Running")
        cluster.wait("its group runs", lambda: group_phase(cluster, "job-a1") == "Running")


def test_an_urgent_job_takes_a_place_within_its_queue_only(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        two_queues(cluster, "2")
        gangs.apply(cluster, gangs.priority_class("urgent", 100), job("loan", "research", 3, "1", least=1), job("job-p1", "production", 2, "2"))
        vcjobs.wait_phase(cluster, "job-p1", "Running")
        cluster.wait("research has borrowed", lambda: len(running(cluster, "loan")) == 3, timeout=30)
        gangs.apply(cluster, job("job-p2", "production", 1, "3", priority="urgent"))
        vcjobs.wait_phase(cluster, "job-p2", "Running")
        cluster.wait("job-p1 waits", lambda: running(cluster, "job-p1") == [], timeout=30)
        assert len(running(cluster, "loan")) == 3, cluster.dump()
