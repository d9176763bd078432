#!/usr/bin/env python3
"""docs/volcano-e2e.md from Ginkgo's JSON reports of Volcano's end-to-end suites.

table.py REPORT... > docs/volcano-e2e.md: of a spec that is in several reports the last one that ran it counts.
reasons.yaml says why a spec is not applicable, and what there is to say about others: the first key that is part of
the spec's name."""
import collections
import json
import pathlib
import sys

import yaml

HEAD = """# Volcano's own end-to-end suites

Upstream's suites (1.16, built from source, not changed) against `krater dev --runtime simulated --nodes 4 --cpu 8
--memory 16Gi --programs FILE --scheduler-configmap volcano-system/integration-scheduler-configmap/volcano-scheduler-ci.conf`
with upstream's configuration for its tests in that ConfigMap. On simulated nodes containers end as their commands say
(`sleep 10s && exit 3`); what the file of programs adds is said where it counts. For gangevict and hypernode an agent adds 4 or 8 nodes kwok-node-N of
8 CPU, tainted as upstream's are; for hypernode a DaemonSet puts a pod of 100m CPU and 50Mi on each, as kindnet's does
upstream (what fits exactly without it is meant not to fit; Case 1.3 ran without, as two of its own pods would not fit). "not run": nobody had the time yet. Made by `scripts/volcano_e2e/table.py` from the
reports of the runs.
"""


def outcomes(paths):
    """{suite: {spec: (state, seconds, failure)}}, in the order of the suites' own listing."""
    out = collections.OrderedDict()
    for path in paths:
        for report in json.loads(pathlib.Path(path).read_text()):
            suite = out.setdefault(pathlib.Path(report["SuitePath"]).name, {})
            for spec in report["SpecReports"] or []:
                if spec["LeafNodeType"] != "It":
                    continue
                name = " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
                # Skipped by a filter of the run, not by the spec itself; or the run was ended in the middle of it.
                ran = (spec["State"] != "skipped" or spec["RunTime"] > 0) and spec["State"] not in ("interrupted", "timedout", "aborted")
                if not ran and name.startswith("[sig-"):
                    continue  # Kubernetes' own, registered by an import
                if ran or name not in suite:
                    suite[name] = (spec["State"] if ran else "not run", spec["RunTime"] / 1e9, (spec.get("Failure") or {}).get("Message", ""))
    return out


def judged(name, state, reasons):
    why = next((text for part, text in reasons.items() if part in name), "")
    if state == "passed":
        return "passed", why
    if state in ("pending", "skipped"):
        return "skipped", why or "upstream skips it"
    if why.startswith("not applicable: "):
        return "not applicable", why.removeprefix("not applicable: ")
    return ("not run" if state == "not run" else "failed"), why


def main(paths):
    reasons = yaml.safe_load((pathlib.Path(__file__).parent / "reasons.yaml").read_text())
    suites = outcomes(paths)
    counts, rows = {}, {}
    for suite, specs in suites.items():
        counts[suite] = collections.Counter()
        rows[suite] = []
        for name, (state, seconds, _) in sorted(specs.items()):
            verdict, why = judged(name, state, reasons.get(suite) or {})
            counts[suite][verdict] += 1
            rows[suite].append(f"| {name.replace('|', chr(92) + '|')} | {verdict} | {seconds:.0f} s | {why} |")
    kinds = ["passed", "failed", "not applicable", "skipped", "not run"]
    print(HEAD)
    print("| Suite | " + " | ".join(kinds) + " |\n|" + " --- |" * (len(kinds) + 1))
    for suite in suites:
        print(f"| {suite} | " + " | ".join(str(counts[suite][kind]) for kind in kinds) + " |")
    for suite in suites:
        print(f"\n## {suite}\n\n| Spec | Outcome | Time | Remark |\n| --- | --- | --- | --- |")
        print("\n".join(rows[suite]))


if __name__ == "__main__":
    main(sys.argv[1:])
