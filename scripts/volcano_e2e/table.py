#!/usr/bin/env python3
"""docs/volcano-e2e.md from Ginkgo's JSON reports of Volcano's end-to-end suites, as run.sh leaves them.

table.py COMMIT REPORT... > docs/volcano-e2e.md: COMMIT is what the binary was built from. Of a spec that ran in several
reports the last counts; that it failed in an earlier one is told. Reports of dry runs name the specs of suites that
cannot run. reasons.yaml says why a spec is not applicable or not supported, and what there is to say about others: the
first key that is part of the spec's name."""
import collections
import json
import pathlib
import sys

import yaml

HEAD = """# Volcano's own end-to-end suites

Upstream's suites (1.16, built from source, not changed), all against one release build of commit {commit}, each with a
server of its own (long suites split over several): `krater dev --runtime simulated --nodes 4 --cpu 8 --memory 16Gi
--programs FILE --scheduler-configmap volcano-system/integration-scheduler-configmap/volcano-scheduler-ci.conf`, with
upstream's configuration for its tests in that ConfigMap. Several ran side by side on two cores that had other work too:
the times say how long a spec waits, not how fast Krater is. `scripts/volcano_e2e/run.sh` runs a suite, `table.py` made
this page from the reports.

- On simulated nodes containers start at once and end as their commands say (`sleep 10s && exit 3`); what the file of
  programs adds is said where it counts.
- For gangevict and hypernode an agent adds 4 or 8 nodes kwok-node-N of 8 CPU, tainted as upstream's are; for hypernode a
  DaemonSet puts a pod of 100m CPU and 50Mi on each node, as kindnet's does upstream: what fits exactly without it is meant
  not to fit. (Case 1.3 ran without: two of its own pods would not fit.)
- "A cycle a second": with `--schedule-period 1s`, as upstream's scheduler works. Some specs take it for a proof that a pod
  is Pending when they look first; here a pod may run 30 ms after it was made. "Late starts" (one spec): a webhook has
  containers start four seconds late, as they do where upstream empties its nodes of images.
- "Stand-in for exec": nodes here do not serve exec, which most specs of Volume Binding want for making directories and
  for reading files. A proxy answers it: it makes the directories, and runs commands in the mounts of the pod's process.
  Where it says "real processes" there are three nodes on one machine (`--runtime process`) and the volumes are mounted.
- Not applicable: what looks at upstream's own chart and programs. Not supported: what Krater does not have.
  Skipped: by the spec itself, with its words.
- The column "of these, otherwise" counts the specs that pass as the remark says and fail or cannot run on the plain
  server above; "failed on the plain server" is what was seen, not guessed.
- shardingcontroller, schedulersharding and agentscheduler are about NodeShards, which are a user's kind here: upstream's
  own programs do the work, this server serves them. They are not in the sum.
"""

# Remarks that begin so tell of other conditions than those of the head's first paragraph.
OTHERWISE = ("a cycle a second", "late starts", "real processes", "stand-in for exec")
UPSTREAMS = ("shardingcontroller", "schedulersharding", "agentscheduler")
KINDS = ["passed", "failed", "not applicable", "not supported", "skipped", "not run"]


def spec_state(spec, dry):
    """State of the spec in this report, or None where it did not run: left out by a filter of the run, ended in the
    middle of it, or only listed. A spec that skips itself has taken some time."""
    filtered = spec["State"] == "skipped" and spec["RunTime"] == 0
    return None if dry or filtered or spec["State"] in ("interrupted", "timedout", "aborted") else spec["State"]


def outcomes(paths):
    """{suite: {spec: {state, seconds, message, failed before}}}; state None: in no report it ran."""
    out = collections.OrderedDict()
    for path in paths:
        for report in json.loads(pathlib.Path(path).read_text()):
            suite = pathlib.Path(report["SuitePath"]).name
            if report["SuiteConfig"]["DryRun"]:
                suite = pathlib.Path(path).stem.removeprefix("dry-")  # its path is where it was started
            specs = out.setdefault(suite, {})
            for spec in report["SpecReports"] or []:
                if spec["LeafNodeType"] != "It":
                    continue
                name = " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
                state = spec_state(spec, report["SuiteConfig"]["DryRun"])
                if state is None and name.startswith("[sig-"):
                    continue  # Kubernetes' own, registered by an import
                before = specs.setdefault(name, {"state": None, "seconds": 0, "message": "", "failed": False})
                if state is not None:
                    specs[name] = {"state": state, "seconds": spec["RunTime"] / 1e9,
                                   "message": (spec.get("Failure") or {}).get("Message", ""),
                                   "failed": before["failed"] or before["state"] == "failed"}
    return out


def judged(name, spec, reasons):
    """(verdict, remark)"""
    why = next((text for part, text in reasons.items() if part in name), "")
    state = spec["state"]
    if state == "passed":
        assert why or not spec["failed"], f"{name} has failed before: reasons.yaml must say why"
        return "passed", f"failed on the plain server: {why}" if spec["failed"] else why
    if state in ("pending", "skipped"):
        return "skipped", spec["message"] or why or "marked as pending"
    for verdict in ("not applicable", "not supported"):
        if why.startswith(verdict + ": "):
            return verdict, why.removeprefix(verdict + ": ")
    return ("not run" if state is None else "failed"), why


def main(commit, paths):
    reasons = yaml.safe_load((pathlib.Path(__file__).parent / "reasons.yaml").read_text())
    suites = outcomes(paths)
    counts, rows = {}, {}
    for suite, specs in suites.items():
        counts[suite] = collections.Counter()
        rows[suite] = []
        for name, spec in sorted(specs.items()):
            verdict, why = judged(name, spec, reasons.get(suite) or {})
            counts[suite][verdict] += 1
            counts[suite]["otherwise"] += verdict == "passed" and (spec["failed"] or why.startswith(OTHERWISE))
            time = f"{spec['seconds']:.0f} s" if verdict in ("passed", "failed") else ""
            rows[suite].append(f"| {name.replace('|', chr(92) + '|')} | {verdict} | {time} | {why} |")
    counts["sum"] = sum((of for suite, of in counts.items() if suite not in UPSTREAMS), collections.Counter())
    print(HEAD.format(commit=commit))
    columns = [KINDS[0], "otherwise", *KINDS[1:]]
    print("| Suite | " + " | ".join(columns).replace("otherwise", "of these, otherwise") + " |")
    print("|" + " --- |" * (len(columns) + 1))
    for suite, of in counts.items():
        print(f"| {suite} | " + " | ".join(str(of[column]) for column in columns) + " |")
    for suite in suites:
        print(f"\n## {suite}\n\n| Spec | Outcome | Time | Remark |\n| --- | --- | --- | --- |")
        print("\n".join(rows[suite]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
