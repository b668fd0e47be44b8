#!/usr/bin/env python3
"""example.py SCHEMA NUMBER: a document with everything that a JSON Schema knows, once (NUMBER 1) or with several of each."""
import json
import sys

schema = json.load(open(sys.argv[1]))
number = int(sys.argv[2])


def example(of, name, depth=0):
    while "$ref" in of:
        of = schema["$defs"][of["$ref"].rsplit("/", 1)[1]]
    for choice in ("oneOf", "anyOf", "allOf"):
        if choice in of:
            return example(of[choice][number % len(of[choice])], name, depth)
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return of["enum"][number % len(of["enum"])]
    kind = of.get("type", "object" if "properties" in of else "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        if depth > 12:
            return {}
        return {key: example(value, key, depth + 1) for key, value in of.get("properties", {}).items()}
    if kind == "array":
        return [] if depth > 12 else [example(of.get("items", {}), name, depth + 1) for _ in range(max(number, of.get("minItems", 1)))]
    if kind == "string":
        return f"{name}.c"
    if kind == "integer":
        return max(of.get("minimum", 0), number - 1)
    return {"number": 0.25 * number, "boolean": True}.get(kind)


json.dump(example(schema, "root"), sys.stdout)
