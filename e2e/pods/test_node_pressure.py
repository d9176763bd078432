"""A node that is short of something says so and takes no more pods."""
import pytest

import harness


def test_a_node_with_too_little_disk_is_tainted(tmp_path):
    cluster = harness.Cluster(tmp_path, "--stop-pods", "--eviction-hard", "nodefs.available<100%,memory.available<1Mi").start()
    try:
        def looked():
            """The node, when it has said how it is and nothing else keeps pods away."""
            node = cluster.get("nodes")["items"][0]
            ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"])
            return node if ready and [t["key"] for t in node["spec"]["taints"]] == ["node.kubernetes.io/disk-pressure"] else None
        node = cluster.wait("the node is tainted", looked)
        conditions = {c["type"]: c for c in node["status"]["conditions"]}
        disk = conditions["DiskPressure"]
        assert (disk["status"], disk["reason"], disk["message"]) == ("True", "KubeletHasDiskPressure", "kubelet has disk pressure")
        assert conditions["MemoryPressure"]["status"] == conditions["PIDPressure"]["status"] == "False"
        assert conditions["Ready"]["status"] == "True"
        assert [(t["key"], t["effect"]) for t in node["spec"]["taints"]] == [("node.kubernetes.io/disk-pressure", "NoSchedule")]
        cluster.kubectl("run", "waits", "--image=busybox:1.36", "--restart=Never", "--", "true")
        cluster.wait("the pod is told why it waits", condition=lambda: any(
            "disk-pressure" in c.get("message", "") for c in cluster.get("pod", "waits")["status"].get("conditions", [])))
        assert cluster.get("pod", "waits")["status"]["phase"] == "Pending"
    finally:
        cluster.stop()


@pytest.mark.parametrize("option, value", [
    ("--eviction-hard", "imagefs.available<1%"), ("--container-log-max-size", "1"), ("--pod-cidr", "10.88.0.0"), ("--cpu", "-1"),
    ("--memory", "lots")])
def test_a_nodes_option_that_cannot_be_read_is_refused_by_name_before_anything_starts(tmp_path, option, value):
    cluster = harness.Cluster(tmp_path, option, value)
    try:
        cluster.start()
    except AssertionError as refused:
        assert "ended with 1" in str(refused) and value in str(refused)
        assert "ready" not in cluster.log.read_text() and not cluster.kubeconfig.exists()
    else:
        cluster.stop()
        raise AssertionError("it should not have started")
