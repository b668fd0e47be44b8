#!/usr/bin/python3
"""Random nests of loops in C: those that lwp patch interchanges print the same, and report nothing to UBSan.
patch_loops_fuzz.py [COUNT [FIRST_SEED]]"""
import json
import os
import random
import re
import subprocess
import sys

LWP, CC, TMP = os.environ["LWP"], os.environ["CC"].split(), os.environ["TMP"]
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 1
ROWS, COLUMNS = 9, 12
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define ROWS %d
#define COLUMNS %d
#define AT(array, row, column, width) array[(row) * (width) + column]
#define SET(to, from) do { (to) = from; } while (0)
#define ADD(to, from) to += (from)
#define CELL(i, j) (a[i][j])
static unsigned long a[ROWS][COLUMNS], b[ROWS][COLUMNS], line[COLUMNS + ROWS], *flat, *other, *alias, **rows;
static double real[ROWS][COLUMNS];
static unsigned long total, kept;
static int count = COLUMNS, height = ROWS, picks[ROWS];
static void *memory(size_t size) { void *p = malloc(size); if (!p) exit(1); return p; }
""" % (ROWS, COLUMNS)
MAIN = """
int main(void)
{
    flat = calloc(ROWS * COLUMNS, sizeof *flat);
    other = memory(ROWS * COLUMNS * sizeof *other);
    rows = malloc(ROWS * sizeof *rows);
    for (int i = 0; i < ROWS; i++) rows[i] = a[ROWS - 1 - i];
    alias = %s;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        a[i / COLUMNS][i %% COLUMNS] = i * 7u; b[i / COLUMNS][i %% COLUMNS] = i * 13u; flat[i] = i * 3u; other[i] = i ^ 5u; real[i / COLUMNS][i %% COLUMNS] = i;
    }
    for (int i = 0; i < ROWS; i++) picks[i] = (i * 5) %% ROWS;
    work(%s);
    unsigned long sum = total + kept;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum = sum * 31 + a[i / COLUMNS][i %% COLUMNS] * 3 + b[i / COLUMNS][i %% COLUMNS] * 5 + flat[i] * 7 + other[i] * 11 + (unsigned long)(real[i / COLUMNS][i %% COLUMNS] * 100);
    for (int i = 0; i < COLUMNS + ROWS; i++) sum = sum * 17 + line[i];
    printf("%%lu\\n", sum);
    return 0;
}
"""


class Nest:
    def __init__(self, seed):
        self.seed = seed
        self.random = r = random.Random(seed)
        self.outer, self.inner = r.choice([("i", "j"), ("j", "i")])  # i: rows, j: columns
        self.old = r.random() < 0.3
        self.type = r.choice(["int", "int", "long", "size_t", "unsigned"])
        self.margin = r.choice([0, 0, 1, 1, 2])
        self.locals = set()
        self.macros = random.Random(seed) if seed % 2 else None

    def index(self, name, spread=True):
        r = self.random
        offset = r.randint(-self.margin, self.margin) if spread and r.random() < 0.4 else 0
        return name + (" + %d" % offset if offset > 0 else " - %d" % -offset if offset < 0 else "")

    def place(self):
        r = self.random
        i, j = self.index("i"), self.index("j")
        return r.choice(["a[%s][%s]" % (i, j)] * 3 + ["b[%s][%s]" % (i, j)] * 3 + ["flat[(%s) * COLUMNS + %s]" % (i, j)] * 2 + ["other[(%s) * count + %s]" % (i, j)] * 2 +
                        ["alias[(%s) * COLUMNS + j]" % i, "rows[%s][%s]" % (i, j), "line[%s]" % j, "line[i + j]", "b[picks[i]][j]", "*(flat + (%s) * COLUMNS + j)" % i,
                         "p[(%s) * COLUMNS + %s]" % (i, j), "q[(%s) * COLUMNS + %s]" % (i, j), "a[%s][i]" % i, "flat[at]", "a[%s][2]" % i])

    def value(self):
        r = self.random
        terms = [r.choice([self.place(), self.place(), "%du" % r.randint(1, 9), "(unsigned long)" + r.choice("ij"), "kept", "t"]) for _ in range(r.randint(1, 3))]
        return (" %s " % r.choice("+-*^")).join(terms)

    def statement(self, depth=0):
        r = self.random
        kind = r.random()
        if kind < 0.45:
            return "%s %s %s;" % (self.place(), r.choice(["=", "=", "+=", "^="]), self.value())
        if kind < 0.55:
            return "t = %s;" % self.value()
        if kind < 0.6:
            return r.choice(["total += %s;", "kept = %s;", "if (t > 40) t = %s;"]) % self.value()
        if kind < 0.7 and depth < 2:
            return "if (%s > 50) { %s } else { %s }" % (self.value(), self.statement(depth + 1), self.statement(depth + 1))
        if kind < 0.8 and depth < 1:
            return "for (k = 0; k < 3; k++) { %s %s }" % (self.statement(depth + 1), "a[i][j] += k;" if r.random() < 0.5 else "")
        if kind < 0.85:
            return "real[%s][%s] = sqrt(fabs(real[i][%s]));" % (self.index("i"), self.index("j"), self.index("j"))
        if kind < 0.88:
            return r.choice(["if (t == 77) break;", "total = total * 3 + 1;", "puts(\"x\");", "*(&kept) = t;", "t++;", "at += 0;", "{ unsigned long u; u = t; a[i][j] ^= u; }"])
        return "%s = %s;" % (self.place(), self.place())

    def loop(self, name):
        r = self.random
        high = {"i": r.choice(["ROWS", "height"]), "j": r.choice(["COLUMNS", "count"])}[name]
        low, high = self.margin, high + (" - %d" % self.margin if self.margin else "")
        declare = "" if self.old else self.type + " "
        if r.random() < 0.15 and self.type in ("int", "long"):
            return "for (%s%s = %s - 1; %s >= %d; %s--)" % (declare, name, high, name, low, name)
        if r.random() < 0.1:
            return "for (%s%s = %d; %s <= %s - 1; %s += 2)" % (declare, name, low, name, high if "size" not in self.type and "uns" not in self.type else "ROWS - %d" % self.margin, name)
        return "for (%s%s = %d; %s < %s; %s)" % (declare, name, low, name, "(%s)(%s)" % (self.type, high) if self.type != "int" else high, r.choice([name + "++", "++" + name, name + " += 1"]))

    def in_macros(self, line):
        """What a macro may say is said by one, often."""
        def any_of(pattern, with_macro, line):
            return re.sub(pattern, lambda found: found.expand(with_macro) if self.macros.random() < 0.5 else found.group(), line)
        line = any_of(r"(flat|other|p|q)\[\(([^()]*)\) \* (COLUMNS|count) \+ ([^][]*)\]", r"AT(\1, \2, \4, \3)", line)
        line = any_of(r"\ba\[(\w+)\]\[(\w+)\]", r"CELL(\1, \2)", line)
        line = any_of(r"^([^ =]+) = ([^;]*);$", r"SET(\1, \2);", line)
        return any_of(r"^([^ =]+) \+= ([^;]*);$", r"ADD(\1, \2);", line)

    def text(self):
        r = self.random
        restrict = r.choice(["", "", "restrict "])
        body = ["t = %s;" % r.choice(["i + j", "a[i][j]", "7"])] if r.random() < 0.7 else []
        body += ["at = i * COLUMNS + j;"] if r.random() < 0.8 else []
        body += [self.statement() for _ in range(r.randint(1, 3))]
        body = [self.in_macros(line) for line in body] if self.macros else body
        lines = ["static void work(unsigned long *%sp, unsigned long *%sq)" % (restrict, restrict), "{", "    unsigned long t = 3;", "    long at = 0, k = 0;"]
        if self.old:
            lines.append("    %s i, j;" % self.type)
        around = [[], []]
        if self.seed % 3 == 0 and not self.old:
            around = [[re.sub(r"\b%s\b" % self.inner, "2", self.statement()) for _ in range(r.randint(0, 1))] for _ in "ab"]
            around[0].append("unsigned long s = %s;" % r.choice(["1", self.outer, "line[%s]" % self.outer]))
            around[1].append("%s += s;" % r.choice(["line[%s]" % self.outer] * 3 + ["line[%s + 1]" % self.outer, "total", "flat[%s]" % self.outer]))
            body.append("s = s * 3 + %s;" % re.sub(r"\bt\b", "1", self.value()))
            body = [line for line in body if not line.startswith(("t ", "at "))] if r.random() < 0.7 else body
        first = len(lines) + 2 + len(around[0])
        lines += ["    " + self.loop(self.outer) + (" {" if r.random() < 0.3 or around[0] else "")] + around[0] + ["        " + self.loop(self.inner) + " {"]
        closing = lines[-2 - len(around[0])].endswith("{")
        lines += ["            " + line for line in body] + ["        }"]
        last = len(lines)
        lines += around[1] + ["    }"] * closing
        if self.old and r.random() < 0.15:
            lines.append("    total += i;")
        lines += ["    kept += t + at + k;" if r.random() < 0.5 else "    (void)t; (void)at; (void)k; (void)p; (void)q;", "}"]
        offset = HEAD.count("\n")
        p, q = r.choice([("flat", "other")] * 3 + ([("flat", "flat"), ("&a[0][0]", "flat")] if not restrict else []))
        program = HEAD + "\n".join(lines) + MAIN % (r.choice(["flat", "other", "&b[0][0]"]), p + ", " + q)
        return program, first + offset, last + offset


def output(folder, source, name):
    if subprocess.run(CC + ["-std=gnu11", "-O1", "-w", "-fsanitize=undefined", "-o", name, source, "-lm"], cwd=folder, capture_output=True, check=False).returncode:
        return None
    run = subprocess.run(["./" + name], cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


counts = {"made": 0, "refused": 0, "wrong": 0, "not valid": 0}
for seed in range(FIRST, FIRST + COUNT):
    text, first, last = Nest(seed).text()
    folder = TMP + "/nest%d" % seed
    os.makedirs(folder)
    with open(folder + "/a.c", "w") as to:
        to.write(text)
    with open(folder + "/analysis.json", "w") as to:
        json.dump({"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": "interchange-1", "title": "t", "refs": {"locality": 0}}], "locality": [{"loop": 0}],
                   "loops": [{"file": folder + "/a.c", "first_line": first, "last_line": last}]}, to)
    run = subprocess.run([LWP, "patch", "analysis.json", "--cc", "cc a.c"], cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1) or (run.returncode and "forbid" not in run.stderr):
        counts["wrong"] += 1
        print("seed %d: status %d: %s" % (seed, run.returncode, run.stderr[-500:]))
    elif run.returncode:
        counts["refused"] += 1
    else:
        before = output(folder, "a.c", "before")
        if not before or before[2]:
            counts["not valid"] += 1
            continue
        subprocess.run(["patch", "-s", "-p1"], input=run.stdout, cwd=folder, text=True, check=True)
        counts["made"] += 1
        if output(folder, "a.c", "after") != before:
            counts["wrong"] += 1
            print("seed %d: %s, %s\n%s" % (seed, before, output(folder, "a.c", "after"), run.stdout))
print(counts)
sys.exit(counts["wrong"] > 0 or not counts["made"])
