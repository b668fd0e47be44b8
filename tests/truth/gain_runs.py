#!/usr/bin/python3
"""Promised against measured: profiles programs in the layout they have, measures them in it and in the advised one, in
turns, and tells for each whether the ratio of their CPU times lies in the interval that lwp promises, and whether the one number
that it promises (`speedup`) is within 20 % of the ratio.

    gain_runs.py LWP SRC WORK [--pairs N] [--keep] [--all] [NAME...]

NAME: only programs whose name begins so. --all: every kernel, not only the chosen ones. A row: the speed-up promised and its
interval, the factor between the interval's ends, what most of the promise comes from ("run": the loops' accesses were run on this
machine; "lines": estimated), the ratio measured (median of the pairs, the least, the largest).

Exit status: 0 when at least 9 of 10 promised intervals contain the truth and nothing is promised where all fields are used
together, else 1. How many promises are within 20 % of the truth, and how many intervals have ends at most a factor 1.5 apart,
is printed and does not decide.

The programs are the examples that have a fixed twin beside them, and tests/truth/record.c, one loop in many shapes."""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import typing

PATTERNS = {"sequential": 1, "jumping": 2, "chasing": 3, "listed": 4}
# pattern, bytes, fields used, KiB, threads, multiplications
CHOSEN = [
    ("sequential", 16, 1, 65536, 1, 0), ("sequential", 32, 1, 65536, 1, 0), ("sequential", 64, 1, 4096, 1, 0),
    ("sequential", 64, 1, 131072, 1, 0), ("sequential", 64, 2, 65536, 2, 0), ("sequential", 64, 4, 262144, 1, 0),
    ("sequential", 128, 1, 65536, 1, 4), ("sequential", 128, 4, 65536, 1, 0), ("sequential", 256, 4, 524288, 1, 0),
    ("sequential", 64, 1, 65536, 1, 16), ("jumping", 16, 1, 65536, 1, 0), ("jumping", 64, 1, 65536, 1, 0),
    ("jumping", 64, 2, 262144, 2, 0), ("jumping", 128, 4, 131072, 1, 0), ("jumping", 256, 4, 65536, 1, 0),
    ("jumping", 64, 1, 8192, 1, 0), ("chasing", 64, 1, 65536, 1, 0), ("chasing", 64, 2, 262144, 1, 0),
    ("chasing", 128, 4, 131072, 1, 0), ("chasing", 256, 1, 65536, 2, 0), ("listed", 64, 1, 65536, 1, 0),
    ("listed", 128, 2, 131072, 1, 0), ("listed", 256, 4, 65536, 1, 0), ("listed", 64, 2, 262144, 2, 0),
    # All of the structure is used in each visit: nothing may be advised.
    ("sequential", 16, 2, 131072, 1, 0), ("sequential", 32, 4, 131072, 1, 0), ("jumping", 32, 4, 131072, 1, 0),
    ("chasing", 32, 4, 131072, 1, 0), ("listed", 32, 4, 131072, 1, 0),
]


def every_kernel():
    for pattern in PATTERNS:
        for size in (16, 32, 64, 128, 256):
            for used in (1, 2, 4):
                for kib in (1024, 4096, 16384, 65536, 262144, 524288):
                    if (used * 8 < size and (pattern != "listed" or kib < 500000)) or (used * 8 == size and kib == 65536):
                        yield (pattern, size, used, kib, 1 if kib != 65536 else 2, 0)


def examples(src):
    names = sorted(name[:-2] for name in os.listdir(src + "/examples") if name.endswith(".c"))
    return [name for name in names if name + "_fixed" in names], [
        name for name in names if name + "_fixed" not in names and not name.endswith("_fixed")]


def run(command):
    """CPU seconds, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit("%s: exit status %d" % (" ".join(command), done.returncode))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


class Program:
    def __init__(self, name, source, flags, arguments, fixed_source, fixed_flags, together):
        self.name, self.source, self.flags, self.arguments = name, source, flags, arguments
        self.fixed_source, self.fixed_flags, self.together = fixed_source, fixed_flags, together


def programs(src, everything):
    fixed, unfixed = examples(src)
    for name in fixed:
        yield Program(name, "%s/examples/%s.c" % (src, name), [], ["1"], "%s/examples/%s_fixed.c" % (src, name), [], False)
    for name in unfixed:
        yield Program(name, "%s/examples/%s.c" % (src, name), [], ["1"], None, [], True)
    for pattern, size, used, kib, threads, work in every_kernel() if everything else CHOSEN:
        flags = ["-DPATTERN=%d" % PATTERNS[pattern], "-DSIZE=%d" % size, "-DUSED=%d" % used, "-DKIB=%d" % kib, "-DWORK=%d" % work]
        name = "%s %d/%d B, %g MiB%s%s" % (pattern, 8 * used, size, kib / 1024, ", 2 threads" if threads > 1 else "",
                                           ", work" if work else "")
        together = 8 * used == size
        record = src + "/tests/truth/record.c"
        yield Program(name, record, flags, [str(threads), "200"], None if together else record, flags + ["-DSPLIT"], together)


def build(source, flags, out):
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=gnu11", "-O2", "-g", "-pthread", *flags, "-o", out, source], check=True)


class Promise(typing.NamedTuple):
    value: float
    low: float
    high: float
    source: str


def source_of(analysis, finding):
    """"run" or "lines", of the row that the finding refers to; "-": of a kind that does not say."""
    for kind, index in finding["refs"].items():
        rows = analysis.get(kind + "s", [])
        if index < len(rows) and "speedup_from" in rows[index]:
            return "lines" if rows[index]["speedup_from"] == "estimate" else "run"
    return "-"


def promise(lwp, result, binary, arguments):
    if not os.path.isdir(result):
        subprocess.run([lwp, "collect", "-F", "2000", "-o", result, "--", binary, *arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    subprocess.run([lwp, "analyze", "-q", result], check=True)
    with open(result + "/analysis.json") as file:
        analysis = json.load(file)
    saved, sources = [0, 0, 0], {}
    for finding in analysis["findings"]:
        if not finding["expected_speedup"]:
            continue
        for i, speedup in enumerate([finding["speedup"], *finding["expected_speedup"]]):
            saved[i] += 1 - 1 / speedup
        source = source_of(analysis, finding)
        sources[source] = sources.get(source, 0) + 1 - 1 / finding["speedup"]
    if not saved[2]:
        return None
    value, low, high = (1 / (1 - min(0.99, s)) for s in saved)
    return Promise(value, low, high, max(sources, key=sources.get))


def measure(before, after, arguments, pairs):
    ratios = []
    for i in range(pairs):
        order = (before, after) if i % 2 == 0 else (after, before)
        times = {}
        for binary in order:
            times[binary], _ = run([binary, *arguments])
        ratios.append(times[before] / times[after])
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lwp")
    parser.add_argument("src")
    parser.add_argument("work")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="keep results and measurements in WORK, and use those there")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_intermixed_args()
    known_path, known = args.work + "/measured.json", {}
    if args.keep and os.path.exists(known_path):
        with open(known_path) as file:
            known = json.load(file)
    inside = near = narrow = promised = wrong = silent = 0
    print("%-34s %-20s %6s %-5s %8s  %-15s %s" % ("program", "promised", "factor", "from", "measured", "(of pairs)", "verdict"))
    for program in programs(args.src, args.all):
        if args.names and not any(program.name.startswith(name) for name in args.names):
            continue
        slug = "".join(c if c.isalnum() else "-" for c in program.name)
        binary, result = args.work + "/" + slug, args.work + "/" + slug + ".result"
        if not (os.path.isdir(result) and os.path.exists(binary)):
            build(program.source, program.flags, binary)
        said = promise(args.lwp, result, binary, program.arguments)
        text, factor, source = "nothing", "", ""
        if said:
            text, factor, source = "%.2f (%.2f-%.2f)" % said[:3], "%.2f" % (said.high / said.low), said.source
        row = "%-34s %-20s %6s %-5s" % (program.name, text, factor, source)
        if program.together:
            wrong += said is not None
            print("%s %8s  %-15s %s" % (row, "-", "", "WRONG" if said else "right"), flush=True)
            continue
        if program.name not in known:
            build(program.fixed_source, program.fixed_flags, binary + ".fixed")
            known[program.name] = measure(binary, binary + ".fixed", program.arguments, args.pairs)
            if args.keep:
                with open(known_path, "w") as file:
                    json.dump(known, file)
            else:
                os.unlink(binary + ".fixed")
        ratios = known[program.name]
        ratio = statistics.median(ratios)
        spread = "(%.2f-%.2f)" % (min(ratios), max(ratios))
        if said is None:
            silent += 1
            verdict = "no advice" + (", though it would pay" if ratio >= 1.1 else "")
        else:
            held = round(said.low, 2) <= round(ratio, 2) <= round(said.high, 2)
            close = abs(said.value / ratio - 1) <= 0.2
            promised, inside, near, narrow = promised + 1, inside + held, near + close, narrow + (said.high <= 1.5 * said.low)
            verdict = ("inside" if held else "OUTSIDE") + (", within 20 %" if close else ", %+.0f %%" % (100 * said.value / ratio - 100))
        print("%s %7.2fx  %-15s %s" % (row, ratio, spread, verdict), flush=True)
    print("%d of %d promised intervals contain the measured ratio, %d promises are within 20 %% of it, %d intervals' ends are at most "
          "a factor 1.5 apart; %d programs without advice; %d pieces of advice where all fields are used together" %
          (inside, promised, near, narrow, silent, wrong))
    return 0 if inside >= 0.9 * promised and promised and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
