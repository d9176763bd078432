"""What the scheduler does better than Volcano can be switched, in the ConfigMap that both read; and what users ask of
Volcano beyond what it does: a queue's own factor at admission, cycles with a pause between them."""
import gangs
import harness

CONFIG = """
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: predicates}, {name: capacity}, {name: nodeorder}]
"""


def told(cluster, reason, part):
    return any(e["reason"] == reason and part in e["message"] for e in cluster.get("events", "-n", "volcano-system")["items"])


def test_a_behavior_is_switched_off_and_on_while_the_server_runs(tmp_path):
    with gangs.nodes(tmp_path, 1, 3) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("line", dequeueStrategy="fifo"))
        gangs.apply(cluster, gangs.group("a", 1, "line"), gangs.pod("a-w", {"cpu": "4"}, group="a"))
        gangs.wait_why(cluster, "a", "requested 4")
        gangs.apply(cluster, gangs.group("b", 1, "line"), gangs.pod("b-w", {"cpu": "1"}, group="b"))
        gangs.wait_why(cluster, "b", "first in, first out")
        gangs.configure(cluster, CONFIG + "behaviors: {strictFifo: false}\n")
        gangs.wait_running(cluster, "b-w")
        # A slip of the pen changes nothing, and says what it is.
        gangs.configure(cluster, CONFIG + "behaviors: {strictFiFo: true}\n")
        cluster.wait("the slip is named", lambda: told(
            cluster, "InvalidSchedulerConfiguration", 'behaviors: unknown behavior "strictFiFo"; the last good configuration stays in force'))
        gangs.apply(cluster, gangs.group("c", 1, "line"), gangs.pod("c-w", {"cpu": "1"}, group="c"))
        gangs.wait_running(cluster, "c-w")
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.group("d", 1, "line"), gangs.pod("d-w", {"cpu": "1"}, group="d"))
        gangs.wait_why(cluster, "d", "first in, first out")


def test_a_full_cluster_keeps_a_job_from_claiming_its_share_only_if_that_is_wanted(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        gangs.configure(cluster, CONFIG + "behaviors: {enqueueCountsEvictable: false}\n")
        gangs.apply(cluster, gangs.queue("research", deserved={"cpu": "1"}), gangs.queue("production", deserved={"cpu": "3"}))
        gangs.apply(cluster, gangs.group("loan", 1, "research"), *[gangs.pod(f"loan-{i}", {"cpu": "1"}, group="loan") for i in range(4)])
        gangs.wait_running(cluster, *[f"loan-{i}" for i in range(4)])
        gangs.apply(cluster, *gangs.gang("claim", 2, {"cpu": "1"}, queue="production"))
        gangs.wait_why(cluster, "claim", "resource in cluster is overused: overused cpu")
        assert gangs.phase(cluster, "claim") == "Pending"
        gangs.configure(cluster, CONFIG)
        gangs.wait_running(cluster, "claim-w-0", "claim-w-1", timeout=60)


def test_a_queue_has_a_factor_of_its_own_at_admission(tmp_path):
    with gangs.nodes(tmp_path, 1, 16) as cluster:
        gangs.configure(cluster, CONFIG)
        batch = gangs.queue("batch", deserved={"cpu": "4"})
        batch["metadata"]["annotations"] = {"volcano.sh/overcommit-factor": "0.5"}
        try:
            gangs.apply(cluster, batch)
            raise AssertionError("a factor below 1 was accepted")
        except harness.KubectlError as refused:
            assert 'volcano.sh/overcommit-factor must be a decimal number of at least 1' in refused.err, refused
        batch["metadata"]["annotations"] = {"volcano.sh/overcommit-factor": "1.5"}
        gangs.apply(cluster, batch)
        gangs.apply(cluster, gangs.group("six", 1, "batch", {"cpu": "6"}))
        cluster.wait("six is admitted", lambda: gangs.phase(cluster, "six") == "Inqueue")
        gangs.apply(cluster, gangs.group("more", 1, "batch", {"cpu": "1"}))
        gangs.wait_why(cluster, "more", 'queue "batch" is overused: overused cpu', "requested 1, taken 6, limit 6")
        cluster.kubectl("annotate", "queue", "batch", "--overwrite", "volcano.sh/overcommit-factor=2")
        cluster.wait("more is admitted", lambda: gangs.phase(cluster, "more") == "Inqueue")


def test_with_a_schedule_period_what_comes_meanwhile_is_seen_together(tmp_path):
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--cpu", "1100m", "--memory", "8Gi", "--schedule-period", "12s")
    cluster.start()
    try:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.priority_class("urgent", 100), gangs.pod("mark", {"cpu": "100m"}))
        # A cycle has just begun; what comes before the next one is placed by rank, not as it came. The pause is long enough
        # for kubectl to write four objects on a slow machine.
        gangs.wait_running(cluster, "mark", timeout=60)
        gangs.apply(cluster, gangs.group("low", 1), gangs.pod("low-w", {"cpu": "1"}, group="low"),
                    gangs.group("top", 1, priority="urgent"), gangs.pod("top-w", {"cpu": "1"}, group="top"))
        gangs.wait_running(cluster, "top-w", timeout=60)
        assert gangs.bound(cluster) == ["mark", "top-w"], cluster.dump()
    finally:
        cluster.stop()
