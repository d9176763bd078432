"""Pod groups with their pods, plain pods and small clusters of simulated nodes, for the stories about scheduling."""
import contextlib

import harness


@contextlib.contextmanager
def nodes(directory, count, cpu, memory="64Gi", extended=None):
    """`krater dev` with `count` simulated nodes, each with `extended` (other resources) on top; they are Ready."""
    cluster = harness.Cluster(directory, "--runtime", "simulated", "--nodes", str(count), "--cpu", str(cpu), "--memory", memory)
    cluster.start()
    try:
        cluster.wait_nodes(count)
        for name in node_names(cluster):
            if extended:
                allocatable(cluster, name, extended)
        yield cluster
    finally:
        cluster.stop()


def node_names(cluster):
    return [node["metadata"]["name"] for node in cluster.get("nodes")["items"]]


def allocatable(cluster, node, amounts):
    amounts = {name: str(amount) for name, amount in amounts.items()}
    cluster.kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p",
                    harness.json.dumps({"status": {"capacity": amounts, "allocatable": amounts}}))


def pod(name, requests=None, group=None, queue=None, **spec):
    annotations = {}
    if group:
        annotations["scheduling.k8s.io/group-name"] = group
    if queue:
        annotations["scheduling.volcano.sh/queue-name"] = queue
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 3600"],
                 "resources": {"requests": requests or {}, "limits": {k: v for k, v in (requests or {}).items() if "/" in k}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations},
            "spec": {"schedulerName": "volcano", "restartPolicy": "Never", "containers": [container], **spec}}


def group(name, minimum, queue=None, resources=None, priority=None):
    spec = {"minMember": minimum}
    if queue:
        spec["queue"] = queue
    if resources:
        spec["minResources"] = resources
    if priority:
        spec["priorityClassName"] = priority
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def gang(name, count, requests, queue=None, priority=None, **spec):
    """A pod group that wants all of its `count` equal pods, as the Volcano Job controller would write it."""
    made = [group(name, count, queue, total(requests, count), priority)]
    return made + [pod(f"{name}-w-{i}", requests, group=name, **spec) for i in range(count)]


def total(requests, count):
    out = {}
    for name, amount in requests.items():
        milli = int(amount[:-1]) if str(amount).endswith("m") else int(amount) * 1000
        out[name] = f"{milli * count}m" if name == "cpu" else str(milli * count // 1000)
    return out


def queue(name, **spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1, **spec}}


def priority_class(name, value):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def apply(cluster, *objects):
    cluster.apply({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def drop(cluster, name):
    """The pod group and its pods, as whoever made them would clear them away."""
    pods = [p["metadata"]["name"] for p in cluster.get("pods")["items"]
            if p["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name") == name]
    cluster.kubectl("delete", "podgroup", name)
    if pods:  # one that was evicted may be gone by now
        cluster.kubectl("delete", "pod", *pods, "--ignore-not-found")


def running(cluster):
    """Names of the pods that run, in order."""
    return sorted(p["metadata"]["name"] for p in cluster.get("pods")["items"] if p.get("status", {}).get("phase") == "Running")


def bound(cluster):
    return sorted(p["metadata"]["name"] for p in cluster.get("pods")["items"] if p["spec"].get("nodeName"))


# Long enough for a slow machine, and less than the minute between two times when the scheduler tries everything again.
SOON = 30


def wait_running(cluster, *names, timeout=SOON):
    cluster.wait(f"{', '.join(names)} run", lambda: set(names) <= set(running(cluster)), timeout=timeout)


def phase(cluster, name):
    return cluster.get("podgroup", name).get("status", {}).get("phase")


def why(cluster, name):
    """The message of the group's Unschedulable condition, or ""."""
    conditions = (cluster.get("podgroup", name) or {}).get("status", {}).get("conditions", [])
    return next((c["message"] for c in conditions if c["type"] == "Unschedulable" and c["status"] == "True"), "")


def wait_why(cluster, name, *parts):
    return cluster.wait(f"pod group {name} says {parts}", timeout=SOON, condition=lambda: (
        lambda text: text if text and all(part in text for part in parts) else None)(why(cluster, name)))


def wait_told(cluster, *pods):
    """All of them have been told why they wait: whatever is to be written about them is there."""
    cluster.wait(f"{pods} are told why they wait", lambda: all(any(
        c["type"] == "PodScheduled" and c["status"] == "False" for c in cluster.get("pod", pod)["status"]["conditions"]) for pod in pods))


def stays(cluster, what, holds, seconds=3):
    """`holds` is true now and whenever something that a watch shows has happened since, for a while."""
    deadline = harness.time.monotonic() + seconds
    while harness.time.monotonic() < deadline:
        assert holds(), f"{what}\n{cluster.dump()}"
        harness.time.sleep(0.3)


def configure(cluster, text):
    """The scheduler's configuration, as its users change it; it is in force a moment later."""
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
                   "data": {"volcano-scheduler.conf": text}})


# Where a node stands that nobody speaks for: after a while it counts as lost.
LOST = [{"key": f"node.kubernetes.io/{key}", "operator": "Exists"} for key in ("not-ready", "unreachable")]


def evictions(cluster, name):
    """Messages of the Evict events about a pod or a pod group."""
    return [e["message"] for e in cluster.get("events")["items"] if e["reason"] == "Evict" and e["involvedObject"]["name"] == name]


def wait_evicted(cluster, name, *parts):
    """The messages, when one of them holds all the parts; events are written after what they tell of."""
    return cluster.wait(f"the eviction of {name} is told: {parts}", lambda: (
        lambda told: told if any(all(part in one for part in parts) for one in told) else None)(evictions(cluster, name)))


def uids(cluster, *names):
    return {name: cluster.get("pod", name)["metadata"]["uid"] for name in names}
