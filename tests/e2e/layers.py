#!/usr/bin/python3
"""Data flows one way: no file needs another that needs it, and no folder one above itself (CONTRIBUTING.md, the map).

What a file needs is what its object file leaves undefined and another one of the same program defines. The C library's
functions that the preload library puts itself before (read, mmap, ...) do not count: its own calls pass them by."""
import glob
import os
import subprocess
import sys

ABOVE = {"base": [], "format": ["base"], "collector": ["base", "format"], "analysis": ["base", "format", "collector"],
         "web": ["base", "format", "collector", "analysis"]}
PROGRAMS = {"lwp": "obj", "the preload library": "obj/light", "the exact engine": "obj/exact"}


def objects(folder):
    if folder != "obj":
        return glob.glob(folder + "/**/*.o", recursive=True)
    return [path for name in ABOVE for path in glob.glob("obj/%s/**/*.o" % name, recursive=True)]


def symbols(files):
    """File -> names it defines, file -> names it needs."""
    defined, needed = {file: set() for file in files}, {file: set() for file in files}
    of_path = {path: file for file, path in files.items()}
    listed = subprocess.run(["nm", "-g", "-A"] + list(of_path), capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        path, rest = line.split(":", 1)
        *_, kind, name = rest.split()
        if name.startswith("lwp"):
            (needed if kind == "U" else defined)[of_path[path]].add(name)
    return defined, needed


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

    for file in needs:
        if file not in index:
            visit(file)
    return found


os.chdir(os.environ["BUILD"])
bad = 0
for program, folder in PROGRAMS.items():
    files = {os.path.relpath(path, folder)[:-2]: path for path in objects(folder)}
    if program == "the exact engine" and not files:
        continue
    defined, needed = symbols(files)
    home = {name: file for file in files for name in defined[file]}
    needs = {file: {home[name]: name for name in sorted(needed[file]) if name in home} for file in files}
    if sum(map(len, needs.values())) < len(files):
        bad += 1
        print("%s: only %d of its files in %s, or none knows another" % (program, len(files), folder))
    for circle in circles(needs):
        bad += 1
        print("%s: a circle of %d files" % (program, len(circle)))
        for file in circle:
            for other in sorted(set(needs[file]) & set(circle)):
                print("  %s.c needs %s.c: %s" % (file, other, needs[file][other]))
    for file in sorted(needs):
        for other, name in sorted(needs[file].items()):
            here, there = file.split("/")[0], other.split("/")[0]
            if here != there and there not in ABOVE[here]:
                bad += 1
                print("%s: %s.c needs %s.c, which is above: %s" % (program, file, other, name))
sys.exit(bad > 0)
