#!/bin/bash
# Elements behind cookies, headers of wrappers, and in arenas of one or of two types: the field that the only loop reads is named, by
# both engines. Where two pointers disagree about where an element begins, and without debug information, nothing is.
set -u
. "$SRC/tests/sampled.sh"
g++ --version > /dev/null 2>&1 || { echo "no g++"; exit 77; }
g++ -O2 -g -o "$TMP/starts" "$SRC/tests/programs/starts.cc" || exit 1
g++ -O2 -s -o "$TMP/stripped" "$SRC/tests/programs/starts.cc" || exit 1
cat > "$TMP/starts.py" << 'EOF'
import json, sys
path, shape, start, least, most = sys.argv[1:]
a = json.load(open(path + "/analysis.json"))
hot = max((o for o in a["objects"] if o["kind"] == "heap" and o["element_bytes"] != 8), key=lambda o: o["accesses"])
used = {name for use in hot["loops"] for name in use["fields"] if "sum" in (a["loops"][use["loop"]]["function"] or "")}
fail = []
def check(good, what):
    good or fail.append("%s: %s" % (what, json.dumps({k: v for k, v in hot.items() if k not in ("loops", "context")})))
if start == "unknown":
    check(not hot["fields"] and not a["splits"], "fields are named")
    reasons = {row["code"] for row in a["left_alone"] if row["object"] == a["objects"].index(hot)}
    if hot["element_bytes"]: # where an unrolled loop steps over two elements, not even that is known
        check(any((hot["fields_unknown"] or "nothing") in note for note in a["run"]["notes"]), "no note")
    check(reasons == {"unknown_fields"}, "another reason: %s" % reasons)
else:
    check(hot["element_bytes"] == 136 and hot["element_start"] in map(int, start.split("|")), "another element")
    check(used == {"price"}, "another field")
    check(not hot["fields_unknown"] and hot["agreement"]["share"] > 0.99 and hot["agreement"]["compared"] > 0.5, "no agreement")
    check(hot["bytes"] == 136 * hot["elements"] and int(least) <= hot["elements"] <= int(most), "another size")
    for split in a["splits"]:
        check("price" not in split["cold"]["fields"], "a cold part with the hot field")
print("\n".join(fail))
sys.exit(bool(fail))
EOF
failures=0
one() { # ENGINE SHAPE START LEAST MOST [PROGRAM]
    local result="$TMP/$1-$2" program=${6:-starts} options=
    [ "$1" = light ] && options="-F 1000 --max-overhead 25"
    rm -rf "$result"
    if [ "$1" = light ]; then
        # shellcheck disable=SC2086
        collect_samples 150 "$result" 200 $options -- "$TMP/$program" "$2" @ || { failures=1; return; }
        "$LWP" analyze --no-measure "$result" > "$result.err" 2>&1
    else
        "$LWP" collect --no-measure -e exact --detect layout --window 20k:500k -o "$result" "$TMP/$program" "$2" 60 > "$result.err" 2>&1
    fi
    python3 "$TMP/starts.py" "$result" "$2" "$3" "$4" "$5" || { echo "$1 $2 $program: wrong"; cat "$result.err"; failures=1; }
}
# Of arenas the last chunk is not full; with two types it begins with now the one, now the other, which are two allocation paths.
for engine in light exact; do
    one $engine cookie 8 65536 65536
    one $engine wrapper 8 65536 65536
    one $engine arena 24 65536 70000
    one $engine types '24|88' 26000 40000
    one $engine views unknown 0 0
done
one light cookie unknown 0 0 stripped
one light wrapper unknown 0 0 stripped
exit $failures
