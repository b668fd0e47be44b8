/* Stores of what is there already, and stores that nobody reads, which the program asks for: to volatile and atomic variables. */
#include <stdio.h>

enum { TIMES = 2000000, PARTS = 4 };

typedef volatile int flag_type;
static flag_type flag, parts[PARTS];
static _Atomic int state;

__attribute__((noinline)) static void announce(int times)
{
    for (int i = 0; i < times; i++) {
        flag = i >> 20;
        parts[i % PARTS] = 5 + (i >> 21);
        __atomic_store_n((int *)&state, i >> 20, __ATOMIC_RELAXED);
    }
}

__attribute__((noinline)) static void touch(int times)
{
    for (int i = 0; i < times; i++) {
        volatile char seen = (char)(i >> 2);
        seen++;
    }
}

int main(void)
{
    announce(TIMES);
    touch(TIMES);
    printf("%d %d %d\n", flag, parts[1], state);
    return 0;
}
