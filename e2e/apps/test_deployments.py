"""Deployments and ReplicaSets with the unmodified kubectl, on simulated nodes."""
import json


def names(cluster, namespace, what, selector="app=web"):
    return set(cluster.kubectl("get", what, "-n", namespace, "-l", selector, "-o", "name").split())


def test_create_expose_scale_and_get_all(simulated, namespace):
    n = ("-n", namespace)
    assert "deployment.apps/web created" in simulated.kubectl("create", "deploy", "web", "--image=nginx:1", "--port=80", "--replicas=3", *n)
    assert "successfully rolled out" in simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    header, row = simulated.kubectl("get", "deploy", "web", "-o", "wide", *n).splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"]
    cells = row.split()
    assert cells[:4] == ["web", "3/3", "3", "3"] and cells[5:] == ["nginx", "nginx:1", "app=web"]
    replica_set = simulated.get("rs", *n)["items"][0]
    cells = simulated.kubectl("get", "rs", "--no-headers", *n).split()
    assert cells[:4] == [replica_set["metadata"]["name"], "3", "3", "3"]

    simulated.kubectl("expose", "deploy", "web", "--port=8080", "--target-port=80", *n)
    addresses = simulated.wait("three endpoints", lambda: [
        a["ip"] for s in (simulated.get("endpoints", "web", *n) or {}).get("subsets", []) for a in s["addresses"]
    ] if len(names(simulated, namespace, "pods")) == 3 else None)
    simulated.wait("all of them", lambda: len(simulated.get("endpoints", "web", *n)["subsets"][0]["addresses"]) == 3)
    assert addresses
    assert simulated.get("endpoints", "web", *n)["subsets"][0]["ports"][0]["port"] == 80

    simulated.kubectl("scale", "deploy/web", "--replicas=5", *n)
    simulated.kubectl("wait", "--for=jsonpath={.status.availableReplicas}=5", "deploy/web", *n, "--timeout=60s")
    simulated.wait("endpoints follow", lambda: len(simulated.get("endpoints", "web", *n)["subsets"][0]["addresses"]) == 5)
    refused = simulated.kubectl_fails("scale", "deploy/web", "--current-replicas=3", "--replicas=1", *n)
    assert "Expected replicas to be 3, was 5" in refused
    simulated.kubectl("scale", "deploy/web", "--current-replicas=5", "--replicas=2", *n)
    simulated.wait("two are left", lambda: len(names(simulated, namespace, "pods")) == 2)

    everything = simulated.kubectl("get", "all", *n)
    for kind in ("pod/web-", "service/web", "deployment.apps/web", "replicaset.apps/web-"):
        assert kind in everything, everything
    described = simulated.wait("they are counted", lambda: (lambda text: text if (
        "2 desired | 2 updated | 2 total | 2 available | 0 unavailable" in text and "ScalingReplicaSet" in text) else None)(
        simulated.kubectl("describe", "deploy", "web", *n)))
    assert "RollingUpdateStrategy:  25% max unavailable, 25% max surge" in described, described
    assert "Controlled By:  Deployment/web" in simulated.kubectl("describe", "rs", *n)
    resources = simulated.kubectl("api-resources", "--api-group=apps", "--no-headers")
    assert "deploy" in resources and "rs" in resources

    simulated.kubectl("delete", "deploy", "web", *n)
    simulated.wait("all is gone", lambda: not names(simulated, namespace, "pods,rs"))


def test_a_deleted_pod_is_replaced(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "deploy", "web", "--image=nginx", "--replicas=2", *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    before = names(simulated, namespace, "pods")
    gone = sorted(before)[0]
    simulated.kubectl("delete", gone, *n)
    simulated.wait("a new one", lambda: len(names(simulated, namespace, "pods") - before) == 1)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    # A pod that is taken out of the selector lives on, and is replaced too.
    kept = sorted(names(simulated, namespace, "pods"))[0]
    simulated.kubectl("label", kept, "app=debug", "--overwrite", *n)
    simulated.wait("replaced", lambda: len(names(simulated, namespace, "pods")) == 2)
    simulated.wait("released", lambda: "ownerReferences" not in simulated.get(kept, *n)["metadata"])


def test_update_history_undo_pause_restart(simulated, namespace):
    n = ("-n", namespace)
    simulated.kubectl("create", "deploy", "web", "--image=nginx:1", "--replicas=4", *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    assert "image updated" in simulated.kubectl("set", "image", "deploy/web", "nginx=nginx:2", *n)
    simulated.kubectl("annotate", "deploy/web", "kubernetes.io/change-cause=second", *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    images = lambda: simulated.kubectl("get", "pods", *n, "-o", "jsonpath={.items[*].spec.containers[0].image}").split()  # noqa: E731
    simulated.wait("old pods are gone", lambda: images() == ["nginx:2"] * 4)
    history = lambda: simulated.kubectl("rollout", "history", "deploy/web", *n)  # noqa: E731
    simulated.wait("both are told of", lambda: (lambda text: "1         <none>" in text and "2         second" in text)(history()))
    assert "nginx:1" in simulated.kubectl("rollout", "history", "deploy/web", "--revision=1", *n)

    assert "rolled back" in simulated.kubectl("rollout", "undo", "deploy/web", *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    simulated.wait("back to the first", lambda: images() == ["nginx:1"] * 4)
    simulated.wait("the first is the third now", lambda: (lambda text: "2 " in text and "3 " in text and "\n1 " not in text)(history()))
    simulated.kubectl("rollout", "undo", "deploy/web", "--to-revision=2", *n)
    simulated.wait("to the second again", lambda: images() == ["nginx:2"] * 4)

    assert "paused" in simulated.kubectl("rollout", "pause", "deploy/web", *n)
    simulated.kubectl("set", "image", "deploy/web", "nginx=nginx:3", *n)
    conditions = lambda: {c["type"]: c["reason"] for c in simulated.get("deploy", "web", *n)["status"]["conditions"]}  # noqa: E731
    simulated.wait("it says so", lambda: conditions()["Progressing"] == "DeploymentPaused")
    assert set(images()) == {"nginx:2"}
    assert "resumed" in simulated.kubectl("rollout", "resume", "deploy/web", *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    simulated.wait("on to the third", lambda: images() == ["nginx:3"] * 4)
    simulated.wait("it says that all is done", lambda: conditions() == {
        "Available": "MinimumReplicasAvailable", "Progressing": "NewReplicaSetAvailable"})

    pods = names(simulated, namespace, "pods")
    assert "restarted" in simulated.kubectl("rollout", "restart", "deploy/web", *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    simulated.wait("all are new", lambda: len(names(simulated, namespace, "pods")) == 4
                   and not names(simulated, namespace, "pods") & pods)


def test_recreate_and_a_roll_out_that_cannot_go_on(simulated, namespace):
    n = ("-n", namespace)
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                "spec": {"replicas": 2, "strategy": {"type": "Recreate"},
                         "selector": {"matchLabels": {"app": "web"}},
                         "template": {"metadata": {"labels": {"app": "web"}},
                                      "spec": {"containers": [{"name": "c", "image": "one"}]}}}}
    simulated.apply(manifest, *n)
    assert "unchanged" in simulated.apply(manifest, *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "two"
    simulated.apply(manifest, *n)
    simulated.kubectl("rollout", "status", "deploy/web", *n, "--timeout=60s")
    manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "400"}}
    manifest["spec"]["progressDeadlineSeconds"] = 2
    simulated.apply(manifest, *n)
    err = simulated.kubectl_fails("rollout", "status", "deploy/web", *n, "--timeout=60s")
    assert 'deployment "web" exceeded its progress deadline' in err
    # Server-side checks in upstream's words.
    manifest["spec"]["selector"]["matchLabels"] = {"app": "other"}
    assert "field is immutable" in simulated.kubectl_fails("apply", "-f", "-", *n, stdin=json.dumps(manifest))


def test_a_gang_rolls_out_one_pod_after_the_other(simulated, namespace):
    """The new ReplicaSet asks for one pod first: its group waits for no more than that."""
    n = ("-n", namespace)
    container = {"name": "main", "image": "nginx:1", "resources": {"requests": {"cpu": "100m"}}}
    simulated.apply({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "gang", "namespace": namespace, "annotations": {"scheduling.volcano.sh/group-min-member": "3"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "gang"}},
                 "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                 "template": {"metadata": {"labels": {"app": "gang"}}, "spec": {"schedulerName": "volcano", "containers": [container]}}}})
    simulated.kubectl("rollout", "status", "deploy/gang", *n, "--timeout=60s")
    first = simulated.get("podgroups", *n)["items"]
    assert [group["spec"]["minMember"] for group in first] == [3]
    simulated.kubectl("set", "image", "deploy/gang", "main=nginx:2", *n)
    simulated.kubectl("rollout", "status", "deploy/gang", *n, "--timeout=60s")
    left = simulated.wait("one group is left, of three", lambda: (lambda groups: groups if [
        (g["spec"]["minMember"], g["spec"]["minResources"]["cpu"], g["spec"]["minResources"]["pods"]) for g in groups] == [
        (3, "300m", "3")] else None)(simulated.get("podgroups", *n)["items"]))
    assert left[0]["metadata"]["uid"] != first[0]["metadata"]["uid"]
