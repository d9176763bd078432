"""Fairness between users over time: who has used less goes first, and a restart forgets nothing."""
import json

import gangs

CONFIG = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - {name: priority}
  - {name: gang}
  - name: fairshare
    arguments: {fairshare.resourceKey: cpu, fairshare.halfLifeMinutes: "60", fairshare.flushIntervalSeconds: "2"}
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""


def submit(cluster, name, user):
    for made in gangs.gang(name, 1, {"cpu": "2"}):
        made["metadata"]["namespace"] = user
        gangs.apply(cluster, made)


def remove(cluster, name, user):
    cluster.kubectl("delete", "podgroup,pod", "-n", user, name, f"{name}-w-0", "--ignore-not-found", "--grace-period=0", "--force")


def node_of(cluster, name, user):
    return cluster.get("pod", "-n", user, f"{name}-w-0")["spec"].get("nodeName")


def usage(cluster):
    """{user: core-seconds, in thousandths} as Prometheus is told."""
    out = {}
    for line in cluster.kubectl("get", "--raw", "/metrics").splitlines():
        if line.startswith("volcano_namespace_decayed_usage{"):
            labels, value = line.split("{")[1].split("} ")
            assert 'queue="default"' in labels and 'resource="cpu"' in labels, line
            out[labels.split('namespace_name="')[1].split('"')[0]] = float(value)
    return out


def state_of(cluster):
    return json.loads(cluster.get("configmap", "-n", "volcano-system", "fairshare-usage-state")["data"]["state.json"])


def used_more_than(amount, user, state):
    return state if state["queues"]["default"].get(user, 0) > amount else None


def test_who_has_used_less_goes_first_also_after_a_restart(tmp_path):
    with gangs.nodes(tmp_path, 1, 2) as cluster:
        for user in ("alice", "bob", "carol"):
            cluster.kubectl("create", "namespace", user)
        gangs.configure(cluster, CONFIG)
        submit(cluster, "first", "alice")
        cluster.wait("alice's first runs", lambda: node_of(cluster, "first", "alice"))
        cluster.wait("alice's usage is counted", lambda: usage(cluster).get("alice", 0) > 6000)
        # Alice asks again before Bob does.
        submit(cluster, "second", "alice")
        submit(cluster, "first", "bob")
        cluster.wait("both wait", lambda: all("conditions" in cluster.get("podgroup", "-n", user, name).get("status", {})
                                              for user, name in (("alice", "second"), ("bob", "first"))))
        remove(cluster, "first", "alice")
        cluster.wait("bob's runs", lambda: node_of(cluster, "first", "bob"))
        assert not node_of(cluster, "second", "alice")
        why = cluster.wait("alice is told why", lambda: json.loads(
            cluster.get("podgroup", "-n", "alice", "second")["metadata"]["annotations"]["krater.io/why-pending"]))
        assert why["queue"] == "default" and why["pods"]["minAvailable"] == 1, why
        # It is written every two seconds: the last may be older than what was measured above.
        kept = cluster.wait("what alice has used is kept", lambda: used_more_than(6000, "alice", state_of(cluster)))
        assert kept["measures"] == {"default": "cpu"}, kept

        cluster.stop()
        cluster.start()
        cluster.wait("the node is Ready", lambda: " Ready " in cluster.kubectl("get", "nodes", "--no-headers"))
        cluster.wait("alice's usage is known again", lambda: usage(cluster).get("alice", 0) > 6000)
        # Carol comes last, and has used nothing.
        submit(cluster, "first", "carol")
        told = cluster.wait("alice is told who goes first", lambda: [
            one["message"] for one in cluster.get("podgroup", "-n", "alice", "second")["status"]["conditions"]
            if one["type"] == "Unschedulable" and "above all carol/first of user" in one["message"]])
        assert 'user "alice" has used' in told[0] and "(half-life 1h)" in told[0], told
        remove(cluster, "first", "bob")
        cluster.wait("carol's runs", lambda: node_of(cluster, "first", "carol"))
        assert not node_of(cluster, "second", "alice")


def test_a_state_that_cannot_be_read_is_told_and_written_over(tmp_path):
    with gangs.nodes(tmp_path, 1, 2) as cluster:
        state = ["configmap", "-n", "volcano-system", "fairshare-usage-state"]
        cluster.kubectl("create", *state, "--from-literal=state.json=[1, 2]")
        gangs.configure(cluster, CONFIG)
        cluster.wait("it is told", lambda: "state.json: it is not an object" in cluster.kubectl(
            "get", "events", "-n", "volcano-system", "--field-selector=reason=InvalidFairshareState"))
        cluster.kubectl("create", "namespace", "alice")
        submit(cluster, "first", "alice")
        cluster.wait("it is written over", lambda: cluster.get(*state)["data"]["state.json"] != "[1, 2]")
        cluster.wait("usage is counted all the same", lambda: json.loads(
            cluster.get(*state)["data"]["state.json"])["queues"].get("default", {}).get("alice", 0) > 0)
