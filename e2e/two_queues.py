"""The two queues of one machine that lend to each other: production has 6 of 8 CPU by right, research 2."""
import gangs

CONFIG = """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: capacity}, {name: predicates}, {name: nodeorder}, {name: binpack}]
"""
TREE = CONFIG.replace("{name: capacity}", "{name: capacity, enableHierarchy: true}")


def two_queues(cluster, guaranteed, **research):
    gangs.apply(cluster, gangs.queue("research", **{"deserved": {"cpu": "2"}, "guarantee": {"resource": {"cpu": "1"}}, "capability": {"cpu": "8"}, **research}),
                gangs.queue("production", deserved={"cpu": "6"}, guarantee={"resource": {"cpu": guaranteed}}, capability={"cpu": "8"}))


def allocated(cluster, queue):
    return cluster.get("queue", queue)["status"].get("allocated", {}).get("cpu")


def counts(cluster, queue):
    """How many of its pod groups are in which phase; those of which there are none are left out."""
    status = cluster.get("queue", queue)["status"]
    return {phase: status[phase] for phase in ("pending", "inqueue", "running", "unknown", "completed") if status.get(phase)}
