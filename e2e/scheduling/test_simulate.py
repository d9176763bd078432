"""What a cluster was and did, exported with kubectl, is a workload for `krater simulate`; what is no good in one is named."""
import subprocess

import gangs

KINDS = "nodes,queues,priorityclasses,podgroups,pods,jobs.batch.volcano.sh"


def simulate(*args, fails=False):
    done = subprocess.run([gangs.harness.BINARY, "simulate", *map(str, args)], capture_output=True, text=True, timeout=60)
    assert done.returncode == (2 if fails else 0), done
    return done.stderr if fails else gangs.harness.json.loads(done.stdout)


def by_name(report):
    return {job["job"]: job for job in report["jobs"]}


def test_a_living_cluster_is_simulated_from_what_kubectl_prints(tmp_path):
    with gangs.nodes(tmp_path / "cluster", 2, 4) as cluster:
        gangs.apply(cluster, *gangs.gang("runs", 3, {"cpu": "2"}))
        gangs.wait_running(cluster, "runs-w-0", "runs-w-1", "runs-w-2")
        gangs.apply(cluster, *gangs.gang("waits", 2, {"cpu": "2"}))
        gangs.wait_why(cluster, "waits", "cpu")
        for form in ("json", "yaml"):
            snapshot = tmp_path / f"snapshot.{form}"
            snapshot.write_text(cluster.kubectl("get", KINDS, "-A", "-o", form))
            jobs = by_name(simulate(snapshot, "--json"))
            assert jobs["default/runs"]["state"] == "running" and jobs["default/runs"]["waited"] == 0, jobs
            assert jobs["default/waits"]["state"] == "waiting", jobs
            assert len(jobs) == 2, jobs
        cluster.kubectl("delete", "pods", "runs-w-0", "runs-w-1", "runs-w-2")
        gangs.wait_running(cluster, "waits-w-0", "waits-w-1")
        # Of pods that are gone the events still tell, and so does the scheduler's log; both are written after the pods.
        cluster.wait("the events of all are there", lambda: {
            e["involvedObject"]["name"] for e in cluster.get("events", "-A", "--field-selector=reason=Scheduled")["items"]} >= {
            "runs-w-0", "runs-w-1", "runs-w-2", "waits-w-0", "waits-w-1"})
        cluster.wait("the log knows of both", lambda: all(any(
            "verdict=bound" in line and f"job=default/{job} " in line for line in cluster.kubectl(
                "logs", "-n", "volcano-system", "deployment/volcano-scheduler").splitlines()) for job in ("runs", "waits")))
        (tmp_path / "events").write_text(cluster.kubectl("get", "events", "-A", "-o", "json"))
        jobs = by_name(simulate(tmp_path / "events", "--pod-cpu", "2", "--json"))
        assert jobs["default/runs"]["pods"] == 3 and "started" in jobs["default/runs"], jobs
        assert jobs["default/waits"]["pods"] == 2 and jobs["default/waits"]["waited"] > 0, jobs
        (tmp_path / "log").write_text(cluster.kubectl("logs", "-n", "volcano-system", "deployment/volcano-scheduler", "--timestamps"))
        jobs = by_name(simulate(tmp_path / "log", "--nodes", 2, "--cpu", 4, "--pod-cpu", 2, "--json"))
        assert jobs["default/runs"]["pods"] == 3 and jobs["default/runs"]["state"] == "running", jobs
        assert jobs["default/waits"]["pods"] == 2 and jobs["default/waits"]["state"] == "waiting", jobs


def test_traces_of_others_are_found_out_by_what_is_in_them(tmp_path):
    (tmp_path / "google").write_text(
        "600000000,,7,0,,0,u=,3,9,0.5,0.1,0,0\n610000000,,7,0,5,1,u=,3,9,0.5,0.1,0,0\n670000000,,7,0,5,4,u=,3,9,0.5,0.1,0,0\n"
        "600000000,,8,0,,0,u=,3,9,1,0.1,0,0\n610000000,,8,0,6,1,u=,3,9,1,0.1,0,0\n630000000,,8,0,6,4,u=,3,9,1,0.1,0,0\n")
    (tmp_path / "alibaba").write_text(
        "task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu,plan_mem\nM1,2,j_1,1,Terminated,100,160,400,0.5\n")
    jobs = by_name(simulate(tmp_path / "google", "--nodes", 1, "--cpu", 8, "--json"))
    assert set(jobs) == {"default/job-7", "default/job-8"} and max(job["waited"] for job in jobs.values()) > 15, jobs
    assert by_name(simulate(tmp_path / "alibaba", "--format", "alibaba", "--json"))["default/j-1-m1-2"]["state"] == "ended"


def test_what_is_no_good_is_named_and_nothing_is_played(tmp_path):
    def refused(text, *args):
        (tmp_path / "load").write_text(text)
        return simulate(tmp_path / "load", *args, fails=True)
    assert "load: line 2: cpu must not be less than zero" in refused("submit,run,cpu\n0,5,-3\n")
    assert 'load: line 3: job "a" is on line 2 already' in refused("submit,run,job\n0,5,a\n0,5,a\n")
    assert "load: it is nothing that can be read (objects: " in refused("hello\n")
    assert "google-2011: not the columns" in refused("submit,run\n0,5\n", "--format", "google-2011")
    assert "--cpu" in refused("submit,run\n0,5\n", "--cpu", "much")
    assert "krater.io/sim-run-time" in refused(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {krater.io/sim-run-time: soon}}\nspec: {containers: []}\n")
