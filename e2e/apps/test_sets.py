"""StatefulSets and DaemonSets with the unmodified kubectl, on simulated nodes."""


def template(image="one", **spec):
    return {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def stateful_set(replicas, image="one", **spec):
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
            "spec": {"replicas": replicas, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
                     "template": template(image), **spec}}


def images(cluster, namespace):
    pods = cluster.get("pods", "-n", namespace, "-l", "app=db")["items"]
    return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in pods}


def test_stateful_set_from_creation_to_deletion(simulated, namespace):
    n = ("-n", namespace)
    simulated.apply(stateful_set(3), *n)
    assert "unchanged" in simulated.apply(stateful_set(3), *n)
    out = simulated.kubectl("rollout", "status", "sts/db", *n, "--timeout=60s")
    assert "statefulset rolling update complete 3 pods" in out or "partitioned roll out complete" in out, out
    assert images(simulated, namespace) == {f"db-{i}": "one" for i in range(3)}
    cells = simulated.kubectl("get", "sts", "--no-headers", "-o", "wide", *n).split()
    assert cells[:2] == ["db", "3/3"] and cells[3:] == ["c", "one"]
    first = simulated.get("pod", "db-0", *n)
    simulated.kubectl("delete", "pod", "db-0", "--wait=false", *n)
    simulated.wait("db-0 comes back", lambda: (simulated.get("pod", "db-0", *n) or first)["metadata"]["uid"] != first["metadata"]["uid"])

    simulated.apply(stateful_set(3, "two", updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}), *n)
    simulated.wait("only the last one", lambda: images(simulated, namespace) == {"db-0": "one", "db-1": "one", "db-2": "two"})
    simulated.apply(stateful_set(3, "two"), *n)
    simulated.kubectl("patch", "sts", "db", *n, "-p", '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}')
    simulated.kubectl("rollout", "status", "sts/db", *n, "--timeout=60s")
    assert set(images(simulated, namespace).values()) == {"two"}
    history = simulated.kubectl("rollout", "history", "sts/db", *n)
    assert "1 " in history and "2 " in history, history
    assert "one" in simulated.kubectl("rollout", "history", "sts/db", "--revision=1", *n)
    assert "rolled back" in simulated.kubectl("rollout", "undo", "sts/db", *n)
    simulated.wait("back to the first", lambda: set(images(simulated, namespace).values()) == {"one"})
    revisions = simulated.kubectl("get", "controllerrevisions", "--no-headers", *n)
    assert "statefulset.apps/db" in revisions, revisions

    simulated.kubectl("scale", "sts/db", "--replicas=1", *n)
    simulated.wait("the first is left", lambda: list(images(simulated, namespace)) == ["db-0"])
    assert "Pods Status:" in simulated.kubectl("describe", "sts", "db", *n)
    refused = simulated.kubectl_fails("patch", "sts", "db", *n, "-p", '{"spec":{"serviceName":"other"}}')
    assert "updates to statefulset spec for fields other than" in refused
    simulated.kubectl("delete", "sts", "db", "--cascade=orphan", *n)
    assert list(images(simulated, namespace)) == ["db-0"]
    simulated.apply(stateful_set(1), *n)
    simulated.wait("it is taken back", lambda: simulated.get("pod", "db-0", *n)["metadata"].get("ownerReferences"))
    simulated.kubectl("delete", "sts", "db", *n)
    simulated.wait("all is gone", lambda: not images(simulated, namespace))


def test_daemon_set_follows_the_nodes(simulated, namespace):
    n = ("-n", namespace)
    nodes = [i["metadata"]["name"] for i in simulated.get("nodes")["items"]]
    manifest = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "db"},
                "spec": {"selector": {"matchLabels": {"app": "db"}}, "template": template(),
                         "updateStrategy": {"rollingUpdate": {"maxUnavailable": "50%"}}}}
    simulated.apply(manifest, *n)
    simulated.kubectl("rollout", "status", "ds/db", *n, "--timeout=60s")
    pods = simulated.get("pods", *n)["items"]
    assert sorted(p["spec"]["nodeName"] for p in pods) == sorted(nodes)
    cells = simulated.kubectl("get", "ds", "--no-headers", *n).split()
    assert cells[:7] == ["db", *["10"] * 5, "<none>"], cells
    manifest["spec"]["template"]["spec"]["containers"][0]["image"] = "two"
    simulated.apply(manifest, *n)
    simulated.kubectl("rollout", "status", "ds/db", *n, "--timeout=60s")
    simulated.wait("all are new", lambda: len(images(simulated, namespace)) == 10 and set(images(simulated, namespace).values()) == {"two"})
    assert "rolled back" in simulated.kubectl("rollout", "undo", "ds/db", *n)
    simulated.wait("all are old", lambda: len(images(simulated, namespace)) == 10 and set(images(simulated, namespace).values()) == {"one"})
    simulated.kubectl("label", "node", nodes[0], "disk=ssd")
    simulated.kubectl("patch", "ds", "db", *n, "-p", '{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}')
    simulated.wait("one node is left", lambda: [p["spec"]["nodeName"] for p in simulated.get("pods", *n)["items"]] == [nodes[0]])
    simulated.kubectl("label", "node", nodes[0], "disk-")
    assert "Desired Number of Nodes Scheduled:" in simulated.kubectl("describe", "ds", "db", *n)
