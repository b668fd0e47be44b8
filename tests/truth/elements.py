#!/usr/bin/python3
"""Holds element sizes and the fields of loops against programs that say themselves what they do (elements/).

    elements.py [--only SHAPE,...] [--builds BUILD,...] [--seconds S] [--verbose]

Builds: c, c++, fortran, each with flags: "c:-O2:-g". Needs LWP, SRC, TMP; takes CC, CXX, FC. Exit status 0: no size and
no field is wrong, and with debug information at -O2 none is unknown; 77: a compiler is missing."""
import argparse
import json
import os
import shutil
import subprocess
import sys

LWP, SRC, TMP = (os.environ[name] for name in ("LWP", "SRC", "TMP"))
COMPILERS = {"c": (os.environ.get("CC", "cc"), "c"), "c++": (os.environ.get("CXX", "g++"), "cc"),
             "fortran": (os.environ.get("FC", "gfortran"), "f90"), "clang": ("clang", "c")}
BUILDS = [language + ":" + level + ":" + debug for language, levels in (
    ("c", ("-O2", "-O3 -mavx2", "-O3 -march=native", "-O3")), ("c++", ("-O2", "-O3 -march=native")),
    ("fortran", ("-O2", "-O3 -march=native")), ("clang", ("-O2", "-O2 -mavx2"))) for level in levels for debug in ("-g", "")]
ENOUGH = 30  # accesses; a block seen less often may stay unknown


def build(name):
    language, level, debug = name.split(":")
    compiler, suffix = COMPILERS[language]
    if not shutil.which(compiler.split()[0]):
        return None
    program = TMP + "/shapes"
    subprocess.run([*compiler.split(), *level.split(), *debug.split(), "-o", program, SRC + "/tests/truth/elements/shapes." + suffix]
                   + (["-J", TMP] if language == "fortran" else []), check=True)
    return program


def truth_of(output):
    blocks, uses = [], []
    for words in map(str.split, output.splitlines()):
        if words[0] == "block":
            blocks.append((int(words[1]), [None if size == "unknown" else int(size) for size in words[2].split(",")], int(words[3])))
        elif words[0] == "use":
            uses.append((words[1], int(words[2]), {int(offset) for offset in words[3].split(",")}))
    return blocks, uses


def look(program, shape, seconds):
    result = TMP + "/result"
    shutil.rmtree(result, ignore_errors=True)
    done = subprocess.run([LWP, "collect", "--no-analyze", "-F", "2000", "--max-overhead", "25", "-o", result, "--", program, shape, str(seconds)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    again = subprocess.run([LWP, "analyze", "--no-measure", result], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode or again.returncode:
        sys.exit("lwp failed: %s%s" % (done.stderr, again.stderr))
    with open(result + "/analysis.json") as file:
        return json.load(file), truth_of(done.stdout)


def judge(analysis, truth, counts):
    """Lines for people; each counted."""
    blocks, uses = truth
    for size, allowed, start in blocks:
        for item in analysis["objects"]:
            if item["allocated_bytes"] != size or item["kind"] not in ("heap", "static", "mmap") or item["accesses"] < ENOUGH:
                continue
            got, said = item["element_bytes"], item.get("element_probability")
            if got in allowed:
                verdict = "right"
            else:
                verdict = "unknown" if got is None else "WRONG"
            whys = analysis["run"]["notes"] + [other["fields_unknown"] or "" for other in analysis["objects"]]
            if allowed == [None] and not any("several arrays" in why for why in whys):
                verdict = "WRONG: nothing said on several arrays"
            counts[verdict] = counts.get(verdict, 0) + 1
            yield verdict, "%s of %d bytes: element %s of %s, p %s" % (item["name"], size, got, allowed, said)
            if got is None or verdict == "WRONG":
                continue
            for function, block, wanted in uses:
                if block != size:
                    continue
                used, width = set(), {field["offset"]: field["bytes"] for field in item["fields"]}
                for use in item["loops"]:
                    if analysis["loops"][use["loop"]]["function"].split("(")[0].split("::")[-1] == function:
                        used |= set(use["offsets"])
                if not used:
                    continue
                inside = all(any(at <= offset < at + width[at] for at in used) for offset in wanted)
                verdict = "fields" if used == wanted else "more fields" if inside else "WRONG fields"
                counts[verdict] = counts.get(verdict, 0) + 1
                yield verdict, "%s uses %s of %s%s" % (function, sorted(used), sorted(wanted), " (header of %d)" % start if start else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--builds", default=",".join(BUILDS))
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    counts, failed, missing = {}, False, False
    for name in args.builds.split(","):
        program = build(name)
        if not program:
            print(name, "- no compiler")
            missing = True
            continue
        strict = name.endswith(":-O2:-g")
        own = {}
        for shape in subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.split():
            if args.only and shape not in args.only.split(","):
                continue
            for verdict, text in judge(*look(program, shape, args.seconds), own):
                bad = verdict.startswith("WRONG") or strict and verdict == "unknown"
                failed |= bad
                if bad or args.verbose:
                    print("%-28s %-18s %-12s %s" % (name, shape, verdict, text), flush=True)
        print("%-28s %s" % (name, ", ".join("%d %s" % (n, what) for what, n in sorted(own.items()))), flush=True)
        for what, n in own.items():
            counts[what] = counts.get(what, 0) + n
    print("all: " + ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())))
    return 1 if failed or not counts else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
