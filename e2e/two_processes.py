"""A server and agents in processes of their own, as on several machines."""
import os
import subprocess
import time

import harness


class Process:
    def __init__(self, log, *arguments):
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen([harness.BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def text(self):
        return self.log.read_text(errors="replace")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


class Server(harness.Cluster):
    """`krater server`: no agent in the process."""

    def __init__(self, directory, *arguments):
        super().__init__(directory)
        self.arguments = arguments

    def start(self, timeout=60):
        self.runner = Process(self.log, "server", "--data-dir", str(self.data), "--listen", self.listen, *self.arguments)
        self.process = self.runner.process
        deadline = time.monotonic() + timeout
        while not (self.kubeconfig.exists() and self.try_kubectl("get", "--raw", "/readyz")[0] == 0):
            assert self.process.poll() is None and time.monotonic() < deadline, self.tail()
            time.sleep(0.05)
        return self

    def stop_server(self):
        self.runner.stop()

    def token(self, *arguments):
        return subprocess.run([harness.BINARY, "token", "create", "--data-dir", str(self.data), *arguments], check=True, text=True,
                              capture_output=True).stdout.strip()

    def agent(self, name, *arguments):
        """A simulated node of 4 CPU; its files are in `directory/name`."""
        return Process(self.directory / f"{name}.log", "agent", "--server", self.url, "--data-dir", str(self.directory / name),
                       "--node-name", name, "--runtime", "simulated", "--cpu", "4", "--memory", "8Gi", *arguments)

    def is_ready(self, node):
        found = self.get("node", node)
        return found is not None and any(c["type"] == "Ready" and c["status"] == "True" for c in found["status"]["conditions"])

    def wait_ready(self, node, timeout=60):
        self.wait(f"node {node} is Ready", lambda: self.is_ready(node), timeout=timeout)

    def request_of(self, requester):
        """The first certificate request that this user has made."""
        found = [r for r in self.get("csr")["items"] if r["spec"]["username"].startswith(requester)]
        return found[0] if found else None


def mode(path):
    return os.stat(path).st_mode & 0o777
