"""Who has to go for whom within one queue: stories from the field on simulated nodes."""
import gangs

CONFIG = """
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, %s, {name: conformance}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""
UNPROTECTED = CONFIG % "{name: gang, enablePreemptable: false, enableJobStarving: false}"
PROTECTED = CONFIG % "{name: gang}"


def classes():
    return [gangs.priority_class("p-high", 100), gangs.priority_class("p-mid", 50), gangs.priority_class("p-low", 10)]


def elastic(name, count, minimum, requests, priority, **spec):
    return [gangs.group(name, minimum, priority=priority), *[gangs.pod(f"{name}-w-{i}", requests, group=name, **spec) for i in range(count)]]


def names(name, count):
    return [f"{name}-w-{i}" for i in range(count)]


def test_the_lowest_priority_goes_first_and_no_more_than_needed(tmp_path):
    """VC-14."""
    with gangs.nodes(tmp_path, 1, 8, extended={"example.com/acc": 8}) as cluster:
        gangs.configure(cluster, UNPROTECTED)
        gangs.apply(cluster, *classes(), *elastic("mid", 4, 1, {"cpu": "1"}, "p-mid"), *elastic("low", 4, 1, {"cpu": "1"}, "p-low"))
        gangs.wait_running(cluster, *names("mid", 4), *names("low", 4))
        gangs.apply(cluster, *elastic("high", 2, 2, {"cpu": "1"}, "p-high"))
        gangs.wait_running(cluster, *names("high", 2), timeout=60)
        assert gangs.running(cluster) == sorted([*names("high", 2), *names("low", 2), *names("mid", 4)]), cluster.dump()
        gangs.wait_evicted(cluster, "low-w-3", "because of preempt")
        # Equals preempt nobody.
        gangs.apply(cluster, *elastic("peer", 1, 1, {"cpu": "1"}, "p-low"))
        gangs.wait_why(cluster, "peer", "nsufficient cpu")
        gangs.stays(cluster, "nobody goes for an equal", lambda: len(gangs.running(cluster)) == 8, seconds=2)
        for group in ("mid", "low", "high", "peer"):
            gangs.drop(cluster, group)
        gangs.apply(cluster, *elastic("slab", 1, 1, {"example.com/acc": "8"}, "p-low"))
        gangs.wait_running(cluster, "slab-w-0")
        gangs.apply(cluster, *elastic("pair", 2, 2, {"example.com/acc": "2"}, "p-high"))
        gangs.wait_running(cluster, *names("pair", 2), timeout=60)
        assert len(gangs.wait_evicted(cluster, "slab-w-0")) == 1, cluster.dump()


def test_where_the_pod_count_is_the_limit_one_pod_goes(tmp_path):
    """VC-15, on a node that nobody speaks for: nothing on it ever starts."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        gangs.configure(cluster, UNPROTECTED)
        cluster.kubectl("cordon", gangs.node_names(cluster)[0])
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "narrow"}})
        gangs.allocatable(cluster, "narrow", {"cpu": "64", "memory": "64Gi", "pods": "4"})
        gangs.apply(cluster, *classes(), *elastic("many", 4, 1, {"cpu": "20m"}, "p-low", terminationGracePeriodSeconds=0, tolerations=gangs.LOST))
        cluster.wait("all are bound", lambda: gangs.bound(cluster) == names("many", 4))
        gangs.apply(cluster, *elastic("one", 1, 1, {"cpu": "20m"}, "p-high", tolerations=gangs.LOST))
        cluster.wait("it has a place", lambda: "one-w-0" in gangs.bound(cluster), timeout=gangs.SOON)
        gangs.stays(cluster, "one has gone, and no second", lambda: gangs.bound(cluster) == [*names("many", 3), "one-w-0"], seconds=2)


def test_a_gang_is_not_broken_half_way(tmp_path):
    """VC-16."""
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, PROTECTED)
        gangs.apply(cluster, *classes(), *elastic("solid", 4, 4, {"cpu": "1"}, "p-low"), *elastic("soft", 4, 1, {"cpu": "1"}, "p-low"))
        gangs.wait_running(cluster, *names("solid", 4), *names("soft", 4))
        gangs.apply(cluster, *elastic("boss", 2, 2, {"cpu": "1"}, "p-high"))
        gangs.wait_running(cluster, *names("boss", 2), timeout=60)
        after = sorted([*names("boss", 2), *names("soft", 2), *names("solid", 4)])
        assert gangs.running(cluster) == after, cluster.dump()
        gangs.apply(cluster, *elastic("boss2", 4, 4, {"cpu": "1"}, "p-high"))
        gangs.wait_why(cluster, "boss2", "4/4 tasks in gang unschedulable")
        gangs.stays(cluster, "nobody goes where it would not be enough", lambda: gangs.running(cluster) == after, seconds=3)


COOLDOWN = """
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}, {name: cdp}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: capacity}]
"""


def test_a_cooldown_is_said_and_waited_for_and_no_longer(tmp_path):
    """Nothing happens meanwhile that could wake anybody: the time itself does."""
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, COOLDOWN)
        low = elastic("low", 8, 1, {"cpu": "1"}, "p-low", terminationGracePeriodSeconds=0)
        for one in low[1:]:
            one["metadata"]["annotations"]["volcano.sh/cooldown-time"] = "20s"
        gangs.apply(cluster, *classes(), *low)
        gangs.wait_running(cluster, *names("low", 8))
        gangs.apply(cluster, *elastic("high", 2, 2, {"cpu": "1"}, "p-high"))
        gangs.wait_why(cluster, "high", "8 of 8 pods whose places it could use may not be evicted: 8 are in their cool-down time")
        gangs.wait_running(cluster, *names("high", 2), timeout=35)
        assert len(gangs.running(cluster)) == 8, cluster.dump()
