#!/usr/bin/env python3
"""Measures a release build from outside and prints each figure beside its aim: docs/benchmarks.md says how to read them.

Usage: bench/run.py [--build-dir build] [--only start,idle,create,get,list,list100k,watch,gangs] [--scale 1.0]
Starts `krater dev` on free loopback ports in temporary directories; everything it starts ends with it.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time


class Krater:
    """`krater dev` over a data directory, from its start until it logged `ready`."""

    def __init__(self, binary, data, *arguments):
        self.data = pathlib.Path(data)
        begin = time.monotonic()
        self.process = subprocess.Popen([binary, "dev", "--data-dir", str(data), "--listen", "127.0.0.1:0", *arguments],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.ready_ms, seen = None, []
        for line in self.process.stdout:
            seen.append(line)
            if re.search(r"\bready\b.*url=", line):
                self.ready_ms = (time.monotonic() - begin) * 1000
                break
        if self.ready_ms is None:
            raise SystemExit("krater dev ended before it was ready:\n" + "".join(seen))
        self.ready_cpu_ms = self.cpu_ms()
        # The pipe must not fill up, and its last lines say why a process ended by itself.
        self.last_lines = collections.deque(seen, maxlen=40)
        self.drain = threading.Thread(target=lambda: self.last_lines.extend(self.process.stdout), daemon=True)
        self.drain.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise SystemExit("krater dev did not stop within 15 s")

    def cpu_ms(self):
        """What the process has computed so far; unlike the time it took, much the same on a busy machine."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Megabytes: resident, of these anonymous."""
        if self.process.poll() is not None:
            self.drain.join()
            raise SystemExit(f"krater dev ended by itself with {self.process.returncode}:\n" + "".join(self.last_lines))
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return [int(re.search(rf"^{what}:\s+(\d+) kB", text, re.M)[1]) / 1024 for what in ("Rss", "Anonymous")]

    def metrics(self):
        """The scheduler's gauges, read with kubectl, which knows the client certificate."""
        text = subprocess.run(["kubectl", "--kubeconfig", str(self.data / "kubeconfig"), "get", "--raw", "/metrics"],
                              capture_output=True, text=True, check=True).stdout
        return dict(re.findall(r"^(krater_scheduler_\w+) (\S+)$", text, re.M))


class Bench:
    def __init__(self, options):
        self.options = options
        self.binary = self.built("src/cli/krater", "krater")
        self.load_binary = self.built("bench/krater-load")

    def built(self, *names):
        for name in names:
            path = pathlib.Path(self.options.build_dir) / name
            if path.is_file():
                return str(path.resolve())
        raise SystemExit(f"{self.options.build_dir} has no {names[0]}: meson setup {self.options.build_dir} "
                         "--buildtype=release -Dbenchmarks=true, then ninja")

    @contextlib.contextmanager
    def directory(self):
        with tempfile.TemporaryDirectory(prefix="krater-bench-", ignore_cleanup_errors=True) as path:
            yield pathlib.Path(path)

    def load(self, krater, *arguments):
        done = subprocess.run([self.load_binary, "--kubeconfig", str(krater.data / "kubeconfig"), *map(str, arguments)])
        sys.stdout.flush()
        if done.returncode != 0:
            raise SystemExit(f"krater-load {' '.join(map(str, arguments))} failed")

    def scaled(self, number):
        return max(1, int(number * self.options.scale))

    def simulated(self, data, nodes=1):
        return Krater(self.binary, data, "--runtime", "simulated", "--nodes", str(nodes), "--cpu", "32", "--memory", "256Gi")

    def start(self):
        with self.directory() as base:
            def starts(what, directories):
                wall, cpu = [], []
                for directory in directories:
                    with self.simulated(base / directory) as krater:
                        wall.append(krater.ready_ms)
                        cpu.append(krater.ready_cpu_ms)
                report(f"start to ready, {what}", f"{statistics.median(wall):.0f} ms ({min(wall):.0f} to {max(wall):.0f}; "
                       f"{statistics.median(cpu):.0f} ms of processor time)", "< 300 ms")

            starts("no data directory", [str(number) for number in range(7)])
            with self.simulated(base / "0") as krater:
                self.load(krater, "create", "--requests", 1000)
            starts("1,000 objects", ["0"] * 7)

    def idle(self):
        for runtime in ("simulated", "process"):
            with self.directory() as base, Krater(self.binary, base, "--runtime", runtime) as krater:
                time.sleep(self.options.idle_seconds)
                resident, anonymous = krater.memory()
                report(f"idle memory, {runtime} runtime", f"{resident:.1f} MB, of these {anonymous:.1f} anonymous", "< 60 MB")

    def create(self):
        with self.directory() as base, self.simulated(base) as krater:
            for clients, requests in ((1, 2000), (8, 10000), (64, 30000)):
                self.load(krater, "create", "--clients", clients, "--requests", self.scaled(requests))

    def get(self):
        with self.directory() as base, self.simulated(base) as krater:
            self.load(krater, "get", "--requests", self.scaled(20000))

    def list(self, pods=10000, repeat=20):
        with self.directory() as base:
            with self.simulated(base) as krater:
                before = krater.memory()[1]
                pods = self.scaled(pods)
                self.load(krater, "list", "--objects", pods, "--repeat", repeat)
                report(f"memory for {pods} pods, as written", f"{krater.memory()[1] - before:.1f} MB anonymous")
                self.load(krater, "list", "--objects", 0, "--repeat", repeat)
            with self.simulated(base) as krater:
                report(f"start to ready, {pods} pods", f"{krater.ready_ms:.0f} ms")
                time.sleep(2)
                report(f"memory for {pods} pods, after a restart", f"{krater.memory()[1] - before:.1f} MB anonymous")

    def list100k(self):
        self.list(pods=100000, repeat=5)

    def watch(self):
        for watchers, writes in ((1000, 200), (5000, 20)):
            with self.directory() as base, self.simulated(base) as krater:
                self.load(krater, "watch", "--watchers", self.scaled(watchers), "--writes", writes)

    def gangs(self):
        with self.directory() as base, self.simulated(base, nodes=1000) as krater:
            time.sleep(5)  # all thousand have registered
            for workers in (2, 8):
                self.load(krater, "gangs", "--jobs", 20, "--workers", workers)
            for name, value in krater.metrics().items():
                report(name, value)


def report(what, figure, aim=""):
    print(f"{what}: {figure}{f'  (aim {aim})' if aim else ''}", flush=True)


def main():
    names = ("start", "idle", "create", "get", "list", "list100k", "watch", "gangs")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--only", default=",".join(names))
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of objects")
    parser.add_argument("--idle-seconds", type=float, default=30)
    options = parser.parse_args()
    chosen = options.only.split(",")
    unknown = set(chosen) - set(names)
    if unknown:
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    bench = Bench(options)
    for name in chosen:
        # Figures of a machine that does something else are no figures.
        print(f"--- {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)", flush=True)
        getattr(bench, name)()


if __name__ == "__main__":
    main()
