#!/usr/bin/env python3
"""Turns the YAML schemas into one C++ source: each file as compact JSON in a string literal.

usage: compile.py OUTPUT INPUT...
Also checks what only the whole set can show: that every $ref has a target and that no type is written twice.
"""
import json
import sys

import yaml


def refs(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from refs(item)
    elif isinstance(value, list):
        for item in value:
            yield from refs(item)


def main(output, inputs):
    documents, types = [], {}
    for path in inputs:
        with open(path, encoding="utf-8") as source:
            document = yaml.safe_load(source)
        for name in document["types"]:
            full = f"{document['package']}.{name}"
            if full in types:
                sys.exit(f"{path}: type {full} is also in {types[full]}")
            types[full] = path
        documents.append((path, document))
    for path, document in documents:
        for ref in refs(document):
            if ref not in types:
                sys.exit(f"{path}: no type {ref}")
    with open(output, "w", encoding="utf-8") as out:
        out.write('#include "api/schemas/embedded.h"\n\nnamespace krater::api {\n\n')
        out.write("const std::vector<std::string_view>& embedded_schemas() {\n")
        out.write("  static const std::vector<std::string_view> kSchemas = {\n")
        for _, document in documents:
            text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
            out.write(f'      R"~~({text})~~",\n')
        out.write("  };\n  return kSchemas;\n}\n\n}  // namespace krater::api\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
