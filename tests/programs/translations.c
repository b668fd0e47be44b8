/* What makes translations come, go and be left in odd ways: code that is changed after it has run, a function that the program
 * wraps for Valgrind, signals, jumps out of their handlers. stdout: "right", or what was wrong. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <valgrind/valgrind.h>

enum { TIMES = 20000, CHANGED_EACH = 7, RAISED_EACH = 100 };

static sigjmp_buf back;
static volatile int raised;

static void handler(int signal)
{
    (void)signal;
    raised++;
    siglongjmp(back, 1);
}

__attribute__((noinline)) static int twice(int x)
{
    __asm__ volatile("" : "+r"(x));
    return 2 * x;
}

int I_WRAP_SONAME_FNNAME_ZU(NONE, twice)(int x);
int I_WRAP_SONAME_FNNAME_ZU(NONE, twice)(int x)
{
    OrigFn original;
    int result;
    VALGRIND_GET_ORIG_FN(original);
    CALL_FN_W_W(result, original, x);
    return result + 1;
}

int main(void)
{
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int (*made)(void) = (int (*)(void))(void *)code, last = 0;
    if (code == MAP_FAILED)
        return 1;
    signal(SIGUSR1, handler);
    for (volatile int i = 0; i < TIMES; i++) {
        unsigned char next[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov $last, %eax; ret */
        if (i % CHANGED_EACH == 0) {
            last = i;
            memcpy(&next[1], &last, sizeof last);
            memcpy(code, next, sizeof next);
        }
        if (made() != last || twice(i) != 2 * i + (RUNNING_ON_VALGRIND != 0))
            return printf("wrong at %d\n", i), 1;
        if (i % RAISED_EACH == 0 && !sigsetjmp(back, 1))
            raise(SIGUSR1);
    }
    printf(raised == TIMES / RAISED_EACH ? "right\n" : "%d signals\n", raised);
    return 0;
}
