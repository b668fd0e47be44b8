#!/usr/bin/python3
"""lwp patch on loop order: the loops are interchanged where the program does the same then, and whatever may forbid it is refused by its name."""
import json
import os
import re
import subprocess
import sys

LWP, CC, TMP = os.environ["LWP"], os.environ["CC"].split(), os.environ["TMP"]
os.chdir(TMP)
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
enum { ROWS = 30, COLUMNS = 40 };
#define AT(array, row, column) array[(row) * COLUMNS + (column)]
#define PLUS(a, b) a + b
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define NEVER 1000
#define SET(to, from) do { (to) = (from); } while (0)
#define PRAGMA(x) _Pragma(#x)
#define FAST PRAGMA(omp parallel for)
static double a[ROWS][COLUMNS], b[ROWS][COLUMNS], line[COLUMNS], total, whole[ROWS * COLUMNS], wide[5][600], sums[600], (*flat)[COLUMNS], *plain, *large, *made, *alias, **rows;
static int height = ROWS, width = COLUMNS, picks[ROWS], *numbers = picks;
static struct { double x, y; } pairs[ROWS][COLUMNS];
double outside(double x);
static double own(double x) { total += x; return x; }
static double *allocated(size_t size) { double *p = calloc(size, sizeof *p); if (!p) exit(1); return p; }
static double *cached(size_t size) { static double *p; if (!p) p = calloc(size, sizeof *p); return p; }
"""
MAIN = """
int main(void)
{
    flat = malloc(ROWS * sizeof *flat); plain = malloc(ROWS * COLUMNS * sizeof *plain); made = allocated(ROWS * COLUMNS); large = allocated(2 * ROWS * COLUMNS); alias = plain + 3;
    rows = malloc(ROWS * sizeof *rows);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            rows[i] = a[i];
            a[i][j] = i * 3 + j; b[i][j] = i ^ j; flat[i][j] = i; plain[i * COLUMNS + j] = j; made[i * COLUMNS + j] = i + j; pairs[i][j].x = i; pairs[i][j].y = j;
        }
    for (int i = 0; i < 5 * 600; i++)
        wide[i / 600][i % 600] = i % 37;
    work(ROWS, COLUMNS, made, plain);
    for (int i = 0; i < 600; i++)
        total += sums[i] * i;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            total += (i + 3 * j) * (a[i][j] + b[i][j] * 2 + flat[i][j] * 3 + plain[i * COLUMNS + j] + made[i * COLUMNS + j] + pairs[i][j].x * pairs[i][j].y) + line[j];
    printf("%.17g\\n", total);
}
"""
COLUMN_WISE = "for (int j = 0; j < m; j++)\\n for (int i = 0; i < n; i++)\\n ".replace("\\n", "\n")
if "without libclang" in subprocess.run([LWP, "patch", "."], capture_output=True, text=True, check=False).stderr:
    print("lwp was built without libclang (apt install libclang-dev)")
    sys.exit(77)
bad = count = given = 0


def wrong(what, text):
    global bad
    bad += 1
    print("%s: %s" % (what, text))


def patch(text, parameters, options=""):
    """The patch for the loop whose body says HERE."""
    global count
    count += 1
    folder = "case%d" % count
    os.makedirs(folder)
    text = HEAD + "static void work(%s)\n{\n%s\n}\n" % (parameters, text) + MAIN
    line = text[:text.index("/* HERE */")].count("\n") + 1
    with open(folder + "/a.c", "w") as to:
        to.write(text)
    with open(folder + "/analysis.json", "w") as to:
        json.dump({"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": "interchange-1", "title": "t", "speedup": 2, "expected_speedup": [1, 3], "refs": {"locality": 0}}],
                   "locality": [{"loop": 0}], "loops": [{"file": os.path.abspath(folder) + "/a.c", "first_line": line, "last_line": line}]}, to)
    return folder, subprocess.run([LWP, "patch", "analysis.json", "--cc", "cc %s a.c" % options], cwd=folder, capture_output=True, text=True, check=False)


def output(folder, name):
    subprocess.run(CC + ["-std=gnu11", "-O1", "-fsanitize=undefined", "-w", "-o", name, "a.c", "-lm"], cwd=folder, check=True)
    run = subprocess.run(["./" + name], cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def chosen():
    """Each third nest, all when LONG."""
    global given
    given += 1
    return given % 3 == 1 or "LONG" in os.environ


def accepted(text, parameters="int n, int m, double *p, double *q", around=False):
    if not chosen():
        return
    folder, run = patch(text, parameters)
    if run.returncode:
        wrong(text, "refused: " + run.stderr)
        return
    before = output(folder, "before")
    subprocess.run(["patch", "-s", "-p1"], input=run.stdout, cwd=folder, text=True, check=True)
    patched = open(folder + "/a.c").read()
    here = patched[:patched.index("/* HERE */")]
    if output(folder, "after") != before or ("j_end = " in patched if around else re.findall(r"for \([^;]*?(\w) =", here[here.index("static void work("):])[-2:] == ["i", "j"]) is False:
        wrong(text, "%s, %s\n%s" % (before, output(folder, "after"), run.stdout))


def refused(reason, text, parameters="int n, int m, double *p, double *q", options=""):
    if not chosen():
        return
    run = patch(text, parameters, options)[1]
    if run.returncode != 1 or reason not in re.findall(r"^a.c:\d+: ([a-z-]+): ", run.stderr, re.M) or run.stdout:
        wrong(text, "%s expected, status %d, %s" % (reason, run.returncode, run.stderr))


# ---- what is done ----
for body in ("a[i][j] += b[i][j];", "a[i][j] = b[j % 30][i] + line[j];", "a[i + 1 - (i + 1 == n)][j] = i;",
             "flat[i][j] += plain[i * COLUMNS + j] * made[j];", "pairs[i][j].x = pairs[i][j].y + a[i][j];", "line[j] += a[i][j];",
             "{ double t = a[i][j];\n for (int k = 0; k < 3; k++) { if (k == 2) continue; t += b[i][k]; }\n b[i][j] = sqrt(t); }", "*(plain + i * width + j) = a[picks[i]][j];",
             "{ int at = i * width + j; made[at] = made[at] * 2 + a[i][j]; }", "if (b[i][j] > 9) a[i][j] = i; else a[i][j] = j;"):
    accepted(COLUMN_WISE.replace("j < m", "j < width") + "/* HERE */ " + body)
for body in ("AT(plain, i, j) = 1;", "{ AT(made, i, j) += AT(plain, i, j) * 2; SET(line[j], AT(plain, i, j)); }", "a[i][j] = PLUS(b[i][j], 1) * 2;", "a[i][j] = MAX(b[i][j], NEVER);"):
    accepted(COLUMN_WISE.replace("j < m", "j < COLUMNS") + "/* HERE */ " + body)  # read again without the macros
accepted("    int i, j, at; double t;\n    for (j = COLUMNS - 1; j >= 0; j--) {\n        /* down */\n        for (i = ROWS - 1; i >= 0; --i) {\n            at = i * COLUMNS + j;\n            t = plain[at]; /* HERE */\n"
         "            plain[at] = t * 2;\n        }\n    }\n    for (i = 0; i < n; i++) total += i;")
accepted("for (long j = 1; j < COLUMNS; j += 2)\n for (long i = 1; i < height; i++)\n /* HERE */ a[i][j] = a[i - 1][j - 1] + a[i - 1][j] + a[i][j - 2 + 1];")
accepted("for (int j = COLUMNS - 1; j > 0; j--)\n for (int i = 1; i < ROWS; i++)\n /* HERE */ a[i][j - 1] = a[i - 1][j] + 1;")
accepted("for (size_t j = 0; j < COLUMNS; j++)\n for (size_t i = 1; i != ROWS; i++)\n /* HERE */ made[i * COLUMNS + j] = made[(i - 1) * COLUMNS + j] + 1;")
accepted(COLUMN_WISE + "/* HERE */ p[i * m + j] += q[i * m + j];", "int n, int m, double *restrict p, double *restrict q")

# ---- what is refused: by its name ----
for reason, body in (("dependence", "a[picks[i]][picks[j % ROWS]] = i + j;"), ("dependence", "plain[i * 7 + j] += 1;"), ("dependence", "plain[picks[i]] = j;"), ("dependence", "line[i + j - (i + j >= COLUMNS) * COLUMNS] = i;"),
                     ("alias", "alias[i * COLUMNS + j] = plain[i * COLUMNS + j];"), ("alias", "rows[i][j] += 1;"), ("alias", "p[i * m + j] = q[i * m + j];"), ("alias", "*(double *)(a[i] + j) = b[i][j];"),
                     ("carried-value", "total += a[i][j];"), ("carried-value", "a[i][j] = width++;"), ("call", "a[i][j] = own(b[i][j]);"), ("call", "a[i][j] = outside(i);"),
                     ("jump", "if (a[i][j] > 30) break;"), ("jump", "{ if (a[i][j] > 30) return; b[i][j] = 1; }"), ("expression", "*&line[j] = i;"),
                     ("loop-counter", "{ a[i][j] = 1; i += n; }"), ("carried-value", "{ static double s; s = a[i][j]; b[i][j] = s; if (s > 5) total = s; }".replace("static double s; ", "double s; "))):
    refused(reason, COLUMN_WISE + "/* HERE */ " + body)
refused("dependence", "for (int j = 1; j < COLUMNS - 1; j++)\n for (int i = 1; i < ROWS; i++)\n /* HERE */ a[i][j] = a[i - 1][j + 1];")
refused("dependence", "for (int j = 0; j < m; j++)\n for (int i = 0; i < n; i++)\n /* HERE */ plain[i * COLUMNS + j] += 1;")  # is m within a row?
WITHIN = "for (size_t j = n; j < (size_t)m; j++)\n for (int i = 0; i < ROWS; i++)\n /* HERE */ %s"  # or beyond the array in the last row
for array in ("plain", "made", "whole"):
    accepted(WITHIN % (array + "[i * COLUMNS + j] += 1;"))
for index in ("(i + 1) * COLUMNS + j", "i * COLUMNS + j - 1", "i * COLUMNS - j", "i * 39 + j"):
    refused("dependence", WITHIN % ("made[%s] += 1;" % index))
for body in ("large[i * COLUMNS + j] += 1;", "if (j < COLUMNS) made[i * COLUMNS + j] += 1;", "line[i] = j < COLUMNS ? made[i * COLUMNS + j] : 2; if (i) made[i * COLUMNS + j] += 1;"):
    refused("dependence", WITHIN % ("{ %s }" % body))
for rows in ("int i = 1; i < ROWS; i++", "int i = 0; i < ROWS; i += 2", "int i = 0; i < ROWS - 1; i++", "int i = 0; i < n; i++"):
    refused("dependence", WITHIN.replace("int i = 0; i < ROWS; i++", rows) % "plain[i * COLUMNS + j] += 1;")
refused("dependence", "for (int j = n; j < m; j++)\n for (int i = 0; i < ROWS; i++)\n /* HERE */ made[i * COLUMNS + j] += 1;")  # below 0?
refused("dependence", "for (unsigned j = 0; j < 40; j++)\n for (unsigned i = 0; i < 30; i++)\n /* HERE */ plain[i * 40u + j] += 1;")  # may wrap
refused("alias", "double *c = cached(1200), *d = cached(1200);\n" + COLUMN_WISE + "/* HERE */ c[i * COLUMNS] += d[j];")
refused("alias", "double **where = &made; *where = plain;\n" + COLUMN_WISE + "/* HERE */ made[i * COLUMNS + j] = plain[j];")

# ---- statements around the inner loop ----
SUM = "for (int j = 0; j < 600; j++) {\n    double s = 0;\n    for (int i = 0; i < 5; i++)\n        /* HERE */ s += wide[i][j] *\n            i;\n    sums[j] = s;\n}"
accepted(SUM, around=True)
for old, new in (("double s = 0;\n", "float lo;\n    unsigned k = 3; double s = 0; // three\n    lo = wide[1][j];\n"), ("/* HERE */ s += wide[i][j] *\n            i;", "{ /* HERE */ if (wide[i][j] > 20) s += i; else { double t = s; s = t * 1.1; } }"),
                 ("double s = 0;", "sums[j] = 0; double s; s = 3; if (sums[j] > 3) s = 4;"), ("int j = 0; j < 600", "size_t j = n; j < 600"), ("sums[j] = s;", "")):
    accepted(SUM.replace(old, new), around=True)
accepted("for (int j = 0; j < m; j++) {\n line[j] = 0;\n for (int i = 0; i < n; i++)\n /* HERE */ line[j] += a[i][j];\n }", around=True)
for reason, old, new in (("carried-value", "sums[j] = s;", "total += s;"), ("dependence", "sums[j] = s;", "sums[j] = s + sums[j + 1 - (j == 599)];"), ("dependence", "s += ", "s += sums[599 - j] + "), ("jump", "s +=", "if (s > 50) break; else s +="),
                         ("jump", "sums[j] = s;", "if (s > 5) continue; sums[j] = s;"), ("loop-head", "int i = 0;", "int i = s;"), ("expression", "s += ", "*&s += "), ("nest", "j++", "j += 2"), ("nest", "j < 600", "j <= 599"), ("nest", "double s = 0;", "double s = 0, t = 1;"),
                         ("nest", "double s = 0;", "double s = 0, t[2] = {0};"), ("expression", "double s = 0;", "static double s; s = 0;"), ("nest", "for (int j", "int j;\nfor (j"), ("nest", "for (int i", "int i;\nfor (i"), ("nest", "sums[j] = s;", "double u = s; sums[j] = u;"),
                         ("name-taken", "double s = 0;", "double s = 0; int j_end = 3;"), ("alias", "sums[j] = s;", "q[j % 40] = s + p[j % 40];"), ("call", "sums[j] = s;", "sums[j] = own(s);"), ("nest", "int j = 0; j < 600", "char j = 0; j < 60"), ("nest", "j < 600", "j < (long)m")):
    refused(reason, SUM.replace(old, new))
refused("loop-head", "for (int j = 0; j < m; j++)\n for (int i = j; i < n; i++)\n /* HERE */ a[i][j] = 1;")
refused("loop-head", "for (int j = 0; j < m; j++)\n for (int i = 0; i < n;)\n /* HERE */ a[i++][j] = 1;")
refused("alias", "for (int j = 0; j < m; j++)\n for (int i = 0; i < picks[0] + 1; i++)\n /* HERE */ ((int *)p)[i * 40 + j] = 1;")
OTHER_TYPE = COLUMN_WISE + "/* HERE */ a[i][j] += numbers[i];"
accepted(OTHER_TYPE)
refused("alias", OTHER_TYPE, options="-fno-strict-aliasing")
refused("alias", "static union { double d[1200]; long l[1200]; } both;\n" + COLUMN_WISE + "/* HERE */ both.d[i * 40 + j] = both.l[j];")
refused("loop-head", "int i, j = 3;\nfor (i = 0; i < j; i++)\n for (j = 0; j < m; j++)\n /* HERE */ a[i][j] = 1;")
refused("loop-counter", "int i;\nfor (i = 0; i < n; i++)\n for (i = 0; i < n; i++)\n /* HERE */ a[i][i] = 1;")
refused("loop-counter", "int i, j;\nfor (j = 0; j < m; j++)\n for (i = 0; i < n; i++)\n /* HERE */ a[i][j] = 1;\n total += i;")
for reason, body in (("dependence", "AT(plain, picks[i], j) += 1;"), ("carried-value", "total = MAX(total, a[i][j]);"), ("carried-value", "SET(total, a[i][j]);")):
    refused(reason, COLUMN_WISE.replace("j < m", "j < COLUMNS") + "/* HERE */ " + body)
refused("loop-head", "for (int j = 0; j < m; j++)\n for (int i = PLUS(j, 0); i < n; i++)\n /* HERE */ a[i][j] = 1;")
refused("directive", "FAST\n" + COLUMN_WISE + "/* HERE */ a[i][j] = 1;")
refused("directive", COLUMN_WISE.replace("for (int i", "FAST for (int i") + "/* HERE */ a[i][j] = 1;")
refused("directive", "#pragma omp parallel for\n" + COLUMN_WISE + "/* HERE */ a[i][j] = 1;")
refused("directive", COLUMN_WISE + "{\n#ifdef X\n b[i][j] = 1;\n#endif\n /* HERE */ a[i][j] = 1; }")
refused("expression", "volatile double v;\n" + COLUMN_WISE + "/* HERE */ { v = a[i][j]; b[i][j] = 1; }")
print("%d nests" % count)
sys.exit(bad > 0)
