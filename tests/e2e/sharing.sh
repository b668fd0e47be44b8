#!/bin/bash
# What threads do to each other: two counters in one cache line are found, the padded ones are not; the matrix of a ring
# and of a master with three workers has its pairs in the right order.
set -e
programs=$SRC/tests/programs
"$CC" -g -O2 -pthread -o "$TMP/shared" "$programs/counters_shared.c"
"$CC" -g -O2 -pthread -DPADDED -o "$TMP/padded" "$programs/counters_shared.c"
"$CC" -g -O2 -pthread -o "$TMP/ring" "$programs/ring.c"
"$CC" -g -O2 -pthread -o "$TMP/master" "$programs/master_worker.c"
cd "$TMP"
for program in shared padded ring master; do
    "$LWP" collect -q --no-analyze -o "r.$program" "./$program" 2 >"$program.out"
    "$LWP" analyze -q "r.$program"
done
exec /usr/bin/python3 - "$SRC/docs/analysis.schema.json" <<'END'
import json, sys
schema = json.load(open(sys.argv[1]))
results = {name: json.load(open(f"r.{name}/analysis.json")) for name in ("shared", "padded", "ring", "master")}
if results["shared"]["sharing"] is None:
    print("no watchpoints here")
    sys.exit(77)
try:
    import jsonschema
    for result in results.values():
        jsonschema.Draft202012Validator(schema).validate(result)
except ImportError:
    pass
bad = []

lines = [item for item in results["shared"]["sharing"] if item["kind"] == "false"]
if not lines:
    bad.append(f"the shared counters were not found: {results['shared']['sharing']}")
else:
    line = lines[0]
    if line["name"] != "counters" or line["fields"] != ["hits", "misses"] or line["offsets"] != [16, 24] or \
       len(set(line["threads"])) != 2 or line["line_offset"] != 0:
        bad.append(f"the shared counters: {line}")
    if "alignas(64)" not in line["advice"] or "misses" not in line["advice"]:
        bad.append(f"the advice: {line['advice']}")
    if not any(finding["kind"] == "sharing" for finding in results["shared"]["findings"]):
        bad.append("the shared counters are no finding")
for name in ("padded", "ring", "master"):
    for item in results[name]["sharing"]:
        if item["kind"] == "false":
            bad.append(f"false sharing reported for {name}: {item['name']} {item['offsets']} {item['share']}")

def cells(result):
    communication = result["communication"]
    matrix, count = communication["regions"][0]["true"], len(communication["threads"])
    return {(i, k): matrix[i][k] for i in range(count) for k in range(count) if matrix[i][k] > 0}

ring = cells(results["ring"])
top = sorted(ring, key=ring.get)[-4:]
if sorted(top) != [(0, 1), (1, 2), (2, 3), (3, 0)] or sum(ring[pair] for pair in top) < 0.9:
    bad.append(f"ring: {ring}")
master = cells(results["master"])
if any(i and k for i, k in master if master[i, k] > 0.02) or not (
        master.get((1, 0), 0) > master.get((3, 0), 0)): # the way to idle workers rests on too few reads
    bad.append(f"master: {master}")
for name in ("ring", "master"): # what another thread reads is not dead
    for item in results[name]["redundancies"]:
        if item["kind"] == "dead_store" and item["share"] > 0.2:
            bad.append(f"{name}: {100 * item['share']:.0f} % called dead: {item['meaning']}")
print("\n".join(bad))
sys.exit(bool(bad))
END
