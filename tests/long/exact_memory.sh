#!/bin/bash
# However much memory a program uses, counting its communication takes less than 1 GB beside it; what is left out is said.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
[ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 6 ] || { echo "it takes 6 GiB of memory"; exit 77; }
cat > large.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { LINE = 8 };
static const size_t count = (size_t)3 << 30 >> 3;
static volatile long *data;
static void *work(void *to)
{
    long sum = 0;
    for (size_t i = 0; i < count; i += LINE) sum += data[i];
    *(long *)to = sum;
    return NULL;
}
int main(void)
{
    pthread_t thread;
    long sum = 0;
    data = malloc(count * sizeof *data);
    for (size_t i = 0; i < count; i += LINE) data[i] = (long)i;
    pthread_create(&thread, NULL, work, &sum);
    pthread_join(thread, NULL);
    return printf("%ld\n", sum) < 0;
}
C
$CC -O1 -g -pthread -o large large.c || fail "compile"
/usr/bin/python3 - "$LWP" <<'PY' || fail "memory"
import json, resource, subprocess, sys
def most(*command):
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=2); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    return int(subprocess.run([sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE).stdout) * 1024
own = most("./large")
assert own > 3e9, own
more = most(sys.argv[1], "collect", "-q", "-e", "exact", "--detect", "communication", "-o", "large.r", "--", "./large") - own
print(f"{more / 1e6:.0f} MB beside the program's {own / 1e6:.0f} MB")
assert more < 1e9, more
subprocess.run([sys.argv[1], "analyze", "-q", "large.r"], check=True)
found = json.load(open("large.r/analysis.json"))
read = next(r for r in found["communication"]["regions"] if r["name"] == "work")["true"][0][1]
assert abs(read - (3 << 30) / 64) < 0.02 * (3 << 30) / 64, read # one line in so many, counted so many times
assert any("on some of its cache lines only" in note for note in found["run"]["notes"]), found["run"]["notes"]
PY
exit 0
