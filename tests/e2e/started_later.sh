#!/bin/bash
# A program that another one starts, or forks, is set up only once it has run for a while: what it allocated before is known as in
# one that is set up at once. One that ends before leaves nothing, and what it does is the same.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -o started_later "$SRC/tests/programs/started_later.c" || exit 1
failed=0
blocks() { # RESULT: of the process with the most blocks: sizes, and how often allocated and freed
    for file in "$1"/p*/process.lwps; do
        "$LWP" dump "$file" 2> err | awk '
            $1 == "pool" { size[$2] = $6 }
            $1 == "pool-count" && size[$2] == 24 { print "pool of", size[$2], $3, $4, $5, $6 }
            $1 == "block" && $12 > 700000 { print "block of", $12 }
            $1 == "block-end" { ends++ }
            END { print ends + 0, "ends" }' > one
        [ "$(wc -l < one)" -gt 2 ] && cat one
    done
}
for how in "./started_later 100" "sh -c './started_later 100;true'" "./started_later 100 fork"; do
    rm -rf r # with a share that pays for every process on slow machines, too: otherwise it is drawn which are set up
    eval "\"$LWP\" collect -q --max-overhead 50 --no-analyze -o r -- $how" || { echo "FAILED: $how"; failed=1; }
    blocks r > now
    [ -e first ] || cp now first
    diff first now || { echo "FAILED: $how: other blocks"; failed=1; }
done
grep -q 'pool of 24 allocations 3000 frees 0' first && grep -q 'pool of 24 allocations 100 frees 100' first && grep -q 'block of 1600000' first ||
    { cat first; echo "FAILED: not all blocks are known"; failed=1; }
"$LWP" collect -q --max-overhead 3 --no-analyze -o short -- sh -c './started_later 1; ./started_later 1 fork; ./started_later 1' || failed=1
[ "$(ls short | grep -c '^p[0-9]')" = 1 ] || { ls short; echo "FAILED: set up in processes that are short"; failed=1; }

# That none ran long enough is said, and no other reason.
LWP_COSTS=0,0,0,0,0,0,0,0,0,0,0,0 "$LWP" collect --no-analyze -o never -- ./started_later 1 2> never.err || failed=1
{ grep -q 'no samples' never.err && ! grep -q 'not loaded' never.err; } || { cat never.err; echo "FAILED: why nothing was recorded"; failed=1; }

# What a child frees of its parent's before it is set up is freed there, and in the parent it is not.
"$LWP" collect -q --max-overhead 50 --no-analyze -o freed -- ./started_later 100 frees || failed=1
for file in freed/p*/process.lwps; do
    "$LWP" dump "$file" | awk '$1 == "pool" { size[$2] = $6 } $1 == "pool-count" && size[$2] == 24 { print $5, $6 }'
done | sort | uniq -c > freed.pools
[ "$(echo $(cat freed.pools))" = "3 frees 0 1 frees 100" ] || { echo "FAILED: blocks that a child frees:"; cat freed.pools; failed=1; }

# What a child allocates is kept in pages of lwp's, some 170 for 4,000 blocks; not where the run has no surplus left, as then most are never
# set up.
cat > early.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(void)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < 4000; i++)
        *(volatile char *)malloc(24) = (char)i;
    getrusage(RUSAGE_SELF, &after);
    printf("%ld\n", after.ru_minflt - before.ru_minflt);
    return 0;
}
C
$CC -O1 -fno-builtin -o early early.c || exit 1
for overhead in 50 0.1; do
    "$LWP" collect -q --no-analyze --max-overhead $overhead -o early$overhead -- sh -c './early; ./early' | tail -1
done > early.faults
[ "$(sed -n 1p early.faults)" -gt $(($(sed -n 2p early.faults) + 100)) ] || { echo "FAILED: page faults with a surplus, and without:"; cat early.faults; failed=1; }

# A child that frees all and ends has no tables of its own for that: these would be some 300 pages, what it keeps is 70.
cat > frees.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BLOCKS = 7000 };
static void *block[BLOCKS];
#define FROM(n) __attribute__((noinline)) static void *from##n(size_t size) { void *p = malloc(size); __asm__ volatile("" : : "r"(p) : "memory"); return p; }
FROM(0) FROM(1) FROM(2) FROM(3) FROM(4) FROM(5) FROM(6) FROM(7)
static void *(*const from[])(size_t) = {from0, from1, from2, from3, from4, from5, from6, from7};
int main(void)
{
    struct rusage before, after;
    for (int i = 0; i < BLOCKS; i++)
        block[i] = from[i * 7 % 8]((size_t)(24 + i * 37 % 800));
    if (fork() > 0) {
        wait(NULL);
        return 0;
    }
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    getrusage(RUSAGE_SELF, &after);
    printf("%ld\n", after.ru_minflt - before.ru_minflt);
    return 0;
}
C
$CC -O1 -o frees frees.c && ./frees > alone && "$LWP" collect -q --max-overhead 3 --no-analyze -o frees.r ./frees > under || failed=1
[ $(($(cat under) - $(cat alone))) -lt 150 ] || { echo "FAILED: a child that frees all touches $(cat under) pages, alone $(cat alone)"; failed=1; }

# To unwind an early stack blocks no signals, which would be two system calls for each thing that the unwinder asks for.
if command -v strace > which; then
    {
        printf '#include <stdlib.h>\n#include <time.h>\n'
        for i in $(seq 300); do
            echo "__attribute__((noinline)) static void *from$i(void) { void *p = malloc(24); __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); return p; }"
        done
        echo 'int main(void) { volatile unsigned long sum = 0;'
        for i in $(seq 300); do echo "from$i();"; done
        echo 'while (clock() < CLOCKS_PER_SEC / 2) for (int i = 0; i < 100000; i++) sum++; return 0; }'
    } > sites.c
    $CC -O1 -o sites sites.c || exit 1
    for run in 1 2 3; do # what strace makes of lwp's calls is charged, too: in some runs not all sites are taken
        strace -f -c -e trace=rt_sigprocmask -o calls "$LWP" collect -q --max-overhead 100 --no-analyze -o sites$run.r sh -c './sites; true' || failed=1
        pools=$(for file in sites$run.r/p*/process.lwps; do "$LWP" dump "$file"; done | grep -c '^pool ')
        calls=$(awk '$NF == "rt_sigprocmask" { print $4 }' calls)
        echo "$pools pools of 300, by ${calls:-unknown} changes of the mask"
        [ "$pools" -ge 300 ] && [ "${calls:-10000}" -lt 2000 ] && break
        [ $run -lt 3 ] || { echo "FAILED: see above"; failed=1; }
    done
fi

# Of many processes only some are recorded, where setting them up costs more than the run may; they stand for the others, and the note says for which time nobody does.
cat > spin.c <<'C'
#include <time.h>
static volatile unsigned long sink;
int main(void)
{
    struct timespec t;
    do {
        for (int i = 0; i < 20000; i++)
            sink += (unsigned long)i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_nsec < 80000000);
    return 0;
}
C
$CC -O1 -o spin spin.c || exit 1
overhead=3
for run in 1 2 3 4 5 6; do # which processes are recorded is drawn: up to six runs together stand for their time, each with more than the one before
"$LWP" collect --no-analyze --max-overhead $overhead --detect layout -o many$run -- sh -c 'for i in 1 2 3; do for k in 1 2 3 4 5 6 7 8 9 10 11 12; do ./spin; done; done' 2> many$run.err || failed=1
for file in many$run/p*/t*.lwps; do "$LWP" dump "$file"; done 2> err | awk '/^sample/ { sum += $5 * 1e-9 } END { print sum + 0 }' > many$run.weight
python3 - $run > many.told <<'P' && break
import json, re, sys
weight = due = 0
for number in range(1, int(sys.argv[1]) + 1):
    run = json.load(open(f"many{number}/run.json"))
    note = next((n for n in run.get("notes", []) if "Not sampled was" in n), "")
    ran, recorded, left_out = (int(n) for n in re.match(r"(\d+) process(?:es)? ran, (\d+) of them.* Not sampled was (\d+) %", note).groups())
    weight += float(open(f"many{number}.weight").read())
    due += run["cpu_s"] * (1 - left_out / 100)
    if ran != 37 or not 1 <= recorded <= 37 or not 20 <= left_out <= 60:
        sys.exit(note)
    if not re.search(rf"\b(\d+ of )?37 processes, .* overhead {run['overhead_percent']:.1f} %", open(f"many{number}.err").read()):
        sys.exit(open(f"many{number}.err").read())
print(f"FAILED: {note}: {weight} s of samples for {due} s")
sys.exit(not 0.35 * due < weight < 1.6 * due) # in due is what it takes to set a process up: on slow machines 10 ms of its 50
P
[ $run -lt 6 ] || { cat many.told; failed=1; }
overhead=$((overhead * 2)) # a slow machine has few processes recorded for 3 %
done
exit $failed
