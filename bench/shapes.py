#!/usr/bin/env python3
"""10,000 one-CPU pods on 1,000 nodes of 32, in jobs of different sizes: how long until all are created, bound and running.

Usage: bench/shapes.py --build-dir build-bench [--only vcjobs,pods,ready,cycles,restart,volcano,beside] [--shapes 10000x1,500x20]
  vcjobs   a client creates vcjobs, the job controller their pods (as Volcano's own benchmark does), gang on and off
  pods     16 clients create the PodGroups and every pod
  ready    everything is there before the scheduler is: a restart with the scheduler on, from the start of the process
  cycles   the scheduler alone, at 1,000, 5,000 and 10,000 nodes, and a cycle when nothing changed
  restart  the same as ready with 100,000 pods, to the first bind
  volcano  vcjobs, with Volcano's scheduler and controllers in place of ours (--volcano, --volcano-crds)
  beside   vcjobs with ours, then with theirs, and how many times as many pods a second ours binds
The whole system runs: API over HTTPS, the store on disk, 1,000 simulated nodes. Everything it starts ends with it.
"""
import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time

from run import Krater, report

SHAPES = ("10000x1", "500x20", "20x500", "1x10000")
# What Volcano's benchmark configures.
CONFIGURATION = """actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
OF_VOLCANO = ("vc-controller-manager",)


class Shapes:
    def __init__(self, options):
        self.options = options
        build = pathlib.Path(options.build_dir)
        self.binary, self.load_binary = str(build / "krater"), str(build / "bench/krater-load")
        self.cycle_binary = str(build / "bench/scheduler_bench")

    @contextlib.contextmanager
    def cluster(self, data, *arguments, cpu=32):
        configuration = data / "scheduler.yaml"
        configuration.write_text(CONFIGURATION)
        with Krater(self.binary, data / "server", "--runtime", "simulated", "--nodes", str(self.options.nodes), "--cpu", str(cpu),
                    "--memory", f"{cpu * 8}Gi", "--scheduler-conf", str(configuration), *arguments) as krater:
            yield krater

    def wait_for_nodes(self, krater):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            listed = subprocess.run(["kubectl", "--kubeconfig", str(krater.data / "kubeconfig"), "get", "nodes", "--no-headers"],
                                    capture_output=True, text=True)
            if sum(" Ready " in line for line in listed.stdout.splitlines()) == self.options.nodes:
                return
            time.sleep(0.5)
        raise SystemExit("the nodes did not all become Ready")

    def load(self, krater, shape, gang, via, until="running"):
        """The moments in seconds: {"created": (first, last), ...}."""
        jobs, pods = shape.split("x")
        done = subprocess.run([self.load_binary, "--kubeconfig", str(krater.data / "kubeconfig"), "shapes", "--jobs", jobs, "--pods", pods,
                               "--gang" if gang else "--no-gang", "--via", via, "--until", until,
                               "--seconds", str(self.options.seconds)], capture_output=True, text=True)
        lines = re.findall(r"^shapes: (\w+) +(\d+), first +(\d+) ms, last +(\d+) ms", done.stdout, re.M)
        if done.returncode != 0:
            print(f"{shape}: not all in {self.options.seconds} s: {done.stdout}{done.stderr}", flush=True)
        self.counts = {what: int(count) for what, count, _, _ in lines}
        return {what: (int(first) / 1000, int(last) / 1000) for what, count, first, last in lines if int(count)}

    def tell(self, what, shape, gang, moments, cpu_s):
        last = {name: moments[name][1] if name in moments else float("nan") for name in ("acknowledged", "created", "bound", "running")}
        report(f"{what} {shape}, gang {'on' if gang else 'off'}",
               f"created {last['created']:.2f} s, bound {last['bound']:.2f} s ({self.counts['bound'] / last['bound']:.0f} pods/s), "
               f"running {last['running']:.2f} s; server and agents {cpu_s:.1f} s of processor time", "bound < 5 s")

    def one(self, what, shape, gang, via, *arguments, start=None):
        with Temporary() as data, self.cluster(data, *arguments) as krater:
            with (start(krater, data) if start else contextlib.nullcontext()):
                self.wait_for_nodes(krater)
                before = krater.cpu_ms()
                moments = self.load(krater, shape, gang, via)
                self.tell(what, shape, gang, moments, (krater.cpu_ms() - before) / 1000)
                return moments

    def vcjobs(self):
        for gang in self.options.gang:
            for shape in self.options.shapes:
                self.one("vcjobs", shape, gang, "vcjob")

    def pods(self):
        for gang in self.options.gang:
            for shape in self.options.shapes:
                self.one("pods by clients", shape, gang, "pods")

    def there_before(self, what, shape, gang, until, cpu):
        with Temporary() as data:
            with self.cluster(data, "--scheduler=off", cpu=cpu) as krater:
                self.wait_for_nodes(krater)
                self.load(krater, shape, gang, "pods", "created")
            begin = time.monotonic()
            with self.cluster(data, cpu=cpu) as krater:
                self.load(krater, shape, gang, "none", until)
                took = time.monotonic() - begin
                jobs, pods = map(int, shape.split("x"))
                report(f"{what} {shape}, gang {'on' if gang else 'off'}", f"{took:.2f} s from the start of the process to "
                       f"{'the first bind' if until == 'first-bound' else 'all bound'} (ready after {krater.ready_ms:.0f} ms), {jobs * pods} pods")

    def ready(self):
        for gang in self.options.gang:
            for shape in self.options.shapes:
                self.there_before("pods there before", shape, gang, "bound", 32)

    def restart(self):
        self.there_before("restart", "100x1000", True, "first-bound", 128)

    def cycles(self):
        for nodes in (1000, 5000, 10000):
            print(f"-- {nodes} nodes, 10,000 pods in gangs of 20", flush=True)
            subprocess.run([self.cycle_binary, str(nodes), "10000", "20"], check=True)

    def theirs(self):
        directory = pathlib.Path(self.options.volcano)

        @contextlib.contextmanager
        def theirs(krater, data):
            common = ["--kubeconfig", str(krater.data / "kubeconfig"), "--leader-elect=false", "--kube-api-qps=5000", "--kube-api-burst=5000",
                      "--enable-healthz=false"]
            started = []
            try:
                for name in ("config.volcano.sh_colocationconfigurations", "shard.volcano.sh_nodeshards"):
                    subprocess.run(["kubectl", "--kubeconfig", str(krater.data / "kubeconfig"), "apply", "--server-side", "-f",
                                    str(pathlib.Path(self.options.volcano_crds) / f"{name}.yaml")], check=True, stdout=subprocess.DEVNULL)
                for name, more in (("controller-manager", []),
                                   ("scheduler", ["--scheduler-conf", str(data / "scheduler.yaml"), "--schedule-period=100ms"])):
                    with (data / f"{name}.log").open("w") as log:
                        started.append(subprocess.Popen([str(directory / name), *common, *more], stdout=log, stderr=log))
                time.sleep(5)
                for process in started:
                    if process.poll() is not None:
                        raise SystemExit("".join(path.read_text()[-2000:] for path in data.glob("*.log")))
                yield
                report("  their own processor time", ", ".join(f"{cpu_s(process.pid):.1f} s" for process in started))
            finally:
                for process in started:
                    process.kill()
                    process.wait()

        return theirs

    def with_volcano(self, shape, gang):
        return self.one("Volcano, vcjobs", shape, gang, "vcjob", "--scheduler=off",
                        "--controllers=*," + ",".join("-" + name for name in OF_VOLCANO), start=self.theirs())

    def volcano(self):
        for gang in self.options.gang:
            for shape in self.options.shapes:
                self.with_volcano(shape, gang)

    def beside(self):
        for gang in self.options.gang:
            for shape in self.options.shapes:
                rates = []
                for run in (lambda: self.one("vcjobs", shape, gang, "vcjob"), lambda: self.with_volcano(shape, gang)):
                    moments = run()
                    rates.append(self.counts["bound"] / moments["bound"][1] if "bound" in moments else 0.0)
                ours, theirs = rates
                report(f"pods bound a second, {shape}, gang {'on' if gang else 'off'}", f"{ours:.0f} and {theirs:.0f}, ratio "
                       f"{ours / theirs if theirs else float('inf'):.1f} (load {os.getloadavg()[0]:.1f})")


class Temporary:
    """A directory on the disk that matters: --dir, or the system's."""
    base = None

    def __enter__(self):
        import tempfile
        self.held = tempfile.TemporaryDirectory(prefix="krater-shapes-", dir=Temporary.base, ignore_cleanup_errors=True)
        return pathlib.Path(self.held.__enter__())

    def __exit__(self, *why):
        return self.held.__exit__(*why)


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    names = ("vcjobs", "pods", "ready", "cycles", "restart")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--only", default=",".join(names))
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--gang", default="on,off")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=300, help="at most, for one shape")
    parser.add_argument("--dir", help="where the data directories are made")
    parser.add_argument("--volcano", help="directory of Volcano's scheduler and controller-manager")
    parser.add_argument("--volcano-crds", help="directory of its definitions: two of them are not built in here, and it waits for them")
    options = parser.parse_args()
    options.shapes = options.shapes.split(",")
    options.gang = [word == "on" for word in options.gang.split(",")]
    Temporary.base = options.dir
    chosen = options.only.split(",")
    unknown = set(chosen) - {*names, "volcano", "beside"}
    if unknown:
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}")
    if {"volcano", "beside"} & set(chosen) and not (options.volcano and options.volcano_crds):
        parser.error("volcano and beside need --volcano and --volcano-crds")
    shapes = Shapes(options)
    for name in chosen:
        print(f"--- {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)", flush=True)
        getattr(shapes, name)()


if __name__ == "__main__":
    sys.exit(main())
