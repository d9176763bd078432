"""Flags of Volcano's programs that the server takes under their names."""
import gangs
import harness
import vcjobs

PODS = {"cpu": "1"}


def started(directory, *flags, count=2):
    cluster = harness.Cluster(directory, "--runtime", "simulated", "--nodes", str(count), "--cpu", "4", "--memory", "16Gi", *flags)
    cluster.start()
    cluster.wait_nodes(count)
    return cluster


def log(cluster, part):
    return cluster.kubectl("logs", "-n", "volcano-system", f"deployment/{part}")


def test_another_scheduler_name_and_default_queue(tmp_path):
    cluster = started(tmp_path, "--scheduler-name", "gangs", "--default-queue", "lab", "--enable-queue-allocated-pods-check",
                      "--max-queue-depth", "1", "--enable-root-queue-protection=false")
    try:
        cluster.wait("the queue is made", lambda: cluster.get("queue", "lab")["status"].get("state") == "Open")
        gangs.apply(cluster, gangs.pod("plain", PODS, schedulerName="gangs"), gangs.pod("others", PODS, schedulerName="default-scheduler"),
                    gangs.pod("volcanos", PODS))
        job = vcjobs.job("j", vcjobs.task("w", 2), least=2)
        del job["spec"]["schedulerName"]
        gangs.apply(cluster, job)
        gangs.wait_running(cluster, "plain", "j-w-0", "j-w-1")
        spec = cluster.get("vcjob", "j")["spec"]
        assert (spec["queue"], spec["schedulerName"]) == ("lab", "gangs")
        cluster.wait("they count in the queue", lambda: cluster.get("queue", "lab")["status"]["allocated"].get("pods") == "3")
        for name in ("others", "volcanos"):
            assert "nodeName" not in cluster.get("pod", name)["spec"]
        gangs.apply(cluster, gangs.queue("busy"), gangs.pod("holds", PODS, queue="busy", schedulerName="gangs"))
        cluster.wait("it is told", lambda: cluster.get("queue", "busy")["status"].get("allocated", {}).get("pods") == "1")
        assert "cannot be deleted because it has allocated Pods: 1" in cluster.kubectl_fails("delete", "queue", "busy")
        assert "queue can not be deleted" in cluster.kubectl_fails("delete", "queue", "lab")
        gangs.apply(cluster, gangs.queue("top"))
        assert "maximum allowed depth of 1" in cluster.kubectl_fails("apply", "-f", "-", stdin=harness.json.dumps(gangs.queue("below", parent="top")))
        cluster.kubectl("patch", "queue", "root", "--type=merge", "-p", '{"spec":{"capability":{"cpu":"100"}}}')
    finally:
        cluster.stop()


def test_only_nodes_with_a_label(tmp_path):
    cluster = started(tmp_path, "--node-selector", "role:train")
    try:
        gangs.apply(cluster, gangs.pod("p", PODS))
        gangs.stays(cluster, "there is no node for it", lambda: "nodeName" not in cluster.get("pod", "p")["spec"], seconds=2)
        node = gangs.node_names(cluster)[1]
        cluster.kubectl("label", "node", node, "role=train")
        gangs.wait_running(cluster, "p")
        assert cluster.get("pod", "p")["spec"]["nodeName"] == node
        cluster.kubectl("label", "node", node, "role-")
        gangs.apply(cluster, gangs.pod("q", PODS))
        gangs.stays(cluster, "the node takes no more", lambda: "nodeName" not in cluster.get("pod", "q")["spec"], seconds=2)
    finally:
        cluster.stop()


def test_a_configuration_file_is_read_again(tmp_path):
    conf = tmp_path / "scheduler.conf"
    text = "actions: ACTIONS\ntiers: [{plugins: [{name: gang}, {name: predicates}]}]\n"
    conf.write_text(text.replace("ACTIONS", '"enqueue, backfill"'))
    cluster = started(tmp_path / "data", "--scheduler-conf", str(conf), count=1)
    try:
        gangs.apply(cluster, gangs.pod("p", PODS))
        gangs.stays(cluster, "nothing allocates", lambda: "nodeName" not in cluster.get("pod", "p")["spec"], seconds=2)
        conf.write_text(text.replace("ACTIONS", '"enqueue, alocate"'))
        cluster.wait("the mistake is told", lambda: any(
            "verdict=refused" in line and "alocate" in line for line in log(cluster, "volcano-scheduler").splitlines()))
        conf.write_text(text.replace("ACTIONS", '"enqueue, allocate"'))
        gangs.wait_running(cluster, "p")
    finally:
        cluster.stop()


def test_controllers_and_admission_have_logs(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        def shown(part, app):
            return cluster.get("deployment", part, "-n", "volcano-system")["metadata"]["labels"]["app"] == app
        cluster.wait("they show themselves", lambda: len(cluster.get("pods", "-n", "volcano-system")["items"]) == 3)
        cluster.wait("under Volcano's labels", lambda: shown("volcano-controllers", "volcano-controller") and shown(
            "volcano-admission", "volcano-admission"))
        gangs.apply(cluster, vcjobs.job("j", vcjobs.task("w", 1, "exit 0"), least=1))
        cluster.wait("it ends", lambda: vcjobs.status(cluster, "j").get("state", {}).get("phase") == "Completed")
        for phase in ("phase=Running before=Pending", "phase=Completed"):
            cluster.wait(phase, lambda: any("jobs.batch.volcano.sh/default/j " in line and phase in line
                                            for line in log(cluster, "volcano-controllers").splitlines()))
        gangs.apply(cluster, gangs.queue("q"))
        cluster.wait("queues too", lambda: "queues.scheduling.volcano.sh/q phase=Open" in log(cluster, "volcano-controllers"))
        cluster.kubectl_fails("apply", "-f", "-", stdin=harness.json.dumps(vcjobs.job("bad", vcjobs.task("w"), least=9)))
        cluster.wait("and refusals", lambda: "verdict=refused operation=create kind=Job object=default/bad" in log(cluster, "volcano-admission"))
