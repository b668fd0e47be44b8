/* Ways to end, after work of which it is known how much was for nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COUNT = 1 << 14, ROUNDS = 20 }; /* (ROUNDS - 1) * COUNT * 8 bytes are stored and never loaded */

static long table[COUNT] __attribute__((aligned(64)));

__attribute__((noinline)) static void work(void)
{
    for (long r = 1; r <= ROUNDS; r++)
        for (long i = 0; i < COUNT; i++)
            *(volatile long *)&table[i] = r;
}

__attribute__((noinline, target("avx2"))) static void work_avx2(void)
{
    for (long r = 1; r <= ROUNDS; r++)
        for (long i = 0; i < COUNT; i += 4)
            *(volatile __m256i *)&table[i] = _mm256_set1_epi64x(r);
}

__attribute__((noinline)) static void avx512(void)
{
    __asm__ volatile(".byte 0x62, 0xf1, 0xfd, 0x48, 0xef, 0xc0" ::: "memory"); /* vpxorq %zmm0, %zmm0, %zmm0 */
}

__attribute__((noinline)) static long deep(long n)
{
    volatile char frame[1000];
    frame[0] = (char)n;
    return n < 0 ? 0 : deep(n + 1) + frame[0];
}

static void made_code(void)
{
    static const unsigned char load[] = {0x8b, 0x04, 0x25, 8, 0, 0, 0}; /* mov 8, %eax */
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*run)(void);
    if (code == MAP_FAILED)
        return;
    memcpy(code, load, sizeof load);
    memcpy(&run, &code, sizeof run);
    run();
}

static void *end_all(void *unused)
{
    syscall(SYS_exit_group, 9);
    return unused;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "avx2") == 0)
        work_avx2();
    else
        work();
    puts("worked");
    fflush(stdout);
    if (strcmp(how, "avx512") == 0)
        avx512();
    if (strcmp(how, "overflow") == 0)
        return (int)deep(0);
    if (strcmp(how, "segv") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(how, "made") == 0)
        made_code();
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "spin") == 0)
        for (;;)
            work();
    if (strcmp(how, "group") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_all, NULL) == 0)
            for (;;)
                work();
    }
    if (strcmp(how, "syscall") == 0)
        return syscall(999) == -1 && errno == ENOSYS ? 3 : 1;
    if (strcmp(how, "memory") == 0)
        for (size_t bytes = 16 << 20;;) {
            char *block = malloc(bytes);
            if (!block)
                return 4;
            memset(block, 1, bytes / 1024);
        }
    if (strcmp(how, "exec") == 0)
        execv(argv[2], argv + 2);
    return 0;
}
