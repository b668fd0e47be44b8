#!/usr/bin/python3
"""Arrows run one way (CONTRIBUTING.md, the map): no file includes or calls one of a folder above its own, siblings do not know each
other, no two files need each other, and every folder of the product is on the map.

What a file needs is what it includes, and what its object file leaves undefined and another one of the same program defines. Symbols
that lwp has under the C library's names do not count: its own calls of read() or mmap() are meant for the C library."""
import glob
import os
import re
import subprocess
import sys

# Lowest first; folders of one line are siblings.
HOUSE = [line.split() for line in """
base
format
collector/record
analysis/statistics analysis/tables
analysis/program/binary
analysis/program/debug
analysis/program/flow
analysis/program/types
analysis/program/pointers
analysis/program
analysis/caches analysis/measure
analysis/profile
analysis/addresses analysis/ranks
analysis/load
analysis/elements
analysis/advice/placement
analysis/advice/gain
analysis/advice/layout analysis/advice/redundancy analysis/advice/threads analysis/advice/locality
analysis/findings
analysis/json
analysis/review
analysis/output
analysis/check analysis/diff
patch/sources
patch/uses
patch/arrays patch/loops patch/rewrite patch/trial
patch
web
collector/perf
collector/code
collector/light/own
collector/light/code
collector/light/heap
collector/light/watch
collector/light/sampling
collector/light/process
collector/exact/valgrind
collector/exact/program
collector/exact/trace
collector/exact/detect/redundancy
collector/exact/detect/registers collector/exact/detect/values collector/exact/detect/communication
collector/exact
collector/machine collector/phases
collector/outside/process
collector/outside
collector/keep
collector/launch
collector/doctor collector/import
""".splitlines() if line]
HEIGHT = {folder: height for height, folders in enumerate(HOUSE) for folder in folders}
WORLDS = ["analysis", "patch", "web", "collector/light", "collector/exact"]
PROGRAMS = {"lwp": "obj", "the preload library": "obj/light", "the exact engine": "obj/exact"}
C_LIBRARY = {"lwp": "", "the preload library": "liblwp-light.so", "the exact engine": "obj/exact/collector/exact/valgrind/port.o"}
FILES_MOST = 35

bad = 0


def wrong(sentence):
    global bad
    bad += 1
    print(sentence)


def world(folder):
    return next((name for name in WORLDS if (folder + "/").startswith(name + "/")), None)


def may_need(folder, other):
    if folder == other:
        return True
    if "patch" in (world(folder), world(other)):
        return world(folder) == "patch" and (other in ("base", "analysis/review") or (world(other) == "patch" and HEIGHT[folder] > HEIGHT[other]))
    if "web" in (world(folder), world(other)):
        return world(folder) == "web" and (other == "base" or world(other) == "analysis")
    if world(other) and world(folder) != world(other):
        return False
    return HEIGHT[folder] > HEIGHT[other]


def includes(source):
    """(file, the file it includes) of the whole product."""
    for top in ("base", "format", "collector", "analysis", "patch", "web"):
        for path in glob.glob("%s/%s/**/*.[ch]" % (source, top), recursive=True):
            with open(path, encoding="utf-8") as lines:
                for line in lines:
                    found = re.match(r'\s*#\s*include\s+"([^"]+/[^"]+)"', line)
                    if found:
                        yield os.path.relpath(path, source), found.group(1)


def symbols(files):
    """File -> names it defines, file -> names it needs."""
    defined, needed = {file: set() for file in files.values()}, {file: set() for file in files.values()}
    listed = subprocess.run(["nm", "-g", "-A"] + list(files), capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        path, rest = line.split(":", 1)
        *_, kind, name = rest.split()
        (needed if kind in "Uw" else defined)[files[path]].add(name)
    return defined, needed


def named_like_the_c_library(path):
    listed = subprocess.run(["nm", "-g" if path.endswith(".o") else "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def circles(needs):
    """Sets of files that each need all others of it (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in needs[file]:
            if other not in index:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == index[file]:
            circle = stack[stack.index(file):]
            del stack[stack.index(file):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for file in list(needs):
        if file not in index:
            visit(file)
    return found


def look_at(program, needs):
    for circle in circles(needs):
        wrong("%s: a circle of %d files" % (program, len(circle)))
        for file in circle:
            for other in sorted(set(needs[file]) & set(circle)):
                print("  %s needs %s: %s" % (file, other, needs[file][other]))
    for file in sorted(needs):
        for other, name in sorted(needs[file].items()):
            here, there = os.path.dirname(file), os.path.dirname(other)
            if here in HEIGHT and there in HEIGHT and not may_need(here, there):
                wrong("%s: %s needs %s, which is above or beside: %s" % (program, file, other, name))


source = os.environ["SRC"]
for top in ("base", "format", "collector", "analysis", "patch", "web"):
    for folder, _, names in os.walk(os.path.join(source, top)):
        count = len([name for name in names if name.endswith((".c", ".h"))])
        name = os.path.relpath(folder, source)
        if count and name not in HEIGHT and name not in ("collector", "analysis/ranks/mpi"):
            wrong("%s is not on the map" % name)
        if count > FILES_MOST:
            wrong("%s has %d files" % (name, count))
with open(os.path.join(source, "CONTRIBUTING.md"), encoding="utf-8") as text:
    shown = set(re.findall("`([a-z/]+)/`", text.read()))
for folder in HEIGHT:
    if not any(folder == name or folder.endswith("/" + name) for name in shown):
        wrong("%s has no line on CONTRIBUTING's map" % folder)

included = {}
for file, other in includes(source):
    included.setdefault(file, {})[other] = "include"
    included.setdefault(other, {})
look_at("includes", included)

os.chdir(os.environ["BUILD"])
for program, folder in PROGRAMS.items():
    paths = glob.glob(folder + "/**/*.o", recursive=True)
    files = {path: os.path.relpath(path, folder)[:-2] + ".c" for path in paths
             if os.path.exists(os.path.join(source, os.path.relpath(path, folder)[:-2] + ".c"))}
    if program == "the exact engine" and not files:
        continue
    defined, needed = symbols(files)
    for name in named_like_the_c_library(C_LIBRARY[program]) if C_LIBRARY[program] else ():
        for file in needed:
            needed[file].discard(name)
    home = {name: file for file in defined for name in defined[file]}
    needs = {file: {home[name]: name for name in sorted(needed[file]) if name in home and home[name] != file} for file in needed}
    if sum(map(len, needs.values())) < len(files):
        wrong("%s: only %d of its files in %s, or none knows another" % (program, len(files), folder))
    look_at(program, needs)
sys.exit(bad > 0)
