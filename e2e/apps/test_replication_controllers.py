"""ReplicationControllers with the unmodified kubectl, on simulated nodes."""


def controller(replicas, **spec):
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"},
            "spec": {"replicas": replicas, "template": {"metadata": {"labels": {"app": "old"}}, "spec": {
                "containers": [{"name": "c", "image": "one"}], **spec}}}}


def test_a_replication_controller_keeps_its_pods(simulated, namespace):
    n = ("-n", namespace)

    def running():
        pods = simulated.get("pods", "-l", "app=old", *n)["items"]
        return sorted(p["metadata"]["name"] for p in pods if p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"])

    simulated.apply(controller(2), *n)
    first = simulated.wait("two run", lambda: len(running()) == 2 and running())
    simulated.wait("they are counted", lambda: simulated.kubectl("get", "rc", "old", "--no-headers", *n).split()[:4] == ["old", "2", "2", "2"])
    simulated.kubectl("scale", "rc/old", "--replicas=3", *n)
    simulated.wait("three run", lambda: len(running()) == 3)
    simulated.kubectl("delete", "pod", first[0], *n)
    simulated.wait("it is replaced", lambda: len(running()) == 3 and first[0] not in running())
    simulated.wait("and counted", lambda: "3 current / 3 desired" in simulated.kubectl("describe", "rc", "old", *n))
    simulated.kubectl("delete", "rc", "old", "--cascade=orphan", *n)
    assert len(running()) == 3
    simulated.apply(controller(1), *n)
    simulated.wait("the orphans are taken, the surplus goes", lambda: len(running()) == 1)
    simulated.kubectl("delete", "rc", "old", *n)
    simulated.wait("all is gone", lambda: not simulated.get("pods", "-l", "app=old", *n)["items"])


def test_its_pods_are_grouped_for_volcano(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(controller(2, schedulerName="volcano"), *n)
    uid = simulated.get("rc", "old", *n)["metadata"]["uid"]
    group = simulated.wait("its group runs", lambda: (lambda g: g and g["status"].get("phase") == "Running" and g)(
        simulated.get("podgroup", f"podgroup-{uid}", *n)))
    assert group["spec"]["minMember"] == 1 and group["metadata"]["ownerReferences"][0]["kind"] == "ReplicationController"
    simulated.kubectl("delete", "rc", "old", *n)
