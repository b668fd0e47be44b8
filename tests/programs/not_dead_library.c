/* Part of not_dead.c: stores of use into a library's own data, which goes when the library does. */
enum { WORDS = 64 };

static volatile long table[WORDS];

void fill(long w)
{
    for (int i = 0; i < WORDS; i++) {
        for (int work = 0; work < 600; work++)
            __asm__ volatile("imul %0, %0" : "+r"(w));
        table[i] = w;
    }
}
