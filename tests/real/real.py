#!/usr/bin/python3
"""Real programs, built from Debian's source packages, run under lwp: is it right about what needs no truth known beforehand?

    real.py [--scratch FOLDER] [--only NAME,NAME] [--minutes N] [--table FILE] [--again]

Needs LWP, the lwp binary. Everything is kept in the scratch folder: a build for good, a run until the recipe or the collector changes,
so a run that ended early goes on where it was. Exit status: 0 all programs were checked and nothing disagrees, 1 something is wrong,
2 wrong use, 3 the time was over first."""
import argparse
import glob
import hashlib
import os
import signal
import subprocess
import sys
import time

import check_engines
import check_loops
import check_paths
import check_shares
import runs
import table

ANALYSIS_S = 2
SAMPLING = "-F 2000 --max-overhead 20" # more evidence in less time than by default


def collector_id(lwp):
    """Of the code and constants of both engines: results are kept while it is the same, wherever lwp was built."""
    folder, digest = os.path.dirname(lwp), hashlib.sha256()
    for name in ("liblwp-light.so", "exact/lwp-amd64-linux"):
        for place in (folder, os.path.join(folder, "../lib/lwp")):
            path = os.path.join(place, name)
            if os.path.exists(path):
                for section in (".text", ".rodata"):
                    command = ["objcopy", "-O", "binary", "-j", section, path, "/dev/stdout"]
                    digest.update(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
                break
    return digest.hexdigest()[:16]


def unharmed(alone, under, what):
    """Sentences of what is another with lwp than without."""
    told = []
    if alone["status"] != under["status"]:
        last = (under["errors"].strip().splitlines() or ["no message"])[-1]
        told.append(f"{what}: status {under['status']} instead of {alone['status']}: {last}")
    if alone["output"] != under["output"]:
        told.append(f"{what}: another output")
    return told


def counts(program, collector, control):
    """The runs: alone twice (is the output always the same?), sampled, and of a smaller size alone, with the control, traced."""
    told, full, size = [], program.sampled_size, program.traced_size
    alone = program.run("alone", full)
    sampled = program.collect("sampled", full, SAMPLING, collector)
    told += unharmed(alone, sampled, "sampled")
    again = program.run("alone again", full) if told else alone
    if None in (alone["status"], again["status"]):
        raise runs.Skip("it takes too long here: " + again["errors"])
    if again["output"] != alone["output"]:
        raise runs.Skip("its output is another in each run: the recipe is wrong")
    small = program.run("alone small", size)
    place = os.path.join(program.folder, "control")
    for name in glob.glob(place + ".[0-9]*"):
        if not program.state.get("run control") or program.state["run control"]["key"][-1] != collector:
            os.remove(name)
    controlled = program.collect("control", size, SAMPLING + " --detect layout", collector, LD_PRELOAD=control, LWP_REAL_CONTROL=place)
    told += unharmed(small, controlled, "with the control")
    told += unharmed(small, program.collect("exact", size, "-e exact --detect layout", collector), "traced")
    return told


def witnesses(analysis):
    """Of the accesses whose field both their address and their code name, the share that disagree: where fields are named, and of all;
    None: nothing compared, or this lwp does not say."""
    total = wrong = 0
    for thing in analysis["objects"]:
        agreement = thing.get("agreement")
        if thing["fields"] and not thing.get("fields_unknown") and agreement and agreement["share"] is not None:
            compared = thing["accesses"] * agreement["compared"]
            total += compared
            wrong += compared * (1 - agreement["share"])
    types = analysis.get("types") or {}
    return wrong / total if total else None, None if types.get("agreement") is None else 1 - types["agreement"]


def disagreeing(analysis, what, told):
    for thing in analysis["objects"]:
        agreement = thing.get("agreement")
        if not thing["fields"] or thing.get("fields_unknown") or not agreement or agreement["share"] is None:
            continue
        if agreement["share"] < 0.99 and thing["accesses"] * agreement["compared"] >= 20:
            told.append(f"{what}: {thing['name']} ({thing['share']:.1%}), type {thing['type']}, elements of {thing['element_bytes']}: "
                        f"fields are named, but {1 - agreement['share']:.1%} of {agreement['compared'] * thing['accesses']:.0f} accesses "
                        "have another one by their code")


def check(program, collector, control):
    row = {"name": program.name, "language": program.language, "version": program.state.get("version"), "told": {}}
    row["told"]["unharmed"] = counts(program, collector, control)
    analyses, took = {}, {}
    for kind in ("sampled", "control", "exact"):
        analyses[kind], _, wrong = program.analyze(kind)
        took[kind] = program.analyze(kind, "--no-measure")[1] # running patterns takes what time it is given
        for _ in range(4): # what else runs slows the processor's time, too, where cores share their units
            if took[kind] > ANALYSIS_S:
                took[kind] = min(took[kind], program.analyze(kind, "--no-measure")[1])
        if wrong:
            row["told"].setdefault("analysis", []).append(f"{kind}: {wrong}")
    row["analysis_s"] = max(took.values())
    row["told"].setdefault("analysis", []).extend(f"{kind}: takes {s:.1f} s" for kind, s in took.items() if s > ANALYSIS_S)
    sampled, traced = analyses["sampled"], analyses["exact"]
    if not sampled:
        return row
    row["samples"], row["stall"] = sampled["run"]["samples"], sampled["run"].get("stall_share")
    row["fields"], row["all_fields"] = witnesses(sampled)
    row["told"]["fields"] = []
    disagreeing(sampled, "sampled", row["told"]["fields"])
    row["shares"], row["told"]["shares"] = check_shares.check(sampled)
    row["loops"], row["told"]["loops"], row["told"]["hints"] = check_loops.check(program, sampled, "sampled")
    if analyses["control"]:
        row["paths"], row["told"]["paths"] = check_paths.check(program, analyses["control"], os.path.join(program.folder, "control"))
    if traced:
        shares, told = check_shares.check(traced)
        row["shares"] = {key: row["shares"][key] + shares[key] for key in shares}
        row["told"]["shares"] += ["traced: " + sentence for sentence in told]
        row["engines"], row["told"]["engines"] = check_engines.check(sampled, traced)
        row["traced_fields"], row["traced_all_fields"] = witnesses(traced)
        disagreeing(traced, "traced", row["told"]["fields"])
    return row


def build_control(scratch):
    library = os.path.join(scratch, "control.so")
    source = os.path.join(runs.HERE, "control.c")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        flags = "-O2 -g -fPIC -shared -fno-optimize-sibling-calls".split()
        subprocess.run([*os.environ.get("CC", "gcc").split(), *flags, "-o", library, source, "-ldl", "-lpthread"], check=True)
    return library


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--scratch", default=os.environ.get("REAL_SCRATCH", "obj/real"))
    parser.add_argument("--only", default=os.environ.get("REAL_ONLY", ""))
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--table")
    parser.add_argument("--again", action="store_true", help="run programs again though their results are kept")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler) # so that it ends what it started
    scratch, lwp = os.path.abspath(options.scratch), os.path.abspath(os.environ["LWP"])
    os.makedirs(scratch, exist_ok=True)
    names = sorted(os.path.basename(name)[:-3] for name in glob.glob(runs.HERE + "/programs/*.sh"))
    only = [name for name in options.only.split(",") if name]
    if set(only) - set(names):
        print("no such program:", *sorted(set(only) - set(names)))
        return 2
    late_at, apt, control, collector = time.time() + options.minutes * 60, runs.Apt(scratch), build_control(scratch), collector_id(lwp)
    rows, skipped, late = [], [], []
    for name in only or names:
        program = None
        try:
            program = runs.Program(name, scratch, lwp, late_at, apt)
            if options.again:
                program.keep(**{key: None for key in program.state if key.startswith("run ")})
            program.left()
            program.build()
            rows.append(check(program, collector, control))
            table.say(rows[-1])
        except runs.Skip as reason:
            skipped.append((name, str(reason)))
            print(f"skip  {name}: {reason}")
        except runs.Late:
            late.append(name)
    if options.table and not only:
        with open(options.table, "w") as out:
            out.write(table.page(rows, skipped, late, lwp))
    for name in late:
        print(f"late  {name}: not done within {options.minutes:.0f} minutes; the same command goes on from here")
    wrong = sum(table.is_wrong(row) for row in rows)
    print(f"{len(rows) - wrong} passed, {wrong} failed, {len(skipped)} skipped")
    return 1 if wrong else 3 if late else 0


if __name__ == "__main__":
    sys.exit(main())
