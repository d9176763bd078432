"""A Krater under test: the real binary, the real kubectl. Waits on conditions, never for a fixed time."""
import base64
import contextlib
import glob
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("KRATER_BINARY", str(ROOT / "build" / "krater"))
RAY_VENV = os.environ.get("KRATER_RAY_VENV", str(ROOT / ".venv-ray"))


def free_port():
    """One that no connection gets by chance, so that a server finds it free again after a restart."""
    while True:
        port = random.randrange(20000, 30000)  # below the system's own choice, and below node ports
        with contextlib.closing(socket.socket()) as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


class KubectlError(AssertionError):
    def __init__(self, args, code, out, err):
        super().__init__(f"kubectl {' '.join(args)} -> {code}\n{out}{err}")
        self.code, self.out, self.err = code, out, err


class Cluster:
    """`krater dev` in a directory of its own on a free loopback port."""

    def __init__(self, directory, *arguments, images=None):
        self.directory = pathlib.Path(directory)
        self.data = self.directory / "data"
        self.data.mkdir(parents=True, exist_ok=True)
        self.listen = f"127.0.0.1:{free_port()}"
        self.log = self.directory / "krater.log"
        # KRATER_POD_CIDR: for a machine where another cluster's pods have the usual network.
        cidr = os.environ.get("KRATER_POD_CIDR")
        self.arguments = [*(["--pod-cidr", cidr] if cidr else []), *arguments]
        lines = ["images:"] + [f"  - {{match: \"{match}\", path: \"{path}\"}}" for match, path in (images or {}).items()]
        if images:
            (self.directory / "images.yaml").write_text("\n".join(lines) + "\n")
            self.arguments += ["--images", str(self.directory / "images.yaml")]
        self.process = None

    @property
    def kubeconfig(self):
        return self.data / "kubeconfig"

    @property
    def url(self):
        return f"https://{self.listen}"

    def start(self, timeout=60):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [BINARY, "dev", "--data-dir", str(self.data), "--listen", self.listen, *self.arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                # Tests may run under nohup; krater would leave hangups alone then too.
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"krater dev ended with {self.process.returncode}:\n{self.tail()}")
            if self.kubeconfig.exists() and self.try_kubectl("get", "--raw", "/readyz")[0] == 0:
                return self
            time.sleep(0.05)
        raise AssertionError(f"krater dev is not ready:\n{self.tail()}")

    def tail(self, lines=60):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self, stop_signal=signal.SIGTERM, timeout=60):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(stop_signal)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"krater dev did not stop within {timeout} s:\n{self.tail()}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    # kubectl

    def environment(self):
        return dict(os.environ, KUBECONFIG=str(self.kubeconfig), KUBECACHEDIR=str(self.directory / "kube-cache"))

    def try_kubectl(self, *args, stdin=None, timeout=60):
        done = subprocess.run(["kubectl", "--cache-dir", str(self.directory / "kube-cache"), *args], env=self.environment(),
                              input=stdin, text=True, capture_output=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr

    def kubectl(self, *args, stdin=None, timeout=60):
        code, out, err = self.try_kubectl(*args, stdin=stdin, timeout=timeout)
        if code != 0:
            raise KubectlError(args, code, out, err)
        return out

    def kubectl_fails(self, *args, stdin=None, timeout=60):
        code, out, err = self.try_kubectl(*args, stdin=stdin, timeout=timeout)
        assert code != 0, f"kubectl {' '.join(args)} should have failed:\n{out}"
        return err

    def apply(self, manifest, *args):
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        return self.kubectl("apply", "-f", "-", *args, stdin=text)

    def get(self, *args):
        """The object or list as a dict; None when it does not exist."""
        code, out, err = self.try_kubectl("get", *args, "-o", "json")
        if code != 0:
            if "NotFound" in err or "not found" in err:
                return None
            raise KubectlError(args, code, out, err)
        return json.loads(out)

    def wait(self, what, condition, timeout=60, interval=0.2):
        """Polls `condition` until it is truthy and returns its value; the cluster's state is in the failure. What is looked
        at may not be there yet: no such object, no such field."""
        deadline = time.monotonic() + timeout
        while True:
            value, missing = None, None
            try:
                value = condition()
            except (LookupError, TypeError, AttributeError) as nothing:
                missing = nothing
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout} s: {what}\n{self.dump()}") from missing
            time.sleep(interval)

    def wait_nodes(self, count, timeout=60):
        self.wait(f"{count} nodes are Ready", timeout=timeout, condition=lambda: [
            line.split()[1] for line in self.kubectl("get", "nodes", "--no-headers").splitlines()] == ["Ready"] * count)

    def dump(self):
        parts = []
        for args in (("get", "rayjob,raycluster,podgroup,pods,jobs,queues", "-A", "-o", "wide"),
                     ("get", "events", "-A", "--sort-by=.lastTimestamp")):
            code, out, err = self.try_kubectl(*args)
            parts.append("\n".join((out + err).splitlines()[-40:]))
        parts.append(self.tail(40))
        return "\n---\n".join(parts)


class Http:
    """One connection with the administrator's certificate: for what kubectl would not send, or not often enough."""

    def __init__(self, cluster):
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        files = {}
        for name, value in (("ca", config["clusters"][0]["cluster"]["certificate-authority-data"]),
                            ("crt", config["users"][0]["user"]["client-certificate-data"]),
                            ("key", config["users"][0]["user"]["client-key-data"])):
            files[name] = cluster.directory / f"http.{name}"
            if not files[name].exists():  # whole or not at all: threads make connections side by side
                with tempfile.NamedTemporaryFile(dir=cluster.directory, delete=False) as written:
                    written.write(base64.b64decode(value))
                os.replace(written.name, files[name])
        self.context = ssl.create_default_context(cafile=str(files["ca"]))
        self.context.load_cert_chain(str(files["crt"]), str(files["key"]))
        self.address = cluster.listen
        self.connection = http.client.HTTPSConnection(self.address, context=self.context, timeout=60)

    def __call__(self, method, path, body=None, content_type="application/json", agent=None):
        """(status, parsed body); a body that is no text is sent as JSON."""
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        self.connection.request(method, path, data, {"Content-Type": content_type, **({"User-Agent": agent} if agent else {})})
        reply = self.connection.getresponse()
        return reply.status, json.loads(reply.read())

    def close(self):
        self.connection.close()


def control_groups(pattern):
    """Paths below the control groups; others may come and go meanwhile."""
    return [pathlib.Path(p) for p in glob.glob(f"/sys/fs/cgroup/{pattern}", recursive=True)]


class NodeTraces:
    """What pods leave on the machine: processes, network namespaces, cgroups, mounts."""

    @staticmethod
    def of(cluster):
        data = str(cluster.data)
        processes = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if data in command and int(entry.name) != cluster.process.pid and "krater dev" not in command:
                        processes.append(f"{entry.name} {command[:120]}")
        mounts = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines() if data in line]
        spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.split("\n")
        groups = [str(p) for p in control_groups("**/krater*/**/pod*") if p.is_dir()]
        return {"processes": processes, "mounts": mounts, "netns": sorted(s for s in spaces if "krater" in s or "cni" in s),
                "cgroups": sorted(groups)}

    @staticmethod
    def since(cluster, before):
        """What is there now and was not then. An earlier story's pods may still be going away then: they do not count."""
        now = NodeTraces.of(cluster)
        return {kind: left for kind in now if (left := sorted(set(now[kind]) - set(before[kind])))}


def copy_logs_to(cluster, target):
    with contextlib.suppress(OSError):
        shutil.copy(cluster.log, target)
