#!/usr/bin/python3
"""named_types.py SOURCE ANALYSIS [LEAST [loose]]: do the types and fields in analysis.json agree with the lines
    TRUTH function: type { fields }
of the source? Counts the weight on heap and static data in these functions: right, unknown and wrong. Wrong is an error always,
and so is a share of right ones below LEAST (0.95). What other functions access without a known type (the C library's memset() of
a buffer, what qsort() copies to) is not counted: how much that is depends on the machine. A field may be named whole ("position") or by its parts ("position.x").
"loose": which fields a loop uses is not checked (vectors may span fields that the source does not name)."""
import json
import re
import sys


def plain_function(name):
    name = re.sub(r"\(.*", "", name or "")
    name = re.sub(r"<.*", "", name)
    return name.split(" ")[-1]


def read_truth(path):
    truth = {}
    for line in open(path):
        found = re.search(r"TRUTH ([\w:]+): (.+?) \{(.*?)\}", line)
        if found and found[2] != "type":
            fields = {field.strip() for field in re.split("[,;]", found[3]) if field.strip()}
            truth.setdefault(found[1], {})[found[2]] = fields
    return truth


def truth_of(truth, function):
    name = plain_function(function)
    for known, types in truth.items():
        if name == known or name.endswith("::" + known) or known.endswith("::" + name):
            return types
    return None


LIBRARY_NAMES = {"__node_base_ptr": "std::__detail::_Hash_node_base *"} # a typedef of std::unordered_map's, which clang++ names


def spelled(name):
    """As g++ writes it: clang++ says "const int" and "_vptr$Base"."""
    name = LIBRARY_NAMES.get(name, name)
    return re.sub(r"const (\w+)", r"\1 const", name).replace("$", ".") if name else name


def field_ok(name, fields):
    parts = re.split(r", |\+", name)
    return "*" in fields or all(
        part in fields or any(part.startswith(field + mark) for field in fields for mark in ".[") for part in parts)


def main():
    source, analysis = sys.argv[1:3]
    least = float(sys.argv[3]) if len(sys.argv) > 3 else 0.95
    truth, loose = read_truth(source), len(sys.argv) > 4
    analysis = json.load(open(analysis))
    every_type = {name for types in truth.values() for name in types}
    weight = {"right": 0.0, "unknown": 0.0, "wrong": 0.0, "elsewhere": 0.0}
    seen, lines = set(), []

    def count(kind, share, *text):
        weight[kind] += share
        if kind == "wrong" or (kind == "unknown" and share > 0.0005):
            lines.append("%-7s %5.2f %%  %s" % (kind, 100 * share, " ".join(str(part) for part in text)))

    for item in analysis["objects"]:
        if item["kind"] not in ("heap", "static"):
            continue
        left, item["type"] = item["share"], spelled(item["type"])
        for use in item["loops"]:
            function = analysis["loops"][use["loop"]]["function"]
            types = truth_of(truth, function)
            share, fields = use["share"], [spelled(field) for field in use["fields"]]
            left -= share
            what = (plain_function(function), item["name"], item["type"], fields)
            if item["type"] is None:
                count("unknown" if types else "elsewhere", share, *what)
            elif (types and "*" in types) or item["type"] in truth.get("anywhere", ()):
                count("right", share)
            elif item["type"] not in (every_type if types is None else types):
                count("wrong", share, *what)
            elif types is None:
                count("right", share)
            elif types[item["type"]] and not fields:
                count("unknown", share, *what)
            elif not loose and not all(field_ok(field, types[item["type"]]) for field in fields):
                count("wrong", share, *what)
            else:
                count("right", share)
                seen.add((function, item["type"]))
        if left > 0.0005:
            count("elsewhere" if item["type"] is None else "right", left, "(in no loop)", item["name"], item["type"])
    for item in analysis["objects"]:
        for field in item["fields"]:
            for part in field.get("parts", ()):
                if not part["name"].startswith(field["name"] + ".") or not (
                        field["offset"] <= part["offset"] < field["offset"] + field["bytes"]):
                    lines.append("wrong   part %s of %s" % (part["name"], field["name"]))
    functions = {plain_function(function) for function, _ in seen}
    for known in truth:
        if not any(name == known or name.endswith("::" + known) or known.endswith("::" + name) for name in functions):
            lines.append("unseen   %s" % known)
    total = weight["right"] + weight["unknown"] + weight["wrong"]
    share = weight["right"] / total if total else 0
    print("%.1f %% right, %.1f %% unknown, %.1f %% wrong of %.1f %% of the weight" %
          (100 * share, 100 * weight["unknown"] / total if total else 0,
           100 * weight["wrong"] / total if total else 0, 100 * total))
    said, known = analysis["types"]["share"], weight["right"] / (total + weight["elsewhere"])
    if not known - 0.05 < said <= min(1, known + 0.05):
        lines.append("wrong   types.share is %s, not about %s" % (said, known))
    for line in lines:
        print("  " + line)
    return 0 if share >= least and weight["wrong"] == 0 and not any(line.startswith("wrong") for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
