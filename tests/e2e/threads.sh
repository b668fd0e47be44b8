#!/bin/bash
# Threads by pthread_create and thrd_create are sampled, hundreds of short ones cost no memory, and code of libraries that
# were loaded late and unloaded again (the second where the first was) has its own name. A thread's memory serves the next one.
set -u
cd "$TMP" || exit 1
for name in one two; do
    cat > $name.c <<C
static unsigned long table_$name[1 << 16];
unsigned long work(unsigned rounds);
static __attribute__((noinline)) unsigned long part_$name(unsigned long sum)
{
    for (unsigned long i = 0; i < 1 << 20; i++)
        sum += table_$name[(i * 2654435761u + sum) & 0xffff] += i;
    return sum;
}
unsigned long work(unsigned rounds)
{
    unsigned long sum = 1;
    while (rounds--)
        sum = part_$name(sum);
    return sum;
}
C
    $CC -O1 -g -shared -fPIC -o $name.so $name.c || exit 1
done
$CC -O1 -g -pthread -o threads "$SRC/tests/programs/threads.c" -ldl || exit 1
./threads ./one.so ./two.so > plain 2> plain.err || { cat plain; exit 1; }
failed=0
"$LWP" collect --max-overhead 20 -o r -- ./threads ./one.so ./two.so > with 2> err || { echo "FAILED: status"; cat err; failed=1; }
diff plain <(head -n 2 with) || { echo "FAILED: another output"; failed=1; }
before=$(awk '/^KiB/{ print $2 }' plain.err) after=$(awk '/^KiB/{ print $2 }' err)
[ $((after - before)) -lt 16384 ] || { echo "FAILED: $((after - before)) KiB more"; failed=1; }
"$LWP" dump r/p*/process.lwps > process 2> warnings
for name in one two; do grep -q "module.*$name.so" process || { echo "FAILED: no module $name.so"; failed=1; }; done
[ "$(grep -c '^module-end' process)" -ge 1 ] || { echo "FAILED: no module ended"; failed=1; }
busy=0
for file in r/p*/t*.lwps; do
    "$LWP" dump "$file" > dump 2> warnings
    grep -qEv '^(file|thread|thread-end) ' dump || { echo "FAILED: $file holds nothing"; failed=1; }
    [ "$(grep -c '^sample' dump)" -gt 15 ] && busy=$((busy + 1))
done
[ $busy -ge 3 ] || { echo "FAILED: samples in $busy threads only"; failed=1; }
"$LWP" report --json r > json 2> err
/usr/bin/python3 - <<'P' || failed=1
import json, sys
run = json.load(open("json"))
share = {}
for loop in run["loops"]:
    if loop["parent"] is None or loop["parent"] < 0:
        share[loop["function"]] = share.get(loop["function"], 0) + loop["share"]
names = [o["name"] for o in run["objects"]]
for name in "one", "two":
    if not 0.3 < share.get("part_" + name, 0) < 0.65:
        print("FAILED: part_%s has %s" % (name, share))
        sys.exit(1)
    if "table_" + name not in names:
        print("FAILED: table_%s is not among %s" % (name, names))
        sys.exit(1)
P
cat > turns.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static volatile int last;
static void *run(void *unused)
{
    for (int i = 0; i < 20000000; i++)
        last = i;
    return unused;
}
int main(int count, char **arguments)
{
    struct rusage usage;
    pthread_t thread;
    for (int left = atoi(arguments[count - 1]); left; left--)
        if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
            return 1;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_minflt);
}
C
$CC -O1 -g -pthread -o turns turns.c || exit 1
faults() { "$LWP" collect -q --no-analyze -F 1000 --max-overhead 60 -o "turns$1" -- ./turns "$1"; }
few=$(faults 5) many=$(faults 45)
each=$(((many - few) / 40))
[ $each -lt 7 ] || { echo "FAILED: $each pages for each thread"; failed=1; }
exit $failed
