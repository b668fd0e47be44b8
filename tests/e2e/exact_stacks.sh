#!/bin/bash
# The exact engine's own call stack is right after longjmp out of a signal's handler, exceptions, coroutines, deep recursion,
# handlers on a stack of their own, and in short threads.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
g++ -O1 -g -pthread -fno-optimize-sibling-calls -o stacks "$SRC/tests/programs/stacks.cc" || fail "compile"
"$LWP" collect -q -e exact --detect redundancy -o result -- ./stacks 2> err || { cat err; fail "collect"; }
"$LWP" analyze -q result || fail "analyze"
/usr/bin/python3 - <<'PY' || fail "call paths"
import collections, json, sys
d, paths = json.load(open("result/analysis.json")), collections.Counter()
for p in d["redundancies"]:
    if p["kind"] != "dead_store" or p["first"] is None:
        continue
    frames = [f["function"] or "?" for f in d["contexts"][p["first"]]["frames"]]
    if frames and frames[0].startswith("mark"):
        paths[" ".join(f.split("(")[0] for f in frames)] += p["amount"]
each = 999 * 8  # of 1,000 stores to one place all but the last are dead
want = {"mark thread": 100 * each + 99 * 8}  # the threads follow each other
for name in ("after_signal", "after_throw", "after_co", "after_deep", "after_alt", "deep"):
    want["mark %s" % name] = each
want.update({"mark alt": each, "mark co_a": each, "mark co_a_inner co_a": each, "mark co_b_inner co_b": each})
bad = []
for path, bytes in want.items():
    got = [(p, n) for p, n in paths.items() if (p + " ").startswith(path + " ")]
    if path.split()[1] not in ("thread", "alt", "co_a", "co_a_inner", "co_b_inner"):
        got = [(p, n) for p, n in got if p.endswith(" _start")]
    elif path.split()[1] != "thread":
        got = [(p, n) for p, n in got if " main " not in p + " "]
    if sum(n for _, n in got) != bytes:
        bad.append("%s: %s, not %d" % (path, got, bytes))
if bad:
    print("\n".join(bad), dict(paths), sep="\n")
sys.exit(bool(bad))
PY
exit 0
