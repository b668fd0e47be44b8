#!/usr/bin/python3
"""Draws cases for gain_table.py at random: loops in shapes that nobody has chosen, built in both layouts.

    gain_cases.py SRC WORK SEED COUNT [FAMILY...] > CASES

WORK gets the programs. A family is one of record.c's patterns, or of gain_families.c. Cases of one seed are always the same."""
import json
import os
import random
import resource
import subprocess
import sys

RECORD = {"sequential": 1, "jumping": 2, "chasing": 3, "listed": 4}
FAMILIES = {"gather": 1, "sets": 2, "chains": 3, "nest": 4}
USUAL = ["sets"] * 6 + ["gather"] * 6 + ["jumping"] * 5 + ["sequential"] * 5 + ["chasing"] * 4 + ["listed"] * 4 + ["chains"] * 4 + ["nest"] * 4
ORDERED = ["chasing", "listed", "chains"] # whose elements may be in the order of visits
SECONDS, LONGEST = 1.2, 2.5  # of the loops, in the layout to be changed
MOST = 0.75  # ... and of the program's time: what sets memory up counts for little


def size_name(kib):
    return "%d MiB" % (kib // 1024) if kib >= 1024 else "%d KiB" % kib


def draw(dice, family):
    """Name, kind, source, flags and arguments before the rounds."""
    if family in RECORD:
        size = dice.choice([16, 32, 64, 128, 256])
        used = dice.choice([u for u in (1, 2, 4) if u * 8 < size])
        kib = dice.choice([2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144])
        threads = dice.choice([1, 1, 1, 2])
        work = dice.choice([0, 0, 0, 2, 6])
        name = "%s %d/%d B, %s%s%s" % (family, 8 * used, size, size_name(kib), ", %d threads" % threads if threads > 1 else "",
                                       ", %d products" % work if work else "")
        return name, family, "record.c", {"PATTERN": RECORD[family], "SIZE": size, "USED": used, "KIB": kib, "WORK": work}, [str(threads)]
    kind, flags = family, {"FAMILY": FAMILIES[family]}
    number = dice.choice(["float", "double"])
    if family == "gather":
        arrays, kib, computed = dice.choice([2, 3, 4, 5]), dice.choice([2048, 4096, 8192, 16384, 32768, 65536, 131072]), dice.random() < 0.4
        name = "gather, %d of %s, %s%s" % (arrays, size_name(kib), number, ", computed" if computed else "")
        flags.update({"ARRAYS": arrays, "KIB": kib, "TYPE": number, **({"COMPUTED": 1} if computed else {})})
    elif family == "sets":
        arrays, kib = dice.choice([10, 12, 14, 16, 20, 24, 28]), dice.choice([16, 64, 256, 1024, 2048, 4096])
        name, kind = "sets, %d of %s, %s" % (arrays, size_name(kib), number), "conflicts"
        flags.update({"ARRAYS": arrays, "KIB": kib, "TYPE": number})
    elif family == "chains":
        size, length, kib = dice.choice([32, 64, 128]), dice.choice([2, 4, 8]), dice.choice([4096, 16384, 65536, 131072])
        name = "chains of %d, %d B, %s" % (length, size, size_name(kib))
        flags.update({"SIZE": size, "LENGTH": length, "KIB": kib})
    else:
        order, row = dice.choice([1, 2, 3]), dice.choice([700, 1000, 1100, 1500, 1900, 2500, 3000, 4200])
        name, kind = "nest %d of %d, %s" % (order, row, number), "order"
        flags.update({"ORDER": order, "ROW": row, "TYPE": number})
    return name, kind, "gain_families.c", flags, []


def build(source, flags, out):
    command = [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O2", "-g", "-pthread", *("-D%s=%s" % item for item in flags.items())]
    subprocess.run([*command, "-o", out, source], check=True, stderr=subprocess.DEVNULL)


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(command, rounds):
    """Of the loops, and of the rest of the program: the least of two runs each."""
    loops, rest = [], []
    for _ in range(2):
        before = cpu()
        out = subprocess.run([*command, str(rounds)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        loops.append(float(out.stderr.split()[-1]))
        rest.append(cpu() - before - loops[-1])
    return min(loops), min(rest)


def rounds_of(command, few):
    """So many that the loops take SECONDS, and MOST of the program's time where that is no longer than LONGEST."""
    while True:
        loops, rest = seconds(command, few)
        if loops > SECONDS / 10:
            return max(1, round(few * max(SECONDS, min(LONGEST, rest * MOST / (1 - MOST))) / loops))
        few *= 4


def main():
    src, work, seed, count = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    dice, seen = random.Random(seed), set()
    os.makedirs(work, exist_ok=True)
    while len(seen) < count:
        name, kind, source, flags, arguments = draw(dice, dice.choice(sys.argv[5:] or USUAL))
        if name in seen:
            continue
        seen.add(name)
        record = source == "record.c"
        binary = work + "/" + "".join(c if c.isalnum() else "-" for c in name)
        build("%s/tests/truth/%s" % (src, source), flags, binary)
        build("%s/tests/truth/%s" % (src, source), {**flags, "SPLIT" if record else "CHANGED": 1}, binary + ".after")
        rounds = str(rounds_of([binary, *arguments], 4 if record else 1))
        case = {"name": name, "kind": kind, "result": "%s.%d.result" % (binary, seed), "cwd": work, "new": True,
                "before": [binary, *arguments, rounds], "after": [binary + ".after", *arguments, rounds]}
        if kind in ORDERED:
            build("%s/tests/truth/%s" % (src, source), {**flags, "ORDERED": 1}, binary + ".ordered")
            case["ordered"] = [binary + ".ordered", *arguments, rounds]
        print(json.dumps(case), flush=True)


if __name__ == "__main__":
    main()
