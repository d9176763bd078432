"""Two queues on one machine of 8 CPU: what one lends, the other takes back; on simulated nodes, with pod groups and pods."""
import pytest

import gangs
from two_queues import CONFIG, TREE, allocated, two_queues


def a1(minimum=3):
    return [gangs.group("job-a1", minimum, "research", {"cpu": str(2 * minimum)}),
            *[gangs.pod(f"job-a1-w-{i}", {"cpu": "2"}, group="job-a1") for i in range(3)]]


A1 = [f"job-a1-w-{i}" for i in range(3)]
P1 = ["job-p1-w-0", "job-p1-w-1"]


def test_what_is_guaranteed_to_others_is_not_lent(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        error = cluster.kubectl_fails("apply", "-f", "-", stdin=gangs.harness.json.dumps(
            gangs.queue("greedy", deserved={"cpu": "2"}, guarantee={"resource": {"cpu": "3"}})))
        assert "greedy" in error and "deserved[cpu]=2 must be >= guarantee[cpu]=3" in error, error
        two_queues(cluster, "3")
        gangs.apply(cluster, *a1())
        text = gangs.wait_why(cluster, "job-a1", 'queue "research"', "requested 6", "limit 5", 'cpu 3 is guaranteed to queue "production"')
        assert gangs.phase(cluster, "job-a1") == "Pending", text
        assert 'It would start with cpu 1 more in queue "research"' in text and "or with minAvailable 2" in text, text
        cluster.wait("describe is enough to know", lambda: (text := gangs.why(cluster, "job-a1")) and text in " ".join(
            cluster.kubectl("describe", "podgroup", "job-a1").split()))
        cluster.wait("it has one event, with the same words", lambda: [
            (e["reason"], e["type"], e["message"]) for e in cluster.get("events")["items"] if e["involvedObject"]["name"] == "job-a1"] == [
            ("Unschedulable", "Warning", gangs.why(cluster, "job-a1"))])
        gangs.drop(cluster, "job-a1")
        gangs.apply(cluster, *a1(minimum=2))
        gangs.wait_running(cluster, *A1[:2])
        gangs.stays(cluster, "no more than may be lent", lambda: gangs.bound(cluster) == A1[:2], seconds=2)


@pytest.mark.parametrize("config", [CONFIG, TREE], ids=["flat", "tree"])
def test_what_was_lent_is_taken_back_and_given_again(tmp_path, config):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, config)
        two_queues(cluster, "2")
        gangs.apply(cluster, gangs.priority_class("urgent", 100), *a1())
        gangs.wait_running(cluster, *A1)
        cluster.wait("research has borrowed", lambda: allocated(cluster, "research") == "6")
        before = gangs.uids(cluster, *A1)
        gangs.apply(cluster, *gangs.gang("job-p1", 2, {"cpu": "2"}, queue="production"))
        # Admitted though only 2 CPU are free, as 4 can be taken back; and the gang goes whole.
        gangs.wait_running(cluster, *P1, timeout=60)
        cluster.wait("all of job-a1 is gone", lambda: not set(A1) & {p["metadata"]["name"] for p in cluster.get("pods")["items"]})
        for pod in A1:
            told = gangs.wait_evicted(cluster, pod, "because of reclaim", "job-p1")
            assert any("because of reclaim" in m and "job-p1" in m and m.endswith("; decided by plugin capacity") for m in told), told
        gangs.wait_evicted(cluster, "job-a1")
        cluster.wait("it queues for nodes, not for admission", lambda: gangs.phase(cluster, "job-a1") == "Inqueue")
        # Its owner makes the pods anew, as a controller would.
        gangs.apply(cluster, *a1()[1:])
        cluster.wait("they wait", lambda: set(A1) <= {p["metadata"]["name"] for p in cluster.get("pods")["items"]})
        assert gangs.uids(cluster, *A1) != before
        gangs.stays(cluster, "nobody is driven out again", lambda: gangs.running(cluster) == P1)
        cluster.wait("queues tell", lambda: (allocated(cluster, "research"), allocated(cluster, "production")) == ("0", "4"))
        # Enough is idle for the next one: plain allocation.
        gangs.apply(cluster, *gangs.gang("job-p2", 1, {"cpu": "3"}, queue="production", priority="urgent"))
        gangs.wait_running(cluster, "job-p2-w-0", *P1)
        gangs.drop(cluster, "job-p1")
        gangs.drop(cluster, "job-p2")
        gangs.wait_running(cluster, *A1)
        cluster.wait("its group runs", lambda: gangs.phase(cluster, "job-a1") == "Running")


def test_nothing_is_taken_from_a_queue_that_gives_nothing_back(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        two_queues(cluster, "2", reclaimable=False)
        gangs.apply(cluster, *a1())
        gangs.wait_running(cluster, *A1)
        gangs.apply(cluster, *gangs.gang("job-p1", 2, {"cpu": "2"}, queue="production"))
        gangs.wait_why(cluster, "job-p1", "cpu", 'queue "research" holds cpu 4 beyond what it deserves, and gives nothing back')
        gangs.stays(cluster, "research keeps it", lambda: gangs.running(cluster) == A1)


def test_without_room_a_higher_priority_takes_its_place_within_its_queue(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, CONFIG)
        two_queues(cluster, "2")
        gangs.apply(cluster, gangs.priority_class("urgent", 100), gangs.group("loan", 1, "research", {"cpu": "1"}),
                    *[gangs.pod(f"loan-w-{i}", {"cpu": "1"}, group="loan") for i in range(3)],
                    *gangs.gang("job-p1", 2, {"cpu": "2"}, queue="production"))
        loan = [f"loan-w-{i}" for i in range(3)]
        gangs.wait_running(cluster, *loan, *P1)
        gangs.apply(cluster, *gangs.gang("job-p2", 1, {"cpu": "3"}, queue="production", priority="urgent"))
        gangs.wait_running(cluster, "job-p2-w-0", timeout=60)
        cluster.wait("all of job-p1 has gone, and nobody else", lambda: gangs.running(cluster) == ["job-p2-w-0", *loan])
        gangs.wait_evicted(cluster, P1[0], "because of preempt")


def test_a_configuration_with_a_pitfall_is_warned_about_and_a_wrong_one_is_refused(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        def told(reason, part):
            return lambda: any(e["reason"] == reason and part in e["message"]
                               for e in cluster.get("events", "-n", "volcano-system")["items"])
        gangs.configure(cluster, 'actions: "enqueue, allocate"\ntiers: [{plugins: [{name: capacity}, {name: predicates}]}]\n')
        cluster.wait("the missing gang is named", told("SchedulerConfigurationPitfall", 'plugin "gang" is missing'))
        cluster.wait("the missing reclaim is named", told("SchedulerConfigurationPitfall", 'action "reclaim" is missing'))
        gangs.configure(cluster, 'actions: "enqueue, alocate"\ntiers: [{plugins: [{name: gang}]}]\n')
        cluster.wait("the typo is named", told("InvalidSchedulerConfiguration", 'unknown action "alocate"'))
        gangs.apply(cluster, gangs.pod("goes-on", {"cpu": "1"}))
        gangs.wait_running(cluster, "goes-on")
