"""Volcano Jobs with real processes: exit codes, hosts and keys between pods, readiness, minSuccess."""
import pytest

import harness
import vcjobs
from vcjobs import job, policy, task


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = harness.Cluster(tmp_path_factory.mktemp("krater"), "--stop-pods", "--cpu", "8")
    made.start()
    made.wait_nodes(1)
    yield made
    made.stop()


def test_an_exit_code_decides_and_the_log_of_the_last_try_stays(cluster):
    bad = task("bad", command="echo try-$VC_TASK_INDEX; exit 3")
    cluster.apply(job("code", bad, task("good", grace=1), least=2, maxRetry=2, plugins={"env": []},
                      policies=[policy("RestartJob", exitCode=3), policy("TerminateJob", "PodFailed")]))
    vcjobs.wait_phase(cluster, "code", "Failed", timeout=120)
    cluster.wait("good is gone", lambda: vcjobs.pods(cluster, "code") == {"code-bad-0": "Failed"}, timeout=60)
    assert vcjobs.status(cluster, "code")["retryCount"] == 2
    assert cluster.kubectl("logs", "code-bad-0").strip() == "try-0"


def test_pods_know_each_others_names_and_share_a_key(cluster):
    look = ("cat /etc/volcano/b.host; echo hosts=$VC_B_HOSTS n=$VC_B_NUM; "
            "ls -l /root/.ssh/id_rsa | cut -c1-10; head -1 /root/.ssh/id_rsa; grep -c HostName /root/.ssh/config")
    cluster.apply(job("names", task("a", command=look), task("b", 2, command="sleep 600", grace=1), least=1, minSuccess=1,
                      plugins={"svc": [], "ssh": []}))
    vcjobs.wait_phase(cluster, "names", "Completed", timeout=120)
    lines = cluster.kubectl("logs", "names-a-0").split("\n")
    assert lines[0] == "names-b-0.names" and lines[1].startswith("names-b-1.names")
    text = "\n".join(lines)
    assert "hosts=names-b-0.names,names-b-1.names n=2" in text
    assert "-rw-------" in text and "BEGIN RSA PRIVATE KEY" in text and lines[-2] == "3"
    cluster.wait("minSuccess ends the others", lambda: list(vcjobs.pods(cluster, "names")) == ["names-a-0"], timeout=60)


def test_a_task_waits_until_another_is_ready(cluster):
    """VC-21, ready."""
    first = task("first", command="sleep 4; touch /tmp/ok; sleep 600", grace=1)
    first["template"]["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["cat", "/tmp/ok"]}, "periodSeconds": 1}
    cluster.apply(job("ready", first, task("second", grace=1, dependsOn={"name": ["first"]}), least=1))
    cluster.wait("first runs", lambda: vcjobs.pods(cluster, "ready").get("ready-first-0") == "Running")
    cluster.wait("second comes", lambda: "ready-second-0" in vcjobs.pods(cluster, "ready"), timeout=60)
    conditions = {c["type"]: c for c in cluster.get("pod", "ready-first-0")["status"]["conditions"]}
    made = cluster.get("pod", "ready-second-0")["metadata"]["creationTimestamp"]
    assert conditions["Ready"]["status"] == "True" and made >= conditions["Ready"]["lastTransitionTime"]
    cluster.kubectl("delete", "vcjob", "ready")
    cluster.wait("all is gone", lambda: vcjobs.pods(cluster, "ready") == {}, timeout=60)
