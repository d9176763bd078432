"""SIGKILL of server and agent, and of shims, while pods come and go: everything is carried on, and nothing is left at the end."""
import contextlib
import json
import os
import pathlib
import random
import subprocess
import time

import pytest

import harness

MARK = "87654"


def pod(name, script):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"story": "kills"}},
            "spec": {"restartPolicy": "Always", "terminationGracePeriodSeconds": 1,
                     "volumes": [{"name": "ram", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}],
                     "containers": [{"name": "main", "image": "busybox", "command": ["sh", "-c", script],
                                     "volumeMounts": [{"name": "ram", "mountPath": "/ram"}]}]}}


def left_of(cluster, uids):
    """Everything on this machine that belongs to these pods."""
    out = [f"mount {line.split()[1]}" for line in pathlib.Path("/proc/mounts").read_text().splitlines() if str(cluster.data / "node") in line]
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if f"sleep {MARK}" in command or str(cluster.data / "node" / "pods") in command:
                out.append(f"process {entry.name} {command[:100]}")
    directories = cluster.data / "node" / "pods"
    out += [f"directory {one.name}" for one in directories.iterdir()]
    for top in (*pathlib.Path("/sys/fs/cgroup").iterdir(), pathlib.Path("/sys/fs/cgroup")):
        out += [f"cgroup {one}" for uid in uids if (one := top / "krater" / f"pod{uid}").is_dir()]
    for one in pathlib.Path("/run/krater/cni").rglob("10.*"):
        with contextlib.suppress(OSError):  # given back just now, or no file
            if one.read_text().split("\r\n")[0].strip() in uids:
                out.append(f"address {one.name}")
    for table in (["iptables-save"], ["nft", "list", "ruleset"]):
        rules = subprocess.run(table, capture_output=True, text=True).stdout
        out += [f"rule {line}" for line in rules.splitlines() if any(uid in line for uid in uids)]
    return out


def pods_of(cluster):
    return {p["metadata"]["name"]: p for p in cluster.get("pods", "-l", "story=kills")["items"]}


@pytest.mark.timeout(600)
def test_kills_at_any_point_lose_nothing_and_leave_nothing(tmp_path):
    seed = int(os.environ.get("KRATER_SEED", random.randrange(1 << 30)))
    print("seed", seed)
    rng = random.Random(seed)
    cluster = harness.Cluster(tmp_path, "--stop-pods").start()
    uids, names = set(), []
    try:
        for turn in range(5):
            made = [f"p{turn}-{i}" for i in range(4)]
            cluster.apply({"apiVersion": "v1", "kind": "List", "items": [pod(name, f"echo up; sleep {MARK}") for name in made]})
            names += made
            uids |= {p["metadata"]["uid"] for p in pods_of(cluster).values()}
            if len(names) > 8:
                gone = rng.sample(names, 4)
                cluster.kubectl("delete", "pod", *gone, "--wait=false")
                names = [name for name in names if name not in gone]
            if turn % 2 == 1:
                shims = [p for p in (cluster.data / "node" / "pods").glob("*/state.json")]
                for state in rng.sample(shims, min(2, len(shims))):
                    with contextlib.suppress(OSError, ValueError):  # its pod may be going just now
                        told = json.loads(state.read_text())
                        if told.get("alive"):
                            subprocess.run(["kill", "-9", str(told["pid"])])
            time.sleep(rng.random())  # the kill comes at any point of what is under way
            cluster.kill()
            cluster.start()
        wanted = set(names)
        cluster.wait("exactly the pods that were not deleted run", timeout=120, condition=lambda: (
            lambda there: set(there) == wanted and all(p["status"].get("phase") == "Running" and all(
                s["ready"] for s in p["status"].get("containerStatuses") or [{"ready": False}]) for p in there.values()))(pods_of(cluster)))
        for name, one in pods_of(cluster).items():
            cluster.wait(f"{name} has said so", lambda name=name: cluster.kubectl("logs", name) == "up\n")
            assert one["status"]["podIP"]
        addresses = [p["status"]["podIP"] for p in pods_of(cluster).values()]
        assert len(set(addresses)) == len(addresses), "no address twice"
        cluster.wait("every pod's program runs once", lambda: subprocess.run(
            ["pgrep", "-c", "-f", f"^sleep {MARK}"], capture_output=True, text=True).stdout.strip() == str(len(names)))
        cluster.kubectl("delete", "pod", "-l", "story=kills", timeout=120)
        cluster.wait("nothing is left", lambda: not left_of(cluster, uids) or None)
    except AssertionError as failure:
        raise AssertionError(f"seed {seed}: {failure}\nleft: {left_of(cluster, uids)}") from failure
    finally:
        cluster.stop()


def test_a_cluster_that_stops_its_pods_leaves_nothing_running(tmp_path):
    cluster = harness.Cluster(tmp_path, "--stop-pods").start()
    cluster.apply(pod("p", f"echo up; sleep {MARK}"))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=60s")
    uid = pods_of(cluster)["p"]["metadata"]["uid"]
    cluster.stop()
    deadline = time.monotonic() + 60
    while (left := left_of(cluster, {uid})) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def test_pods_go_on_without_their_agent_and_are_taken_over(tmp_path):
    cluster = harness.Cluster(tmp_path).start()
    cluster.apply(pod("p", f"echo up; sleep {MARK}"))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=60s")
    before = pods_of(cluster)["p"]
    cluster.stop()
    assert any("process" in one for one in left_of(cluster, {before["metadata"]["uid"]}))
    cluster.start()
    try:
        after = pods_of(cluster)["p"]
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["status"]["containerStatuses"][0]["containerID"] == before["status"]["containerStatuses"][0]["containerID"]
        assert after["status"]["containerStatuses"][0]["restartCount"] == 0
    finally:
        cluster.kubectl("delete", "pod", "p", timeout=60)
        cluster.wait("nothing is left", lambda: not left_of(cluster, {before["metadata"]["uid"]}))
        cluster.stop()
