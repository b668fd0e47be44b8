/* A list whose elements lie a page apart is searched, and twice as many instructions compute something else: the search has most
 * of the time if each of its misses is waited for, and a third of it if none is. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ELEMENTS = 1000, PAGE = 4096, LOOKED_FOR = 1000, ROUNDS = 3 };

struct element {
    struct element *next;
    long key;
};

__attribute__((noinline)) static long find(const struct element *at, long key)
{
    for (; at; at = at->next)
        if (at->key == key)
            return key;
    return -1;
}

__attribute__((noinline)) static unsigned long compute(unsigned long state)
{
    for (int i = 0; i < ELEMENTS; i++)
        state = (state ^ state >> 7) * 5;
    return state;
}

int main(void)
{
    static long keys[LOOKED_FOR]; /* loaded once for each search: that tells how long it is */
    char *all = aligned_alloc(PAGE, (size_t)ELEMENTS * PAGE);
    struct element *first = NULL;
    unsigned long state = 1, sum = 0;
    if (!all)
        return 1;
    madvise(all, (size_t)ELEMENTS * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < ELEMENTS; i++) {
        struct element *element = (struct element *)(all + (size_t)i * PAGE);
        *element = (struct element){first, i};
        first = element;
    }
    for (int i = 0; i < LOOKED_FOR; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        keys[i] = (long)((state >> 33) % ELEMENTS);
    }
    for (int i = 0; i < ROUNDS * LOOKED_FOR; i++)
        sum += (unsigned long)find(first, keys[i % LOOKED_FOR]) + compute((unsigned long)i);
    printf("%lu\n", sum);
    return 0;
}
