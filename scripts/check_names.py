#!/usr/bin/env python3
"""Lint: a type's name is defined in one file only of its namespace.

Two classes of one full name in two files are undefined behaviour that no compiler reports and every linker
resolves silently to one of them. Usage: check_names.py ROOT. Exits 1 and prints each name with its files.
"""
import collections
import pathlib
import re
import sys

NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
END = re.compile(r"\}  // namespace( [\w:]+)?$")
TYPE = re.compile(r"(?:class|struct|union|enum class|enum) (?:\[\[\w+\]\] )?(\w+)\b(?!::)(?:[^;]*$|[^;]*\{)")


def types_in(text: str):
    """Full names of the types defined at namespace scope, outside anonymous namespaces."""
    spaces = []
    anonymous = 0
    for line in text.splitlines():
        if line == "namespace {":
            anonymous += 1
        elif match := NAMESPACE.match(line):
            spaces.append(match.group(1))
        elif match := END.match(line):
            if match.group(1):
                spaces.pop()
            else:
                anonymous -= 1
        elif not anonymous and (match := TYPE.match(line)):
            yield "::".join([*spaces, match.group(1)])


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    places = collections.defaultdict(set)
    for top in ("src", "api", "storage", "controllers", "scheduler", "bench"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".cc", ".h"):
                for name in types_in(file.read_text()):
                    places[name].add(str(file.relative_to(root)))
    problems = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in sorted(problems.items()):
        print(f"{name} is defined in {', '.join(sorted(files))}")
    print(f"{len(places)} types checked, {len(problems)} problems")
    return 1 if problems or not places else 0


if __name__ == "__main__":
    sys.exit(main())
