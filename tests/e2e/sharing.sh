#!/bin/bash
# What threads do to each other: two counters in one cache line are found and the padded ones are not, nor is what all use
# together; the matrix of a ring has its pairs. LONG: that processes are not measured is said; the matrix of a master with three workers
# has its pairs, and those that differ much in the right order; barriers, and what is read together.
set -e
programs=$SRC/tests/programs
$CC -g -O2 -pthread -o "$TMP/lines" "$programs/lines_shared.c"
$CC -g -O2 -pthread -DSLEEP -o "$TMP/ring" "$programs/ring.c"
$CC -g -O2 -pthread -DSLEEP -o "$TMP/master" "$programs/master_worker.c"
$CC -g -O2 -pthread -DBARRIER -o "$TMP/barrier" "$programs/ring.c"
"$SRC/tests/truth/lines_runs.py" "$LWP" "$TMP/lines" "$TMP/lines.result" fields fields_apart ${LONG:+processes read_mostly same} \
    --seconds 2.5 --schema "$SRC/docs/analysis.schema.json"
cd "$TMP"
. "$SRC/tests/watchpoints.sh"
cat > check.py <<'END'
import json, sys
READS, few = 60, 3 # of each pair: the deviation of a quarter is 3 points then; this script's status when there are fewer
name = sys.argv[3]
result = json.load(open(f"r.{name}/analysis.json"))
try:
    import jsonschema
    schema = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
    schema.validate(result)
except ImportError:
    pass
bad = []
for item in result["sharing"]:
    if item["kind"] == "false":
        bad.append(f"false sharing reported for {name}: {item['name']} {item['offsets']} {item['share']}")
for item in result["redundancies"]: # what another thread reads is not dead
    if item["kind"] == "dead_store" and item["share"] > 0.2:
        bad.append(f"{name}: {100 * item['share']:.0f} % called dead: {item['meaning']}")

region = result["communication"]["regions"][0]
threads = [thread["tid"] for thread in result["communication"]["threads"]]
truth = {tuple(map(int, line.split()[:2])): int(line.split()[2]) for line in open(f"{name}.out")}
matrix = {(w, r): (region["true"][i][k], region["samples"][i][k]) for i, w in enumerate(threads) for k, r in enumerate(threads)}
shares = [matrix.get(pair, (0, 0))[0] for pair in truth]
reads = [matrix.get(pair, (0, 0))[1] for pair in truth]
print(name, reads, "reads")
if name != "barrier" and min(reads if name == "ring" else (reads[0] + reads[4], reads[1] + reads[5])) < READS and sys.argv[2] != "last":
    sys.exit(few)

# a ring hands on as much everywhere; a master four times as much to its first worker as to the third, and back (neighbours among
# the shares may change places)
if name != "barrier" and sum(shares) < 0.95:
    bad.append(f"{name}: others communicate: {shares}")
if name == "ring" and (min(shares) < 0.15 or max(shares) > 0.35):
    bad.append(f"ring: {shares}")
if name == "master" and not (shares[0] > shares[4] and shares[1] > shares[5]):
    bad.append(f"master: {shares}")
if name == "barrier": # its words are read by all, and are no data: nothing but the ring's pairs is left (up to some per cent each before)
    others = [(region["true"][i][k], region["true_ci"][i][k][0]) for i, w in enumerate(threads) for k, r in enumerate(threads) if (w, r) not in truth]
    if sum(share for share, low in others) > 0.01 or any(low > 0 for share, low in others):
        bad.append(f"barrier: {others}")
    if not any("keep for themselves" in note for note in result["run"]["notes"]):
        bad.append(f"barrier: {result['run']['notes']}")
print("\n".join(bad))
sys.exit(bool(bad))
END
for program in ring ${LONG:+master barrier}; do
    for seconds in 2.5 10 last; do
        rm -rf "r.$program"
        "$LWP" collect -q --no-analyze -F 4000 --max-overhead 40 -o "r.$program" "./$program" ${seconds/last/30} >"$program.out"
        "$LWP" analyze -q --no-measure "r.$program"
        status=0
        /usr/bin/python3 check.py "$SRC/docs/analysis.schema.json" $seconds $program || status=$?
        [ $status = 3 ] || break
    done
    [ $status = 0 ] || exit $status
done
