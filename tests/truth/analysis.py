#!/usr/bin/python3
"""Holds an analysis.json against what is known of an example. Prints each difference; exit status 1 when there is any.

    analysis.py advice EXAMPLE JSON     the advice, exactly
    analysis.py offsets EXAMPLE JSON    the same groups without names (stripped program)
    analysis.py shares JSON TRUTH       shares and fields of loops and objects against the output of EXAMPLE --time
    analysis.py size BYTES JSON         the element size of the object with most accesses
    analysis.py size-or-unknown BYTES JSON   the same, but no answer is no error
"""
import json
import sys

# The partition of the fields, cold ones included: name -> offset. `single`: allocated one by one.
EXAMPLES = {
    "neuron": {"type": "struct neuron", "bytes": 64, "single": False,
               "fields": {"I": 0, "W": 8, "X": 16, "V": 24, "U": 32, "P": 40, "Q": 48, "R": 56},
               "groups": [{"P"}, {"X", "Q"}, {"I", "U"}, {"V"}, {"W"}, {"R"}]},
    "neighbours": {"type": "struct neighbour", "bytes": 80, "single": False,
                   "fields": {"entry": 0, "distance": 72}, "groups": [{"distance"}, {"entry"}]},
    "tree": {"type": "struct city", "bytes": 96, "single": True,
             "fields": {"size": 0, "x": 8, "y": 16, "left": 24, "right": 32, "next": 40, "prev": 48, "name": 56},
             "groups": [{"x", "y", "next"}, {"size", "left", "right", "prev", "name"}]},
    "readings": {"type": "struct reading", "bytes": 72, "single": False, "kind": "reorder",
                 "fields": {"kind": 0, "value": 8, "unit": 16, "error": 24, "state": 32, "low": 40, "site": 48,
                            "high": 56, "weight": 64},
                 "groups": [{"kind", "value", "unit", "error", "state", "low", "site", "high", "weight"}]},
    "nochange": None,
    "rows": None,
}
# What holds the data the examples' loops name: the object's type.
OBJECTS = {"layer": "struct neuron", "neighbours": "struct neighbour", "city": "struct city",
           "particles": "struct particle", "bus": "double", "signal_samples": "double"}

problems = []


def wrong(text, *values):
    problems.append(text % values if values else text)


def layout_findings(analysis):
    return [f["title"] for f in analysis["findings"] if f["kind"] in ("split", "regroup")]


def partition(groups):
    return sorted(sorted(group) for group in groups if group)


def advice(analysis, example, named):
    expected = EXAMPLES[example]
    splits = analysis["splits"]
    if expected is None:
        for split in splits:
            wrong("advice where there is nothing to advise: %s %s", split["type"], [g["fields"] for g in split["groups"]])
        if layout_findings(analysis):
            wrong("findings: %s", layout_findings(analysis))
        return
    if len(splits) != 1:
        wrong("%d splits instead of 1: %s, of %s samples; the largest objects: %s; left alone: %s", len(splits),
              [(s["type"], s["element_bytes"]) for s in splits], analysis["run"]["samples"],
              [(o["name"], o["share"], o["element_bytes"]) for o in analysis["objects"][:3]], [row["sentence"] for row in analysis["left_alone"]])
    for split in splits[:1]:
        if split["element_bytes"] != expected["bytes"]:
            wrong("element size %s instead of %d", split["element_bytes"], expected["bytes"])
        if split["single"] != expected["single"]:
            wrong("'single' is %s", split["single"])
        if split["kind"] != expected.get("kind", "split"):
            wrong("kind '%s'", split["kind"])
        parts = split["groups"] + [split["cold"]]
        if named:
            if split["type"] != expected["type"]:
                wrong("type %s instead of %s", split["type"], expected["type"])
            got, want = partition(p["fields"] for p in parts), partition(expected["groups"])
            for part in parts:
                for name, offset in zip(part["fields"], part["offsets"]):
                    if expected["fields"].get(name) != offset:
                        wrong("field %s at offset %s", name, offset)
            for names in expected["groups"]:
                for name in names:
                    if name not in (split["declaration"] or ""):
                        wrong("the declaration lacks %s", name)
        else:  # fields never touched cannot be known without debug information
            got = partition(p["offsets"] for p in split["groups"])
            seen = {offset for group in got for offset in group}
            want = partition({expected["fields"][n] for n in names} & seen for names in expected["groups"])
            hot = expected["groups"][:1] if example != "neuron" else expected["groups"][:5]
            for names in hot:
                for name in names:
                    if expected["fields"][name] not in seen:
                        wrong("offset %d (%s) is in no group", expected["fields"][name], name)
        if got != want:
            wrong("groups %s instead of %s", got, want)
        low, high = split["expected_speedup"]
        if not 1 < low <= high:
            wrong("expected speed-up %s to %s", low, high)


def truth_of(path):
    rows = []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words and words[0] == "loop":
                rows.append({"function": words[1], "seconds": float(words[2]), "object": words[3],
                             "fields": set() if words[4] == "-" else set(words[4].split(","))})
    return rows


def off_by_more(analysis, want, got):
    """Percent: by more than three points and four standard deviations; on a busy machine weights differ, as if samples were half as many."""
    part = min(want / 100, 1)  # a sum of shares may be a rounding above
    return abs(want - got) > max(3, 400 * (part * (1 - part) * 2 / max(analysis["run"]["samples"], 1)) ** 0.5)


def shares(analysis, truth_path):
    truth, run = truth_of(truth_path), analysis["run"]
    told = run["weight"] / 1e9 + run["overhead_percent"] / 100 * run["cpu_s"]
    if told > 1.15 * run["cpu_s"]:
        wrong("samples and what they cost are %.2f s of %.2f s", told, run["cpu_s"])
    loops, objects = analysis["loops"], analysis["objects"]
    functions = {row["function"] for row in truth}
    weight = dict.fromkeys(functions, 0.0)
    for loop in loops:
        outer = loops[loop["parent"]] if loop["parent"] is not None else None
        if loop["function"] in functions and not (outer and outer["function"] == loop["function"]):
            weight[loop["function"]] += loop["share"]
    all_weight, all_seconds = sum(weight.values()), sum(row["seconds"] for row in truth)
    if not truth or not all_weight:
        wrong("no loops to compare: %d in truth, weight %g", len(truth), all_weight)
        return
    for row in truth:
        want, got = 100 * row["seconds"] / all_seconds, 100 * weight[row["function"]] / all_weight
        print("loop   %-14s true %5.1f %%  lwp %5.1f %%" % (row["function"], want, got))
        if off_by_more(analysis, want, got):
            wrong("loop %s: %.1f %% instead of %.1f %%", row["function"], got, want)
        used = set()
        for item in objects:
            if item["type"] == OBJECTS[row["object"]]:
                for use in item["loops"]:
                    if loops[use["loop"]]["function"] == row["function"]:
                        used |= set(use["fields"])
        if want / 100 * run["samples"] >= 10 and used != row["fields"]:  # loops with fewer may have no sample at all
            wrong("loop %s uses %s instead of %s", row["function"], sorted(used), sorted(row["fields"]))
    # Timing knows whole loops only, lwp which part of them is waiting, and for what. So an object gets the time of each
    # loop in proportion to its part of the waiting there.
    owned = {name: 0.0 for name in {row["object"] for row in truth}}
    for row in truth:
        waits = {}
        for item in objects:
            for use in item["loops"]:
                if loops[use["loop"]]["function"] == row["function"]:
                    waits[item["type"]] = waits.get(item["type"], 0) + use["share"]
        for name in owned:
            if sum(waits.values()):
                owned[name] += weight[row["function"]] * waits.get(OBJECTS[name], 0) / sum(waits.values())
    for name, got in sorted(owned.items()):
        want = 100 * sum(row["seconds"] for row in truth if row["object"] == name) / all_seconds
        got = 100 * got / all_weight
        print("object %-14s true %5.1f %%  lwp %5.1f %%" % (name, want, got))
        if off_by_more(analysis, want, got):
            wrong("object %s: %.1f %% instead of %.1f %%", name, got, want)


def size(analysis, wanted, unknown):
    heap = [item for item in analysis["objects"] if item["kind"] == "heap"]
    largest = max(heap, key=lambda item: item["accesses"], default=None)
    if not largest:
        wrong("no heap object at all")
    elif largest["element_bytes"] != wanted and not (unknown and largest["element_bytes"] is None):
        wrong("element size %s instead of %d (%d samples)", largest["element_bytes"], wanted, largest["accesses"])


def main():
    what, first, second = sys.argv[1:4]
    with open(first if what == "shares" else second) as file:
        analysis = json.load(file)
    if what in ("advice", "offsets"):
        advice(analysis, first, what == "advice")
    elif what == "shares":
        shares(analysis, second)
    else:
        size(analysis, int(first), what == "size-or-unknown")
    for problem in problems:
        print("  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
