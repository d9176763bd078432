"""Queues as their users see them: caps, closing, deleting, bad ones; and what a waiting group is told."""
import gangs


def allocated(cluster, queue):
    return cluster.get("queue", queue)["status"].get("allocated", {})


def set_state(cluster, queue, state):
    cluster.kubectl("patch", "queue", queue, "--subresource=status", "--type=merge", "-p", f'{{"status":{{"state":"{state}"}}}}')


def test_admission_looks_only_at_what_a_job_asks_for(tmp_path):
    """VC-05."""
    with gangs.nodes(tmp_path, 1, 8, extended={"nvidia.com/gpu": 4}) as cluster:
        gangs.apply(cluster, *gangs.gang("gpu4", 4, {"cpu": "100m", "nvidia.com/gpu": "1"}))
        gangs.wait_running(cluster, *[f"gpu4-w-{i}" for i in range(4)])
        gangs.allocatable(cluster, gangs.node_names(cluster)[0], {"nvidia.com/gpu": 0})
        gangs.apply(cluster, gangs.group("gpu-more", 4, resources={"cpu": "400m", "nvidia.com/gpu": "4"}))
        gangs.apply(cluster, *gangs.gang("cpu-only", 1, {"cpu": "100m"}))
        gangs.wait_running(cluster, "cpu-only-w-0")
        text = gangs.wait_why(cluster, "gpu-more", "nvidia.com/gpu")
        assert "requested 4" in text and "cpu: " not in text, text
        assert gangs.phase(cluster, "gpu-more") == "Pending"
        cluster.wait("an event says so too", lambda: any(
            e["involvedObject"]["name"] == "gpu-more" and "nvidia.com/gpu" in e["message"] for e in cluster.get("events")["items"]))


def test_a_capability_caps_what_it_names_and_nothing_else(tmp_path):
    """VC-10."""
    with gangs.nodes(tmp_path, 1, 16, "32Gi", extended={"nvidia.com/gpu": 8, "example.com/nic": 4}) as cluster:
        gangs.apply(cluster, gangs.queue("capped", reclaimable=False, capability={"cpu": "16", "memory": "32Gi", "nvidia.com/gpu": 2}),
                    gangs.queue("none", capability={"nvidia.com/gpu": 0}))
        for name in ("g1", "g2", "g3", "g4"):
            gangs.apply(cluster, *gangs.gang(name, 1, {"cpu": "500m", "nvidia.com/gpu": "1"}, queue="capped"))
        gangs.apply(cluster, *gangs.gang("nic", 1, {"cpu": "500m", "example.com/nic": "1"}, queue="capped"))
        gangs.apply(cluster, *gangs.gang("zero", 1, {"cpu": "500m", "nvidia.com/gpu": "1"}, queue="none"))
        cluster.wait("two of g1..g4 and nic run", lambda: len(gangs.running(cluster)) == 3 and "nic-w-0" in gangs.running(cluster))
        gangs.stays(cluster, "no more than the cap", lambda: len([p for p in gangs.bound(cluster) if p.startswith("g")]) == 2)
        cluster.wait("the queue says 2", lambda: allocated(cluster, "capped").get("nvidia.com/gpu") == "2")
        gangs.drop(cluster, next(p for p in gangs.running(cluster) if p.startswith("g")).split("-")[0])
        cluster.wait("two again", lambda: len([p for p in gangs.running(cluster) if p.startswith("g")]) == 2)
        gangs.stays(cluster, "no more than the cap", lambda: len([p for p in gangs.bound(cluster) if p.startswith("g")]) == 2)
        waiting = next(g for g in ("g1", "g2", "g3", "g4") if cluster.get("podgroup", g) and f"{g}-w-0" not in gangs.bound(cluster))
        gangs.wait_why(cluster, waiting, 'queue "capped"', "nvidia.com/gpu", "requested 1", "2")
        assert "zero-w-0" not in gangs.bound(cluster)


def test_one_bad_queue_does_not_stop_the_scheduler(tmp_path):
    """VC-12, as far as queues are flat: what can never be right is refused, the rest goes on."""
    with gangs.nodes(tmp_path, 1, 8, "16Gi") as cluster:
        gangs.apply(cluster, gangs.queue("par", parent="root", capability={"cpu": "10", "memory": "10Gi"}))
        gangs.apply(cluster, gangs.queue("kid-nocpu", parent="par", capability={"memory": "5Gi"}))
        bad = {"loop": ({"parent": "loop"}, "parent"),
               "bad-order": ({"parent": "root", "capability": {"cpu": "4"}, "deserved": {"cpu": "8"}}, "cpu"),
               "bad-guar": ({"parent": "root", "guarantee": {"resource": {"cpu": "1"}}}, "cpu")}
        for name, (spec, word) in bad.items():
            error = cluster.kubectl_fails("apply", "-f", "-", stdin=gangs.harness.json.dumps(gangs.queue(name, **spec)))
            assert word in error and name in error, error
        gangs.apply(cluster, gangs.queue("zero", parent="root", deserved={"cpu": "1", "hugepages-1Gi": "0"}))
        for number, queue in enumerate(["default", "kid-nocpu", "zero"]):
            gangs.apply(cluster, *gangs.gang(f"probe{number}", 1, {"cpu": "1"}, queue=queue))
            gangs.wait_running(cluster, f"probe{number}-w-0")
        assert cluster.process.poll() is None


def test_closing_a_queue_stops_new_work_and_reopening_lets_it_run(tmp_path):
    """VC-23."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        gangs.apply(cluster, gangs.queue("door"), *gangs.gang("inside", 1, {"cpu": "100m"}, queue="door"))
        gangs.wait_running(cluster, "inside-w-0")
        set_state(cluster, "door", "Closed")
        cluster.wait("Closing while work is inside", lambda: cluster.get("queue", "door")["status"]["state"] == "Closing")
        gangs.apply(cluster, gangs.pod("bare", {"cpu": "100m"}, queue="door"))
        cluster.kubectl("label", "queue", "door", "colour=red")
        cluster.kubectl("patch", "queue", "door", "--type=merge", "-p", '{"spec":{"capability":{"cpu":"3"}}}')
        gangs.stays(cluster, "nothing new starts, the old goes on", lambda: gangs.running(cluster) == ["inside-w-0"])
        cluster.wait("bare says why", lambda: any('queue "door" is Clos' in c.get("message", "")
                                                  for c in cluster.get("pod", "bare")["status"].get("conditions", [])))
        cluster.kubectl("delete", "podgroup", "inside")
        cluster.kubectl("delete", "pod", "inside-w-0")
        cluster.wait("Closed when it is empty", lambda: cluster.get("queue", "door")["status"]["state"] == "Closed")
        gangs.stays(cluster, "bare waits", lambda: gangs.bound(cluster) == [], seconds=2)
        set_state(cluster, "door", "Open")
        gangs.wait_running(cluster, "bare")
        assert cluster.get("queue", "door")["status"]["state"] == "Open"


def test_default_root_and_parents_cannot_be_deleted(simulated, namespace):
    """VC-23, last point."""
    gangs.apply(simulated, gangs.queue("above"), gangs.queue("below", parent="above"))
    for name in ("default", "root", "above"):
        error = simulated.kubectl_fails("delete", "queue", name)
        assert name in error, error
    simulated.kubectl("delete", "queue", "below")
    simulated.kubectl("delete", "queue", "above")


def test_a_queue_made_again_knows_what_runs_in_it(tmp_path):
    """VC-24."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        lot = gangs.queue("lot", capability={"cpu": "2"})
        gangs.apply(cluster, lot, *gangs.gang("tenant", 2, {"cpu": "1"}, queue="lot"))
        gangs.wait_running(cluster, "tenant-w-0", "tenant-w-1")
        uids = [cluster.get("pod", f"tenant-w-{i}")["metadata"]["uid"] for i in (0, 1)]
        cluster.kubectl("delete", "queue", "lot")
        early = gangs.gang("early", 1, {"cpu": "1"}, queue="lot")
        assert "lot" in cluster.kubectl_fails("apply", "-f", "-", stdin=gangs.harness.json.dumps(early[0]))
        assert gangs.running(cluster) == ["tenant-w-0", "tenant-w-1"]
        gangs.apply(cluster, lot)
        cluster.wait("it knows", lambda: (lambda s: s.get("allocated", {}).get("cpu") == "2" and s.get("running") == 1)(
            cluster.get("queue", "lot")["status"]))
        gangs.apply(cluster, *early)
        gangs.wait_why(cluster, "early", 'queue "lot"', "requested 1", "limit 2")
        set_state(cluster, "lot", "Closed")
        cluster.wait("Closing", lambda: cluster.get("queue", "lot")["status"]["state"] == "Closing")
        assert [cluster.get("pod", f"tenant-w-{i}")["metadata"]["uid"] for i in (0, 1)] == uids
        cluster.kubectl("delete", "podgroup", "tenant", "early")
        cluster.kubectl("delete", "pod", "tenant-w-0", "tenant-w-1", "early-w-0")
        cluster.wait("Closed", lambda: cluster.get("queue", "lot")["status"]["state"] == "Closed")
