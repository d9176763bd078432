"""What RayClusters become, read from pods and services; on simulated nodes, no Ray runs."""
import collections
import json
import re
import subprocess

import pytest

import gangs
from watching import Watch


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    with gangs.nodes(tmp_path_factory.mktemp("krater"), 1, 64, "256Gi") as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(big):
    yield
    big.kubectl("delete", "rayjobs,rayclusters", "--all", "--timeout=60s")
    big.wait("their pods are gone", lambda: big.get("pods")["items"] == [])


def template(name, cpu="500m", memory="512Mi", **container):
    return {"spec": {"containers": [{"name": name, "image": "rayproject/ray:2.9.0",
                                     "resources": {"limits": {"cpu": cpu, "memory": memory}}, **container}]}}


def ray_cluster(name, replicas=1, head=None, workers=None, params=None, **metadata):
    group = {"groupName": "wg", "replicas": replicas, "minReplicas": 0, "maxReplicas": 10, "rayStartParams": {}, "template": template("ray-worker")}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name, **metadata},
            "spec": {"headGroupSpec": {"rayStartParams": params or {}, "template": head or template("ray-head")},
                     "workerGroupSpecs": workers if workers is not None else [group]}}


def ray_job(name, **spec):
    cluster = ray_cluster("unused")["spec"]
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name},
            "spec": {"entrypoint": "true", "rayClusterSpec": cluster, **spec}}


def pods_of(cluster, name, **labels):
    selector = ",".join([f"ray.io/cluster={name}", *[f"ray.io/{k}={v}" for k, v in labels.items()]])
    return cluster.get("pods", "-l", selector)["items"]


def start_command(pod):
    env = {e["name"]: e.get("value", "") for e in pod["spec"]["containers"][0]["env"]}
    return env["KUBERAY_GEN_RAY_START_CMD"]


def wait_pods(cluster, name, count):
    return cluster.wait(f"{count} pods of {name}", lambda: (lambda p: p if len(p) == count else None)(pods_of(cluster, name)))


LABEL = re.compile(r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")


def test_long_and_odd_names_have_clear_limits(big):
    """KR-12."""
    name = "a" * 53
    gangs.apply(big, ray_cluster(name))
    wait_pods(big, name, 2)
    big.wait("it is ready", lambda: big.get("raycluster", name).get("status", {}).get("state") == "ready")
    services = [s["metadata"]["name"] for s in big.get("services", "-l", f"ray.io/cluster={name}")["items"]]
    assert services == [f"{name}-head-svc"]
    for pod in pods_of(big, name):
        metadata = pod["metadata"]
        assert len(metadata["name"]) <= 63
        for key, value in metadata["labels"].items():
            assert len(value) <= 63 and LABEL.match(value) and len(key.split("/")[-1]) <= 63, (key, value)
    head = pods_of(big, name, **{"node-type": "head"})[0]["metadata"]["name"]
    assert head.startswith("a" * 50 + "-head-"), head
    job = "a" * 47
    gangs.apply(big, ray_job(job))
    child = big.wait("the job has a cluster", lambda: big.get("rayjob", job).get("status", {}).get("rayClusterName"))
    assert re.fullmatch(job + r"-[a-z0-9]{5}", child), child
    wait_pods(big, child, 2)
    for kind, made in (("raycluster", ray_cluster("a" * 54)), ("rayjob", ray_job("a" * 48)),
                       ("raycluster", ray_cluster("9lives")), ("raycluster", ray_cluster("my.cluster"))):
        refused_or_told(big, kind, made, {"raycluster": "53", "rayjob": "47"}[kind] if "aaa" in made["metadata"]["name"] else "DNS-1035")


def refused_or_told(cluster, kind, made, word):
    name = made["metadata"]["name"]
    code, _, error = cluster.try_kubectl("apply", "-f", "-", stdin=json.dumps(made))
    if code != 0:
        assert word.lower() in error.lower() or word.replace("-", " ").lower() in error.lower(), error
        return
    text = cluster.wait(f"{kind} {name} is told", lambda: [
        e["message"] for e in cluster.get("events")["items"]
        if e["involvedObject"]["name"] == name and e["type"] == "Warning" and word.lower() in e["message"].lower()])
    assert text
    assert pods_of(cluster, name) == [] if len(name) <= 63 else True


def test_scaling_by_one_touches_one_pod(big):
    """KR-13."""
    watch = Watch(big, "pods", "default", "-l", "ray.io/group=wg,ray.io/cluster")

    def seen():
        """What was added, and what began to end."""
        told = [o["metadata"] for _, _, o in watch.seen()]
        return {one["uid"] for one in told}, {one["uid"] for one in told if one.get("deletionTimestamp")}
    try:
        gangs.apply(big, ray_cluster("steady", replicas=5))

        def live_workers():
            return {p["metadata"]["uid"] for p in pods_of(big, "steady", **{"node-type": "worker"}) if not p["metadata"].get("deletionTimestamp")}

        def all_run(count):
            return big.wait(f"{count} workers run", condition=lambda: (lambda w: w if len(w) == count and all(
                p["status"].get("phase") == "Running" for p in pods_of(big, "steady")) else None)(live_workers()))

        before = all_run(5)
        big.wait("the watch has seen them", lambda: len(seen()[0]) >= 5)
        assert seen() == (before, set())
        for target in (4, 3, 6):
            added, ended = seen()
            big.kubectl("patch", "raycluster", "steady", "--type=json", "-p",
                        json.dumps([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": target}]))
            after = all_run(target)
            gangs.stays(big, "nothing more happens", lambda: live_workers() == after, seconds=2)
            fewer, more = max(len(before) - target, 0), max(target - len(before), 0)
            big.wait("the watch has seen it", lambda: len(seen()[0] - added) >= more and len(seen()[1] - ended) >= fewer)
            now_added, now_ended = seen()
            assert (len(now_added - added), len(now_ended - ended)) == (more, fewer)
            assert before <= after if more else after <= before
            before = after
        gangs.apply(big, *[ray_cluster(f"steady-{i}", replicas=2) for i in range(10)])
        big.wait("twenty more workers run", timeout=60, condition=lambda: sum(
            p["status"].get("phase") == "Running" and p["metadata"]["labels"]["ray.io/cluster"].startswith("steady-")
            for p in big.get("pods", "-l", "ray.io/group=wg")["items"]) == 20)
        gangs.stays(big, "nothing more happens", lambda: True, seconds=2)
        big.wait("the watch has seen them", lambda: len(seen()[0] - added - after) >= 20)
        now_added, now_ended = seen()
        assert len(now_added - added - after) == 20 and len(now_ended) == 2
        counts = collections.Counter(p["metadata"]["labels"]["ray.io/cluster"] for p in big.get("pods", "-l", "ray.io/node-type=head")["items"])
        assert set(counts.values()) == {1} and len(counts) == 11
    finally:
        watch.stop()


def test_odd_start_parameters(big):
    """KR-17."""
    worker = {"groupName": "npu", "replicas": 1, "minReplicas": 0, "maxReplicas": 1, "template": template("ray-worker"),
              "rayStartParams": {"block": "false", "verbose": "false", "resources": '"{\\"NPU\\": 1, \\"zone\\": 1}"'}}
    gangs.apply(big, ray_cluster("params", params={"no-monitor": "true", "include-dashboard": "false", "metrics-export-port": "9999"},
                                 workers=[worker]))
    wait_pods(big, "params", 2)
    head = start_command(pods_of(big, "params", **{"node-type": "head"})[0])
    for part in (" --no-monitor ", "--include-dashboard=false", "--dashboard-host=0.0.0.0", "--metrics-export-port=9999"):
        assert part in f"{head} ", head
    assert "--no-monitor=" not in head
    command = start_command(pods_of(big, "params", **{"node-type": "worker"})[0])
    assert "--block" in command and "--verbose" not in command and "--block=false" not in command
    assert re.search(r"--address=params-head-svc\S*:6379", command), command
    # What the shell makes of the line is what the process sees.
    seen = subprocess.run(["bash", "-c", "ray() { printf '%s\\n' \"$@\"; }; ulimit() { :; }; " + command], capture_output=True, text=True).stdout
    given = [line for line in seen.splitlines() if line.startswith("--resources=")]
    assert len(given) == 1 and json.loads(given[0].split("=", 1)[1]) == {"NPU": 1, "zone": 1}, seen


def test_what_users_set_is_merged_and_not_trampled(big):
    """KR-19."""
    def group(name, params=None, spec=None, **container):
        made = template("ray-worker", memory="1Gi", **container)
        made["spec"].update(spec or {})
        return {"groupName": name, "replicas": 1, "minReplicas": 0, "maxReplicas": 1, "rayStartParams": params or {}, "template": made}

    wg = group("wg", env=[{"name": "MY_VAR", "value": "x"}, {"name": "RAY_ADDRESS", "value": "10.0.0.9:1234"}])
    wg["template"]["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "100m", "memory": "256Mi"}
    own = group("ownshm", spec={"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "128Mi"}}]},
                volumeMounts=[{"name": "shm", "mountPath": "/dev/shm"}])
    head = template("ray-head", command=["/bin/bash", "-c", "--"], args=["echo first; $KUBERAY_GEN_RAY_START_CMD"])
    gangs.apply(big, ray_cluster("merge", head=head, workers=[wg, own, group("plasma", {"plasma-directory": "/tmp"})],
                                 annotations={"ray.io/overwrite-container-cmd": "true"}))
    wait_pods(big, "merge", 4)

    def of(name):
        spec = pods_of(big, "merge", group=name)[0]["spec"]
        container = spec["containers"][0]
        volumes = {v["name"]: v for v in spec["volumes"]}
        return container, [volumes[m["name"]] for m in container.get("volumeMounts", []) if m["mountPath"] == "/dev/shm"]

    container, shm = of("wg")
    names = [e["name"] for e in container["env"]]
    assert names.count("RAY_ADDRESS") == 1 and names.count("RAY_PORT") == 1
    assert names.index("MY_VAR") < names.index("RAY_ADDRESS")
    assert next(e["value"] for e in container["env"] if e["name"] == "RAY_ADDRESS") == "10.0.0.9:1234"
    assert [v["emptyDir"] for v in shm] == [{"medium": "Memory", "sizeLimit": "1Gi"}]
    assert [v["name"] for v in of("ownshm")[1]] == ["shm"]
    assert of("plasma")[1] == []
    made = pods_of(big, "merge", **{"node-type": "head"})[0]
    assert made["spec"]["containers"][0]["command"] == ["/bin/bash", "-c", "--"]
    assert made["spec"]["containers"][0]["args"] == ["echo first; $KUBERAY_GEN_RAY_START_CMD"]
    assert start_command(made).startswith("ulimit") or "ray start --head" in start_command(made)


def test_contradictory_rayjobs_are_refused_one_by_one(big):
    """KR-08, all but the good one."""
    bad = {"bad-suspend-keep": (ray_job("bad-suspend-keep", suspend=True, shutdownAfterJobFinishes=False), "suspend"),
           "bad-ttl-keep": (ray_job("bad-ttl-keep", ttlSecondsAfterFinished=30, shutdownAfterJobFinishes=False), "ttl"),
           "bad-interactive-retry": (ray_job("bad-interactive-retry", submissionMode="InteractiveMode", backoffLimit=1), "InteractiveMode"),
           "bad-deadline": (ray_job("bad-deadline", activeDeadlineSeconds=0), "activeDeadlineSeconds"),
           "bad-suspend-selector": (ray_job("bad-suspend-selector", suspend=True, shutdownAfterJobFinishes=True,
                                            clusterSelector={"ray.io/cluster": "nowhere"}), "suspend"),
           "bad-nothing": (ray_job("bad-nothing"), "rayClusterSpec")}
    for name in ("bad-suspend-selector", "bad-nothing"):
        del bad[name][0]["spec"]["rayClusterSpec"]
    code, _, error = big.try_kubectl("apply", "-f", "-", stdin=json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [ray_job("good"), *[made for made, _ in bad.values()]]}))
    assert big.get("rayjob", "good") is not None, error
    for name, (_, word) in bad.items():
        stored = big.get("rayjob", name)
        if stored is None:
            assert name in error and word.lower() in error.lower(), error
            continue
        big.wait(f"{name} is ValidationFailed",
                 condition=lambda name=name: big.get("rayjob", name).get("status", {}).get("jobDeploymentStatus") == "ValidationFailed")
        assert word.lower() in big.get("rayjob", name)["status"].get("message", "").lower(), (name, big.get("rayjob", name)["status"])
        big.wait("and a Warning", lambda name=name: [
            e for e in big.get("events")["items"] if e["involvedObject"]["name"] == name and e["type"] == "Warning"])

    def owners():
        return {o["metadata"].get("labels", {}).get("ray.io/originated-from-cr-name") for o in big.get("rayclusters")["items"]}
    big.wait("the good one has a cluster", lambda: "good" in owners())
    assert owners() == {"good"}


def test_a_queue_that_is_not_there_is_told(big):
    big.apply(ray_cluster("lost", labels={"volcano.sh/queue-name": "nope"}))
    big.wait("the cluster says so", lambda: any(
        'Failed to create PodGroup default/ray-lost-pg' in e["message"] and "nope" in e["message"]
        for e in big.get("events")["items"] if e["involvedObject"]["name"] == "lost" and e["reason"] == "FailedToCreatePodGroup"))


def test_a_suspended_cluster_holds_nothing_of_its_queue_and_is_admitted_anew(big):
    gangs.apply(big, ray_cluster("sleeper", replicas=2))
    wait_pods(big, "sleeper", 3)

    def group(phase, members):
        seen = big.get("podgroup", "ray-sleeper-pg")
        return seen.get("status", {}).get("phase") == phase and seen["spec"]["minMember"] == members and seen
    big.wait("its group runs", lambda: group("Running", 3))
    big.kubectl("patch", "raycluster", "sleeper", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    asked = big.wait("its group is completed", lambda: group("Completed", 0))
    assert not asked["spec"].get("minResources"), asked
    big.wait("its pods are gone", lambda: pods_of(big, "sleeper") == [])
    big.kubectl("patch", "raycluster", "sleeper", "--type=merge", "-p", '{"spec":{"suspend":false}}')
    wait_pods(big, "sleeper", 3)
    big.wait("its group runs again", lambda: group("Running", 3))
