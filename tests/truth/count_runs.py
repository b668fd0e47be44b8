#!/usr/bin/python3
"""Shares of bytes stored that lwp estimates from samples, against programs whose loops cost unequally and whose share is known.

    count_runs.py LWP PROGRAM SCRATCH [CASE...] [--runs N] [--seconds S] [--threads 1,4] [--options TEXT] [--exact] [--log FILE]

Prints a line for each case and count of threads: the truth, and of each run the estimate and its interval. --exact: counts by the exact
engine, too, which must be the truth. --log: a line of JSON for each run; those that are there already are not run again, so that a test
of hundreds of runs goes on where it was stopped. Exit status 1 when more intervals miss the truth than chance allows where each of them
holds it in 95 % of runs, or a program of which nothing is the same has any of it."""
import argparse, json, math, os, shutil, subprocess, sys

options = argparse.ArgumentParser()
options.add_argument("lwp"), options.add_argument("program"), options.add_argument("scratch")
options.add_argument("--runs", type=int, default=1), options.add_argument("--seconds", type=float, default=1)
options.add_argument("--threads", default="1"), options.add_argument("--options", default="-F 2000 --max-overhead 15")
options.add_argument("--exact", action="store_true"), options.add_argument("--log")
options.add_argument("cases", nargs="*")
options = options.parse_args()
os.makedirs(options.scratch, exist_ok=True)
cases = options.cases or subprocess.run([options.program], stdout=subprocess.PIPE, text=True).stdout.split()


def collect(case, seconds, threads, *how):
    """Truth, and of what was said share, low, high and the share of the time; None: nothing was said."""
    result = os.path.join(options.scratch, "result")
    shutil.rmtree(result, ignore_errors=True)
    run = subprocess.run([options.lwp, "collect", "-q", "--no-analyze", *how, "-o", result, "--", options.program, case, str(seconds), str(threads)],
                         check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run([options.lwp, "analyze", "-q", "--no-measure", result], check=True)
    with open(os.path.join(result, "analysis.json")) as file:
        total = (json.load(file)["redundancy_totals"] or {}).get("silent_store")
    return float(run.stdout), total and [total["share"], *(total["share_ci"] or []), total.get("time_share")]


def logged():
    """Runs made before: (case, threads, number, exact) -> what collect() returned."""
    runs = {}
    if options.log and os.path.exists(options.log):
        with open(options.log) as file:
            for line in file:
                *key, truth, said = json.loads(line)
                runs[tuple(key)] = truth, said
    return runs


before = logged()


def measured(case, threads, number, exact):
    key = case, threads, number, exact
    if key not in before:
        before[key] = collect(case, 0, threads, "-e", "exact", "--detect", "redundancy") if exact else \
            collect(case, options.seconds, threads, *options.options.split())
        if options.log:
            with open(options.log, "a") as file:
                print(json.dumps([*key, *before[key]]), file=file)
    return before[key]


def missed_by_chance(count):
    """The most of `count` intervals of 95 % that miss the truth in one of 10,000 tests or more."""
    misses, more = -1, 1.0 # the chance of more than so many
    while more >= 1e-4 and misses < count:
        misses += 1
        more -= math.comb(count, misses) * 0.05**misses * 0.95 ** (count - misses)
    return misses


held = all_runs = false = width = 0
for case in cases:
    for threads in map(int, options.threads.split(",")):
        texts = []
        for number in range(options.runs):
            truth, said = measured(case, threads, number, False)
            if not said:
                texts.append("nothing")
                continue
            share, low, high, time = said
            inside = low - 0.002 <= truth <= high + 0.002 # the first pass
            held, all_runs, width = held + inside, all_runs + 1, width + high - low
            false += truth == 0 and share > 0.002
            texts.append(f"{100 * share:.1f} ({100 * low:.1f}-{100 * high:.1f}){'' if inside else ' OUTSIDE'} time {100 * time:.1f}")
        print(f"{case:16} {threads} threads  truth {100 * truth:5.1f}  {'; '.join(texts)}", flush=True)
        if options.exact:
            truth, said = measured(case, threads, 0, True)
            if not said or abs(said[0] - truth) > 0.08: # the first pass stores other values
                print(f"{case:16} {threads} threads  exact: {said and said[0]} instead of {truth}")
                false += 1
allowed = missed_by_chance(all_runs)
print(f"{held} of {all_runs} intervals hold the truth, where all but {allowed} must, {100 * width / max(1, all_runs):.0f} points wide; {false} false")
sys.exit(all_runs - held > allowed or false > 0)
