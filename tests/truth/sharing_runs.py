#!/usr/bin/python3
"""The communication matrix as lwp tells it against programs that count what they hand over.

    sharing_runs.py LWP SCRATCH PROGRAM... [--runs N] [--seconds S] [--percent P] [--options TEXT]

A program is run as "PROGRAM SECONDS" and prints "WRITER READER WORDS" for each pair of its threads: so many words were
written by the one and then read by the other; a word written twice counts twice, one read twice counts once (the
program does neither in between). Prints for each program and pair its true share, the estimates of all runs, and how
often the interval held the truth. A run is wrong when a cell is off by more than P percent of its true share, when
two pairs whose true shares are more than P percent apart are in the wrong order, or when more than 2 % is in cells of
pairs that hand nothing over. Exit status 1 when any was."""
import argparse, json, os, shutil, subprocess, sys

options = argparse.ArgumentParser()
options.add_argument("lwp"), options.add_argument("scratch"), options.add_argument("programs", nargs="+")
options.add_argument("--runs", type=int, default=1), options.add_argument("--seconds", type=float, default=5)
options.add_argument("--percent", type=float, default=15), options.add_argument("--options", default="")
options = options.parse_args()
os.makedirs(options.scratch, exist_ok=True)


def look(program):
    result = os.path.join(options.scratch, "result")
    shutil.rmtree(result, ignore_errors=True)
    run = subprocess.run([options.lwp, "collect", "-q", "--no-analyze", *options.options.split(), "-o", result, "--", program,
                          str(options.seconds)], check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run([options.lwp, "analyze", "-q", "--no-measure", result], check=True)
    with open(os.path.join(result, "analysis.json")) as file:
        communication = json.load(file)["communication"]
    words = {}
    for line in run.stdout.splitlines():
        writer, reader, count = map(int, line.split())
        words[writer, reader] = words.get((writer, reader), 0) + count
    threads, region = [thread["tid"] for thread in communication["threads"]], communication["regions"][0]
    cells = {(w, r): (region["true"][i][k], region["true_ci"][i][k], region["samples"][i][k])
             for i, w in enumerate(threads) for k, r in enumerate(threads)}
    return words, cells


failures = 0
for program in options.programs:
    seen, wrong_runs, numbers = [], 0, []
    for run in range(options.runs):
        words, cells = look(program)
        everything, bad = sum(words.values()), []
        rows = [(words[pair] / everything, *cells.get(pair, (0, [0, 1], 0))) for pair in words]
        for number, (truth, share, _, samples) in enumerate(rows):
            if abs(share - truth) > options.percent / 100 * truth:
                bad.append(f"pair {number}: {100 * share:.2f} instead of {100 * truth:.2f} ({100 * (share / truth - 1):+.0f} %, {samples} reads)")
        for i, (truth_i, share_i, *_) in enumerate(rows):
            for k, (truth_k, share_k, *_) in enumerate(rows):
                if truth_i > truth_k * (1 + options.percent / 100) and share_i <= share_k:
                    bad.append(f"pairs {i} and {k} in the wrong order")
        elsewhere = sum(cell[0] for pair, cell in cells.items() if pair not in words)
        if elsewhere > 0.02:
            bad.append(f"{100 * elsewhere:.1f} % in pairs that hand nothing over")
        seen.append(rows)
        wrong_runs += bool(bad)
        for problem in bad:
            print(f"    {os.path.basename(program)} run {run + 1} WRONG {problem}")
    for number in range(len(seen[0])):
        cells = [rows[number] for rows in seen]
        errors = [share / truth - 1 for truth, share, *_ in cells]
        mean = sum(errors) / len(errors)
        spread = (sum((e - mean) ** 2 for e in errors) / (len(errors) - 1)) ** 0.5 if len(errors) > 1 else float("nan")
        held = sum(low <= truth <= high for truth, _, (low, high), _ in cells)
        width = sum((high - low) / truth for truth, _, (low, high), _ in cells) / 2 / len(cells)
        print(f"{os.path.basename(program):20} pair {number}  truth {100 * cells[0][0]:5.2f}  off by mean {100 * mean:+5.1f} %  deviation {100 * spread:4.1f} %"
              f"  worst {100 * max(map(abs, errors)):4.1f} %  reads {min(c[3] for c in cells)}-{max(c[3] for c in cells)}"
              f"  interval +-{100 * width:.0f} % held it {held} of {len(cells)}")
    print(f"{os.path.basename(program):20} {wrong_runs} of {options.runs} runs were wrong")
    failures += wrong_runs
    sys.stdout.flush()
sys.exit(failures != 0)
