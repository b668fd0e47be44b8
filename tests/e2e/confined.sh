#!/bin/bash
# A program that confines itself by seccomp, to be killed for anything that it does not do itself, is not killed under lwp: what
# was sampled until then is whole, and the result says that nothing was from then on. One that only asks whether it could is sampled.
set -u
cd "$TMP" || exit 1
${CC:-cc} -std=gnu11 -O1 -g -pthread -o confined "$SRC/tests/programs/confined.c" || exit 1
./confined > plain
status=$?
[ $status = 6 ] && grep -q '^filter: 0' plain && grep -q '^strict: status 3' plain && grep -q '^executed: status 5' plain ||
    { cat plain; echo "no seccomp here"; exit 77; }
failed=0
for timer in sigtrap posix; do
    [ $timer = posix ] && say=3 || say=2 # one is so short that nothing was set up in it
    for _ in 1 2 3; do # with a share that pays for both where setting up is dear; beside other work the second may be left out all the same
        LWP_TIMER=$timer "$LWP" collect -q --force --no-analyze -F 1000 --max-overhead 20 -o r-$timer -- ./confined > with 2> err
        with=$?
        [ $with = $status ] || { echo "FAILED: $timer: status $with"; cat err; failed=1; }
        diff plain with || { echo "FAILED: $timer: another output"; failed=1; }
        said=$(for file in r-$timer/p*/process.lwps; do "$LWP" dump "$file"; done | grep -c 'confined itself')
        [ "$said" -lt $say ] || break
    done
    [ "$said" = $say ] || { echo "FAILED: $timer: $said of $say say so"; failed=1; }
    samples=$(for file in r-$timer/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample')
    [ "$samples" -gt 5 ] || { echo "FAILED: $timer: only $samples samples"; failed=1; }
done
# One that allocates for the first time when it is confined is killed for that, with lwp too: its heap is as it would be.
${CC:-cc} -std=gnu11 -O1 -g -o confined_heap "$SRC/tests/programs/confined_heap.c" || exit 1
./confined_heap > plain 2> /dev/null
status=$?
"$LWP" collect -q --no-analyze -o r-heap -- ./confined_heap > with 2> err
with=$?
[ $with = $status ] && cmp -s plain with || { echo "FAILED: the first block: status $with, $status alone"; cat err; failed=1; }
cat > asks.c <<'C'
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int words[1024];
int main(void)
{
    int refused = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0;
    refused += syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) != 0;
    refused += syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0;
    for (int i = 0; i < 300000000; i++)
        words[i % 1024] = i;
    return printf("%d refused\n", refused) < 0;
}
C
${CC:-cc} -std=gnu11 -O1 -g -o asks asks.c || exit 1
[ "$("$LWP" collect -q --no-analyze -F 1000 -o r-asks -- ./asks)" = "3 refused" ] || { echo "FAILED: what only asks gets another answer"; failed=1; }
samples=$(for file in r-asks/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample')
[ "$samples" -gt 5 ] || { echo "FAILED: only $samples samples of what only asks"; failed=1; }
exit $failed
