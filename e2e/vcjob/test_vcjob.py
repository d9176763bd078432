"""Volcano Jobs on simulated nodes: life, policies, orders, scaling, queues. VC-* names cases from the field."""
import json
import time

import gangs
import harness
import vcjobs
from vcjobs import job, policy, runs_for, task


def events(cluster, reason, name):
    return [e["message"] for e in cluster.get("events")["items"] if e["reason"] == reason and e["involvedObject"]["name"] == name]


def test_a_job_lives_from_pending_to_completed_and_says_so(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("first", task("w", 2, cpu="1", annotations=runs_for(20)), least=2, plugins={"env": [], "svc": [], "ssh": []}))
        vcjobs.wait_phase(cluster, "first", "Running")
        line = cluster.kubectl("get", "vcjob", "first", "-o", "wide").splitlines()
        assert line[0].split() == ["NAME", "STATUS", "MINAVAILABLE", "RUNNINGS", "AGE", "QUEUE"]
        assert line[1].split()[1:4] == ["Running", "2", "2"]
        group = vcjobs.group(cluster, "first")
        assert group["spec"]["minTaskMember"] == {"w": 2} and group["spec"]["minResources"]["cpu"] == "2"
        key = cluster.get("secret", "first-ssh")["data"]
        assert set(key) == {"id_rsa", "id_rsa.pub", "authorized_keys", "config"}
        assert cluster.get("service", "first")["spec"]["clusterIP"] == "None"
        vcjobs.wait_phase(cluster, "first", "Completed")
        assert vcjobs.phases(cluster, "first") == ["Pending", "Running", "Completed"]
        assert vcjobs.status(cluster, "first")["succeeded"] == 2
        cluster.wait("what the job needed is gone, its pods stay", lambda: vcjobs.group(cluster, "first") is None
                     and not cluster.get("secret", "first-ssh") and len(vcjobs.pods(cluster, "first")) == 2)
        cluster.kubectl("delete", "vcjob", "first")
        cluster.wait("the pods go with it", lambda: not cluster.get("pods")["items"])


def test_a_gang_that_does_not_fit_has_no_pods_and_says_why(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("big", task("w", 3, cpu="2"), least=3))
        cluster.wait("the job says why", lambda: events(cluster, "PodGroupPending", "big"))
        assert vcjobs.pods(cluster, "big") == {} and vcjobs.phase(cluster, "big") == "Pending"
        cluster.apply(job("small", task("w", 2, cpu="2"), least=2))
        vcjobs.wait_phase(cluster, "small", "Running")


def test_restarts_end_with_the_last_failure_kept(tmp_path):
    """VC-17: thrice."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("thrice", task("bad", annotations=runs_for(1, 7)), task("good"), least=2, maxRetry=3,
                          policies=[policy("RestartJob", "PodFailed")]))
        vcjobs.wait_phase(cluster, "thrice", "Failed", timeout=90)
        cluster.wait("only the failed pod is left", lambda: vcjobs.pods(cluster, "thrice") == {"thrice-bad-0": "Failed"}, timeout=45)
        assert vcjobs.status(cluster, "thrice")["retryCount"] == 3
        assert {"Pending", "Running", "Restarting"} <= set(vcjobs.phases(cluster, "thrice"))
        cluster.wait("an event tells of it", lambda: events(cluster, "ExecuteAction", "thrice"))


def test_suspended_and_resumed_five_times_it_runs(tmp_path):
    """VC-17: calm."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("calm", task("w", grace=1), least=1, maxRetry=3))
        for _ in range(5):
            vcjobs.wait_phase(cluster, "calm", "Running")
            vcjobs.order(cluster, "calm", "AbortJob")
            vcjobs.wait_phase(cluster, "calm", "Aborted")
            cluster.wait("its group is gone", lambda: vcjobs.group(cluster, "calm") is None)
            vcjobs.order(cluster, "calm", "ResumeJob")
        vcjobs.wait_phase(cluster, "calm", "Running")
        assert vcjobs.status(cluster, "calm").get("retryCount", 0) == 0
        cluster.wait("no order is left", lambda: cluster.get("commands")["items"] == [])


def test_the_leading_task_completes_the_job(tmp_path):
    """VC-19."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        for name, retries in (("lead", 3), ("lead1", 1)):
            driver = task("driver", annotations=runs_for(3), policies=[policy("CompleteJob", "TaskCompleted")])
            cluster.apply(job(name, driver, task("worker", 2, grace=2), least=3, maxRetry=retries,
                              policies=[policy("RestartJob", "PodEvicted"), policy("TerminateJob", "PodFailed")]))
        for name in ("lead", "lead1"):
            vcjobs.wait_phase(cluster, name, "Completed")
            cluster.wait("only the driver is left", lambda name=name: vcjobs.pods(cluster, name) == {f"{name}-driver-0": "Succeeded"})
            assert "Completing" in vcjobs.phases(cluster, name) and "Restarting" not in vcjobs.phases(cluster, name)


def test_tasks_wait_for_others(tmp_path):
    """VC-21; the readiness of `ready` is with real processes."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("chain", task("prep", annotations=runs_for(2)),
                          task("train", 2, annotations=runs_for(2), dependsOn={"name": ["prep"]}), least=1))
        cluster.apply(job("two-of", task("first"), task("never", cpu="1000"),
                          task("third", dependsOn={"name": ["first", "never"], "iteration": "any"}), least=1))
        vcjobs.wait_phase(cluster, "chain", "Completed")
        prep, train = (cluster.get("pod", f"chain-{name}-0") for name in ("prep", "train"))
        started = prep["status"]["containerStatuses"][0]["state"]["terminated"]["startedAt"]
        assert train["metadata"]["creationTimestamp"] >= started
        cluster.wait("third runs", lambda: vcjobs.pods(cluster, "two-of").get("two-of-third-0") == "Running")
        assert vcjobs.pods(cluster, "two-of")["two-of-never-0"] == "Pending"
        ring = job("ring", task("a", dependsOn={"name": ["b"]}), task("b", dependsOn={"name": ["a"]}), least=1)
        assert "directed acyclic graph" in cluster.kubectl_fails("apply", "-f", "-", stdin=gangs.harness.json.dumps(ring))


def test_elastic_jobs_are_scaled_in_place(tmp_path):
    """VC-28."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("pad", task("w", cpu="1"), least=1))
        vcjobs.wait_phase(cluster, "pad", "Running")
        cluster.apply(job("el", task("w", 6, cpu="1", minAvailable=2, grace=1), least=2, policies=[policy("RestartJob", "PodEvicted")]))
        cluster.wait("three run, three wait", lambda: sorted(vcjobs.pods(cluster, "el").values()) == ["Pending"] * 3 + ["Running"] * 3)
        vcjobs.wait_phase(cluster, "el", "Running")
        assert vcjobs.group(cluster, "el")["spec"]["minResources"]["cpu"] == "2"
        uids = [cluster.get("pod", f"el-w-{i}")["metadata"]["uid"] for i in (0, 1)]

        def scale(replicas):
            cluster.kubectl("patch", "vcjob", "el", "--type=json", "-p", gangs.harness.json.dumps(
                [{"op": "replace", "path": "/spec/tasks/0/replicas", "value": replicas},
                 {"op": "replace", "path": "/spec/minAvailable", "value": 2}]))

        scale(2)
        cluster.wait("the highest indexes are gone", lambda: sorted(vcjobs.pods(cluster, "el")) == ["el-w-0", "el-w-1"])
        assert [cluster.get("pod", f"el-w-{i}")["metadata"]["uid"] for i in (0, 1)] == uids
        status = vcjobs.status(cluster, "el")
        assert status["state"]["phase"] == "Running" and status.get("retryCount", 0) == 0
        scale(4)
        cluster.wait("two more", lambda: sorted(vcjobs.pods(cluster, "el")) == [f"el-w-{i}" for i in range(4)])
        cluster.wait("the counts add up", lambda: (lambda s: s.get("running", 0) + s.get("pending", 0) == 4)(vcjobs.status(cluster, "el")))
        refused = cluster.kubectl_fails("patch", "vcjob", "el", "--type=json", "-p", gangs.harness.json.dumps(
            [{"op": "replace", "path": "/spec/tasks/0/template/spec/containers/0/image", "value": "other"}]))
        assert "job updates may not change fields other than" in refused


def test_what_has_succeeded_is_not_done_again(tmp_path):
    """VC-29, second copy."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("mix", task("short", 2, annotations=runs_for(1)), task("long", annotations=runs_for(20)), least=1))
        cluster.wait("both short ones are done", lambda: vcjobs.status(cluster, "mix").get("succeeded") == 2)
        cluster.kubectl("delete", "pod", "mix-short-0")
        cluster.wait("the pod is gone and counted", lambda: "mix-short-0" not in vcjobs.pods(cluster, "mix")
                     and vcjobs.status(cluster, "mix").get("succeeded") == 2)
        cluster.kubectl("delete", "pod", "mix-long-0", "--grace-period=0", "--force")
        cluster.wait("what had not is", lambda: vcjobs.pods(cluster, "mix").get("mix-long-0") == "Running")
        vcjobs.wait_phase(cluster, "mix", "Completed")
        assert "mix-short-0" not in vcjobs.pods(cluster, "mix")


def test_what_is_left_of_a_gang_is_a_gang_of_its_own(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("left", task("a", annotations=runs_for(1)), task("b", grace=0), least=2, policies=[policy("RestartJob", "Unknown")]))
        cluster.wait("one is done", lambda: vcjobs.pods(cluster, "left") == {"left-a-0": "Succeeded", "left-b-0": "Running"})
        uid = cluster.get("pod", "left-b-0")["metadata"]["uid"]
        cluster.kubectl("delete", "pod", "left-a-0")
        cluster.wait("its group asks for less", lambda: vcjobs.group(cluster, "left")["spec"]["minMember"] == 1)
        assert vcjobs.group(cluster, "left")["spec"]["minTaskMember"] == {"a": 0, "b": 1}
        time.sleep(2)
        assert vcjobs.group(cluster, "left")["status"]["phase"] == "Running"
        assert vcjobs.status(cluster, "left").get("retryCount", 0) == 0
        assert cluster.get("pod", "left-b-0")["metadata"]["uid"] == uid
        cluster.kubectl("patch", "vcjob", "left", "--type=merge", "-p", '{"metadata":{"annotations":{"seen":"yes"}}}')
        cluster.kubectl("delete", "pod", "left-b-0", "--force", "--grace-period=0")
        cluster.wait("the rest runs again", lambda: vcjobs.pods(cluster, "left") == {"left-b-0": "Running"}
                     and cluster.get("pod", "left-b-0")["metadata"]["uid"] != uid)


def test_a_partition_that_there_is_not_is_not_restarted(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("whole", task("a", annotations=runs_for(1, 3)), task("b"), least=1, maxRetry=2,
                          policies=[policy("RestartPartition", "PodFailed")]))
        cluster.wait("one has failed", lambda: vcjobs.pods(cluster, "whole").get("whole-a-0") == "Failed")
        vcjobs.wait_phase(cluster, "whole", "Running")
        uid = cluster.get("pod", "whole-b-0")["metadata"]["uid"]
        time.sleep(1)
        assert vcjobs.phase(cluster, "whole") == "Running" and vcjobs.status(cluster, "whole").get("retryCount", 0) == 0
        assert cluster.get("pod", "whole-b-0")["metadata"]["uid"] == uid


def test_after_the_last_try_the_failed_pod_stays_whatever_was_to_restart(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        for action in ("RestartTask", "RestartPod"):
            name = action.lower()
            cluster.apply(job(name, task("bad", annotations=runs_for(1, 7)), task("good"), least=2, maxRetry=2,
                              policies=[policy(action, "PodFailed")]))
            cluster.wait("it has used up its tries", lambda: vcjobs.phase(cluster, name) == "Failed", timeout=60)
            cluster.wait("only what failed is left", lambda: vcjobs.pods(cluster, name) == {f"{name}-bad-0": "Failed"})
            cluster.wait("and counted", lambda: (lambda s: (s["retryCount"], s["failed"]) == (2, 1))(vcjobs.status(cluster, name)))


def test_who_reads_a_job_into_types_of_his_own_may_name_its_claims(tmp_path):
    """As Volcano's controller does it: the job comes back in other words, with the name of the claim it made."""
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--controllers=*,-vcjob")
    cluster.start()
    try:
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}
        cluster.apply(job("disk", task("w", cpu=""), least=1, volumes=[{"mountPath": "/data", "volumeClaim": claim}],
                          policies=[policy("RestartJob", "PodFailed", timeout="60s")]))
        stored = cluster.get("vcjob", "disk")
        volume = stored["spec"]["volumes"][0]
        volume["volumeClaimName"] = "disk-volume-0a1b2c"
        volume["volumeClaim"]["resources"]["requests"]["storage"] = "1Gi"
        stored["spec"]["policies"][0]["timeout"] = "1m0s"
        stored["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = {}
        stored["spec"]["tasks"][0]["template"]["metadata"] = {"labels": {}}
        cluster.kubectl("replace", "-f", "-", stdin=json.dumps(stored))
        assert cluster.get("vcjob", "disk")["spec"]["volumes"][0]["volumeClaimName"] == "disk-volume-0a1b2c"
        volume["mountPath"] = "/elsewhere"
        stored["metadata"].pop("resourceVersion")
        assert "job updates may not change fields other than" in cluster.kubectl_fails("replace", "-f", "-", stdin=json.dumps(stored))
    finally:
        cluster.stop()


def test_waiting_jobs_change_places_with_their_priority(tmp_path):
    """VC-30."""
    with gangs.nodes(tmp_path, 1, 2) as cluster:
        gangs.apply(cluster, gangs.priority_class("p-high", 100), gangs.priority_class("p-low", 10))
        cluster.apply(job("now", task("w", cpu="2", grace=1), least=1))
        vcjobs.wait_phase(cluster, "now", "Running")
        for name in ("w1", "w2"):
            cluster.apply(job(name, task("w", cpu="2", grace=1), least=1, priorityClassName="p-low"))
        cluster.kubectl("patch", "vcjob", "w2", "--type=merge", "-p", '{"spec":{"priorityClassName":"p-high"}}')
        cluster.wait("the group follows", lambda: vcjobs.group(cluster, "w2")["spec"].get("priorityClassName") == "p-high")
        cluster.kubectl("delete", "vcjob", "now")
        vcjobs.wait_phase(cluster, "w2", "Running", timeout=gangs.SOON)
        assert vcjobs.phase(cluster, "w1") == "Pending"
        cluster.kubectl("delete", "vcjob", "w2")
        vcjobs.wait_phase(cluster, "w1", "Running", timeout=gangs.SOON)
        gangs.apply(cluster, gangs.pod("solo", {"cpu": "1"}, priorityClassName="p-high"))
        cluster.wait("a bare pod has a group", lambda: cluster.get("pod", "solo")["metadata"]["annotations"].get("scheduling.k8s.io/group-name"))
        solo = cluster.get("pod", "solo")["metadata"]
        assert solo["annotations"]["scheduling.k8s.io/group-name"] == f"podgroup-{solo['uid']}"
        cluster.wait("of its class", lambda: cluster.get("podgroup", f"podgroup-{solo['uid']}")["spec"]["priorityClassName"] == "p-high")


def test_jobs_in_queues_that_close_and_come_back(tmp_path):
    """VC-23 and VC-24 with jobs."""
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        def state(name):
            return (cluster.get("queue", name) or {}).get("status", {}).get("state")

        def command(name, action):
            uid = cluster.get("queue", name)["metadata"]["uid"]
            cluster.kubectl("create", "-f", "-", stdin=gangs.harness.json.dumps({
                "apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"generateName": f"{name}-"},
                "target": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": name, "uid": uid}, "action": action}))

        gangs.apply(cluster, gangs.queue("door"), gangs.queue("lot", capability={"cpu": "2"}))
        cluster.wait("both are open", lambda: state("door") == state("lot") == "Open")
        cluster.apply(job("inside", task("w", grace=1), least=1, queue="door"))
        cluster.apply(job("tenant", task("w", 2, cpu="1", grace=1), least=2, queue="lot"))
        vcjobs.wait_phase(cluster, "inside", "Running")
        vcjobs.wait_phase(cluster, "tenant", "Running")
        command("door", "CloseQueue")
        cluster.wait("closing", lambda: state("door") == "Closing")
        late = job("late", task("w"), least=1, queue="door")
        assert "state `Open`" in cluster.kubectl_fails("apply", "-f", "-", stdin=gangs.harness.json.dumps(late))
        cluster.kubectl("delete", "vcjob", "inside")
        cluster.wait("closed", lambda: state("door") == "Closed")
        command("door", "OpenQueue")
        cluster.wait("open again", lambda: state("door") == "Open")
        cluster.kubectl("delete", "queue", "lot")
        assert "unable to find job queue" in cluster.kubectl_fails(
            "apply", "-f", "-", stdin=gangs.harness.json.dumps(job("more", task("w", cpu="1"), least=1, queue="lot")))
        gangs.apply(cluster, gangs.queue("lot", capability={"cpu": "2"}))
        cluster.wait("it knows what runs in it", lambda: (lambda s: s.get("allocated", {}).get("cpu") == "2" and s.get("running") == 1)(
            (cluster.get("queue", "lot") or {}).get("status", {})))
        assert vcjobs.phase(cluster, "tenant") == "Running"
        cluster.apply(job("more", task("w", cpu="1"), least=1, queue="lot"))
        gangs.stays(cluster, "the cap holds", lambda: vcjobs.phase(cluster, "more") == "Pending")
        command("lot", "CloseQueue")
        cluster.wait("closing", lambda: state("lot") == "Closing")
        cluster.kubectl("delete", "vcjob", "tenant", "more")
        cluster.wait("closed", lambda: state("lot") == "Closed")


def test_jobs_survive_a_restart_of_the_server(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.apply(job("stays", task("w", 2), least=2, policies=[policy("RestartJob", "PodEvicted")]))
        vcjobs.wait_phase(cluster, "stays", "Running")
        uids = {p["metadata"]["uid"] for p in cluster.get("pods")["items"]}
        cluster.kill()
        cluster.start()
        gangs.stays(cluster, "it goes on as it was", lambda: vcjobs.phase(cluster, "stays") == "Running")
        assert {p["metadata"]["uid"] for p in cluster.get("pods")["items"]} == uids
        assert vcjobs.status(cluster, "stays").get("retryCount", 0) == 0


def test_times_that_cannot_be_read_are_refused(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        odd = job("odd", task("w"), least=1, policies=[policy("AbortJob", "PodFailed", timeout="5x")])
        refused = cluster.kubectl_fails("apply", "-f", "-", stdin=json.dumps(odd))
        assert 'spec.policies[0].timeout: Invalid value: "5x": time: unknown unit "x" in duration "5x"' in refused, refused


def test_who_is_evicted_by_the_scheduler_uses_up_no_retry_however_fast_he_goes(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        gangs.configure(cluster, """
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: capacity}, {name: predicates}, {name: nodeorder}]
""")
        gangs.apply(cluster, gangs.queue("low", deserved={"cpu": "2"}), gangs.queue("high", deserved={"cpu": "6"}))
        cluster.apply(job("victim", task("w", 8, cpu="1", grace=0), least=8, queue="low", maxRetry=3,
                          policies=[policy("RestartJob", "PodEvicted")]))
        vcjobs.wait_phase(cluster, "victim", "Running")
        cluster.apply(job("claimant", task("w", 4, cpu="1", grace=0), least=4, queue="high"))
        vcjobs.wait_phase(cluster, "claimant", "Running")
        cluster.wait("it was restarted", lambda: vcjobs.status(cluster, "victim").get("version") == 1)
        assert "retryCount" not in vcjobs.status(cluster, "victim"), cluster.dump()


def test_what_a_runtime_class_adds_is_asked_for_from_the_start(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        cluster.apply({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "box"}, "handler": "box",
                       "overhead": {"podFixed": {"cpu": "3"}}})
        cluster.apply(job("boxed", task("w", 2, cpu="1", pod={"runtimeClassName": "box"}), least=2))
        vcjobs.wait_phase(cluster, "boxed", "Running")
        assert vcjobs.group(cluster, "boxed")["spec"]["minResources"]["cpu"] == "8"
        pods = cluster.get("pods")["items"]
        assert [pod["spec"]["overhead"] for pod in pods] == [{"cpu": "3"}] * 2


def test_a_quota_that_lets_some_pods_be_made_is_no_secret(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": "3"}}})
        cluster.wait("the quota is counted", lambda: (cluster.get("quota", "q").get("status") or {}).get("used"))
        cluster.apply(job("part", task("w", 5, cpu="1"), least=2))
        vcjobs.wait_phase(cluster, "part", "Running")
        cluster.wait("three run", lambda: vcjobs.status(cluster, "part").get("running") == 3)
        cluster.wait("an event says why", lambda: any("exceeded quota" in message for message in events(cluster, "FailedCreate", "part")))
        cluster.kubectl("delete", "quota", "q")
        cluster.wait("all run", lambda: vcjobs.status(cluster, "part").get("running") == 5, timeout=90)
