/* Values written to registers that have them, counted in closed form, each beside a version without it:
 *
 *     register_values bad|fixed|parts|exp|exp_fixed
 *
 * prints what an exact count has to find: "register BYTES FIRST SECOND", the lines of the pair, or "none FIRST LAST",
 * lines that are in no other pairs. Each write is an instruction of its own, to a register that nothing else in the loop
 * uses. "exp" is lavaMD's loop (Wen's thesis, listing 3.6): exp() of an argument that mostly is the one before. */
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 10000, ROUNDS = 8 };

static void pair(long bytes, int first, int second)
{
    printf("register %ld %d %d\n", bytes, first, second);
}

#define WRITE(text, register, ...) __asm__ volatile(text : : __VA_ARGS__ : register)

static double numbers[4] __attribute__((aligned(32))) = {1, 2, 1, 2}, wholes[2];
static float singles[4] __attribute__((aligned(16)));

enum { LINE = __LINE__ + 10 };
__attribute__((noinline)) static void write_registers(long step, int avx)
{
    for (long i = 0; i < N; i++) {
        int odd = (int)(i & 1);
        double next = odd && step ? 2 : 1;
        numbers[0] = numbers[2] = wholes[0] = next; /* with step 0 always the same */
        numbers[1] = numbers[3] = wholes[1] = odd ? 3 : 4;
        singles[0] = odd ? (float)next * 1.001F : (float)next;
        singles[1] = singles[2] = singles[3] = odd ? 1 : 100;
        WRITE("mov %k0, %%r12d", "r12", "r"(i * step));
        WRITE("mov %k0, %%r12d", "r12", "r"(i * step + 2 * step));
        WRITE("mov %0, %%r13", "r13", "r"(~(i * step)));
        WRITE("movsd %0, %%xmm9", "xmm9", "m"(numbers[0]));
        WRITE("movapd %0, %%xmm10", "xmm10", "m"(numbers[0]));
        WRITE("movdqu %0, %%xmm11", "xmm11", "m"(wholes[0]));
        WRITE("sqrtps %0, %%xmm12", "xmm12", "m"(singles[0]));
        WRITE("fldl %0; fstpl %0", "st", "m"(numbers[0]));
        WRITE("cmp %0, %0; cmovne %0, %%r14", "r14", "r"(i));
        if (avx)
            WRITE("vsqrtpd %0, %%ymm13", "xmm13", "m"(numbers[0]));
    }
    if (step) {
        printf("none %d %d\n", LINE, LINE + 10);
        return;
    }
    pair(N * 4L, LINE, LINE + 1); /* 0, twice */
    pair((N - 1) * 4L, LINE + 1, LINE);
    pair((N - 1) * 8L, LINE + 2, LINE + 2);
    pair((N - 1) * 8L, LINE + 3, LINE + 3);
    pair((N - 1) * 8L, LINE + 4, LINE + 4); /* one half of two; of integers (5) that is nothing */
    pair((N - 1) * 4L, LINE + 6, LINE + 6); /* one of four, within 0.05 % */
    pair((N - 1) * 8L, LINE + 7, LINE + 7);
    if (avx)
        pair((N - 1) * 16L, LINE + 10, LINE + 10);
}

/* Parts of one register: the lowest byte comes again every second time, the next one always. */
__attribute__((noinline)) static void write_parts(void)
{
    enum { HERE = __LINE__ };
    for (long i = 2; i < N + 2; i++) {
        WRITE("mov %%al, %%dl", "rdx", "a"(i >> 1));
        WRITE("mov %%al, %%dh", "rdx", "a"(7));
    }
    pair(N / 2 * 1L, HERE + 2, HERE + 2);
    pair((N - 1) * 1L, HERE + 3, HERE + 3);
}

static double distances[N];

enum { EXP = __LINE__ + 7 };
__attribute__((noinline)) static double lava(int ask)
{
    double sum = 0, last = -1, v = 0;
    for (int i = 0; i < N; i++) {
        double u = distances[i];
        if (!ask || u != last)
            v = exp(-u);
        last = u;
        sum += v * (i + 1);
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "bad") == 0 || strcmp(what, "fixed") == 0 || strcmp(what, "parts") == 0) {
        if (what[0] == 'p')
            write_parts();
        else
            write_registers(what[0] == 'f', __builtin_cpu_supports("avx") != 0);
        return 0;
    }
    double sum = 0, distance = 0;
    for (int i = 0; i < N; i += 100, distance += 0.07)
        for (int k = i; k < i + 100; k++)
            distances[k] = distance;
    for (int round = 0; round < ROUNDS; round++)
        sum += lava(strcmp(what, "exp_fixed") == 0);
    printf("line %d %d\n", EXP, EXP);
    return strncmp(what, "exp", 3) || sum < 0;
}
