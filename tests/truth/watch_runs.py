#!/usr/bin/python3
"""Redundancy as lwp tells it against programs whose redundancy is known.

    watch_runs.py LWP PROGRAM SCRATCH [CASE...] [--runs N] [--seconds S] [--threads 1,4] [--points P] [--options TEXT]

Prints a line for each case and count of threads: the truth, the estimates of all runs, how many were off by more than P
points or had another pair on top. Exit status 1 when any was."""
import argparse, json, os, shutil, subprocess, sys

CASES = ["dead0", "dead33", "dead50", "dead100", "silent0", "silent75", "silent100", "close50", "load0", "load75", "load100", "half", "chase", "widths",
         "long_distance", "mixed_density", "three_pairs", "callers", "fills"]

options = argparse.ArgumentParser()
options.add_argument("lwp"), options.add_argument("program"), options.add_argument("scratch")
options.add_argument("--runs", type=int, default=1), options.add_argument("--seconds", type=float, default=5)
options.add_argument("--threads", default="1,4"), options.add_argument("--points", type=float, default=5)
options.add_argument("--options", default="")
options.add_argument("cases", nargs="*", default=CASES)
options = options.parse_args()
os.makedirs(options.scratch, exist_ok=True)


def line_of(analysis, context):
    return analysis["contexts"][context]["frames"][0]["line"] if context is not None else None


def look(case, threads):
    result = os.path.join(options.scratch, "result")
    shutil.rmtree(result, ignore_errors=True)
    run = subprocess.run([options.lwp, "collect", "-q", *options.options.split(), "-o", result, "--", options.program, case, str(options.seconds), str(threads)],
                         check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run([options.lwp, "analyze", "-q", result], check=True)
    with open(os.path.join(result, "analysis.json")) as file:
        analysis = json.load(file)
    truths = [line.split() for line in run.stdout.splitlines()]
    close, kind, wrong, rows = truths[0][0].endswith("_close"), truths[0][0].removesuffix("_close"), [], []
    total = analysis["redundancy_totals"][kind]
    if close and total: # about the same, and not equal
        total |= {"share": total["approximate"], "share_ci": total["approximate_ci"]}
    pairs = [r for r in analysis["redundancies"] or [] if r["kind"] == kind and r["approximate"] == close]
    if total is None:
        return ["nothing decided"], [("share", float(truths[0][1]), None, None)]
    for what, share, first, second in truths:
        share, first, second = float(share), int(first), int(second)
        if what == "pair":
            got = sum(r["share"] for r in pairs if line_of(analysis, r["first"]) == first and line_of(analysis, r["second"]) == second)
        else:
            got = total["share"]
            low, high = total["share_ci"]
        rows.append((f"{what} {first}>{second}" if what == "pair" else what, share, got, total))
        if abs(got - share) > options.points / 100:
            wrong.append(f"{what} {first}>{second}: {100 * got:.1f} instead of {100 * share:.1f}")
        if what != "pair" and first:
            top = pairs[:1]
            if not top or (line_of(analysis, top[0]["first"]), line_of(analysis, top[0]["second"])) != (first, second):
                wrong.append(f"on top is {[(line_of(analysis, r['first']), line_of(analysis, r['second'])) for r in top]}, not {first}>{second}")
    return wrong, rows


failures = runs = 0
for case in options.cases:
    for threads in map(int, options.threads.split(",")):
        seen, problems, decided = {}, [], []
        for _ in range(options.runs):
            wrong, rows = look(case, threads)
            runs += 1
            failures += bool(wrong)
            problems += wrong
            for what, share, got, total in rows:
                seen.setdefault((what, share), []).append(got)
                if total and what != "share":
                    inside = total["share_ci"][0] <= share <= total["share_ci"][1] if not what.startswith("pair") else True
                    if not what.startswith("pair"):
                        decided.append((total["decided"], total["candidates"], inside))
        for (what, share), values in seen.items():
            values = [v for v in values if v is not None]
            mean = sum(values) / len(values) if values else float("nan")
            spread = (sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5 if len(values) > 1 else float("nan")
            print(f"{case:14} {threads:2} threads  {what:24} truth {100 * share:5.1f}  mean {100 * mean:5.1f}  deviation {100 * spread:4.1f}"
                  f"  worst {100 * max((abs(v - share) for v in values), default=0):4.1f}")
        if decided:
            print(f"{'':26} decided {min(d[0] for d in decided)} of {min(d[1] for d in decided)} candidates, "
                  f"truth inside the interval {sum(d[2] for d in decided)} of {len(decided)}")
        for problem in problems:
            print(f"{'':26} WRONG {problem}")
        sys.stdout.flush()
print(f"{failures} of {runs} runs were wrong")
sys.exit(failures != 0)
