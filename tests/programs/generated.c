/* RedSpy's ratios in closed form (Wen's thesis, 3.4.1): generated ROUNDS. Two threads, one after the other, of which the second does
 * three times as much; each round generates a known number of bytes of each class, so that two runs differ by what ROUNDS differ.
 *
 * Stores, 8 bytes each: whole numbers: two, of which one is what was there; floating point: three, of which one is what was there and one
 * within 0.1 % of it. Loads likewise. Registers beside the loads: whole numbers: one that is there already, and one that counts down. */
#include <pthread.h>
#include <stdlib.h>

static void work(long rounds)
{
    static double numbers[2] __attribute__((aligned(16))) = {1000, 1000.5};
    static double far[2] __attribute__((aligned(16))) = {7, 9};
    struct place {
        long same, other;
        double equal, near, far;
    } place = {77, 0, 5, 0, 0}, *at = &place;
    const double *x = numbers, *y = far;
    const double five = 5;
    long other = rounds;
    __asm__ volatile("movsd %[five], %%xmm2\n"
                     "1:\n\t"
                     "movq $77, (%[at])\n\t"       /* stores: what was there */
                     "mov %[other], 8(%[at])\n\t"  /* ... something else */
                     "movsd %%xmm2, 16(%[at])\n\t" /* ... what was there */
                     "movsd (%[x]), %%xmm3\n\t"    /* loads: within 0.1 % */
                     "movsd %%xmm3, 24(%[at])\n\t"
                     "movsd (%[y]), %%xmm4\n\t" /* ... something else */
                     "movsd %%xmm4, 32(%[at])\n\t"
                     "movsd 16(%[at]), %%xmm5\n\t" /* ... what was there */
                     "mov (%[at]), %%rdx\n\t"      /* ... what was there */
                     "mov 8(%[at]), %%rsi\n\t"     /* ... something else */
                     "mov $99, %%edi\n\t"          /* registers: what was there */
                     "xor $8, %[x]\n\t"            /* ... something else, three times: */
                     "xor $8, %[y]\n\t"
                     "dec %[other]\n\t"
                     "jnz 1b"
                     : [other] "+r"(other), [x] "+r"(x), [y] "+r"(y)
                     : [at] "r"(at), [five] "x"(five)
                     : "rdx", "rsi", "rdi", "xmm2", "xmm3", "xmm4", "xmm5", "memory", "cc");
}

static void *one(void *rounds)
{
    work(atol(rounds));
    return NULL;
}

static void *three(void *rounds)
{
    work(3 * atol(rounds));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 2)
        return 2;
    pthread_create(&thread, NULL, one, argv[1]);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, three, argv[1]);
    pthread_join(thread, NULL);
    return 0;
}
