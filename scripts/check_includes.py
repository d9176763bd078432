#!/usr/bin/env python3
"""Lint: every #include obeys the charter of ARCHITECTURE.md, and heavy headers stay where they belong.

Usage: check_includes.py ROOT. Exits 1 and prints each offending line.
"""
import pathlib
import re
import sys

# Part -> parts it may use (besides itself). The order is the one of ARCHITECTURE.md.
MAY_USE = {
    "base": set(),
    "model": {"base"},
    "runtime": {"base"},
    "client": {"model", "base"},
    "storage": {"base"},
    "api": {"storage", "client", "model", "base"},
    "controllers": {"client", "model", "base"},
    "scheduler": {"client", "model", "base"},
    "agent": {"client", "model", "base"},
    "testing": {"client", "model", "base"},
    "sim": {"base", "model", "client", "runtime", "storage", "api", "controllers", "scheduler", "agent", "testing", "cli"},
    "replay": {"base", "model", "client", "scheduler", "testing"},
    "cli": {"base", "model", "client", "runtime", "storage", "api", "controllers", "scheduler", "agent", "replay"},
    "main": {"cli", "base"},
    "fuzz": {"base", "model", "api", "agent", "replay"},
    "bench": {"base", "model", "client", "runtime", "storage", "api", "controllers", "scheduler", "agent", "testing"},
}
TESTING_FOLDERS = ("testing/",)

# Third-party header prefix -> where it may be included.
HEAVY = {
    r"boost/(asio|beast)": ("src/runtime/", "api/server/", "src/agent/", "bench/"),
    r"rocksdb/": ("storage/rocksdb_", "storage/testing/", "bench/"),
    r"simdjson": ("src/base/json",),
    r"nghttp2/": ("src/agent/net/grpc_",),
    r"sodium": ("api/encryption/secretbox",),
    r"spdlog/": ("src/base/log",),
    r"date/": ("src/base/time_zone",),
    r"yaml-cpp/": ("src/base/", "api/", "scheduler/", "controllers/", "src/agent/", "src/cli/", "src/testing/", "src/sim/"),
}


def part_of(path: str) -> str:
    if path == "src/main.cc":
        return "main"
    if path.startswith("src/testing/fuzz/"):
        return "fuzz"
    pieces = path.split("/")
    return pieces[1] if pieces[0] == "src" else pieces[0]


def part_of_include(include: str, root: pathlib.Path) -> str | None:
    first = include.split("/")[0]
    if first in MAY_USE and ((root / "src" / include).exists() or (root / include).exists()):
        return first
    return None


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    problems = []
    count = 0
    for top in ("src", "api", "storage", "controllers", "scheduler", "bench"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".cc", ".h"):
                continue
            path = str(file.relative_to(root))
            part = part_of(path)
            is_test = path.endswith("_test.cc") or "/testing/" in path
            count += 1
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
                if not match:
                    continue
                include = match.group(2)
                used = part_of_include(include, root) if match.group(1) == '"' else None
                if used and used != part and used not in MAY_USE.get(part, set()):
                    if not (is_test and used in ("testing", "runtime")):
                        problems.append(f"{path}:{number}: {part} may not use {used}: {line.strip()}")
                if used == "testing" and not is_test and part not in ("testing", "sim", "bench", "replay"):
                    problems.append(f"{path}:{number}: what ships may not use testing: {line.strip()}")
                for pattern, places in HEAVY.items():
                    if re.match(pattern, include) and not path.startswith(places):
                        problems.append(f"{path}:{number}: <{include}> only in {', '.join(places)}")
    # controllers never use each other, except the loop, the batch scheduler interface and what the Ray controllers
    # share. A scenario test may bring several together.
    for file in sorted((root / "controllers").rglob("*")):
        path = str(file.relative_to(root))
        if file.suffix not in (".cc", ".h") or path.endswith("_test.cc"):
            continue
        own = path.split("/")[1]
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*"controllers/([^/"]+)/', line)
            if match and match.group(1) not in (own, "loop", "batchscheduler", "ray"):
                problems.append(f"{path}:{number}: controllers do not use each other: {line.strip()}")
    for problem in problems:
        print(problem)
    print(f"{count} files checked, {len(problems)} problems")
    if count == 0:
        print("nothing to check: wrong root?")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
