"""Room in a queue: pods that wait for it behind a gate, queues above that set the limit, and the tree itself; and room for
volumes on a node."""
import json

import gangs

CONFIG = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: capacity, enableHierarchy: true}, {name: predicates}, {name: nodeorder}]
"""
GATE = "scheduling.volcano.sh/queue-allocation-gate"


def gates(cluster, name):
    return [gate["name"] for gate in cluster.get("pod", name)["spec"].get("schedulingGates", [])]


def gated(name, **spec):
    pod = gangs.pod(name, {"cpu": "1"}, queue="narrow", **spec)
    pod["metadata"]["annotations"][GATE] = "true"
    return pod


def test_a_pod_that_asks_for_it_is_held_until_its_queue_has_room(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("narrow", capability={"cpu": "2"}))
        gangs.apply(cluster, gated("first"))
        gangs.wait_running(cluster, "first")
        # No node is right for it; its queue has room, so the gate goes and the room stays its own.
        gangs.apply(cluster, gated("picky", nodeSelector={"no": "where"}))
        cluster.wait("the gate of picky is gone", lambda: gates(cluster, "picky") == [])
        gangs.apply(cluster, gated("last"))
        gangs.stays(cluster, "last is held back", lambda: gates(cluster, "last") == [GATE])
        cluster.kubectl("delete", "pod", "picky")
        gangs.wait_running(cluster, "last")
        cluster.wait("the log says so", lambda: "verdict=ungated queue=narrow" in cluster.kubectl(
            "logs", "-n", "volcano-system", "deployment/volcano-scheduler"))


def test_the_limit_of_a_queue_above_is_named_with_its_numbers(tmp_path):
    with gangs.nodes(tmp_path, 1, 20) as cluster:
        gangs.configure(cluster, CONFIG)
        gangs.apply(cluster, gangs.queue("top", parent="root", capability={"cpu": "8"}, deserved={"cpu": "8"}, guarantee={"resource": {"cpu": "3"}}))
        gangs.apply(cluster, gangs.queue("left", parent="top"), gangs.queue("right", parent="top", deserved={"cpu": "3"}, guarantee={"resource": {"cpu": "3"}}))
        gangs.apply(cluster, gangs.queue("leaf", parent="left"))
        gangs.apply(cluster, *gangs.gang("wide", 3, {"cpu": "2"}, queue="leaf"))
        gangs.wait_why(cluster, "wide", 'queue "leaf"', "limit 5", 'queue "top" above it may hold cpu 8, of which 3 is guaranteed to other queues')
        facts = json.loads(cluster.get("podgroup", "wide")["metadata"]["annotations"]["krater.io/why-pending"])
        assert [(one["of"], one["limit"], one["setBy"], one["guaranteedToOthers"]) for one in facts["limits"]] == [("queue leaf", "5", "queue top", "3")], facts
        cluster.kubectl("patch", "queue", "top", "--type=merge", "-p", '{"spec":{"capability":{"cpu":"9"}}}')
        gangs.wait_running(cluster, "wide-w-0", "wide-w-1", "wide-w-2")


def test_queues_stay_a_tree(tmp_path):
    with gangs.nodes(tmp_path, 1, 1) as cluster:
        gangs.apply(cluster, gangs.queue("top", parent="root"), gangs.queue("below", parent="top"))
        for queue, parent, words in [("root", "top", "queue root cannot use itself as parent"),
                                     ("top", "below", "queue top exceeds the maximum allowed depth of 5"),
                                     ("below", "below", "queue below cannot use itself as parent"),
                                     ("below", "nowhere", 'queue.scheduling.volcano.sh "nowhere" not found')]:
            said = cluster.kubectl_fails("patch", "queue", queue, "--type=merge", "-p", json.dumps({"spec": {"parent": parent}}))
            assert words in said, (queue, parent, said)
        assert cluster.get("queue", "below")["spec"]["parent"] == "top"


def volume(name):
    return [{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
             "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "disks",
                      "csi": {"driver": "disk.example.com", "volumeHandle": name}, "claimRef": {"namespace": "default", "name": name}}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
             "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "disks", "volumeName": name,
                      "resources": {"requests": {"storage": "1Gi"}}}},
            gangs.pod(name, {"cpu": "1"}, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])]


def test_a_node_has_as_many_volumes_of_a_driver_as_it_can_attach(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        node = gangs.node_names(cluster)[0]
        csi_node = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node},
                    "spec": {"drivers": [{"name": "disk.example.com", "nodeID": node, "allocatable": {"count": 2}}]}}
        cluster.apply(csi_node)
        for name in ("one", "two", "three"):
            gangs.apply(cluster, *volume(name))
            cluster.wait(f"claim {name} is bound", lambda name=name: cluster.get("pvc", name)["status"].get("phase") == "Bound")
            if name != "three":
                cluster.wait(f"{name} has a node", lambda name=name: name in gangs.bound(cluster))

        def says():
            conditions = cluster.get("pod", "three")["status"].get("conditions", [])
            return any("1 node(s) exceed max volume count" in c.get("message", "") for c in conditions)
        cluster.wait("three says why it waits", says)
        assert gangs.bound(cluster) == ["one", "two"]
        cluster.kubectl("delete", "pod", "one", "--force", "--grace-period=0")
        cluster.wait("three follows", lambda: "three" in gangs.bound(cluster))
