"""`--controllers` and `--scheduler=off`: somebody else's controllers and scheduler do the work, as clients."""
import json
import subprocess

import harness


def test_what_is_switched_off_does_nothing(tmp_path):
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--controllers=-job,-rayjob", "--scheduler=off")
    cluster.start()
    try:
        cluster.wait_nodes(1)
        cluster.kubectl("create", "job", "idle", "--image=busybox:1.36", "--", "true")
        cluster.kubectl("create", "deployment", "web", "--image=busybox:1.36")
        cluster.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "busybox:1.36"}]}}))
        cluster.wait("the Deployment's pod", lambda: cluster.get("pods", "-l", "app=web")["items"])
        assert cluster.get("pods", "-l", "job-name=idle")["items"] == []
        assert not cluster.get("job", "idle").get("status")
        assert not cluster.get("pod", "p")["spec"].get("nodeName")
        http = harness.Http(cluster)
        node = cluster.get("nodes")["items"][0]["metadata"]["name"]
        http("POST", "/api/v1/namespaces/default/pods/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
                                                                   "target": {"kind": "Node", "name": node}})
        http.close()
        cluster.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=30s")
    finally:
        cluster.stop()


def test_a_controller_that_there_is_not_is_refused_by_name(tmp_path):
    done = subprocess.run([harness.BINARY, "dev", "--data-dir", str(tmp_path / "data"), "--listen", f"127.0.0.1:{harness.free_port()}",
                           "--runtime", "simulated", "--controllers=-rayjbo"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert 'there is no controller "rayjbo"; there are ' in done.stderr + done.stdout


def test_volcanos_own_controllers_find_what_they_look_for(tmp_path):
    """Queues that its scheduler makes for them, and pods without a group: it makes no group for a pod that names one."""
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--controllers=*,-vc-controller-manager")
    cluster.start()
    try:
        cluster.wait("the first two queues", lambda: {q["metadata"]["name"] for q in cluster.get("queues")["items"]} == {"root", "default"})
        labels = {"app": "gang"}
        cluster.apply({"apiVersion": "apps/v1", "kind": "Deployment",
                       "metadata": {"name": "gang", "annotations": {"scheduling.volcano.sh/group-min-member": "2"}},
                       "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
                           "schedulerName": "volcano", "containers": [{"name": "c", "image": "busybox:1.36"}]}}}})
        pods = cluster.wait("its pods", lambda: cluster.get("pods", "-l", "app=gang")["items"])
        assert all("scheduling.k8s.io/group-name" not in p["metadata"].get("annotations", {}) for p in pods)
    finally:
        cluster.stop()


def test_a_controller_of_others_sets_the_state_of_a_queue_alone(tmp_path):
    """Volcano's own applies `status.state` and nothing else, to a queue that has no status yet."""
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--controllers=-queue", "--scheduler=off")
    cluster.start()
    try:
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "theirs"}}
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(queue))
        assert "allocated" not in cluster.get("queue", "theirs").get("status", {})
        cluster.kubectl("apply", "--server-side", "--subresource=status", "--field-manager=vc-controller-manager", "-f", "-",
                        stdin=json.dumps({**queue, "status": {"state": "Open"}}))
        assert cluster.get("queue", "theirs")["status"]["state"] == "Open"
        assert "status.pending in body should be greater than or equal to 0" in cluster.kubectl_fails(
            "patch", "queue", "theirs", "--subresource=status", "--type=merge", "-p", '{"status": {"pending": -1}}')
    finally:
        cluster.stop()


def test_the_scheduler_makes_the_queues_it_starts_from(tmp_path):
    """As Volcano's does: whoever keeps the queues need not make them."""
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1", "--controllers=-queue")
    cluster.start()
    try:
        cluster.wait("the first queues", lambda: {"root", "default"} <= {queue["metadata"]["name"] for queue in cluster.get("queues")["items"]})
    finally:
        cluster.stop()
