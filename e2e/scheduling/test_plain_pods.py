"""Pods of Volcano's scheduler that name no group: a controller makes one, and `enqueue` is asked like for any other."""
import time

import gangs
import harness

CONFIG = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: predicates}, {name: capacity}, {name: nodeorder}]
"""


def group_of(cluster, pod):
    return cluster.get("pod", pod)["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name")


def decisions(cluster, job):
    lines = cluster.kubectl("logs", "-n", "volcano-system", "deployment/volcano-scheduler").splitlines()
    return [line.split()[1] for line in lines if f"job=default/{job} " in line + " "]


def test_they_wait_in_line_like_everybody_else(tmp_path):
    with gangs.nodes(tmp_path, 2, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("line", capability={"cpu": "2"}, dequeueStrategy="fifo"))
        cluster.wait("the queue is open", lambda: cluster.get("queue", "line").get("status", {}).get("state") == "Open")
        gangs.apply(cluster, gangs.group("head", 1, "line", {"cpu": "3"}))
        gangs.wait_why(cluster, "head", "queue resource quota insufficient")
        gangs.apply(cluster, *[gangs.pod(f"late-{i}", {"cpu": "1"}, queue="line") for i in range(4)])
        gangs.apply(cluster, gangs.pod("free", {"cpu": "1"}))
        gangs.wait_running(cluster, "free")
        cluster.wait("both decisions are told, and nothing else of it", lambda: decisions(
            cluster, group_of(cluster, "free")) == ["verdict=admitted", "verdict=bound"])
        gangs.stays(cluster, "nobody passes the head of the line", lambda: gangs.bound(cluster) == ["free"])
        gangs.wait_why(cluster, group_of(cluster, "late-0"), "job default/head is in front and waits")
        cluster.kubectl("delete", "podgroup", "head")
        # Two may run, as the queue's limit says; the others are admitted when these have ended.
        cluster.wait("two run", lambda: len(gangs.running(cluster)) == 3)
        gangs.stays(cluster, "and no more", lambda: len(gangs.bound(cluster)) == 3)


def test_they_keep_within_the_cluster_s_budget(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG.replace("{name: capacity}, ", ""))
        # Admitted and without pods: it has the room, and 1600m are left of 1.2 times the node.
        gangs.apply(cluster, gangs.group("promised", 1, None, {"cpu": "8"}))
        cluster.wait("it is admitted", lambda: gangs.phase(cluster, "promised") == "Inqueue")
        gangs.apply(cluster, *[gangs.pod(f"p-{i}", {"cpu": "1"}) for i in range(4)])
        cluster.wait("one runs", lambda: len(gangs.running(cluster)) == 1)
        gangs.stays(cluster, "and no other", lambda: len(gangs.bound(cluster)) == 1)


def test_in_a_queue_that_is_closed_they_are_told_and_start_when_it_opens(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("door"))
        cluster.wait("the queue is open", lambda: cluster.get("queue", "door").get("status", {}).get("state") == "Open")
        state = ("patch", "queue", "door", "--subresource=status", "--type=merge", "-p")
        cluster.kubectl(*state, '{"status": {"state": "Closed"}}')
        gangs.apply(cluster, gangs.pod("before-it", {"cpu": "1"}, queue="door"))
        cluster.wait("it is told", lambda: any(
            'queue "door" is Closed' in c.get("message", "") for c in cluster.get("pod", "before-it").get("status", {}).get("conditions", [])))
        cluster.kubectl(*state, '{"status": {"state": "Open"}}')
        gangs.wait_running(cluster, "before-it")


def test_without_the_controller_they_are_placed_as_they_are(tmp_path):
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--controllers=*,-pg")
    cluster.start()
    try:
        gangs.apply(cluster, gangs.pod("alone"))
        gangs.wait_running(cluster, "alone")
        assert group_of(cluster, "alone") is None
    finally:
        cluster.stop()


def test_they_wait_for_the_queue_of_their_namespace_too_and_start_as_it_opens(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("door"))
        cluster.wait("the queue is open", lambda: cluster.get("queue", "door").get("status", {}).get("state") == "Open")
        cluster.kubectl("annotate", "namespace", "default", "scheduling.volcano.sh/queue-name=door")
        state = ("patch", "queue", "door", "--subresource=status", "--type=merge", "-p")
        cluster.kubectl(*state, '{"status": {"state": "Closed"}}')
        gangs.apply(cluster, gangs.pod("bare", {"cpu": "1"}))
        cluster.wait("it is told", lambda: any(
            'queue "door" is Closed' in c.get("message", "") for c in cluster.get("pod", "bare").get("status", {}).get("conditions", [])))
        # Long enough for tries in vain to be far apart: the next would come some twenty seconds later.
        time.sleep(25)
        cluster.kubectl(*state, '{"status": {"state": "Open"}}')
        opened = time.monotonic()
        gangs.wait_running(cluster, "bare")
        assert time.monotonic() - opened < 12
        assert cluster.get("podgroup", group_of(cluster, "bare"))["spec"]["queue"] == "door"
