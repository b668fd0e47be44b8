#!/usr/bin/python3
"""lwp patch on arrays: those that belong together become one array of structures, those that lie alike in the caches move apart, and what may
forbid it is refused by its name."""
import json
import os
import re
import subprocess
import sys

LWP, CC, TMP = os.environ["LWP"], os.environ["CC"].split(), os.environ["TMP"]
os.chdir(TMP)
PROGRAM = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { COUNT = 50 };
#define GET(array, i) array[i]
#define SQUARE(x) ((x) * (x))
#define ADDRESS(x) (&(x))
#define SAY(x) printf("%s %g\\n", #x, x)
struct place { double x, y; char name[4]; };
static struct place *places;
static double *weights, total, *others; // weights
static int *kinds;
static int count = COUNT;
static void *allocate(size_t number, size_t bytes) { void *p = malloc(number * bytes); if (!p) { perror("p"); exit(1); } return p; }
static void *pooled(size_t number, size_t bytes) { static char pool[1 << 16]; static size_t at; at += number * bytes; return pool + at - number * bytes; }
static double sum(void)
{
    double all = 0;
    for (int i = 0; i < COUNT; i++)
        all += places[i].x * weights[i] + kinds[places[(i + 1) % COUNT].y < 0 ? 0 : i] + places[i].name[1];
    return all;
}
int main(void)
{
    double *weight = &total; /* another name, and weights in a comment, "weights" */
    places = malloc(COUNT * sizeof *places);
    weights = malloc(COUNT * sizeof *weights);
    kinds = malloc(COUNT * sizeof *kinds);
    others = malloc(COUNT * sizeof *others);
    for (int i = 0; i < COUNT; i++) {
        places[i] = (struct place){i, i * 2, "ab"};
        weights[i] = i % 7;
        kinds[i] = i % 3;
        others[i] = SQUARE(weights[i]);
    }
    *weight += sum() + weights[kinds[2]] + others[3];
    printf("%g weights\\n", total);
    free(kinds);
    free(weights);
    free(places);
    free(others);
    return 0;
}
"""
if "without libclang" in subprocess.run([LWP, "patch", "."], capture_output=True, text=True, check=False).stderr:
    print("lwp was built without libclang (apt install libclang-dev)")
    sys.exit(77)
NAMES = ["places", "weights", "kinds"]
DECLARED, SUM, ALLOCATED, FREED = "static double *weights, total, *others; // weights", "    double all = 0;\n", "    places = malloc(COUNT * sizeof *places);\n", "    free(kinds);\n    free(weights);\n"
LATER = "    *weight += sum()"
bad = count = given = 0


def wrong(what, text):
    global bad
    bad += 1
    print("%s: %s" % (what, text))


def patch(changes, more="", kind="regroup"):
    global count
    count += 1
    folder = "case%d" % count
    os.makedirs(folder)
    text = PROGRAM
    for old, new in changes:
        if text.count(old) < 1:
            wrong(old, "not in the program")
        text = text.replace(old, new)
    for name, content in (("a.c", text), ("b.c", more)):
        with open(folder + "/" + name, "w") as to:
            to.write(content)
    lines = [next((n for n, line in enumerate(text.split("\n"), 1) if re.match(r" *%s = .*(alloc|pooled)" % name, line)), 1) for name in NAMES]
    with open(folder + "/analysis.json", "w") as to:
        json.dump({"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": kind + "-1", "title": "t", "refs": {kind: 0}}], "regroups": [{"objects": [0, 1, 2]}],
                   "conflicts": [{"remedy": "apart", "arrays": [{"object": i, "move": 64 * i} for i in range(3)]}],
                   "objects": [{"name": name, "site": {"file": os.path.abspath(folder) + "/a.c", "line": line}} for name, line in zip(NAMES, lines)]}, to)
    return folder, subprocess.run([LWP, "patch", "analysis.json", "--cc", "cc %s a.c" % ("b.c" if more else "")], cwd=folder, capture_output=True, text=True, check=False)


def output(folder, name):
    build = subprocess.run(CC + ["-std=gnu11", "-O1", "-Wall", "-fsanitize=address,undefined", "-o", name, "a.c"], cwd=folder, capture_output=True, text=True, check=False)
    run = subprocess.run(["./" + name], cwd=folder, capture_output=True, text=True, check=False) if not build.returncode else build
    return run.returncode, run.stdout, run.stderr, build.stderr.count("warning")


def chosen():
    """Each second program, all when LONG."""
    global given
    given += 1
    return given % 2 or "LONG" in os.environ


def changed(kind, changes, is_good):
    if not chosen():
        return
    folder, run = patch(changes, kind=kind)
    if run.returncode:
        wrong(changes, "refused: " + run.stderr)
        return
    before = output(folder, "before")
    subprocess.run(["patch", "-s", "-p1"], input=run.stdout, cwd=folder, text=True, check=True)
    patched = open(folder + "/a.c").read()
    if before[0] or output(folder, "after") != before or not is_good(patched, run.stdout):
        wrong(changes, "%s, %s\n%s" % (before, output(folder, "after"), run.stdout))


def unchanged(kind, files, reason, changes, more):
    if not chosen():
        return
    run = patch(changes, more, kind)[1]
    if run.returncode != 1 or reason not in re.findall(r"^(?:%s.c:\d+: )?([a-z-]+): " % files, run.stderr, re.M) or run.stdout:
        wrong(changes, "%s expected, status %d, %s%s" % (reason, run.returncode, run.stderr, run.stdout))


def accepted(*changes):
    changed("regroup", changes, lambda patched, _: "sizeof *places_group" in patched and not re.search(r"[ (](weights|kinds)\[|free\(kinds", patched))


def refused(reason, *changes, more=""):
    unchanged("regroup", "a", reason, changes, more)


accepted()
accepted(("= malloc(COUNT * sizeof *weights)", "= (double *)allocate(COUNT, sizeof(double))"), ("= malloc(COUNT * sizeof *places)", "= (struct place *)allocate(sizeof(places[0]), COUNT)"),
         ("= malloc(COUNT * sizeof *kinds)", "= allocate(COUNT, sizeof *kinds)"))
accepted(("malloc(COUNT *", "malloc(count *"), ("    kinds = ", "    if (!weights) {\n        perror(\"weights\");\n        return 1;\n    }\n    kinds = "), ("    others = ", "    if (kinds == NULL || !places)\n        exit(1);\n    others = "))
accepted(("    kinds = ", "    others = malloc(COUNT * sizeof *others);\n    kinds = "), ("    others = malloc(COUNT * sizeof *others);\n    for", "    for"), ("    free(weights);", "    free(others);\n    free(weights);"), ("    free(others);\n    return", "    return"))
accepted(("static int *kinds", "int *kinds"), ("static double *weights,", "double *weights,"), ("static struct place *places", "struct place *places"))
accepted((FREED, ""), ("    free(places);\n", ""), ("free(others);", "free(others); return 0;"), ("int main(void)\n{", "int main(void)\n{\n    static void *kept; kept = &kept; (void)kept;"), ("    return 0;\n}\n", "}\nconst char *__asan_default_options(void);\nconst char *__asan_default_options(void) { return \"detect_leaks=0\"; }\n"))

# ---- declarations ----
refused("no-array", ("*kinds;", "*types;"), ("kinds[", "types["), ("kinds =", "types ="), ("*kinds)", "*types)"), ("(kinds)", "(types)"))
for old, new in ((DECLARED, "static double *weights, /* of all */ total, *others;"), (DECLARED, "static double *weights = NULL, total, *others;"), (DECLARED, "static double total, *others, *weights;"),
                 ("static int *kinds;", "int *kinds;"), ("static int *kinds;", "static int *kinds, *kinds;"), ("static int *kinds;", "static __thread int *kinds;")):
    refused("one-declaration", (old, new))
refused("one-declaration", ("struct place { double", "static double *weights;\nstatic double first(void) { return weights[0]; }\nstruct place { double"), (DECLARED, "static double total, *others;"))
refused("one-declaration", ("struct place { double x, y; char name[4]; };", ""), ("static void *allocate", "struct place { double x, y; char name[4]; };\nstatic void *allocate"))
for outside in ("extern int *kinds;\nint first(void) { return kinds[0]; }", "int first(void) { extern int *kinds; return kinds[0]; }"):
    refused("one-declaration", ("static int *kinds;", "int *kinds;"), ("static double *weights,", "double *weights,"), ("static struct place *places", "struct place *places"), more=outside)
refused("name-taken", ("double all = 0;", "double all = 0, places_group = 0;"))

# ---- uses ----
for use in ("double *p = &weights[2]; all += *p;", "double *p = weights; all += p[1];", "all += *weights;", "all += weights[1] + *(weights + 1);", "double *p = &places[1].x; all += p[1];", "all += weights == NULL ? 0 : (weights, 1);",
            "all += *ADDRESS(weights[1]);", "memset(weights, 0, 8);", "all += ((char *)weights)[1];", "all += 1[weights];"):
    refused("array-escapes", (SUM, SUM + use))
refused("array-escapes", (SUM, SUM + "all += GET(weights, 1);"))
refused("stringified", (SUM, SUM + "SAY(weights[1]);"))
refused("macro", (SUM, "#define FIRST weights[0]\n" + SUM + "all += FIRST;"))
refused("sizeof", (SUM, SUM + "all += sizeof *weights;"))
for text in ("\n#ifdef NEVER\nall += weights[1];\n#endif\n", "\n#define UNUSED weights[1]\n", "\n#pragma omp parallel for shared(weights)\n"):
    refused("unseen-use", (SUM, SUM + text + "for (int k = 0; k < 2; k++) all++;\n"))

# ---- memory ----
for old, new in (("malloc(COUNT * sizeof *kinds)", "malloc((COUNT + 1) * sizeof *kinds)"), ("malloc(COUNT * sizeof *kinds)", "calloc(COUNT, sizeof *kinds)"), ("malloc(COUNT * sizeof *kinds)", "malloc(COUNT * 4)"),
                 ("    kinds = ", "    if (count)\n        kinds = "), ("    kinds = ", "    total = sum();\n    kinds = "), ("    kinds = ", "    if (!weights) count = 3;\n    kinds = "),
                 (LATER, "    kinds = NULL;\n" + LATER), (LATER, "    kinds = realloc(kinds, COUNT * sizeof *kinds);\n" + LATER), (LATER, "    if (!kinds) return 1;\n" + LATER.replace("*weight", "if (kinds) *weight")),
                 (FREED, "    free(kinds);\n    if (count) return 0;\n    free(weights);\n"), (FREED, "    free(kinds);\n"), (FREED, "    if (count > 3)\n        free(kinds);\n    free(weights);\n"), (SUM, SUM + "if (kinds) all++;\n")):
    refused("side-by-side", (old, new))
refused("side-by-side", ("= malloc(COUNT * sizeof *", "= narrow(COUNT, sizeof *"), ("static double sum", "static void *narrow(int number, int bytes) { return malloc(number * bytes); }\nstatic double sum"))
refused("side-by-side", ("= malloc(COUNT * sizeof *kinds)", "= malloc((int)(COUNT * sizeof *kinds))"))
refused("allocator", ("= malloc(COUNT * sizeof *", "= pooled(COUNT, sizeof *"))

# ---- moving apart ----
def moved(*changes):
    changed("conflict", changes, lambda patched, diff: len(re.findall(r"= (?:\([a-z *]*\))?places_apart\(.*, (?:64|128)\);", patched)) == 2
            and not re.search(r"^\+.*(size_t|for \(\w+ \w+ =|NULL)", diff, re.M))  # any C, any headers


def kept(reason, *changes, more=""):
    unchanged("conflict", "[ab]", reason, changes, more)


moved()
moved(("malloc(COUNT * sizeof *weights)", "calloc(sizeof *weights, COUNT)"), ("malloc(COUNT * sizeof *kinds)", "(int *)allocate(count - 0, sizeof(int))"), ("free(weights);", "double *all[] = {weights, others}; for (int k = 0; k < 2; k++)\n        free(all[k]);"),
      ("    free(others);\n", ""), ("free(kinds)", "free((void *)kinds)"))
moved((SUM, SUM + "double *p = &weights[2]; all += *p + (weights == NULL);"), ("    weights = ", "    for (int k = 0; k < 40; k++) {\n        free(weights);\n        weights = "), ("    kinds = ", "    }\n    kinds = "))  # allocated again and again
for old, new in (("    kinds[i]", "    if (i == 1) { void (*f)(void *) = free; f(NULL); }\n    kinds[i]"), (LATER, "    weights = realloc(weights, COUNT * sizeof *weights);\n" + LATER)):
    kept("freed-here", (old, new))
kept("freed-here", more="#include <stdlib.h>\nvoid drop(double *p);\nvoid drop(double *p) { free(p); }")
kept("freed-here", more="#include <stdlib.h>\nvoid drop(void *p);\nvoid drop(void *p) { free(p); }")
kept("allocator", ("= malloc(COUNT * sizeof *", "= pooled(COUNT, sizeof *"))
kept("allocator", ("= malloc(COUNT * sizeof *weights)", "= malloc(count > 3 ? COUNT * sizeof *weights : 8)"))
kept("name-taken", ("double all = 0;", "double all = 0, places_lock = 0;"))
kept("no-array", ("    weights = malloc", "    weights = /* here */\n        malloc"), ("    kinds = malloc(COUNT * sizeof *kinds)", "    int *made = malloc(COUNT * sizeof *made);\n    kinds = made"))
print("%d programs" % count)
sys.exit(bad > 0)
