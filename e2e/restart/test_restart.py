"""SIGKILL of server and agent together in the middle of a RayJob: it goes on, and the program runs once."""
import importlib.util
import pathlib

import pytest

import harness

spec = importlib.util.spec_from_file_location("rayjobs", pathlib.Path(__file__).parent.parent / "rayjob" / "rayjobs.py")
rayjobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rayjobs)

PROGRAM = """
import pathlib, time, ray
ray.init()
with open("LEDGER", "a") as ledger:
    ledger.write("run\\n")
deadline = time.time() + 240
while not pathlib.Path("GO").exists():
    assert time.time() < deadline, "nobody said go"
    time.sleep(0.2)
print("went on after the restart")
"""


@pytest.mark.ray
@pytest.mark.timeout(900)
def test_a_rayjob_survives_sigkill_of_server_and_agent(tmp_path):
    cluster = harness.Cluster(tmp_path, "--stop-pods", images={"rayproject/ray*": harness.RAY_VENV}).start()
    shared = tmp_path / "shared"
    shared.mkdir()
    try:
        program = PROGRAM.replace("LEDGER", "/shared/ledger").replace("GO", "/shared/go")
        config, job = rayjobs.sample("survivor", program=program)
        head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
        head["volumes"].append({"name": "shared", "hostPath": {"path": str(shared), "type": "Directory"}})
        head["containers"][0]["volumeMounts"].append({"name": "shared", "mountPath": "/shared"})
        cluster.apply(rayjobs.as_list([rayjobs.queue("ray-batch"), config, job]))
        cluster.wait("the program runs", lambda: (shared / "ledger").exists(), timeout=300)
        before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in cluster.get("pods")["items"]}

        cluster.kill()
        cluster.start()

        after = {p["metadata"]["name"]: p["metadata"]["uid"] for p in cluster.get("pods")["items"]}
        assert after == before, "the same pods go on"
        (shared / "go").write_text("")
        cluster.wait("the job succeeds", lambda: (cluster.get("rayjob", "survivor") or {}).get("status", {}).get("jobStatus") == "SUCCEEDED",
                     timeout=240)
        assert (shared / "ledger").read_text() == "run\n", "the program ran once"
        cluster.wait("its last words are in the log", lambda: "went on after the restart" in cluster.kubectl(
            "logs", "-l", "job-name=survivor", "--tail=-1"))
        assert all(s.get("restartCount", 0) == 0 for p in cluster.get("pods")["items"] for s in p["status"]["containerStatuses"])
    finally:
        if cluster.process.poll() is None:
            cluster.kubectl("delete", "rayjob", "--all", timeout=120)
        cluster.stop()
