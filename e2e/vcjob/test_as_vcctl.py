"""What vcctl asks of the server, request by request: bodies and parameters as it sends them."""
import json

import gangs
import harness
import vcjobs

BATCH, BUS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"
QUEUES, GROUPS = "/apis/scheduling.volcano.sh/v1beta1/queues", "/apis/scheduling.volcano.sh/v1beta1/podgroups"
FLOW = "/apis/flow.volcano.sh/v1alpha1/namespaces/default"


def launched(name):
    """`job run`: Go writes its zero values."""
    amount = {"cpu": "1", "memory": "100Mi"}
    return {"kind": "Job", "apiVersion": "batch.volcano.sh/v1alpha1", "metadata": {"name": name, "namespace": "default", "creationTimestamp": None},
            "spec": {"schedulerName": "volcano", "minAvailable": 1, "tasks": [{"replicas": 2, "template": {
                "metadata": {"name": name, "creationTimestamp": None, "labels": {"job-name": name}},
                "spec": {"containers": [{"name": name, "image": "busybox", "resources": {"limits": amount, "requests": amount}, "imagePullPolicy": "IfNotPresent"}],
                         "restartPolicy": "Never"}}}]},
            "status": {"state": {"lastTransitionTime": None}}}


def command(about, kind, api_version, action):
    name = about["metadata"]["name"]
    target = {"apiVersion": api_version, "kind": kind, "name": name, "uid": about["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    space = about["metadata"].get("namespace")
    return {"metadata": {"generateName": f"{name}-{action.lower()}-", **({"namespace": space} if space else {}), "creationTimestamp": None,
                         "ownerReferences": [target]}, "action": action, "target": target}


def made(answer):
    status, body = answer
    assert status in (200, 201), body
    return body


def test_jobs_run_stop_and_go_on(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        http = harness.Http(cluster)
        made(http("POST", BATCH, launched("j")))
        vcjobs.wait_phase(cluster, "j", "Running")
        listed = made(http("GET", BATCH))["items"][0]
        assert listed["spec"]["queue"] == "default" and listed["spec"]["tasks"][0]["name"] == "default0"
        assert (listed["status"]["minAvailable"], listed["status"]["state"]["phase"]) == (1, "Running")
        cluster.wait("both run", lambda: vcjobs.status(cluster, "j").get("running") == 2)
        labelled = made(http("GET", "/api/v1/namespaces/default/pods?labelSelector=volcano.sh%2Fjob-name%3Dj"))["items"]
        assert {p["metadata"]["labels"]["volcano.sh/queue-name"] for p in labelled} == {"default"} and len(labelled) == 2
        for action, phase in (("AbortJob", "Aborted"), ("ResumeJob", "Running")):
            made(http("POST", BUS, command(made(http("GET", f"{BATCH}/j")), "Job", "batch.volcano.sh/v1alpha1", action)))
            vcjobs.wait_phase(cluster, "j", phase)
        made(http("DELETE", f"{BATCH}/j", {"kind": "DeleteOptions", "apiVersion": "batch.volcano.sh/v1alpha1"}))
        cluster.wait("job, pods and orders are gone",
                     lambda: not made(http("GET", BATCH))["items"] and not made(http("GET", BUS))["items"] and not cluster.get("pods")["items"])
        status, answer = http("DELETE", f"{BATCH}/j")
        assert (status, answer["message"]) == (404, 'jobs.batch.volcano.sh "j" not found')
        http.close()


def test_queues_close_open_and_change(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        http = harness.Http(cluster)
        made(http("POST", QUEUES, {"metadata": {"name": "q", "creationTimestamp": None}, "spec": {"weight": 3, "guarantee": {}},
                                   "status": {"state": "Open", "reservation": {}, "allocated": None}}))

        def queue():
            return made(http("GET", f"{QUEUES}/q"))

        cluster.wait("open", lambda: queue().get("status", {}).get("state") == "Open")
        for action, state in (("CloseQueue", "Closed"), ("OpenQueue", "Open"), ("CloseQueue", "Closed")):
            made(http("POST", BUS, command(queue(), "Queue", "scheduling.volcano.sh/v1beta1", action)))
            cluster.wait(state, lambda wanted=state: queue()["status"]["state"] == wanted)

        def told():
            return [(e["type"], e["message"], e.get("count", 1)) for e in cluster.get("events")["items"] if e["reason"] in ("CloseQueue", "OpenQueue")]
        cluster.wait("both closings are told", lambda: sum(count for _, _, count in told()) >= 2)
        assert sum(count for _, _, count in told()) == 2 and {t[:2] for t in told()} == {("Normal", "Close queue succeed")}
        made(http("PATCH", f"{QUEUES}/q", {"spec": {"weight": 5}}, "application/merge-patch+json"))
        assert queue()["spec"]["weight"] == 5
        assert made(http("GET", GROUPS))["items"] == []
        made(http("DELETE", f"{QUEUES}/q"))
        assert http("GET", f"{QUEUES}/q")[0] == 404
        status, answer = http("DELETE", f"{QUEUES}/default")
        assert status == 403 and "`default` queue can not be deleted" in answer["message"]
        http.close()


def test_flows_and_templates(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        http = harness.Http(cluster)
        for name in ("a", "b"):
            job = vcjobs.job(name, vcjobs.task("t", command="exit 0" if name == "a" else "sleep 3600"), least=1)
            made(http("POST", f"{FLOW}/jobtemplates", {"kind": "JobTemplate", "apiVersion": "flow.volcano.sh/v1alpha1", "metadata": {
                "name": name, "creationTimestamp": None}, "spec": job["spec"], "status": {}}))
        made(http("POST", f"{FLOW}/jobflows", {"kind": "JobFlow", "apiVersion": "flow.volcano.sh/v1alpha1", "metadata": {
            "name": "f", "namespace": "default", "creationTimestamp": None}, "spec": {"jobRetainPolicy": "delete", "flows": [
                {"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"], "probe": None}}]}, "status": {"state": {}}}))
        flow = cluster.wait("the second job runs", lambda: (lambda f: f.get("status", {}).get("runningJobs") == ["f-b"] and f)(
            made(http("GET", f"{FLOW}/jobflows/f"))))
        assert flow["status"]["completedJobs"] == ["f-a"] and flow["status"]["state"]["phase"] == "Running"
        assert [f["metadata"]["name"] for f in made(http("GET", f"{FLOW}/jobtemplates"))["items"]] == ["a", "b"]
        for path in ("jobflows/f", "jobtemplates/a", "jobtemplates/b"):
            made(http("DELETE", f"{FLOW}/{path}"))
        assert json.dumps(made(http("GET", f"{FLOW}/jobtemplates"))["items"]) == "[]"
        http.close()
