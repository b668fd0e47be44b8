#!/bin/bash
# The exact engine's own call stack is right after longjmp out of a signal's handler, exceptions, coroutines near and far,
# deep recursion, handlers on a stack of their own and in each other, and in short threads.
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
want = {"mark thread": 100 * each}  # what the next thread overwrites on the same stack is counted apart
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

# stacks beside each other and used again, left by jmp and by ret; handlers in handlers
$CC -O1 -g -fno-optimize-sibling-calls -o coroutines "$SRC/tests/programs/coroutines.c" || fail "compile coroutines"
run() { # NAME ARGUMENT...
    local name=$1; shift
    "$LWP" collect -q -e exact --detect redundancy -o $name -- ./coroutines "$@" > out 2> err || { cat err; fail "coroutines $*"; }
    "$LWP" analyze -q $name || fail "analyze $name"
}
run near
(ulimit -S -s 262144 && run deep 1200000) || fail "recursion 1,200,000 frames deep" # the program's stack is what it would be
/usr/bin/python3 - <<'PY' || fail "call paths of coroutines"
import collections, json, sys
def paths(name):
    d, paths = json.load(open(name + "/analysis.json")), collections.Counter()
    for p in d["redundancies"]:
        if p["kind"] == "dead_store" and p["first"] is not None:
            frames = [f["function"] or "?" for f in d["contexts"][p["first"]]["frames"]]
            if frames and frames[0] == "mark":
                inside = ("?", "pthread_kill") # of raise(), as far as the C library has names for it
                paths[" ".join(f for f in frames[1:] if not f.startswith("__") and f not in inside)] += p["amount"]
    return paths
want = {"inner outer coroutine": 100, "schedule main _start": 1, "used_again short_lived": 20, "reuse main _start": 1, "in_ring ring": 15,
        "context_ring main _start": 1, "first": 5, "first raise handlers main _start": 5, "handlers main _start": 15, "innermost second": 5,
        "innermost second raise first": 5, "innermost second raise leaves": 5}
got = paths("near")
assert got.keys() == want.keys(), (got.keys() - want.keys(), want.keys() - got.keys())
for path, times in want.items():
    assert 999 * times * 8 <= got[path] <= 1000 * times * 8, (path, got[path] / 8000, times)
got = paths("deep")
assert got.keys() == {"deep main _start", "after_deep main _start"}, got
PY
exit 0
