#!/bin/bash
# What threads do to each other: two counters in one cache line are found and the padded ones are not, nor is what all use
# together; processes are not measured, and that is said; the matrix of a ring and of a master with three workers has its
# pairs, and those that differ much in the right order.
set -e
programs=$SRC/tests/programs
"$CC" -g -O2 -pthread -o "$TMP/lines" "$programs/lines_shared.c"
"$CC" -g -O2 -pthread -DSLEEP -o "$TMP/ring" "$programs/ring.c"
"$CC" -g -O2 -pthread -DSLEEP -o "$TMP/master" "$programs/master_worker.c"
"$SRC/tests/truth/lines_runs.py" "$LWP" "$TMP/lines" "$TMP/lines.result" fields fields_apart read_mostly same processes \
    --seconds 2.5 --schema "$SRC/docs/analysis.schema.json"
cd "$TMP"
cat > check.py <<'END'
import json, sys
READS, few = 60, 3 # of each pair: the deviation of a quarter is 3 points then; this script's status when there are fewer
results = {name: json.load(open(f"r.{name}/analysis.json")) for name in ("ring", "master")}
try:
    import jsonschema
    schema = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
    for result in results.values():
        schema.validate(result)
except ImportError:
    pass
bad = []
for name, result in results.items():
    for item in result["sharing"]:
        if item["kind"] == "false":
            bad.append(f"false sharing reported for {name}: {item['name']} {item['offsets']} {item['share']}")
    for item in result["redundancies"]: # what another thread reads is not dead
        if item["kind"] == "dead_store" and item["share"] > 0.2:
            bad.append(f"{name}: {100 * item['share']:.0f} % called dead: {item['meaning']}")

def cells(name):
    region = results[name]["communication"]["regions"][0]
    threads = [thread["tid"] for thread in results[name]["communication"]["threads"]]
    truth = {tuple(map(int, line.split()[:2])): int(line.split()[2]) for line in open(f"{name}.out")}
    matrix = {(w, r): (region["true"][i][k], region["samples"][i][k]) for i, w in enumerate(threads) for k, r in enumerate(threads)}
    print(name, [matrix.get(pair, (0, 0))[1] for pair in truth], "reads")
    if min(matrix.get(pair, (0, 0))[1] for pair in truth) < READS and sys.argv[2] != "last":
        sys.exit(few)
    return [(words, matrix.get(pair, (0, 0))[0]) for pair, words in truth.items()]

# a ring hands on as much everywhere; a master four times as much to its first worker as to the third, and back (neighbours among
# the shares may change places)
ring = [share for words, share in cells("ring")]
if sum(ring) < 0.95 or min(ring) < 0.15 or max(ring) > 0.35:
    bad.append(f"ring: {ring}")
master = [share for words, share in cells("master")]
if sum(master) < 0.95 or not (master[0] > master[4] and master[1] > master[5]):
    bad.append(f"master: {master}")
print("\n".join(bad))
sys.exit(bool(bad))
END
for seconds in 2.5 10 last; do
    for program in ring master; do
        rm -rf "r.$program"
        "$LWP" collect -q --no-analyze -F 4000 --max-overhead 40 -o "r.$program" "./$program" ${seconds/last/30} >"$program.out"
        "$LWP" analyze -q "r.$program"
    done
    status=0
    /usr/bin/python3 check.py "$SRC/docs/analysis.schema.json" $seconds || status=$?
    [ $status = 3 ] || exit $status
done
