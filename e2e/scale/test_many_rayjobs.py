"""Twenty RayJobs at once on a thousand simulated nodes: every gang is bound, none is given a head start."""
import importlib.util
import pathlib
import time

import harness

spec = importlib.util.spec_from_file_location("rayjobs", pathlib.Path(__file__).parent.parent / "rayjob" / "rayjobs.py")
rayjobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rayjobs)


def test_twenty_rayjobs_on_a_thousand_nodes_are_all_bound(tmp_path):
    cluster = harness.Cluster(tmp_path, "--runtime", "simulated", "--nodes", "1000", "--cpu", "32", "--memory", "256Gi").start(timeout=120)
    try:
        cluster.wait_nodes(1000, timeout=180)
        jobs = [rayjobs.queue("ray-batch")]
        for number in range(20):
            jobs += rayjobs.sample(f"many-{number:02}", cpu="8", workers=8)
        started = time.monotonic()
        cluster.apply(rayjobs.as_list(jobs))

        def all_bound():
            pods = [p for p in cluster.get("pods")["items"] if p["metadata"]["labels"].get("ray.io/node-type")]
            return len(pods) == 20 * 9 and all(p["spec"].get("nodeName") for p in pods)

        cluster.wait("all 180 pods are bound", all_bound, timeout=120)
        print(f"180 pods of 20 gangs bound {time.monotonic() - started:.1f} s after kubectl apply began")
        groups = cluster.get("podgroups")["items"]
        assert len(groups) == 20
        assert all(g["spec"]["minMember"] == 9 for g in groups)
        cluster.wait("all pod groups Running", timeout=120, condition=lambda: all(
            g["status"]["phase"] == "Running" for g in cluster.get("podgroups")["items"]))
    finally:
        cluster.stop()
