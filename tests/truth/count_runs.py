#!/usr/bin/python3
"""Shares of bytes stored that lwp estimates from samples, against programs whose loops cost unequally and whose share is known.

    count_runs.py LWP PROGRAM SCRATCH [CASE...] [--runs N] [--seconds S] [--threads 1,4] [--options TEXT] [--exact]

Prints a line for each case and count of threads: the truth, and of each run the estimate and its interval. --exact: counts by the exact
engine, too, which must be the truth. Exit status 1 when fewer than 95 % of the intervals hold the truth, or a program of which
nothing is the same has any of it."""
import argparse, json, math, os, shutil, subprocess, sys

options = argparse.ArgumentParser()
options.add_argument("lwp"), options.add_argument("program"), options.add_argument("scratch")
options.add_argument("--runs", type=int, default=1), options.add_argument("--seconds", type=float, default=1)
options.add_argument("--threads", default="1"), options.add_argument("--options", default="-F 2000 --max-overhead 15")
options.add_argument("--exact", action="store_true")
options.add_argument("cases", nargs="*")
options = options.parse_args()
os.makedirs(options.scratch, exist_ok=True)
cases = options.cases or subprocess.run([options.program], stdout=subprocess.PIPE, text=True).stdout.split()


def collect(case, seconds, threads, *how):
    result = os.path.join(options.scratch, "result")
    shutil.rmtree(result, ignore_errors=True)
    run = subprocess.run([options.lwp, "collect", "-q", "--no-analyze", *how, "-o", result, "--", options.program, case, str(seconds), str(threads)],
                         check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run([options.lwp, "analyze", "-q", "--no-measure", result], check=True)
    with open(os.path.join(result, "analysis.json")) as file:
        return float(run.stdout), json.load(file)["redundancy_totals"]


held = all_runs = false = width = 0
for case in cases:
    for threads in map(int, options.threads.split(",")):
        said = []
        for _ in range(options.runs):
            truth, totals = collect(case, options.seconds, threads, *options.options.split())
            total = (totals or {}).get("silent_store")
            if not total:
                said.append("nothing")
                continue
            low, high = total["share_ci"]
            inside = low - 0.002 <= truth <= high + 0.002 # the first pass
            held, all_runs, width = held + inside, all_runs + 1, width + high - low
            false += truth == 0 and total["share"] > 0.002
            said.append(f"{100 * total['share']:.1f} ({100 * low:.1f}-{100 * high:.1f}){'' if inside else ' OUTSIDE'} time {100 * total['time_share']:.1f}")
        print(f"{case:16} {threads} threads  truth {100 * truth:5.1f}  {'; '.join(said)}", flush=True)
        if options.exact and threads == 1:
            truth, totals = collect(case, 0, 1, "-e", "exact", "--detect", "redundancy")
            share = totals["silent_store"]["share"]
            if abs(share - truth) > 0.08: # the first pass stores other values
                print(f"{case:16} exact: {share} instead of {truth}")
                false += 1
print(f"{held} of {all_runs} intervals hold the truth, {100 * width / max(1, all_runs):.0f} points wide; {false} false")
sys.exit(held < 0.95 * all_runs or false > 0)
