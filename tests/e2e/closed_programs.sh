#!/bin/bash
# A program that cannot load lwp's library (static, musl) is started all the same, and sampled from outside: its output, status and
# signals are its own, it is known from its first instruction on, and so are its children.
set -u
cd "$TMP" || exit 1
. "$SRC/tests/sampled.sh"
failed=0
fail() { echo "FAILED: $*"; failed=1; }
needs_attaching
cat > closed.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
struct record { double key, weight, rest[6]; };
enum { RECORDS = 300000 };
static volatile sig_atomic_t told;
static void tell(int number) { told = number; }
__attribute__((noinline)) static double walk(const struct record *records)
{
    double sum = 0;
    for (int i = 0; i < RECORDS; i++)
        sum += records[i].weight;
    return sum;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double sum = 0;
    if (strcmp(what, "children") == 0) {
        for (int i = 0; i < 2; i++)
            if (!fork())
                execl(argv[0], argv[0], "work", (char *)NULL);
        while (wait(NULL) > 0)
            ;
        return 3;
    }
    if (strcmp(what, "abort") == 0)
        abort();
    signal(SIGUSR1, tell);
    while (strcmp(what, "wait") == 0 && !told)
        usleep(1000);
    struct record *records = calloc(RECORDS, sizeof *records);
    for (int i = 0; i < RECORDS; i++)
        records[i].weight = i;
    for (int i = 0; strcmp(what, "work") == 0 && i < 800; i++) {
        records[i].weight++;
        sum += walk(records);
    }
    printf("%g %d\n", sum, (int)told);
    return 7;
}
END
collect() { "$LWP" collect --no-measure -F 2000 --max-overhead 20 "$@"; }

# checked NAME: of a program called so
checked() {
    ./$1 work > alone
    collect -o r.$1 -- ./$1 work > out 2> err
    [ $? = 7 ] && cmp alone <(head -1 out) || { fail "$1: another status or output"; cat out err; }
    grep -q "'./$1' is .*sampled from outside" err || fail "$1: how it is sampled was not said"
    [ "$(ls r.$1 | grep -c '^p')" = 1 ] || { fail "$1: one process"; ls r.$1; }
    /usr/bin/python3 - r.$1 <<'P' || failed=1
import json, sys
result = json.load(open(sys.argv[1] + "/analysis.json"))
found = [o for o in result["objects"] if o["type"] == "struct record" and o["share"] > 0.3]
if result["run"]["exit"] != {"code": 7, "signal": None} or not found:
    sys.exit("FAILED: %s: %s %s" % (sys.argv[1], result["run"]["exit"], result["objects"][:1]))
P
}
$CC -O2 -g -static -o static closed.c || exit 1
checked static
[ -z "${LONG:-}" ] || ! musl-gcc -O2 -g -o musl closed.c 2> musl.err || checked musl

"$LWP" collect -q --no-analyze -o aborted -- ./static abort > out 2>&1
[ $? = 134 ] || fail "a signal ends it"
"$LWP" collect -q --no-analyze --duration 0.01 -o short -- ./static wait > out 2> err &
collector=$!
until [ -s short/run.json ] && pgrep -P $collector static > child; do sleep 0.01; done
kill -USR1 $collector
wait $collector
[ $? = 7 ] && grep -q '^0 10$' out || { fail "a signal is passed on"; cat out err; }
collect -q --no-analyze -o family -- ./static children > out 2>&1
[ $? = 3 ] && [ "$(ls family | grep -c '^p')" -ge 2 ] || { fail "children"; ls family; cat out; }

"$LWP" collect --detect redundancy -o refused -- ./static > out 2> err && fail "what needs the library was not refused"
[ "$(wc -l < err)" = 1 ] && [ ! -e refused ] && [ ! -s out ] || { fail "one sentence"; cat err; }
exit $failed
