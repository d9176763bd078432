"""Who gets a node, who waits, and what is said about it: stories from the field on simulated nodes."""
import pytest

import gangs


def test_fragments_a_wide_pod_waits_with_its_reason_and_does_not_block_a_slim_one(tmp_path):
    """VC-04."""
    with gangs.nodes(tmp_path, 2, 2) as cluster:
        first, second = gangs.node_names(cluster)
        gangs.apply(cluster, gangs.group("fill", 2, resources={"cpu": "2"}),
                    gangs.pod("fill-w-0", {"cpu": "1"}, group="fill", nodeName=first),
                    gangs.pod("fill-w-1", {"cpu": "1"}, group="fill", nodeName=second))
        gangs.wait_running(cluster, "fill-w-0", "fill-w-1")
        gangs.apply(cluster, *gangs.gang("wide", 1, {"cpu": "1500m"}))
        text = gangs.wait_why(cluster, "wide", "0/2 nodes are unavailable", "cpu")
        assert "2 Insufficient cpu" in text or "cpu" in text
        assert gangs.phase(cluster, "wide") == "Inqueue"
        before = cluster.get("pod", "wide-w-0")
        gangs.apply(cluster, *gangs.gang("slim", 1, {"cpu": "1"}))
        gangs.wait_running(cluster, "slim-w-0")
        assert gangs.phase(cluster, "wide") == "Inqueue" and "wide-w-0" not in gangs.bound(cluster)
        cluster.kubectl("delete", "pod", "fill-w-0", "fill-w-1")
        gangs.wait_running(cluster, "wide-w-0")
        assert cluster.get("pod", "wide-w-0")["metadata"]["uid"] == before["metadata"]["uid"]


def test_best_effort_pods_are_placed_and_a_hopeless_one_blocks_nobody(tmp_path):
    """VC-25."""
    with gangs.nodes(tmp_path, 1, 2) as cluster:
        gangs.apply(cluster, gangs.pod("lost", nodeSelector={"no-such": "node"}), gangs.pod("found"),
                    gangs.group("mixed", 3, resources={"cpu": "500m"}), gangs.pod("mixed-n-0", {"cpu": "500m"}, group="mixed"),
                    gangs.pod("mixed-be-0", group="mixed"), gangs.pod("mixed-be-1", group="mixed"),
                    gangs.group("starved", 2, resources={"cpu": "8"}), gangs.pod("starved-n-0", {"cpu": "8"}, group="starved"),
                    gangs.pod("starved-be-0", group="starved"))
        gangs.wait_running(cluster, "found", "mixed-n-0", "mixed-be-0", "mixed-be-1")
        gangs.wait_why(cluster, "starved", "cpu")
        gangs.stays(cluster, "lost and starved wait", lambda: len(gangs.bound(cluster)) == 4)


def test_best_effort_pods_use_up_the_pod_count_of_the_node_and_nothing_else(tmp_path):
    """VC-25, last point."""
    with gangs.nodes(tmp_path, 1, 2) as cluster:
        # A node that nobody speaks for: what it has is what was written.
        room = {"cpu": "1", "memory": "1Gi", "pods": "3"}
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "tiny", "labels": {"size": "tiny"}}})
        gangs.allocatable(cluster, "tiny", room)
        gangs.apply(cluster, *[gangs.pod(f"be-{i}", nodeSelector={"size": "tiny"}, tolerations=gangs.LOST) for i in range(4)])
        cluster.wait("three of four have it", lambda: len(gangs.bound(cluster)) == 3, timeout=gangs.SOON)
        gangs.stays(cluster, "the fourth waits", lambda: len(gangs.bound(cluster)) == 3)
        waiting = next(p for p in cluster.get("pods")["items"] if not p["spec"].get("nodeName"))
        cluster.wait("and says why", lambda: any(
            "pods" in c.get("message", "") or "Too many pods" in c.get("message", "")
            for c in cluster.get("pod", waiting["metadata"]["name"])["status"].get("conditions", [])))
        cluster.kubectl("delete", "pod", gangs.bound(cluster)[0], "--force", "--grace-period=0")
        cluster.wait("it gets the place", lambda: waiting["metadata"]["name"] in gangs.bound(cluster), timeout=gangs.SOON)


def init_pod(name, init_cpu, main_cpu=None, sidecar=False):
    made = gangs.pod(name, {"cpu": main_cpu} if main_cpu else None)
    made["spec"]["initContainers"] = [{"name": "i", "image": "busybox:1.36", "command": ["true"],
                                       "resources": {"requests": {"cpu": init_cpu}}, **({"restartPolicy": "Always"} if sidecar else {})}]
    return made


def test_init_containers_count_as_their_maximum_and_sidecars_as_a_sum(tmp_path):
    """VC-26."""
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.apply(cluster, init_pod("a-init", "6", "100m"))
        gangs.wait_running(cluster, "a-init")
        gangs.apply(cluster, gangs.pod("b-main", {"cpu": "4"}))
        gangs.stays(cluster, "b-main waits as long as a-init exists", lambda: gangs.bound(cluster) == ["a-init"])
        cluster.kubectl("delete", "pod", "a-init")
        gangs.wait_running(cluster, "b-main")
        cluster.kubectl("delete", "pod", "b-main")
        gangs.apply(cluster, init_pod("only-init", "1"))
        gangs.wait_running(cluster, "only-init")
        cluster.kubectl("delete", "pod", "only-init")
        gangs.apply(cluster, init_pod("side", "3", "3", sidecar=True))
        gangs.wait_running(cluster, "side")
        gangs.apply(cluster, gangs.pod("c3", {"cpu": "3"}))
        gangs.stays(cluster, "c3 waits", lambda: gangs.bound(cluster) == ["side"])


def test_a_waiting_job_can_be_moved_ahead_by_its_priority(tmp_path):
    """VC-30."""
    with gangs.nodes(tmp_path, 1, 2) as cluster:
        gangs.apply(cluster, gangs.priority_class("p-high", 100), gangs.priority_class("p-low", 10), *gangs.gang("now", 1, {"cpu": "2"}))
        gangs.wait_running(cluster, "now-w-0")
        gangs.apply(cluster, *gangs.gang("w1", 1, {"cpu": "2"}, priority="p-low"))
        gangs.apply(cluster, *gangs.gang("w2", 1, {"cpu": "2"}, priority="p-low"))
        cluster.wait("both are there", lambda: cluster.get("podgroup", "w2"))
        cluster.kubectl("patch", "podgroup", "w2", "--type=merge", "-p", '{"spec":{"priorityClassName":"p-high"}}')
        gangs.drop(cluster, "now")
        gangs.wait_running(cluster, "w2-w-0")
        assert "w1-w-0" not in gangs.bound(cluster)
        # The class goes away while a job of it waits: everybody stays schedulable.
        gangs.apply(cluster, *gangs.gang("w3", 1, {"cpu": "2"}, priority="p-high"))
        cluster.kubectl("delete", "priorityclass", "p-high")
        gangs.drop(cluster, "w2")
        done = cluster.wait("one of the two runs", lambda: [p for p in gangs.running(cluster) if p in ("w1-w-0", "w3-w-0")], timeout=gangs.SOON)[0]
        gangs.drop(cluster, done[:2])
        gangs.wait_running(cluster, "w3-w-0" if done == "w1-w-0" else "w1-w-0")


def test_the_priority_of_a_pod_cannot_be_patched(simulated, namespace):
    """VC-30, last point."""
    simulated.apply(gangs.pod("fixed"), "-n", namespace)
    error = simulated.kubectl_fails("patch", "pod", "fixed", "-n", namespace, "--type=merge", "-p", '{"spec":{"priority":7}}')
    assert "may not" in error or "Forbidden" in error or "forbidden" in error, error


@pytest.mark.parametrize("count", [3])
def test_a_gang_that_does_not_fit_is_not_started_in_part(tmp_path, count):
    with gangs.nodes(tmp_path, 2, 4) as cluster:
        gangs.apply(cluster, *gangs.gang("big", count, {"cpu": "3"}))
        text = gangs.wait_why(cluster, "big", "3/3 tasks in gang unschedulable", "requested")
        assert "minAvailable" in text, text
        gangs.stays(cluster, "none of it starts", lambda: gangs.bound(cluster) == [])
