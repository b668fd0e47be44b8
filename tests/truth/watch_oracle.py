#!/usr/bin/python3
"""Holds the closed forms of tests/programs/known_ratios.c against what the program does, instruction by instruction.

    watch_oracle.py ORACLE PROGRAM [CASE...]

PROGRAM is known_ratios built with -no-pie and small arrays. Prints a line for each share and exits with 1 when any is off
by more than 0.001. What is counted are the accesses in the case's own function and `put`; what was not decided before the end
is dealt out like the rest of its calling context."""
import collections, subprocess, sys

CASES = ["dead0", "dead33", "dead50", "dead100", "silent0", "silent75", "silent100", "close50", "load0", "load75", "load100", "half", "chase", "widths",
         "long_distance", "mixed_density", "three_pairs", "callers"]


def address_of(program, function):
    symbols = subprocess.run(["nm", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(line.split()[0] for line in symbols.splitlines() if line.split()[1:] == ["t", function])


def places(program, addresses):
    """(function, line) of each address."""
    out = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(a.split("/")[0] for a in addresses), check=True, stdout=subprocess.PIPE, text=True)
    lines = out.stdout.split("\n")
    return {a: (lines[2 * i], lines[2 * i + 1].split(" ")[0].rsplit(":", 1)[1]) for i, a in enumerate(addresses)}


def observe(oracle, program, case):
    """{(kind, instruction): bytes}, {(kind, first, second): (use, waste)} and where the instructions are."""
    out = subprocess.run([oracle, address_of(program, "run"), program, case, "0", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if out.returncode:
        print(out.stderr, end="")
        sys.exit(out.returncode)
    counts, pairs = {}, {}
    for line in out.stdout.splitlines():
        kind, first, second, *values = line.split()
        if second == "-":
            counts[kind, first] = counts[kind + "_close", first] = int(values[0])
        else:
            use, waste, close = map(float, values)
            pairs[kind, first, second] = use + close, waste
            pairs[kind + "_close", first, second] = use + waste, close
    where = places(program, sorted({a for key in [*counts, *pairs] for a in key[1:]}))
    mine = {key: n for key, n in counts.items() if where[key[1]][0] in (case, "put")}
    return mine, pairs, where


def shares(kind, counts, pairs, where):
    """The wasted share, and that of each pair of lines."""
    total, by_lines = sum(n for (k, _), n in counts.items() if k == kind), collections.Counter()
    for (k, first), n in counts.items():
        ends = {second: p for (k2, f, second), p in pairs.items() if (k2, f) == (kind, first)}
        decided = sum(use + waste for use, waste in ends.values())
        if k == kind and decided:
            for second, (_, waste) in ends.items():
                by_lines[where[first][1], where[second][1]] += n / total * waste / decided
    return sum(by_lines.values()), by_lines


oracle, program, *cases = sys.argv[1:]
failed = 0
for case in cases or CASES:
    told = subprocess.run([program, case, "0", "1"], check=True, stdout=subprocess.PIPE, text=True).stdout
    counts, pairs, where = observe(oracle, program, case)
    kind = told.split()[0]
    share, by_lines = shares(kind, counts, pairs, where)
    for what, truth, first, second in map(str.split, told.splitlines()):
        got = by_lines[first, second] if what == "pair" else share
        wrong = abs(got - float(truth)) > 0.001
        top = max(by_lines.values(), default=0)
        if what != "pair" and first != "0" and by_lines[first, second] < top - 0.001:
            wrong = True
        failed += wrong
        print(f"{case:14} {what:12} {first:>4} {second:>4}  said {100 * float(truth):7.3f}  observed {100 * got:7.3f}{'  WRONG' if wrong else ''}")
print(f"{failed} wrong")
sys.exit(failed != 0)
