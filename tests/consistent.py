#!/usr/bin/python3
"""What must hold in every analysis.json, whatever was profiled: consistent.py FILE|FOLDER...

A share lies in its interval, parts sum to wholes, ids lead somewhere, and no number on a finding contradicts another one. tests/run
calls it for each result that a test leaves behind; a test that damages a result on purpose puts a file `inconsistent` beside it."""
import json, sys
from pathlib import Path

ROUND = 2e-6  # shares have six digits
problems = []


def inside(value, interval, what):
    if value is not None and interval is not None and not interval[0] - ROUND <= value <= interval[1] + ROUND:
        problems.append(f"{what}: {value:.4g} is outside of {interval[0]:.4g}-{interval[1]:.4g}")


def at_most(value, most, what):
    if value is not None and most is not None and value > most + ROUND * 10:
        problems.append(f"{what}: {value:.6g} is more than {most:.6g}")


def walk(value, path, visit):
    if isinstance(value, dict):
        visit(value, path)
        for key, child in value.items():
            walk(child, f"{path}.{key}", visit)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            walk(child, f"{path}[{index}]", visit)


def every_object(found, path):
    for key, value in found.items():
        if key.endswith("_ci") and isinstance(value, list) and len(value) == 2 and all(isinstance(end, (int, float)) for end in value):
            if value[0] > value[1] + ROUND:
                problems.append(f"{path}.{key} is {value}")
            own = found.get(key[:-3])
            if isinstance(own, (int, float)):
                inside(own, value, f"{path}.{key[:-3]}")
        if key.endswith("share") and isinstance(value, (int, float)) and not -ROUND <= value <= 1 + ROUND:
            problems.append(f"{path}.{key} is {value}, no share")
    if isinstance(found.get("expected_speedup"), list):
        inside(found.get("speedup"), found["expected_speedup"], f"{path}.speedup")
        if found["expected_speedup"][0] <= 0:
            problems.append(f"{path}.expected_speedup is {found['expected_speedup']}")


def sums(analysis):
    objects, run = analysis["objects"], analysis["run"]
    at_most(sum(o["share"] for o in objects), 1, "sum of all objects' shares")
    at_most(sum(l["share"] for l in analysis["loops"]), 1, "sum of all loops' shares")
    if run["engine"] != "exact" and run.get("stall_share") is not None:
        at_most(sum(o["share"] for o in objects), run["stall_share"], "objects' shares against the run's memory stall")
    at_most(run["samples_with_address"], run["samples"], "samples with an address")
    for index, o in enumerate(objects):
        where = f"objects[{index}] ({o['name']})"
        at_most(sum(f["share"] for f in o["fields"]), o["share"], f"{where}: shares of the fields")
        at_most(sum(u["share"] for u in o["loops"]), o["share"], f"{where}: shares of the loops")
        if o.get("accesses") is not None:
            at_most((o.get("loads") or 0) + (o.get("stores") or 0), 2 * o["accesses"], f"{where}: loads and stores")
        at_most(max((f["offset"] + f["bytes"] for f in o["fields"]), default=None), o["element_bytes"], f"{where}: end of the last field")
    for index, region in enumerate((analysis["communication"] or {}).get("regions", [])):
        if analysis["communication"].get("unit") == "share" and region["true"]:
            at_most(sum(map(sum, region["true"])), 1, f"communication.regions[{index}]: cells")


def stalls(analysis):
    """One amount of stall, four ways to divide it."""
    found, run = analysis.get("stalls"), analysis["run"]
    if not found:
        return
    whole = sum(path[2] for path in found["paths"]) + found["left_out"]
    close = ROUND * (len(found["paths"]) + 10)
    if run.get("stall_share") is not None and abs(whole - run["stall_share"]) > close:
        problems.append(f"stalls.paths sum to {whole:.6f}, the run's memory stall is {run['stall_share']}")
    timed = sum(sum(row["shares"]) for row in found["times"]["rows"])
    if abs(timed - whole) > close + ROUND * 130 * len(found["times"]["rows"]):
        problems.append(f"stalls.times sum to {timed:.6f}, the paths to {whole:.6f}")
    at_most(sum(line["share"] for line in found["lines"]), whole + close, "stalls.lines")
    at_most(sum(i.get("share", 0) for listing in found["assembly"] for i in listing["instructions"]), whole + close, "stalls.assembly")
    for index, (parent, frame) in enumerate(found["nodes"]):
        if parent is not None and parent >= index or frame >= len(found["frames"]):
            problems.append(f"stalls.nodes[{index}] is [{parent}, {frame}]")


def holder(analysis, finding):
    """What the finding is about."""
    lists = {"split": "splits", "regroup": "regroups", "conflict": "conflicts", "redundancy": "redundancies", "sharing": "sharing", "locality": "locality"}
    index, name = finding["refs"].get(finding["kind"]), lists.get(finding["kind"])
    if name is None or index is None:
        return None
    items = analysis[name] or []
    if not 0 <= index < len(items):
        problems.append(f"finding {finding['id']} is about {name}[{index}], which is not there")
        return None
    return items[index]


def evidence(analysis, finding, item):
    """Samples that a reader sees beside the finding's share."""
    objects = analysis["objects"]
    members = item.get("objects") or [item["object"]] if finding["kind"] in ("split", "regroup") else []
    if members:
        return sum(objects[i]["samples"] for i in members)
    return item.get("samples") if finding["kind"] == "conflict" else None


def findings(analysis):
    ids = [f["id"] for f in analysis["findings"]]
    if len(ids) != len(set(ids)):
        problems.append(f"findings with the same id: {ids}")
    for finding in analysis["findings"]:
        item, name = holder(analysis, finding), f"finding {finding['id']}"
        if item is None:
            continue
        samples = evidence(analysis, finding, item)
        inside(finding["share"], finding.get("share_ci"), f"{name}: share")
        range_ = finding["expected_speedup"]
        if range_ and range_ != item.get("expected_speedup", range_):
            problems.append(f"{name}: gain {range_} beside {item['expected_speedup']} in its evidence")
        if range_ and range_[0] > 1 and range_[1] < 1.02 and finding["severity"] == "high":
            problems.append(f"{name}: high severity for at most {range_[1]}")
        traffic = item.get("traffic")
        if range_ and range_[0] > 1.02 and traffic and traffic.get("before") is not None and traffic["after"] > traffic["before"] * 1.001 and not explained(item):
            problems.append(f"{name}: promises {range_}, but fetches {traffic['before']} -> {traffic['after']}")
        if finding.get("time_at_stake") is not None and range_:
            at_most(range_[1], 1 / max(1e-9, 1 - finding["time_at_stake"]) * 1.001, f"{name}: gain against the time at stake")
        if analysis["run"]["engine"] != "exact" and finding["severity"] == "high" and samples is not None and samples < ENOUGH:
            problems.append(f"{name}: high severity from {samples} samples")


ENOUGH = 100  # so many samples are needed for high severity (lwp check --min-samples, analysis/findings)


def explained(item):
    """The page shows another number than cache lines: the memory of a traversal, or what a measurement on this machine said."""
    memory = item.get("memory") or {}
    return memory.get("after", 0) < memory.get("before", 0) or item.get("speedup_from") == "measured here" or bool(item.get("replay"))


def check(path):
    analysis = json.loads(path.read_text())
    if analysis.get("schema") != "lwp-analysis":
        return
    walk(analysis, "", every_object)
    sums(analysis)
    stalls(analysis)
    findings(analysis)


def files(argument):
    path = Path(argument)
    found = [path] if path.is_file() else sorted(path.rglob("analysis.json"))
    return [f for f in found if path.is_file() or (f.parent / "run.json").exists() and not (f.parent / "inconsistent").exists()]


bad = 0
for argument in sys.argv[1:]:
    for file in files(argument):
        problems.clear()
        try:
            check(file)
        except (OSError, ValueError) as problem:  # a test's own broken file: not lwp's
            continue
        for text in problems[:12]:
            print(f"{file}: {text}")
        bad += bool(problems)
sys.exit(bad > 0)
