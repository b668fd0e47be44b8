#!/usr/bin/env python3
"""coverage.py SRC OBJ BAR FOLDER...: which lines the tests of a --coverage build have executed, folder by folder.

Reads every .gcda below OBJ by way of gcov. A line counts once, however many objects hold it (a header's functions), and is
covered where any of them executed it. Prints a table of the folders, then the files that miss most lines. Exit status 1
where a folder is below BAR percent."""
import json, os, subprocess, sys

source, objects, bar, folders = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
notes = [os.path.abspath(os.path.join(d, f)) for d, _, files in os.walk(objects) for f in files if f.endswith(".gcno")]
lines = {}  # file -> line -> executed
for start in range(0, len(notes), 50):
    told = subprocess.run(["gcov", "--json-format", "--stdout", *notes[start:start + 50]], capture_output=True, text=True)
    for report in filter(None, told.stdout.split("\n")):
        for file in json.loads(report)["files"]:
            name = os.path.relpath(os.path.abspath(file["file"]), source)
            of = lines.setdefault(name, {})
            for line in file["lines"]:
                of[line["line_number"]] = of.get(line["line_number"], False) or line["count"] > 0

def share(files):
    count = sum(len(lines[f]) for f in files)
    return sum(sum(lines[f].values()) for f in files), count

below = False
print(f"{'folder':<20} {'lines':>7} {'covered':>8}")
for folder in folders:
    covered, count = share([f for f in lines if f.startswith(folder + "/")])
    percent = 100 * covered / count if count else 0
    below |= percent < bar
    print(f"{folder:<20} {count:>7} {percent:>6.1f} %{'  below ' + format(bar, 'g') if percent < bar else ''}")
print(f"\n{'missed':>6}  {'covered':>8}  file")
least = sorted((f for f in lines if f.split("/")[0] in folders), key=lambda f: share([f])[0] - share([f])[1])
for file in least[:40]:
    covered, count = share([file])
    print(f"{count - covered:>6}  {100 * covered / count:>6.1f} %  {file}")
sys.exit(below)
