"""Every command of matrix.yaml, typed with each kubectl there is.

KRATER_KUBECTLS lists clients as version=path, separated by colons; without it the one on the PATH is tried.
KRATER_MATRIX_TABLE names a file to write the table to (docs/kubectl.md is made so)."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "docs" / "kubectl.md"
GROUPS = yaml.safe_load((HERE / "matrix.yaml").read_text())
CLIENT_LACKS_IT = re.compile(r"unknown (flag|command|shorthand flag)|flag provided but not defined|is not a valid|forcing the use of|"
                             r"unrecognized condition|unable to match a printer|Error: unknown|See 'kubectl \S* ?(-h|--help)'")


def version_of(binary):
    out = subprocess.run([binary, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True).stdout
    return ".".join(re.match(r"v(\d+)\.(\d+)", json.loads(out)["clientVersion"]["gitVersion"]).groups())


def clients():
    listed = os.environ.get("KRATER_KUBECTLS")
    paths = [entry.split("=", 1)[1] for entry in listed.split(":")] if listed else [shutil.which("kubectl")]
    return {version_of(path): path for path in paths}


CLIENTS = clients()
OUTCOMES = {}  # (group, run) -> version -> words of the table


# `goes_on PATTERN COMMAND…`: what has no end of its own. Ends with 124, as under `timeout`, when the command has said what
# it should (or half a minute is over) and still goes on; otherwise as the command.
GOES_ON = """#!/bin/bash
pattern=$1 said=$(mktemp -p $TMP); shift
"$@" >$said 2>&1 & pid=$!
for i in {1..150}; do grep -Eqe "$pattern" $said && break; kill -0 $pid 2>/dev/null || break; sleep 0.2; done
sleep 0.5
if kill $pid 2>/dev/null; then code=124; wait $pid; else wait $pid; code=$?; fi
cat $said
exit $code
"""


class Shell:
    """bash in a namespace of a cluster, with one kubectl."""

    def __init__(self, cluster, version, namespace, directory):
        self.bin = directory / "bin"
        self.bin.mkdir(parents=True)
        (self.bin / "kubectl").symlink_to(CLIENTS[version])
        (self.bin / "goes_on").write_text(GOES_ON)
        (self.bin / "goes_on").chmod(0o755)
        config = yaml.safe_load(cluster.kubeconfig.read_text())
        for context in config["contexts"]:
            context["context"]["namespace"] = namespace
        (directory / "kubeconfig").write_text(yaml.safe_dump(config))
        self.environment = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}", KUBECONFIG=str(directory / "kubeconfig"), NS=namespace,
                                HOME=str(directory), KUBECACHEDIR=str(directory / "cache"), TMP=str(directory), SAMPLES=str(HERE / "samples"),
                                SERVER=cluster.url)

    def __call__(self, script):
        try:
            done = subprocess.run(["bash", "-c", script], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=120)
        except subprocess.TimeoutExpired as late:
            return 124, f"no end after 120 s\n{late.stdout}"
        return done.returncode, done.stdout


def outcome(row, version, code, text):
    """What the table says, and what is wrong (None: nothing)."""
    if version in row.get("absent", []):
        return "not in this client", None if code != 0 and CLIENT_LACKS_IT.search(text) else "the client was expected to lack it"
    reasons = row.get("differs", {})
    why = reasons.get(version) or reasons.get("all")
    says, wanted = (row.get("says_there", row["says"]), row.get("code_there", row.get("code", 0))) if why else (row["says"], row.get("code", 0))
    right = code == wanted and re.search(says, text)
    return (f"differs: {why}" if why else "works") if right else "FAILS", None if right else f"expected {wanted} and {says!r}"


@pytest.mark.parametrize("version", CLIENTS)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["group"].replace(" ", "_"))
def test_group(request, tmp_path, group, version):
    cluster = request.getfixturevalue("cluster" if group.get("runtime") == "process" else "simulated")
    namespace = "m-" + re.sub(r"[^a-z0-9]+", "-", f"{group['group']}-{version}".lower())
    cluster.kubectl("create", "namespace", namespace)
    shell = Shell(cluster, version, namespace, tmp_path)
    code, text = shell("set -e\n" + group.get("setup", ""))
    assert code == 0, text
    wrong = []
    for row in group["rows"]:
        code, text = shell(row.get("via", row["run"]))
        words, problem = outcome(row, version, code, text)
        OUTCOMES.setdefault((group["group"], row["run"]), {})[version] = words
        if problem:
            wrong.append(f"$ {row['run']}\n  {problem}; it ended with {code}:\n{text[:1500]}")
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
    assert not wrong, "\n\n".join(wrong)


def rows_of(lines):
    return [tuple(cell.strip() for cell in line.strip("|\n").split(" | ")) for line in lines if line.startswith("| `")]


def test_the_table_is_what_was_seen():
    """docs/kubectl.md says of the client tried here what was seen just now, row by row."""
    if len(OUTCOMES) < sum(len(group["rows"]) for group in GROUPS):
        pytest.skip("not all groups were run")
    if target := os.environ.get("KRATER_MATRIX_TABLE"):
        pathlib.Path(target).write_text(table())
    text = TABLE.read_text()
    head = next(line for line in text.splitlines() if line.startswith("| Command"))
    columns = [cell.strip() for cell in head.strip("|").split(" | ")]
    written = {row[0].strip("`"): row for row in rows_of(text.splitlines())}
    for version in CLIENTS:
        if version not in columns:
            continue  # the table is of other clients; the commands themselves were tested
        for (_, run), seen in OUTCOMES.items():
            assert written[run][columns.index(version)] == seen[version], f"{run} with {version}: make docs/kubectl.md anew"


def table():
    versions = sorted(CLIENTS, key=lambda v: int(v.split(".")[1]))
    lines = ["# What kubectl does here", "",
             "Made by `e2e/kubectl/test_matrix.py` from `e2e/kubectl/matrix.yaml`, which holds what was typed and what had to come of it.",
             "\"works\": exit code and output as with Kubernetes. \"not in this client\": that kubectl has no such command or flag.", ""]
    for group in GROUPS:
        lines += [f"## {group['group']}", "", "| Command | " + " | ".join(versions) + " |", "| --- |" + " --- |" * len(versions)]
        for row in group["rows"]:
            seen = OUTCOMES[(group["group"], row["run"])]
            command = row["run"].replace("|", "\\|")
            lines.append(f"| `{command}` | " + " | ".join(seen[v] for v in versions) + " |")
        lines.append("")
    return "\n".join(lines)
