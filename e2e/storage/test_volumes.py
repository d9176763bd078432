"""Claims, volumes and what is written into them, with the unmodified kubectl."""
import json
import pathlib

import pytest


def claim(name, size="100Mi", **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}}


def pod(name, script, volumes, mounts, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "volumes": volumes,
                     "containers": [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script],
                                     "volumeMounts": mounts}], **spec}}


def with_claim(name, script, claim_name, read_only=False, **spec):
    source = {"claimName": claim_name, **({"readOnly": True} if read_only else {})}
    return pod(name, script, [{"name": "v", "persistentVolumeClaim": source}], [{"name": "v", "mountPath": "/data"}], **spec)


def ended(cluster, namespace, name, timeout=60):
    return cluster.wait(f"pod {name} ends", timeout=timeout, condition=lambda: (
        lambda p: p if p and p["status"].get("phase") in ("Succeeded", "Failed") else None)(cluster.get("pod", name, "-n", namespace)))


def phase(cluster, kind, name, *args):
    found = cluster.get(kind, name, *args)
    return found["status"].get("phase") if found else None


def test_the_default_class_makes_a_directory_that_outlives_its_pod(cluster, namespace):
    n = ("-n", namespace)
    classes = cluster.kubectl("get", "sc")
    assert "standard (default)" in classes and "WaitForFirstConsumer" in classes, classes
    cluster.apply(claim("data"), *n)
    assert cluster.get("pvc", "data", *n)["spec"]["storageClassName"] == "standard"
    cluster.wait("it waits for a pod", lambda: "waiting for first consumer" in cluster.kubectl("describe", "pvc", "data", *n))
    cluster.apply(with_claim("writer", "echo kept > /data/file", "data"), *n)
    assert ended(cluster, namespace, "writer")["status"]["phase"] == "Succeeded"
    assert cluster.kubectl("get", "pvc", "data", "--no-headers", *n).split()[1] == "Bound"
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", "pvc/data", *n, "--timeout=30s")
    volume = cluster.get("pv", cluster.get("pvc", "data", *n)["spec"]["volumeName"])
    directory = pathlib.Path(volume["spec"]["hostPath"]["path"])
    assert (directory / "file").read_text() == "kept\n"
    cells = cluster.kubectl("get", "pv", volume["metadata"]["name"], "--no-headers").split()
    assert cells[1:7] == ["100Mi", "RWO", "Delete", "Bound", f"{namespace}/data", "standard"], cells

    cluster.kubectl("delete", "pod", "writer", *n)
    cluster.apply(with_claim("reader", "cat /data/file; echo more > /data/file", "data", read_only=True), *n)
    assert ended(cluster, namespace, "reader")["status"]["phase"] == "Failed"
    assert cluster.kubectl("logs", "reader", *n).startswith("kept\n")

    # In use it stays, whatever is asked; then it goes, and its directory with it.
    cluster.kubectl("delete", "pvc", "data", *n, "--wait=false")
    assert cluster.kubectl("get", "pvc", "data", "--no-headers", *n).split()[1] == "Terminating"
    cluster.kubectl("delete", "pod", "reader", *n)
    cluster.kubectl("wait", "--for=delete", "pvc/data", *n, "--timeout=60s", timeout=90)
    cluster.kubectl("wait", "--for=delete", "pv/" + volume["metadata"]["name"], "--timeout=60s", timeout=90)
    assert not directory.exists()


def test_a_pod_waits_until_its_claim_is_there(cluster, namespace):
    n = ("-n", namespace)
    cluster.apply(with_claim("early", "true", "late"), *n)
    cluster.wait("it says why", lambda: 'persistentvolumeclaim "late" not found' in cluster.kubectl("describe", "pod", "early", *n))
    cluster.apply(claim("late"), *n)
    assert ended(cluster, namespace, "early")["status"]["phase"] == "Succeeded"


def test_static_volumes_are_bound_by_size_and_labels_and_retained(cluster, namespace, tmp_path):
    n = ("-n", namespace)
    (tmp_path / "file").write_text("given\n")
    tmp_path.chmod(0o755)
    name = f"pv-{namespace}"[:60]
    cluster.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": {"for": namespace[:60]}},
                   "spec": {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                            "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": str(tmp_path)}}})
    cluster.wait("it is available", lambda: phase(cluster, "pv", name) == "Available")
    cluster.apply(claim("big", "3Gi", storageClassName="", selector={"matchLabels": {"for": namespace[:60]}}), *n)
    cluster.apply(claim("fits", "1Gi", storageClassName="", selector={"matchLabels": {"for": namespace[:60]}}), *n)
    cluster.wait("it is bound", lambda: phase(cluster, "pvc", "fits", *n) == "Bound")
    assert phase(cluster, "pvc", "big", *n) == "Pending"
    assert cluster.get("pvc", "fits", *n)["status"]["capacity"]["storage"] == "2Gi"
    cluster.apply(with_claim("p", "cat /data/file", "fits"), *n)
    assert ended(cluster, namespace, "p")["status"]["phase"] == "Succeeded"
    assert cluster.kubectl("logs", "p", *n) == "given\n"
    cluster.kubectl("delete", "pod", "p", *n)
    cluster.kubectl("delete", "pvc", "fits", *n, "--timeout=30s")
    cluster.wait("it is released", lambda: phase(cluster, "pv", name) == "Released")
    assert (tmp_path / "file").exists()
    cluster.kubectl("delete", "pv", name, "--timeout=30s")


def test_a_stateful_set_keeps_its_data_and_an_ephemeral_volume_does_not(cluster, namespace):
    n = ("-n", namespace)
    script = "cat /data/n 2>/dev/null; echo x >> /data/n; wc -l < /data/n; sleep 3600"
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {
        "terminationGracePeriodSeconds": 0,
        "volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}}],
        "containers": [{"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", script],
                        "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "scratch", "mountPath": "/scratch"}]}]}}
    cluster.apply({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
                   "spec": {"replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template,
                            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim("x")["spec"]}]}}, *n)
    cluster.kubectl("rollout", "status", "sts/db", *n, "--timeout=90s", timeout=120)
    cluster.wait("it has written", lambda: cluster.kubectl("logs", "db-1", *n).strip() == "1")
    claims = {c["metadata"]["name"] for c in cluster.get("pvc", *n)["items"]}
    assert claims == {"data-db-0", "data-db-1", "db-0-scratch", "db-1-scratch"}, claims
    old = cluster.get("pod", "db-1", *n)["metadata"]["uid"]
    scratch = cluster.get("pvc", "db-1-scratch", *n)["metadata"]["uid"]
    cluster.kubectl("delete", "pod", "db-1", "--wait=false", *n)
    cluster.wait("db-1 comes back", lambda: (cluster.get("pod", "db-1", *n) or {"metadata": {"uid": old}})["metadata"]["uid"] != old)
    cluster.wait("it finds what it wrote", lambda: cluster.try_kubectl("logs", "db-1", *n)[1].split() == ["x", "2"], timeout=90)
    assert cluster.get("pvc", "db-1-scratch", *n)["metadata"]["uid"] != scratch


def test_a_volcano_job_brings_its_claims(cluster, namespace):
    n = ("-n", namespace)
    task = {"name": "t", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", "echo 1 > /data/x && cat /data/x"]}]}}}
    cluster.apply({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
                   "spec": {"minAvailable": 1, "schedulerName": "volcano", "tasks": [task],
                            "volumes": [{"mountPath": "/data", "volumeClaim": claim("x")["spec"]}]}}, *n)
    cluster.wait("the job completes", lambda: (cluster.get("vcjob", "j", *n) or {}).get("status", {}).get("state", {}).get("phase") == "Completed",
                 timeout=90)
    assert [c["status"]["phase"] for c in cluster.get("pvc", *n)["items"]] == ["Bound"]


def test_a_quota_counts_storage_also_when_claims_grow(cluster, namespace):
    n = ("-n", namespace)
    cluster.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
                   "spec": {"hard": {"persistentvolumeclaims": "2", "requests.storage": "1Gi"}}}, *n)
    cluster.apply(claim("a", "600Mi"), *n)
    refused = cluster.kubectl_fails("apply", "-f", "-", *n, stdin=json.dumps(claim("b", "600Mi")))
    assert "exceeded quota: q, requested: requests.storage=600Mi, used: requests.storage=600Mi, limited: requests.storage=1Gi" in refused


@pytest.mark.parametrize("field,value,message", [
    ("accessModes", [], "at least 1 access mode is required"),
    ("accessModes", ["Everybody"], 'Unsupported value: "Everybody": supported values: "ReadOnlyMany", "ReadWriteMany"'),
    ("resources", {}, "spec.resources[storage]: Required value"),
])
def test_bad_claims_are_refused(cluster, namespace, field, value, message):
    bad = claim("bad")
    bad["spec"][field] = value
    assert message in cluster.kubectl_fails("apply", "-f", "-", "-n", namespace, stdin=json.dumps(bad))
