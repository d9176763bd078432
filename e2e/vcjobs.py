"""Volcano Jobs for the stories: tasks of shell pods, orders, phases."""
import json


def task(name, replicas=1, command="sleep 3600", cpu="100m", annotations=None, grace=None, pod=None, **more):
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", command],
                 "resources": {"requests": {"cpu": cpu} if cpu else {}}}
    spec = {"restartPolicy": "Never", "containers": [container], **(pod or {})}
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    template = {"metadata": {"annotations": annotations or {}}, "spec": spec}
    return {"name": name, "replicas": replicas, "template": template, **more}


def runs_for(seconds, code=0):
    """What a simulated pod does."""
    return {"krater.io/sim-run-time": f"{seconds}s", "krater.io/sim-exit-code": str(code)}


def job(name, *tasks, least, **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": {"schedulerName": "volcano", "minAvailable": least, "tasks": list(tasks), **spec}}


def policy(action, *events, **more):
    return {"action": action, **({"events": list(events)} if events else {}), **more}


def order(cluster, name, action):
    """As vcctl gives it."""
    uid = cluster.get("vcjob", name)["metadata"]["uid"]
    target = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": uid, "controller": True}
    cluster.kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"generateName": f"{name}-{action.lower()}-"},
        "target": target, "action": action}))


def status(cluster, name):
    return (cluster.get("vcjob", name) or {}).get("status", {})


def phase(cluster, name):
    return status(cluster, name).get("state", {}).get("phase")


def wait_phase(cluster, name, wanted, timeout=60):
    cluster.wait(f"vcjob {name} is {wanted}", lambda: phase(cluster, name) == wanted, timeout=timeout)


def pods(cluster, name):
    """Phase by pod name; a pod on its way out is "Terminating"."""
    items = cluster.get("pods", "-l", f"volcano.sh/job-name={name}")["items"]
    return {p["metadata"]["name"]: "Terminating" if p["metadata"].get("deletionTimestamp") else p.get("status", {}).get("phase")
            for p in items}


def group(cluster, name):
    uid = cluster.get("vcjob", name)["metadata"]["uid"]
    return cluster.get("podgroup", f"{name}-{uid}")


def phases(cluster, name):
    """The phases a job has been in, the newest last."""
    return [c["status"] for c in status(cluster, name).get("conditions", [])]
