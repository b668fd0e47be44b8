#!/bin/bash
# Advice that is not simply a split: another order, a type of the system's, elements that threads own in turn, elements
# that are pointed to, bit fields. Every declaration compiles, and its fields lie where the JSON says. LONG: all cases.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
$CC -O2 -g -pthread -o layouts "$SRC/tests/programs/layouts.c" || exit 1
cases="holes tight turns bits linked hashed mixed begins ${LONG:+walked system slices chain across padded}"
for case in $cases; do
    rounds=150
    case $case in holes) rounds=260 ;; esac
    "$LWP" collect -q -F 2000 --max-overhead 50 --no-analyze -o "$case" -- ./layouts $case $rounds > /dev/null 2> err || { cat err; fail "collect $case"; }
    "$LWP" analyze -q --no-measure "$case" && "$LWP" report --json "$case" > "$case.json" || fail "report $case"
done
# What the search waits for is less in caches that are computed, and what it finds counts for more.
"$LWP" collect -q -e exact --window all --detect layout --no-analyze -o hashed-exact -- ./layouts hashed 32 > /dev/null 2> err || { cat err; fail "trace hashed"; }
"$LWP" analyze -q --no-measure hashed-exact && "$LWP" report --json hashed-exact > hashed-exact.json || fail "report hashed-exact"
/usr/bin/python3 - "$CC" $cases <<'PY' || fail "advice"
import json, re, subprocess, sys
cc, cases, problems = sys.argv[1].split(), sys.argv[2:], []
def check(holds, what):
    if not holds:
        problems.append(what)
        print("wrong:", what)
def advice(case):
    data = json.load(open(case + ".json"))
    return data["splits"], [f for f in data["findings"] if "split" in f["refs"]], " ".join(data["run"]["notes"])

def compiles(case, split, hot, before="", bits=(), flexible=()):
    """The declaration is C, its first parts have the names of `hot`, and each field has its new offset. What few
    accesses went to is a part of its own or a cold one, as the samples fell: its name is read."""
    tags = sorted(re.findall(r"^struct (\w+) \{", split["declaration"], re.M), key=lambda tag: tag.endswith("_cold"))
    check(tags[:len(hot.split())] == hot.split(), f"{case}: parts named {tags}")
    source = "#include <stddef.h>\n#include <stdint.h>\n#include <sys/stat.h>\n" + before + split["declaration"]
    for group, tag in zip(split["groups"] + [split["cold"]], tags):
        for field, offset in zip(group["fields"], group["new_offsets"]):
            if field not in bits:
                source += f"_Static_assert(offsetof(struct {tag}, {field.split(',')[0]}) == {offset}, \"{field}\");\n"
        if tag not in flexible:
            source += f"_Static_assert(sizeof(struct {tag}) == {group['bytes']}, \"size\");\n"
    done = subprocess.run([*cc, "-fsyntax-only", "-x", "c", "-"], input=source, text=True, capture_output=True)
    check(done.returncode == 0, f"{case}: the declaration does not compile: {done.stderr}{source}")

splits, findings, notes = advice("holes")
check(len(splits) == 1 and splits[0]["kind"] == "reorder" and splits[0]["groups"][0]["bytes"] == 32, f"holes: {splits}")
if splits:
    check("Reorder struct gappy" in findings[0]["title"], findings[0]["title"])
    check(abs(splits[0]["traffic"]["before"] - 0.75) < 0.02 and abs(splits[0]["traffic"]["after"] - 0.5) < 0.02, splits[0]["traffic"])
    compiles("holes", splits[0], "gappy")
check(advice("tight")[0] == [], "tight: there is advice on a structure whose fields are all used together")
if "system" in cases:
    splits, findings, notes = advice("system")
    check(len(splits) == 1 and "sys" in (splits[0]["caution"] or "") and "stat" in splits[0]["caution"], f"system: {splits}")
    if splits:
        check(findings[0]["title"].startswith("Keep the used parts of struct stat"), findings[0]["title"])
        check("not yours to change" in findings[0]["next_step"], findings[0]["next_step"])
        compiles("system", splits[0], "stat_st_size")
splits, findings, notes = advice("turns")
check(splits == [], f"turns: advises {splits} although threads own neighbours")
check("element modulo 4" in notes, f"turns: says only {notes}")
if "slices" in cases:
    splits, findings, notes = advice("slices")
    check(len(splits) == 1 and splits[0]["groups"][0]["fields"] == ["done"], f"slices: {splits}")
    if splits:
        compiles("slices", splits[0], "task_done")
splits, findings, notes = advice("bits")
check(len(splits) == 1 and splits[0]["groups"][0]["fields"] == ["kind, state, more, last", "weight"], f"bits: {splits}")
if splits:
    check("        unsigned" not in splits[0]["declaration"] and "unsigned int more : 8;\n" in splits[0]["declaration"], splits[0]["declaration"])
    compiles("bits", splits[0], "bits_hot1", "struct bits;\n", bits=["kind, state, more, last"])
splits, findings, notes = advice("begins")
check(len(splits) == 1 and "begins with the members of struct start" in (splits[0]["caution"] or ""), f"begins: {splits}")
if splits:
    used = {name for group in splits[0]["groups"] for name in group["fields"]}
    check(used == {"weight", "size"}, f"begins: uses {used}")
    compiles("begins", splits[0], "")
splits, findings, notes = advice("linked")
check(len(splits) == 1 and splits[0]["groups"][0]["fields"] == ["next", "value"] and splits[0]["link"] == "index" and
      splits[0]["pointed_by"] == "next in struct linked", f"linked: {splits}")
if splits:
    check(splits[0]["memory"]["before"] > 1.5 * splits[0]["memory"]["after"], splits[0]["memory"])
    check("p - array" in findings[0]["next_step"], findings[0]["next_step"])
    compiles("linked", splits[0], "linked")
def group_of(split, field):
    return next((g["fields"] for g in split["groups"] if field in g["fields"]), [])
for of in "hashed", "hashed-exact":
    splits, findings, notes = advice(of)
    check(all("value" in group_of(s, "key") for s in splits), f"{of}: the value of what is found is to be moved away: {splits}")
check(splits, "hashed-exact: no advice")
if "walked" in cases:
    splits, findings, notes = advice("walked")
    check(len(splits) == 1 and sorted(splits[0]["groups"][0]["fields"]) == ["key", "next"], f"walked: {splits}")
if "chain" in cases:
    splits, findings, notes = advice("chain")
    check(len(splits) == 1 and splits[0]["groups"][0]["fields"] == ["next", "value"] and splits[0]["single"], f"chain: {splits}")
    if splits:
        compiles("chain", splits[0], "chain", flexible=["chain_cold"])
        if splits[0]["link"] == "pointer":
            check("struct chain_cold *cold;" in splits[0]["declaration"], splits[0]["declaration"])
if "across" in cases:
    check(advice("across")[0] == [], "across: there is advice although it brings nothing")
if "padded" in cases:
    splits, findings, notes = advice("padded")
    check(splits == [], f"padded: advises {splits} although the padding keeps threads apart")
    check("padded to whole cache lines" in notes, f"padded: says only {notes}")
splits, findings, notes = advice("mixed")
check(len(splits) == 1 and sorted(g["fields"] for g in splits[0]["groups"]) == [["more"], ["value"]], f"mixed: {splits}")
if splits:
    compiles("mixed", splits[0], "mixed_more mixed_value" if splits[0]["groups"][0]["fields"] == ["more"] else "mixed_value mixed_more")
sys.exit(len(problems) > 0)
PY
exit 0
