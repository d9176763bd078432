"""Files of Volcano Jobs that are written again, in every way kubectl knows, and with other sizes."""
import json

import gangs
import vcjobs
from vcjobs import job, task


def plain():
    """As most people write one: no minAvailable and no maxRetry anywhere."""
    out = job("plain", task("w", 3), least=None)
    del out["spec"]["minAvailable"]
    return out


def full():
    """Everything that is filled in or named by somebody else."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    out = job("full", task("master", pod={"hostNetwork": True}), task("worker", 2), least=2, queue="default",
              plugins={"pytorch": ["--port=23000"], "env": []}, volumes=[{"mountPath": "/data", "volumeClaim": claim}])
    del out["spec"]["tasks"][0]["name"]
    out["spec"]["plugins"]["pytorch"].append("--master=default0")
    return out


def seen(cluster, name):
    found = cluster.get("vcjob", name)
    return found["spec"], found["metadata"]["generation"]


def write(cluster, body, *verb):
    return cluster.kubectl(*verb, "-f", "-", stdin=json.dumps(body))


def test_a_file_that_is_written_again_changes_nothing(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        for body in (plain(), full()):
            name = body["metadata"]["name"]
            cluster.apply(body)
            vcjobs.wait_phase(cluster, name, "Running")
            before = seen(cluster, name)
            for verb in (["apply"], ["diff"], ["apply", "--server-side", "--force-conflicts"], ["apply", "--server-side"],
                         ["replace"], ["apply"]):
                write(cluster, body, *verb)
                assert seen(cluster, name) == before, f"{name}: {verb}"


def test_a_file_with_other_replicas_scales(tmp_path):
    with gangs.nodes(tmp_path, 1, 8) as cluster:
        body = plain()
        cluster.apply(body)
        vcjobs.wait_phase(cluster, "plain", "Running")
        first = cluster.get("pod", "plain-w-0")["metadata"]["uid"]
        for replicas, verb in ((5, ["apply"]), (2, ["apply"]), (4, ["replace"]), (1, ["replace"]),
                               (3, ["apply", "--server-side", "--force-conflicts"]), (2, ["apply", "--server-side"])):
            body["spec"]["tasks"][0]["replicas"] = replicas
            write(cluster, body, *verb)
            wanted = {f"plain-w-{i}": "Running" for i in range(replicas)}
            cluster.wait(f"{replicas} by {verb}", lambda wanted=wanted: vcjobs.pods(cluster, "plain") == wanted)
        cluster.kubectl("patch", "vcjob", "plain", "--type=merge", "-p", '{"spec":{"tasks":[{"name":"w","replicas":3}]}}')
        cluster.wait("3 by a patch of name and size", lambda: len(vcjobs.pods(cluster, "plain")) == 3)
        assert cluster.get("pod", "plain-w-0")["metadata"]["uid"] == first
        assert vcjobs.phase(cluster, "plain") == "Running"


def test_what_is_not_its_size_stays_refused(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        body = plain()
        cluster.apply(body)
        body["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["image"] = "busybox:1.37"
        refused = cluster.kubectl_fails("apply", "-f", "-", stdin=json.dumps(body))
        assert "job updates may not change fields" in refused
