#!/bin/bash
# Files of perf itself, recorded here with software events: what lwp import makes of them agrees with perf script.
set -u
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
command -v perf > /dev/null || { echo "perf is not installed"; exit 77; }
perf record -q -e page-faults:u -c 1 -o try.data true 2> err || { echo "perf may not record here: $(head -1 err)"; exit 77; }

cat > app.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct item { char name[4096]; long count; char rest[4088]; }; /* two pages: every item faults at `count` */
static struct item table[1500];
static void *work(void *given)
{
    struct item *items = given;
    for (int i = 0; i < 1000; i++)
        items[i].count += i;
    return NULL;
}
int main(void)
{
    struct item *heap = malloc(1000 * sizeof *heap);
    pthread_t thread;
    pthread_create(&thread, NULL, work, heap);
    for (int i = 0; i < 1500; i++)
        table[i].count += i;
    pthread_join(thread, NULL);
    return (int)heap[5].count - 5;
}
C
$CC -O1 -g -o app app.c -lpthread || exit 1

perf record -q -d -g -e page-faults:u -c 1 -o plain.data ./app 2> err || { cat err; fail "perf record"; }
"$LWP" import plain.data 2> err || { cat err; fail "import"; }
[ "$("$LWP" dump lwp-plain.data/p*/t*.lwps | grep -c '^sample')" = "$(perf script -i plain.data 2> /dev/null | grep -c 'page-faults')" ] || fail "not as many samples as perf has"
"$LWP" report --json lwp-plain.data > analysis.json || fail "report"
/usr/bin/python3 - <<'PY' || fail "what is in it"
import json
data = json.load(open("analysis.json"))
run = data["run"]
assert run["engine"] == "pmu" and run["weight_unit"] == "events" and "page-faults" in run["event"], run
assert run["command"] == ["app"], run["command"]
table = next(o for o in data["objects"] if o["name"] == "table")
assert table["kind"] == "static" and table["type"] == "struct item" and table["element_bytes"] == 8192, table
assert 1450 <= table["samples"] <= 1550, table["samples"]
assert [f["name"] for f in table["fields"] if f["samples"] > 100] == ["count"], table["fields"]
assert table["loads"] >= 1450 and table["stores"] >= 1450, table  # decoded: add to memory
heap = next(o for o in data["objects"] if o["kind"] == "mmap")
assert heap["element_bytes"] == 8192 and 950 <= heap["samples"] <= 1050, heap
loops = {data["loops"][l["loop"]]["function"] for o in (table, heap) for l in o["loops"]}
assert loops >= {"main", "work"}, loops
PY

# the same through a pipe, compressed, and of a file that was cut
perf record -q -d -e page-faults:u -c 1 -o - ./app > pipe.data 2> err && "$LWP" import -q pipe.data 2> err || { cat err; fail "a pipe's file"; }
perf record -q -z -d -e page-faults:u -c 1 -o packed.data ./app 2> err && "$LWP" import -q packed.data 2> err || { cat err; fail "a compressed file"; }
for name in pipe packed; do
    samples=$("$LWP" dump lwp-$name.data/p*/t*.lwps | grep -c '^sample')
    [ "$samples" -gt 2400 ] || fail "$name: $samples samples"
done
head -c 60000 plain.data > cut.data
"$LWP" import -q cut.data 2> err || { cat err; fail "a cut file"; }
"$LWP" report lwp-cut.data | tr -s '\n ' ' ' | grep -q 'damaged or cut' || fail "nothing said of the cut"

# registers instead of addresses
build() { $CC -std=gnu11 -D_GNU_SOURCE= -O2 -I"$SRC" -I"$BUILD" "$@" || exit 1; }
build -o loops "$SRC/tests/skid/loops.c" "$SRC/tests/skid/loops.S"
perf record -q -e task-clock:u -c 250001 --call-graph dwarf -o loops.data ./loops truth 0.03 > loops.out 2> err || { cat err; fail "perf record of registers"; }
"$LWP" import -q --no-analyze loops.data 2> err || { cat err; fail "import of registers"; }
for file in lwp-loops.data/p*/t*.lwps; do "$LWP" dump "$file"; done > dump
"$SRC/tests/skid/addresses.py" truth dump 1000 || fail "addresses by registers"
build -g -pthread -o attached "$SRC/tests/programs/attached.c"
perf record -q -e task-clock:u -F 1000 --call-graph dwarf -o attached.data ./attached 0.6 2 > answers 2> err || { cat err; fail "perf record of threads"; }
"$LWP" import -q attached.data 2> err || { cat err; fail "import of threads"; }
"$LWP" report --json lwp-attached.data > analysis.json || fail "report of registers"
/usr/bin/python3 - <<'PY' || fail "what is in it"
import json
data = json.load(open("analysis.json"))
assert data["run"]["engine"] == "timer" and data["run"]["weight_unit"] == "ns", data["run"]
node = next(o for o in data["objects"] if o["type"] == "struct node")
assert node["element_bytes"] == 32 and {f["name"] for f in node["fields"] if f["share"] > 0.01} <= {"next", "value"}, node
callers = {frame["function"] for frame in data["stalls"]["frames"]}
assert callers >= {"run", "walk", "start_thread"}, callers
PY

# children that a program starts are processes of their own
perf record -q -d -e page-faults:u -c 1 -o many.data sh -c './app; ./app; true' 2> err || { cat err; fail "perf record of sh"; }
"$LWP" import -q many.data 2> err || { cat err; fail "import of several processes"; }
[ "$(cat lwp-many.data/p*/process.lwps > /dev/null; for f in lwp-many.data/p*/process.lwps; do "$LWP" dump "$f"; done | grep -c '^process.* command app')" = 2 ] || fail "not two processes of app"

# wrong use
"$LWP" import 2> err && fail "no file"
"$LWP" import nowhere.data 2> err && fail "a file that is not there"
grep -q 'perf record' err || { cat err; fail "does not say what to do"; }
"$LWP" import plain.data 2> err && fail "replaced a result"
"$LWP" import -q --force plain.data 2> err || { cat err; fail "--force"; }
"$LWP" import app.c 2> err && fail "a C file"
grep -q 'not a perf.data' err || { cat err; fail "does not say what is wrong"; }
[ -e lwp-app.c ] && fail "a folder was left of a file that is none"
exit 0
