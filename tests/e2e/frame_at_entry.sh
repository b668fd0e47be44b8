#!/bin/bash
# A frame is of the function that its instruction is in, though that one is the function's first, and though a call before it is the last
# instruction of another one: in samples from inside, from outside and of perf, in the exact engine, and below a signal's handler.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
[ "$(uname -m)" = x86_64 ] || { echo "the program's functions are in x86-64 assembler"; exit 77; }
$CC -O2 -g -o at_entry "$SRC/tests/programs/frame_at_entry.c" || exit 1

cat > check.py <<'P'
import json, sys
kind, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
result = json.load(open(f"{folder}/analysis.json"))
stacks = [o["name"] for o in result["objects"] if o["kind"] == "stack"]
paths = set()
nodes = (result["stalls"] or {"nodes": []})["nodes"]
for node in range(len(nodes)):
    path = []
    while node is not None:
        node, frame = nodes[node]
        path.append(result["stalls"]["frames"][frame]["function"] or "?")
    paths.add("<".join(path))
paths |= {"<".join(frame["function"] or "?" for frame in context["frames"]) for context in result["contexts"]}
bad = []
if "stack of hot()" not in stacks or any(f"stack of {name}()" in stacks for name in ("quits", "never")):
    bad.append(f"stacks: {stacks}")
bad += [f"no path {path}" for path in wanted if not any(path in there + "<" for there in paths)]
bad += [f"never() is on a path: {path}" for path in paths if "never" in path]
if bad:
    print(kind, *bad, *sorted(paths), sep="\n  ")
sys.exit(bool(bad))
P
check() { # KIND RESULT PATH...
    "$LWP" analyze -q --no-measure -f "$2" && python3 check.py "$@" || fail "$1"
}
sampled="hot<goes_on<quits<main<"
interrupted="<faulty<main<"

collect_samples 400 inside .3 -q -F 2000 --max-overhead 50 -- ./at_entry @ || fail "collect"
check inside inside $sampled $interrupted

for seconds in .5 2 6; do
    bash -c 'kill -STOP $$; exec ./at_entry '$seconds &
    process=$!
    until grep -q '^State:.T' /proc/$process/status; do sleep 0.01; done
    rm -rf outside
    "$LWP" collect -q --no-analyze -F 2000 --max-overhead 50 -o outside -p $process 2> err &
    collector=$!
    until [ -e outside/p$process/process.lwps ] || ! kill -0 $collector 2> /dev/null; do sleep 0.01; done
    kill -CONT $process
    wait $process
    wait $collector || break
    [ "$(samples_of outside)" -lt 400 ] || break
done
if sampling_is_forbidden err; then
    echo "skip  outside: $(head -n 1 err)"
else
    check outside outside $sampled $interrupted
fi

if "$LWP" doctor 2>&1 | grep -q '^yes.*exact'; then
    "$LWP" collect -q --no-analyze -e exact --detect layout,redundancy -o exact ./at_entry 0 || fail "collect -e exact"
    check exact exact $sampled "handled$interrupted"
else
    echo "skip  exact: it is not built"
fi

if perf record -q -e task-clock:u -F 2000 --call-graph dwarf,8192 -o data ./at_entry 1.5 2> err; then
    "$LWP" import -q --no-analyze data 2> err || { cat err; fail "import"; }
    check imported lwp-data $sampled $interrupted
else
    echo "skip  import: $(head -n 1 err)"
fi
exit $failed
