#!/bin/bash
# No debug register is armed where page faults, which take longer meanwhile, would make that too dear, nor where registers stop nothing,
# which the report says. LWP_COSTS: as measured on other machines.
set -u
cd "$TMP" || exit 1
cat > faults.c << 'C'
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
int main(void)
{
    enum { PAGES = 256, PAGE = 4096 };
    static volatile long sum[1024];
    while (clock() < CLOCKS_PER_SEC) {
        char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < PAGES; i++)
            pages[i * PAGE] = 1;
        munmap(pages, PAGES * PAGE);
        for (int i = 0; i < 1000000; i++)
            sum[i % 1024] += i;
    }
    return 0;
}
C
${CC:-cc} -std=gnu11 -O1 -g -o faults faults.c || exit 1

# run NAME TRAP,TICK,CALL,OPEN,RUNNING,SOON,SOON_FOR,SWITCH,FAULT,STRINGS,STORES,DEAD
run() {
    LWP_COSTS=$2 "$LWP" collect -q --no-analyze -o "$1" -- ./faults && "$LWP" analyze -q --no-measure "$1" || exit 1
    "$LWP" dump "$1"/p*/*.lwps > "$1.dump" || exit 1
    watched=$(grep -c '^watch ' "$1.dump")
    echo "$1: $watched watches"
}

run free 20000,33000,0,0,0,0,0,0,0,0,0,0
[ "$watched" -gt 0 ] || { echo "nothing was watched"; exit 77; }
run dear 20000,33000,0,0,0,0,0,0,1000000,0,0,0
[ "$watched" = 0 ] || { echo "registers were armed where each page fault then costs 1 ms"; exit 1; }
run dead 20000,33000,0,0,0,0,0,0,0,0,0,1
[ "$watched" = 0 ] || { echo "registers that stop nothing were armed"; exit 1; }
"$LWP" report dead | tr -s '\n ' ' ' | grep -q 'Debug registers stop nothing on this machine' ||
    { echo "the report does not say that nothing was watched"; exit 1; }
"$LWP" report dead | tr -s '\n ' ' ' | grep -q 'no hardware breakpoint' && { echo "the report guesses why nothing was watched"; exit 1; }
exit 0
