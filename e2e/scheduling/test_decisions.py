"""The scheduler is found where Volcano has it, and its log is what it decided."""
import subprocess

import gangs

LOGS = ("logs", "-n", "volcano-system", "deployment/volcano-scheduler")


def test_the_scheduler_is_a_deployment_whose_log_is_its_decisions(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        cluster.wait("it shows itself", lambda: any(
            pod["status"].get("phase") == "Running" for pod in cluster.get("pods", "-n", "volcano-system", "-l", "app=volcano-scheduler")["items"]))
        cluster.wait("its Deployment too", lambda: cluster.get(
            "deployment", "volcano-scheduler", "-n", "volcano-system")["status"]["readyReplicas"] == 1)
        gangs.apply(cluster, *gangs.gang("fits", 2, {"cpu": "1"}))
        gangs.wait_running(cluster, "fits-w-0", "fits-w-1")
        gangs.apply(cluster, gangs.queue("narrow", capability={"cpu": "1"}), *gangs.gang("wide", 2, {"cpu": "1"}, queue="narrow"))
        gangs.wait_why(cluster, "wide", "insufficient cpu")

        def says(*parts):
            return lambda: any(all(part in line for part in parts) for line in cluster.kubectl(*LOGS).splitlines())
        cluster.wait("what was bound", says("action=allocate", "verdict=bound", "queue=default", "job=default/fits", "pods=2"))
        cluster.wait("what was refused, and why", says("action=enqueue", "verdict=refused", "queue=narrow", "job=default/wide", "QueueLimit"))
        assert len(cluster.kubectl(*LOGS, "--tail=1").splitlines()) == 1
        assert cluster.kubectl(*LOGS, "--timestamps", "--tail=1")[:2] == "20"
        before = len(cluster.kubectl(*LOGS).splitlines())
        gangs.stays(cluster, "a job that waits is not told again and again",
                    lambda: len(cluster.kubectl(*LOGS).splitlines()) == before, seconds=3)


def test_what_mirrors_the_scheduler_is_not_edited_and_comes_back(tmp_path):
    with gangs.nodes(tmp_path, 1, 4) as cluster:
        def pods():
            return [pod for pod in cluster.get("pods", "-n", "volcano-system", "-l", "app=volcano-scheduler")["items"] if pod["status"].get("phase") == "Running"]
        cluster.wait("it shows itself", lambda: len(pods()) == 1)
        error = cluster.kubectl_fails("scale", "-n", "volcano-system", "deployment/volcano-scheduler", "--replicas=3")
        assert "mirrors a part of the control plane" in error, error
        name, uid = (pods()[0]["metadata"][key] for key in ("name", "uid"))
        cluster.kubectl("annotate", "pod", "-n", "volcano-system", name, "refreshts=now")
        cluster.kubectl("delete", "pod", "-n", "volcano-system", name, "--wait=false")
        cluster.wait("it is back", lambda: [pod["metadata"]["uid"] for pod in pods()] not in ([], [uid]), timeout=60)
        assert cluster.get("deployment", "volcano-scheduler", "-n", "volcano-system")["spec"]["replicas"] == 1


def test_a_workload_is_simulated_with_another_configuration(tmp_path):
    (tmp_path / "load").mkdir()
    (tmp_path / "load" / "cluster.yaml").write_text("""
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
""")
    job = """---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: NAME, annotations: {krater.io/sim-submit-at: ATs}}
spec:
  minAvailable: 2
  tasks:
  - replicas: 2
    template:
      metadata: {annotations: {krater.io/sim-run-time: 60s}}
      spec: {containers: [{name: main, resources: {requests: {cpu: 2}}}]}
"""
    (tmp_path / "load" / "jobs.yaml").write_text(job.replace("NAME", "one").replace("AT", "0") + job.replace("NAME", "two").replace("AT", "10"))
    run = [gangs.harness.BINARY, "simulate", str(tmp_path / "load"), "--json"]
    first = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    report = gangs.harness.json.loads(first)
    waited = {job["job"]: job["waited"] for job in report["jobs"]}
    assert waited["default/one"] < 5 and 45 < waited["default/two"] < 60, report
    assert report["utilisationPerMille"] > 900, report
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == first
