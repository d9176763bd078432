#!/usr/bin/env python3
"""The same load on Krater and on kube-apiserver with etcd, one after the other in one run: docs/benchmarks.md has the figures.

Usage: bench/beside_kubernetes.py --kube-apiserver PATH [--etcd PATH] [--build-dir build]
       [--only memory,create,get,list,list100k,watch] [--servers krater,kubernetes] [--scale 1.0]
Both servers listen on free loopback ports in temporary directories, durable as they come: each write synced to disk. All that
is started ends with the run. Needs openssl.
"""
import argparse
import base64
import contextlib
import http.client
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from run import Krater, report


def free_port():
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def resident_mb(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Rss:\s+(\d+) kB", text, re.M)[1]) / 1024


def certificates(directory):
    """An authority, a server at 127.0.0.1, an administrator, and a key for service accounts."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)

    def key(name):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")

    for name in ("ca", "server", "admin", "accounts"):
        key(name)
    openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=bench", "-days", "2", "-out", "ca.crt")
    for name, subject, extension in (("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1"),
                                     ("admin", "/O=system:masters/CN=admin", "extendedKeyUsage=clientAuth")):
        (directory / f"{name}.ext").write_text(extension + "\n")
        openssl("req", "-new", "-key", f"{name}.key", "-subj", subject, "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", f"{name}.ext", "-out", f"{name}.crt")


class Kubernetes:
    """kube-apiserver over etcd, from their start until /readyz says ok."""
    name = "kube-apiserver"

    def __init__(self, options, directory):
        self.data = directory
        certificates(directory)
        client, peer, self.port = free_port(), free_port(), free_port()
        self.processes = []
        self.run(options.etcd, "--data-dir", str(directory / "etcd"), f"--listen-client-urls=http://127.0.0.1:{client}",
                 f"--advertise-client-urls=http://127.0.0.1:{client}", f"--listen-peer-urls=http://127.0.0.1:{peer}",
                 f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                 f"--initial-cluster=default=http://127.0.0.1:{peer}", f"--quota-backend-bytes={8 << 30}")
        at = lambda name: str(directory / name)
        # Without kube-controller-manager no namespace has its service account, and pods would be refused.
        self.run(options.kube_apiserver, f"--etcd-servers=http://127.0.0.1:{client}", "--bind-address=127.0.0.1",
                 f"--secure-port={self.port}", "--tls-cert-file", at("server.crt"), "--tls-private-key-file", at("server.key"),
                 "--client-ca-file", at("ca.crt"), "--service-account-issuer=https://bench", "--service-account-key-file",
                 at("accounts.key"), "--service-account-signing-key-file", at("accounts.key"),
                 "--authorization-mode=Node,RBAC", "--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none",
                 "--disable-admission-plugins=ServiceAccount")
        data = lambda name: base64.b64encode((directory / name).read_bytes()).decode()
        (directory / "kubeconfig").write_text(f"""apiVersion: v1
kind: Config
current-context: bench
contexts: [{{name: bench, context: {{cluster: bench, user: admin}}}}]
clusters:
- name: bench
  cluster: {{server: "https://127.0.0.1:{self.port}", certificate-authority-data: {data("ca.crt")}}}
users:
- name: admin
  user: {{client-certificate-data: {data("admin.crt")}, client-key-data: {data("admin.key")}}}
""")
        try:
            self.await_ready()
        except BaseException:
            self.__exit__()
            raise

    def run(self, binary, *arguments):
        # Its log is long and is read only when it ends by itself.
        log = open(self.data / f"{pathlib.Path(binary).name}.log", "ab")
        self.processes.append(subprocess.Popen([binary, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def await_ready(self, seconds=180):
        tls = ssl.create_default_context(cafile=str(self.data / "ca.crt"))
        tls.load_cert_chain(self.data / "admin.crt", self.data / "admin.key")
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for process in self.processes:
                if process.poll() is not None:
                    logs = sorted(self.data.glob("*.log"))
                    raise SystemExit("ended by itself:\n" + "".join(log.read_text()[-2000:] for log in logs))
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=tls, timeout=5)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return
            time.sleep(0.2)
        raise SystemExit(f"kube-apiserver is not ready after {seconds} s")

    def memory(self):
        """Megabytes resident: of kube-apiserver, of etcd."""
        return [resident_mb(process.pid) for process in reversed(self.processes)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Ours(Krater):
    name = "krater"

    def __init__(self, options, directory):
        super().__init__(str(pathlib.Path(options.build_dir) / "krater"), directory, "--runtime", "simulated", "--nodes", "1")

    def memory(self):
        return [super().memory()[0]]


class Comparison:
    def __init__(self, options):
        self.options = options
        self.load_binary = str(pathlib.Path(options.build_dir) / "bench" / "krater-load")

    @contextlib.contextmanager
    def server(self, kind):
        with tempfile.TemporaryDirectory(prefix="krater-beside-", ignore_cleanup_errors=True) as path:
            with kind(self.options, pathlib.Path(path)) as server:
                yield server

    def load(self, server, *arguments):
        done = subprocess.run([self.load_binary, "--kubeconfig", str(server.data / "kubeconfig"), "--name", server.name,
                               *map(str, arguments)])
        sys.stdout.flush()
        if done.returncode != 0:
            raise SystemExit(f"krater-load {' '.join(map(str, arguments))} failed on {server.name}")

    def scaled(self, number):
        return max(1, int(number * self.options.scale))

    def remember(self, server, what):
        parts = server.memory()
        report(f"memory: {server.name}: {what}", " + ".join(f"{part:.0f}" for part in parts) + f" = {sum(parts):.0f} MB resident")

    def memory(self, kind):
        with self.server(kind) as server:
            time.sleep(self.options.idle_seconds)
            self.remember(server, "idle")
            pods = self.scaled(10000)
            self.load(server, "list", "--objects", pods, "--repeat", 5)
            time.sleep(self.options.idle_seconds)
            self.remember(server, f"with {pods} pods, listed a few times")

    def create(self, kind):
        with self.server(kind) as server:
            for clients, requests in ((1, 1000), (8, 4000), (64, 10000)):
                self.load(server, "create", "--clients", clients, "--requests", self.scaled(requests))

    def get(self, kind):
        with self.server(kind) as server:
            self.load(server, "get", "--requests", self.scaled(10000))

    def list(self, kind, pods=10000, repeat=10):
        with self.server(kind) as server:
            self.load(server, "list", "--objects", self.scaled(pods), "--repeat", repeat)
            # Where kube-apiserver answers from its memory and asks etcd nothing.
            self.load(server, "list", "--objects", 0, "--repeat", repeat, "--resource-version", 0)
            self.remember(server, f"with {self.scaled(pods)} pods")

    def list100k(self, kind):
        self.list(kind, pods=100000, repeat=3)

    def watch(self, kind):
        for watchers, writes in ((1000, 50), (5000, 10)):
            with self.server(kind) as server:
                self.load(server, "watch", "--watchers", self.scaled(watchers), "--writes", writes)
                self.remember(server, f"after {self.scaled(watchers)} watches")


def main():
    names = ("memory", "create", "get", "list", "list100k", "watch")
    kinds = {"krater": Ours, "kubernetes": Kubernetes}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kube-apiserver", required=True)
    parser.add_argument("--etcd", default="etcd")
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--only", default=",".join(names))
    parser.add_argument("--servers", default=",".join(kinds))
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of objects")
    parser.add_argument("--idle-seconds", type=float, default=10)
    options = parser.parse_args()
    for chosen, known in ((options.only.split(","), names), (options.servers.split(","), kinds)):
        if unknown := set(chosen) - set(known):
            parser.error(f"unknown {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    comparison = Comparison(options)
    for part in options.only.split(","):
        # Figures of a machine that does something else are no figures.
        print(f"--- {part} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)", flush=True)
        for server in options.servers.split(","):
            getattr(comparison, part)(kinds[server])


if __name__ == "__main__":
    main()
