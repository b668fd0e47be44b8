#!/usr/bin/python3
"""Predictions held against hand-made changes, each measured right before and after its analysis: other work on the machine, and other
machines on the same processor, change what memory costs from one minute to the next.

    gain_table.py run LWP[,LWP...] CASES STORE SECONDS    measure cases that STORE lacks, for so many seconds; again, up to
                                                          three times in all, those whose middle pairs differ by more than 20 %
    gain_table.py table STORE [NUMBER]                    the table of docs/gains.md, for the first LWP, or another one
    gain_table.py again LWP CASES STORE                   predict anew from the results that are there; what came stays

Several LWP (versions of it) each analyze what the first one collected, right after each other. gain_cases.py draws CASES.

CASES: a JSON object a line: name, kind, result (a folder that lwp collect wrote; made when it is not there), cwd, before and after (commands),
ordered (a command: its elements in the order of visits; measured where that is what the first LWP says), new (whether the case was not
looked at while the models were built). STORE: JSON, by name."""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

# What the change is: findings of other kinds promise something else.
KINDS = {"order": ("locality",), "conflicts": ("conflict",)}
PAIRS, TRIES, PAIRS_AGREE = 5, 3, 1.2
LONGEST = 40  # seconds for a case


def cpu(command, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def collect(lwp, case, anew):
    if anew or not os.path.isdir(case["result"]):
        shutil.rmtree(case["result"], ignore_errors=True)
        # Short runs: the start of lwp alone may take the usual 3 % of one.
        subprocess.run([lwp, "collect", "-F", "2000", "--max-overhead", "10", "-o", case["result"], "--", *case["before"]], cwd=case["cwd"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def left_alone(analysis):
    """The largest prediction for a change that is not advised, as its low end is below what advice needs; None: none is listed."""
    rows = [r for r in analysis.get("left_alone") or [] if r.get("speedup") and r["expected_speedup"][1] >= 1.02]
    best = max(rows, key=lambda r: r["speedup"], default=None)
    return best and {"listed": best["speedup"], "low": best["expected_speedup"][0], "high": best["expected_speedup"][1]}


def predict(lwp, case):
    out = "/tmp/gain_table.%d.json" % os.getpid()
    subprocess.run([lwp, "analyze", "-q", "-o", out, case["result"]], check=True)
    with open(out) as file:
        analysis = json.load(file)
    os.unlink(out)
    saved, visit, source, counted, unknown, ordered = [0.0, 0.0, 0.0], None, "-", set(), False, False
    for finding in analysis["findings"]:
        if finding["kind"] not in KINDS.get(case["kind"], ("split", "regroup")):
            continue
        if not finding["expected_speedup"]: # said, but not how much it gains
            unknown = True
            continue
        if finding.get("shares_with") in counted: # of the same loop's time
            continue
        counted.add(finding["id"])
        for i, speedup in enumerate([finding["expected_speedup"][0], finding["speedup"], finding["expected_speedup"][1]]):
            saved[i] += 1 - 1 / speedup
        for kind, index in finding["refs"].items():
            rows = analysis.get(kind + "s") or []
            if index < len(rows) and "speedup_from" in rows[index]:
                source = rows[index]["speedup_from"]
                visit = visit or rows[index].get("visit_ns")
                ordered |= rows[index].get("kind") == "order"
    if not saved[2]:
        return {"unknown": True} if unknown else left_alone(analysis)
    low, value, high = (1 / (1 - min(0.99, s)) for s in saved)
    return {"value": value, "low": low, "high": high, "from": source, "visit": visit, "ordered": ordered}


def steady(case):
    """Whether the truth is known: pairs that differ by more, but for the least and the largest, say what the machine did."""
    inner = sorted(case["ratios"])[1:-1]
    return bool(inner) and inner[-1] <= PAIRS_AGREE * inner[0]


def run(lwps, cases, store, seconds):
    known = {}
    if os.path.exists(store):
        with open(store) as file:
            known = json.load(file)
    end = time.time() + seconds
    for case in sorted(cases, key=lambda c: c["name"] in known): # new ones first
        before = known.get(case["name"])
        if before and (steady(before) or before["tries"] == TRIES):
            continue
        if time.time() > end - LONGEST:
            return
        began, ratios, predictions = time.time(), [], []
        changes, after = [c for c in ("after", "ordered") if c in case], "after"
        for pair in range(PAIRS):
            order = ["before", *changes] if pair % 2 == 0 else [*changes, "before"]
            took = {which: cpu(case[which], case["cwd"]) for which in order}
            if pair == 0:
                collect(lwps[0], case, bool(before))
                predictions = [predict(lwp, case) for lwp in lwps]
                if predictions[0] and predictions[0].get("ordered") and "ordered" in changes:
                    after = "ordered"
                changes = [after]
            ratios.append(took["before"] / took[after])
            if time.time() - began > LONGEST * 0.7:
                break
        known[case["name"]] = {"kind": case["kind"], "new": case.get("new", False), "ratios": ratios, "predictions": predictions,
                               "tries": before["tries"] + 1 if before else 1}
        with open(store, "w") as file:
            json.dump(known, file, indent=1)
        said = [p if not p or "value" not in p else "%.2f (%.2f-%.2f) %s %s" % (p["value"], p["low"], p["high"], p["from"], p["visit"]) for p in predictions]
        print(case["name"], "|", " ".join("%.2f" % r for r in sorted(ratios)), "|", said, flush=True)


def again(lwp, cases, store):
    with open(store) as file:
        known = json.load(file)
    for case in cases:
        if case["name"] in known and os.path.isdir(case["result"]):
            known[case["name"]]["predictions"] = [predict(lwp, case)]
    with open(store, "w") as file:
        json.dump(known, file, indent=1)


def table(store, number):
    with open(store) as file:
        known = json.load(file)
    total = {}
    print("| case | looked at before | predicted | interval | from | measured | | a visit: run / program, ns |")
    print("|---|---|---:|---|---|---:|---|---:|")
    for name, case in sorted(known.items(), key=lambda item: (item[1]["kind"], item[0])):
        said, truth = case["predictions"][number], statistics.median(case["ratios"])
        count = total.setdefault("new" if case["new"] else "old", dict.fromkeys(("cases", "unsteady", "said", "near", "inside", "narrow", "silent", "listed", "below"), 0))
        verdict, text, interval, source, visit = "", "-", "", "", ""
        unknown = said is not None and "unknown" in said
        listed = said if said is not None and "listed" in said else None
        said = None if listed else said
        known_truth = steady(case)
        count["cases" if known_truth else "unsteady"] += 1
        if unknown:
            text = "unknown"
        elif said:
            near, inside = abs(said["value"] / truth - 1) <= 0.2, said["low"] - 0.005 <= truth <= said["high"] + 0.005
            for key, is_so in (("said", True), ("near", near), ("inside", inside), ("narrow", said["high"] <= 1.5 * said["low"]),
                               ("below", truth < 0.995)):
                count[key] += is_so and known_truth
            verdict = ("inside" if inside else "outside") + ("" if near else ", %+.0f %%" % (100 * said["value"] / truth - 100))
            text, interval, source = "%.2f" % said["value"], "%.2f-%.2f" % (said["low"], said["high"]), said["from"]
            if said["visit"]:
                visit = "%.1f / %s" % (said["visit"]["run"], "%.1f" % said["visit"]["program"] if said["visit"].get("program") else "?")
        elif truth >= 1.1:
            count["listed" if listed else "silent"] += known_truth
            verdict = "not advised" if listed else "not said"
        if listed:
            text, interval = "(%.2f)" % listed["listed"], "%.2f-%.2f" % (listed["low"], listed["high"])
        came = "%.2f" % truth
        if not known_truth:
            came, verdict = "%.2f-%.2f" % (min(case["ratios"]), max(case["ratios"])), "not counted"
        print("| %s | %s | %s | %s | %s | %s | %s | %s |" % (name, "no" if case["new"] else "yes", text, interval, source, came, verdict,
                                                             visit))
    for which, count in sorted(total.items()):
        print("\n%s: %d cases and %d whose pairs differ too much to be counted; %d predictions, %d within 20 %%, %d intervals hold the truth, %d have ends at most 1.5 apart; %d of 1.1 and more listed "
              "and not advised, %d not said; %d where the truth is below 1" % ("Not looked at" if which == "new" else "Looked at", count["cases"], count["unsteady"], count["said"], count["near"],
                                                       count["inside"], count["narrow"], count["listed"], count["silent"], count["below"]))


def cases_of(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.strip()]


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2].split(","), cases_of(sys.argv[3]), sys.argv[4], float(sys.argv[5]))
    elif sys.argv[1] == "again":
        again(sys.argv[2], cases_of(sys.argv[3]), sys.argv[4])
    else:
        table(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
