#!/bin/bash
# malloc marks free blocks with a key that it draws at random: under the exact engine it is the same in each run, as the stack guard is,
# so that the same values are loaded and stored. What the program itself asks for stays random, whoever asks and wherever it goes.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
cat > draws.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
static unsigned long kept, asked;
int main(void)
{
    unsigned long local = 0, guard, name = 0, *block = malloc(24), *heap = malloc(24);
    char made[] = "drawn.XXXXXX";
    __asm__("mov %%fs:0x28, %0" : "=r"(guard));
    free(block);
    __asm__ volatile("" : "+r"(block));
    printf("guard %lx\nkey %lx\n", guard, block[1]);
    if (getrandom(&kept, 8, GRND_NONBLOCK) != 8 || getrandom(&local, 8, GRND_NONBLOCK) != 8 || getrandom(heap, 8, GRND_NONBLOCK) != 8 ||
        syscall(SYS_getrandom, &asked, 8, GRND_NONBLOCK) != 8 || mkstemp(made) < 0)
        return 1;
    for (int i = 6; i < 12; i++)
        name = name << 8 | (unsigned char)made[i];
    return printf("kept %lx\nlocal %lx\nheap %lx\nasked %lx\nname %lx\n", kept, local, *heap, asked, name) < 0;
}
C
for way in "" -static; do
    $CC -O1 -w $way -o draws draws.c || { [ "$way" ] && continue; fail "compile"; }
    for run in one two; do
        "$LWP" collect -q --no-analyze --force -e exact -o r -- ./draws > $run || fail "collect ${way-}"
    done
    grep -q 'key ..' one || fail "$(cat one)"
    cmp <(grep '^guard\|^key' one) <(grep '^guard\|^key' two) || fail "another stack guard or another key of malloc's $way"
    [ "$(comm -12 <(grep -v '^guard\|^key' one | sort) <(grep -v '^guard\|^key' two | sort))" = "" ] || fail "what the program asks for is not random $way"
done
exit 0
