/* Part of not_dead.c: stores of use into frames that an exception leaves. */
enum { WORDS = 64 };

__attribute__((noinline)) static void deep(long w)
{
    volatile long local[WORDS];
    for (int i = 0; i < WORDS; i++) {
        for (int work = 0; work < 6; work++)
            __asm__ volatile("imul %0, %0" : "+r"(w));
        local[i] = w;
    }
    throw local[0];
}

extern "C" void not_dead_throw(long w)
{
    for (int k = 0; k < 20; k++)
        try {
            deep(w);
        } catch (long) {
        }
}
