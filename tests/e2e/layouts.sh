#!/bin/bash
# Advice that is not simply a split: another order, a type of the system's, elements that threads own in turn. Every
# declaration compiles, and its fields lie where the JSON says.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
$CC -O2 -g -pthread -o layouts "$SRC/tests/programs/layouts.c" || exit 1
for case in holes tight system turns slices; do
    "$LWP" collect -q -F 2000 --max-overhead 50 --no-analyze -o "$case" -- ./layouts $case 700 > /dev/null 2> err || { cat err; fail "collect $case"; }
    "$LWP" report --json "$case" > "$case.json" || fail "report $case"
done
/usr/bin/python3 - "$CC" <<'PY' || fail "advice"
import json, subprocess, sys
cc, problems = sys.argv[1], []
def check(holds, what):
    if not holds:
        problems.append(what)
        print("wrong:", what)
def advice(case):
    data = json.load(open(case + ".json"))
    return data["splits"], data["findings"], " ".join(data["run"]["notes"])

def compiles(case, split, tag, before=""):
    """The declaration is C, and each field has its new offset."""
    source = "#include <stddef.h>\n#include <sys/stat.h>\n" + before + split["declaration"]
    for group in split["groups"]:
        for field, offset in zip(group["fields"], group["new_offsets"]):
            source += f"_Static_assert(offsetof(struct {tag}, {field}) == {offset}, \"{field}\");\n"
        source += f"_Static_assert(sizeof(struct {tag}) == {group['bytes']}, \"size\");\n"
    done = subprocess.run([cc, "-fsyntax-only", "-x", "c", "-"], input=source, text=True, capture_output=True)
    check(done.returncode == 0, f"{case}: the declaration does not compile: {done.stderr}{source}")

splits, findings, notes = advice("holes")
check(len(splits) == 1 and splits[0]["kind"] == "reorder" and splits[0]["groups"][0]["bytes"] == 32, f"holes: {splits}")
if splits:
    check("Reorder struct gappy" in findings[0]["title"], findings[0]["title"])
    check(abs(splits[0]["traffic"]["before"] - 0.75) < 0.02 and abs(splits[0]["traffic"]["after"] - 0.5) < 0.02, splits[0]["traffic"])
    compiles("holes", splits[0], "gappy")
check(advice("tight")[0] == [], "tight: there is advice on a structure whose fields are all used together")
splits, findings, notes = advice("system")
check(len(splits) == 1 and "sys" in (splits[0]["caution"] or "") and "stat" in splits[0]["caution"], f"system: {splits}")
if splits:
    check(findings[0]["title"].startswith("Keep the used parts of struct stat"), findings[0]["title"])
    check("not yours to change" in findings[0]["next_step"], findings[0]["next_step"])
    compiles("system", splits[0], "stat_st_size")
splits, findings, notes = advice("turns")
check(splits == [], f"turns: advises {splits} although threads own neighbours")
check("element modulo 4" in notes, f"turns: says only {notes}")
splits, findings, notes = advice("slices")
check(len(splits) == 1 and splits[0]["groups"][0]["fields"] == ["done"], f"slices: {splits}")
if splits:
    compiles("slices", splits[0], "task_done")
sys.exit(len(problems) > 0)
PY
exit 0
