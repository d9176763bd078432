"""How busy a node is by its own account, and plugin usage, which keeps pods off busy ones."""
import datetime
import json

import gangs
import harness

CONFIG = """
actions: "enqueue, allocate"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins:
  - {name: predicates}
  - {name: usage, arguments: {thresholds: {cpu: %d, mem: 100}}}
"""


def usage(cluster):
    node = cluster.get("nodes")["items"][0]
    return json.loads(node["metadata"].get("annotations", {}).get("krater.io/node-usage", "null"))


def test_a_node_tells_how_busy_it_is_and_a_busy_one_is_left_alone(tmp_path):
    cluster = harness.Cluster(tmp_path, "--stop-pods", "--cpu", "8")
    cluster.start()
    try:
        told = cluster.wait("the node tells of itself", lambda: usage(cluster), timeout=90)
        assert 0 <= told["cpu"] <= 1000 and 0 < told["memory"] <= 1000, told
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(told["time"].replace("Z", "+00:00"))
        assert age < datetime.timedelta(minutes=3), told
        gangs.configure(cluster, CONFIG % 100)
        busy = gangs.pod("busy", {"cpu": "1"})
        busy["spec"]["containers"][0]["command"] = ["sh", "-c", "timeout 60 sh -c 'while :; do :; done' & timeout 60 sh -c 'while :; do :; done'; wait"]
        gangs.apply(cluster, busy)
        gangs.wait_running(cluster, "busy", timeout=60)
        # The mean of what the machine has done so far: two busy loops are more than a hundredth of any machine here.
        cluster.wait("the node tells that it is busy", lambda: usage(cluster)["cpu"] > 10, timeout=90)
        gangs.configure(cluster, CONFIG % 1)
        gangs.apply(cluster, gangs.group("late", 1), gangs.pod("late", {"cpu": "1"}, group="late"))
        gangs.wait_why(cluster, "late", "the CPU load of the node exceeds the upper limit.")
        gangs.configure(cluster, CONFIG % 100)
        gangs.wait_running(cluster, "late", timeout=60)
    finally:
        cluster.stop()
