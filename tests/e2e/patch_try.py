#!/usr/bin/python3
"""lwp patch --try: builds and measures in copies, compares what the programs do, leaves nothing behind, and what it found is shown."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

LWP, CC, TMP = os.environ["LWP"], os.environ["CC"], os.environ["TMP"]
os.chdir(TMP)
os.makedirs("tmp")
ENV = dict(os.environ, TMPDIR=TMP + "/tmp")
if "without libclang" in subprocess.run([LWP, "patch", "."], capture_output=True, text=True, check=False).stderr:
    print("lwp was built without libclang (apt install libclang-dev)")
    sys.exit(77)
FILES = ["main.c", "item.h", "other.c", "Makefile"]
bad = 0

# Three of ten fields are used by the loop that takes the time.
HEADER = "struct item { long key, a, b, c, d, e, f, g; double x, y; };\n"
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include "item.h"
#ifndef ROUNDS
#define ROUNDS 12
#endif
struct item *items;
long more(long);
int main(void)
{
    enum { N = 200000 };
    items = calloc(N, sizeof *items);
    if (!items)
        return 1;
    for (long i = 0; i < N; i++)
        items[i].key = i;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (long i = 0; i < N; i++)
            sum += items[i * 7919 % N].x + items[i * 7919 % N].y + more(1);
    printf("%.0f %ld\\n", sum, items[17].key);
    return 0;
}
"""
MAKE = """all: app
app: main.o other.o
	%s -o app main.o other.o
main.o: main.c item.h
	%s -O2 -c main.c -o main.o
other.o: other.c
	%s -O2 -c other.c -o other.o
""" % (("gcc" if "gcc" in CC else "cc",) * 3)
ANALYSIS = {"schema": "lwp-analysis", "version": "1.0", "run": {"command": ["./app"], "samples": 1000, "weight_unit": "ns"},
            "findings": [{"id": "split-1", "kind": "split", "title": "Split struct item", "severity": "high", "share": 0.5, "expected_speedup": [1.1, 3],
                          "speedup": 2, "refs": {"split": 0}, "next_step": "Split it."}],
            "objects": [{"name": "items", "kind": "heap", "share": 0.5, "type": "struct item"}],
            "splits": [{"kind": "split", "type": "struct item", "object": 0, "objects": [0], "element_bytes": 80, "speedup": 2, "expected_speedup": [1.1, 3],
                        "groups": [{"fields": ["x", "y"], "offsets": [64, 72], "bytes": 16, "share": 1}],
                        "cold": {"fields": ["key"], "offsets": [0], "bytes": 64}}]}


def wrong(name, text):
    global bad
    bad += 1
    print("%s: %s" % (name, text))


def project(name, make=MAKE, main=MAIN):
    os.makedirs(name + "/result")
    for file, text in (("main.c", main), ("item.h", HEADER), ("other.c", "long more(long x) { return x; }\n"), ("Makefile", make)):
        with open("%s/%s" % (name, file), "w") as to:
            to.write(text)
    with open(name + "/result/analysis.json", "w") as to:
        json.dump(ANALYSIS, to)


def lwp(name, *arguments):
    return subprocess.run([LWP, *arguments], cwd=name, capture_output=True, text=True, check=False, env=ENV)


def tried(name, command, *options):
    before = {file: open("%s/%s" % (name, file)).read() for file in FILES}
    run = lwp(name, "patch", "result", "--cc", "cc main.c other.c", "--try", command, "--seconds", "1", *options)
    if os.listdir("tmp"):
        wrong(name, "left %s" % os.listdir("tmp"))
    if before != {file: open("%s/%s" % (name, file)).read() for file in FILES}:
        wrong(name, "the project's files are other ones")
    return run


def failed(name, text, command, **how):
    project(name, **how)
    run = tried(name, command)
    if run.returncode not in (1, 2) or text not in run.stderr or run.stdout:
        wrong(name, "%d %s %s" % (run.returncode, run.stdout, run.stderr))
    if "speedup" in (open(name + "/result/tried.json").read() if os.path.exists(name + "/result/tried.json") else ""):
        wrong(name, "kept")


# ---- success: measured, kept, shown ----
project("good")
run = tried("good", "make && ./app")
found = re.search(r"measured\s+([\d.]+)x \(([\d.]+)-([\d.]+)\) in CPU time, (\d+) pairs of runs, 3 placements; same output", run.stdout)
if run.returncode or not found or "predicted  2.00x" not in run.stdout:
    wrong("good", "%d %s %s" % (run.returncode, run.stdout, run.stderr))
    sys.exit(1)
kept = json.load(open("good/result/tried.json"))["split-1"]
shown = "%sx (%s-%s)" % found.group(1, 2, 3)
if abs(kept["speedup"] - float(found.group(1))) > 0.01 or kept["pairs"] != int(found.group(4)) or "items_cold" not in kept["patch"] or kept["root"] != TMP + "/good":
    wrong("good", kept)
diff = lwp("good", "diff", "result", "result").stdout
if "tried     " + shown not in diff:
    wrong("diff", diff)
for words, text in ((["report", "result"], "tried       " + shown), (["report", "result", "--format", "markdown"], "Tried: **%s**" % shown),
                    (["report", "result", "--format", "markdown"], "```diff\n--- a/main.c\n")):
    run = lwp("good", *words)
    if text not in run.stdout:
        wrong(" ".join(words), run.stdout + run.stderr)
sarif = json.loads(lwp("good", "report", "result", "--format", "sarif").stdout)["runs"][0]["results"][0]
fixed = {}
for change in sarif["fixes"][0]["artifactChanges"]: # the fix, applied as SARIF says, is the patch
    file = os.path.basename(change["artifactLocation"]["uri"])
    lines = open("good/" + file).read().split("\n")
    for edit in reversed(change["replacements"]):
        region = edit["deletedRegion"]
        lines[region["startLine"] - 1:region["endLine"] - 1] = edit["insertedContent"]["text"].split("\n")[:-1]
    fixed[file] = "\n".join(lines)
shutil.copytree("good", "patched")
subprocess.run(["patch", "-s", "-p1"], cwd="patched", input=kept["patch"], text=True, check=True)
for file in ("main.c", "item.h"):
    if fixed.get(file) != open("patched/" + file).read():
        wrong("sarif", "%s:\n%s" % (file, fixed.get(file)))
for words, there in (([], True), (["--source", "none"], False)):
    lwp("good", "export", "result", "-o", "page.html", "--force", *words)
    page = open("good/page.html").read()
    if '"interval":' not in page or ("items_cold" in page) != there or '"root":' in page:
        wrong("export %s" % words, "patch or numbers")

# ---- failures ----
failed("other-output", "prints something else", "make && ./app; date +%N")
failed("no-build", "'false ' fails for the program as it is", "false && ./app")
failed("other-status", "ends with another status", "make && sh -c 'exit $(grep -c items_x main.c)'")
failed("named", "must not name", "make && %s/named/app" % TMP)
failed("no-command", "how to build and how to run", "make")
os.environ["LWP_TEST_PLACE"] = ENV["LWP_TEST_PLACE"] = TMP + "/elsewhere"
failed("elsewhere", "compiles none of the patched sources", 'make -s -C "$LWP_TEST_PLACE" && ./app')

# ---- interrupted: nothing runs on, nothing is left ----
project("stopped", main=MAIN.replace("double sum = 0;", "double sum = 0; for (;;) ROUNDS;"))
process = subprocess.Popen([LWP, "patch", "result", "--cc", "cc main.c other.c", "--try", "make && exec ./app"], cwd="stopped", env=ENV, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, start_new_session=True)


def apps():
    there = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            there += [pid] if os.readlink("/proc/%s/exe" % pid).startswith(TMP + "/tmp/") else []
        except OSError:
            pass
    return there


for _ in range(1200):
    if apps() or process.poll() is not None:
        break
    time.sleep(0.05)
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=60)
if process.returncode != -signal.SIGINT or out or apps() or os.listdir("tmp"):
    wrong("stopped", "%s %s %s %s %s" % (process.returncode, out, err, apps(), os.listdir("tmp")))
sys.exit(1 if bad else 0)
