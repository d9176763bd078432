"""A group that waits says what is missing, in numbers; the words are current, and still while nothing changes."""
import json

import gangs
import vcjobs

CONFIG = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: drf
  - name: predicates
  - name: nodeorder
"""


def pending_facts(cluster, group):
    text = cluster.get("podgroup", group)["metadata"].get("annotations", {}).get("krater.io/why-pending")
    return json.loads(text) if text else None


def test_the_group_says_what_is_missing_and_is_quiet_while_nothing_changes(tmp_path):
    with gangs.nodes(tmp_path, 2, 4, "16Gi") as cluster:
        # Admission may promise more than there is, so that what is short is said of nodes.
        cluster.kubectl("create", "configmap", "volcano-scheduler-configmap", "-n", "volcano-system", "--from-literal=volcano-scheduler.conf=" + CONFIG)
        gangs.apply(cluster, *gangs.gang("holder", 1, {"cpu": "3"}))
        gangs.wait_running(cluster, "holder-w-0")
        gangs.apply(cluster, *gangs.gang("wide", 2, {"cpu": "4"}))
        text = gangs.wait_why(cluster, "wide", "2/2 tasks in gang unschedulable", "0/2 nodes are unavailable", "requested: cpu 4", "2 Insufficient cpu")
        gangs.wait_told(cluster, "wide-w-0", "wide-w-1")
        described = cluster.kubectl("describe", "podgroup", "wide")
        assert text.split(";")[0] in " ".join(described.split()), described
        before = cluster.get("podgroup", "wide")["metadata"]["resourceVersion"]
        pods = [cluster.get("pod", f"wide-w-{i}")["metadata"]["resourceVersion"] for i in (0, 1)]
        gangs.stays(cluster, "nothing is written while nothing changes",
                    lambda: cluster.get("podgroup", "wide")["metadata"]["resourceVersion"] == before, seconds=5)
        assert [cluster.get("pod", f"wide-w-{i}")["metadata"]["resourceVersion"] for i in (0, 1)] == pods
        # What changes is told: half of what was in the way is gone.
        gangs.apply(cluster, *gangs.gang("holder2", 1, {"cpu": "1"}))
        gangs.wait_running(cluster, "holder2-w-0")
        gangs.drop(cluster, "holder")
        cluster.wait("the words follow", lambda: gangs.why(cluster, "wide") not in ("", text), timeout=gangs.SOON)
        facts = pending_facts(cluster, "wide")
        assert facts["reason"] == "NoNodeFits" and facts["nodes"]["total"] == 2, facts
        assert facts["nodes"]["reasons"] == {"Insufficient cpu": facts["nodes"]["reasons"]["Insufficient cpu"]}, facts
        assert any(change["change"] == "FreeOnOneNode" and change["resource"] == "cpu" for change in facts["wouldHelp"]), facts
        gangs.drop(cluster, "holder2")
        gangs.wait_running(cluster, "wide-w-0", "wide-w-1")
        cluster.wait("the words and the facts go with the waiting", lambda: gangs.why(cluster, "wide") == "" and pending_facts(cluster, "wide") is None)


def test_a_refused_admission_names_resource_request_use_and_limit(tmp_path):
    with gangs.nodes(tmp_path, 1, 10, "16Gi") as cluster:
        gangs.apply(cluster, gangs.queue("narrow", capability={"cpu": "3"}))
        gangs.apply(cluster, *gangs.gang("over", 4, {"cpu": "4"}))
        text = gangs.wait_why(cluster, "over", "4/4 tasks in gang unschedulable", "overused cpu")
        assert "requested 16" in text and "limit 12" in text, text
        gangs.apply(cluster, *gangs.gang("quota", 4, {"cpu": "1"}, queue="narrow"))
        text = gangs.wait_why(cluster, "quota", "4/4 tasks in gang unschedulable", "insufficient cpu")
        gangs.wait_told(cluster, *[f"{name}-w-{i}" for name in ("over", "quota") for i in range(4)])
        assert 'queue "narrow"' in text and "requested 4" in text and "limit 3" in text, text
        assert gangs.phase(cluster, "quota") == "Pending"
        facts = pending_facts(cluster, "quota")
        assert facts["reason"] == "QueueLimit" and facts["stage"] == "enqueue" and facts["queue"] == "narrow", facts
        assert [(limit["of"], limit["resource"], limit["requested"], limit["limit"], limit["lacking"])
                for limit in facts["limits"]] == [("queue narrow", "cpu", "4", "3", "1")], facts
        assert pending_facts(cluster, "over")["reason"] == "ClusterLimit"
        before = [cluster.get("podgroup", name)["metadata"]["resourceVersion"] for name in ("over", "quota")]
        gangs.stays(cluster, "nothing is written while nothing changes", seconds=4, holds=lambda: [
            cluster.get("podgroup", name)["metadata"]["resourceVersion"] for name in ("over", "quota")] == before)
        cluster.kubectl("patch", "queue", "narrow", "--type=merge", "-p", '{"spec":{"capability":{"cpu":"4"}}}')
        gangs.wait_running(cluster, *[f"quota-w-{i}" for i in range(4)])


def waiting_events(cluster, name):
    return [e for e in cluster.get("events")["items"]
            if e["involvedObject"]["kind"] == "PodGroup" and e["involvedObject"]["name"] == name and e["reason"] == "Unschedulable"]


def test_one_event_follows_what_changes_around_the_group(tmp_path):
    with gangs.nodes(tmp_path, 1, 10, "16Gi") as cluster:
        gangs.apply(cluster, *gangs.gang("over", 4, {"cpu": "4"}))
        gangs.wait_why(cluster, "over", "overused cpu")
        for i in range(4):
            gangs.apply(cluster, *gangs.gang(f"small-{i}", 1, {"cpu": "1"}))
            gangs.wait_running(cluster, f"small-{i}-w-0")
        gangs.wait_why(cluster, "over", "in use 4")
        cluster.wait("its one event says so too", lambda: ["in use 4" in e["message"] for e in waiting_events(cluster, "over")] == [True])
        assert waiting_events(cluster, "over")[0]["count"] > 1


def test_pods_that_cannot_be_made_are_missed(tmp_path):
    with gangs.nodes(tmp_path, 1, 10, "16Gi") as cluster:
        gangs.apply(cluster, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "tight"}, "spec": {"hard": {"requests.cpu": "500m"}}},
                    vcjobs.job("qj", vcjobs.task("w", 4, cpu="1"), least=4))
        group = cluster.wait("it has a group", lambda: next((g["metadata"]["name"] for g in cluster.get("podgroups")["items"]), None))
        text = gangs.wait_why(cluster, group, "(4 pods of its gang do not exist", "the events of Job qj say why", "It would start with 4 more pods of its own")
        assert gangs.phase(cluster, group) == "Inqueue", text
        cluster.wait("its one event says the same", lambda: [e["message"] for e in waiting_events(cluster, group)] == [gangs.why(cluster, group)])
        cluster.kubectl("delete", "resourcequota", "tight")
        cluster.wait("they run", lambda: len(gangs.running(cluster)) == 4, timeout=90)
        cluster.wait("nothing is said any more", lambda: gangs.why(cluster, group) == "" and pending_facts(cluster, group) is None)


def test_pods_that_request_nothing_say_why_they_wait(tmp_path):
    with gangs.nodes(tmp_path, 1, 10, "16Gi") as cluster:
        group = gangs.group("nowhere", 2, "default", {})
        pods = [gangs.pod(f"nowhere-w-{i}", {}, group="nowhere") for i in (0, 1)]
        for pod in pods:
            pod["spec"]["nodeSelector"] = {"disk": "fast"}
        gangs.apply(cluster, group, *pods)
        gangs.wait_why(cluster, "nowhere", "0/1 nodes are unavailable", "2 Pending", "It would start with a node that may take it")
        conditions = cluster.get("podgroup", "nowhere")["status"]["conditions"]
        assert not any(c["type"] == "Scheduled" and c["status"] == "True" for c in conditions), conditions
        cluster.wait("its one event says the same", lambda: [e["message"] for e in waiting_events(cluster, "nowhere")] == [gangs.why(cluster, "nowhere")])
        assert [change["change"] for change in pending_facts(cluster, "nowhere")["wouldHelp"]] == ["AddNodeThatMayTakeIt"]
        cluster.kubectl("label", "node", cluster.get("nodes")["items"][0]["metadata"]["name"], "disk=fast")
        gangs.wait_running(cluster, "nowhere-w-0", "nowhere-w-1")
