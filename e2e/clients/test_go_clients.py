"""Programs written with client-go and controller-runtime (clients/go), unmodified libraries, against Krater."""
import json
import os
import pathlib
import queue
import subprocess
import sysconfig
import threading

import pytest

GO = pathlib.Path(sysconfig.get_path("scripts")) / "go"
SOURCES = pathlib.Path(__file__).resolve().parent / "go"


def go(*arguments, **environment):
    done = subprocess.run([GO, *arguments], cwd=SOURCES, env=dict(os.environ, GOFLAGS="-mod=readonly", GOTOOLCHAIN="local", **environment),
                          text=True, capture_output=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("go")
    go("build", "-o", str(directory), "./...")
    return directory


class Informer:
    def __init__(self, programs, cluster, namespace):
        self.process = subprocess.Popen([programs / "informer", "-namespace", namespace], env=cluster.environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.errors = []
        self.readers = [threading.Thread(target=lambda: [self.lines.put(json.loads(line)) for line in self.process.stdout], daemon=True),
                        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)]
        for reader in self.readers:
            reader.start()

    def until(self, event, name=None):
        """The events up to the one asked for; that one is the last."""
        seen = []
        while True:
            try:
                seen.append(self.lines.get(timeout=60))
            except queue.Empty:
                raise AssertionError(f"no {event} {name} after {seen}\n{''.join(self.errors)}") from None
            if seen[-1]["event"] == event and (name is None or seen[-1].get("name") == name):
                return seen

    def listed(self):
        self.process.stdin.write("list\n")
        self.process.stdin.flush()
        return self.until("listed")[-1]["names"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # where the story did not come to its end
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0, "".join(self.errors)
        for reader in self.readers:
            reader.join()


@pytest.mark.timeout(1800)
def test_an_informer_follows_over_a_restart_of_the_server(simulated, namespace, programs):
    n = ("-n", namespace)
    simulated.kubectl("create", "cm", "before", "--from-literal=a=1", *n)
    with Informer(programs, simulated, namespace) as informer:
        informer.until("added", "before")
        simulated.kubectl("create", "cm", "one", "--from-literal=a=1", *n)
        informer.until("added", "one")
        simulated.kubectl("patch", "cm", "one", "--type=merge", "-p", '{"data":{"a":"2"}}', *n)
        assert informer.until("updated", "one")[-1]["data"] == {"a": "2"}
        simulated.stop()
        simulated.start()
        simulated.kubectl("create", "cm", "after", "--from-literal=a=1", *n)
        events = informer.until("added", "after")
        assert not [e for e in events if e["event"] == "deleted"], events
        simulated.kubectl("delete", "cm", "one", *n)
        informer.until("deleted", "one")
        assert [name for name in informer.listed() if name != "kube-root-ca.crt"] == ["after", "before"]
        informer.end()


@pytest.mark.timeout(1800)
def test_the_dynamic_client(simulated, namespace, programs):
    done = subprocess.run([programs / "dynamic", "-namespace", namespace], env=simulated.environment(), text=True, capture_output=True,
                          timeout=240)
    assert done.returncode == 0 and done.stdout == "all as expected\n", done.stdout + done.stderr


@pytest.mark.timeout(1800)
def test_an_operator_s_own_suite(simulated, namespace, programs):
    config = str(simulated.kubeconfig)
    assert "ok" in go("test", "-count=1", "./operator/...", KUBECONFIG=config, NAMESPACE=namespace)


@pytest.mark.timeout(1800)
def test_an_operator_lives_through_a_restart_of_the_server(simulated, namespace, programs):
    n = ("-n", namespace)
    simulated.kubectl("apply", "-f", str(SOURCES / "operator" / "echo" / "crd.yaml"))
    simulated.kubectl("wait", "--for=condition=Established", "crd/echoes.example.com", "--timeout=30s")
    log = open(simulated.directory / "operator.log", "w")
    operator = subprocess.Popen([programs / "operator"], env=simulated.environment(), stdout=log, stderr=log)
    try:
        def echo(name):
            simulated.apply({"apiVersion": "example.com/v1", "kind": "Echo", "metadata": {"name": name}, "spec": {"message": name}}, *n)
            simulated.wait(f"the ConfigMap {name}", lambda: simulated.get("cm", name, *n))
        echo("first")
        assert simulated.get("lease", "echo.example.com", "-n", "default")["spec"]["holderIdentity"]
        simulated.stop()
        simulated.start()
        echo("second")
        assert operator.poll() is None
        simulated.kubectl("delete", "echo", "--all", *n)
        assert simulated.get("echo", *n)["items"] == []
    finally:
        operator.terminate()
        assert operator.wait(timeout=60) == 0, (simulated.directory / "operator.log").read_text()[-3000:]
        simulated.kubectl("delete", "crd", "echoes.example.com")
