/* An array of structures of SIZE bytes (a multiple of 4), of which two loops use one or two fields. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if SIZE % 8 == 0
typedef int64_t value; /* integers: loops over them are vectorised */
#else
typedef int32_t value;
#endif

struct item {
    value first;
#if SIZE > 8
    char gap[SIZE - 2 * sizeof(value)];
#endif
#if SIZE >= 8 && (SIZE % 8 || SIZE >= 16)
    value last;
#endif
};
_Static_assert(sizeof(struct item) == SIZE, "size");

enum { BYTES = 48 << 20, COUNT = BYTES / SIZE };

__attribute__((noinline)) static void set(struct item *items)
{
    for (size_t i = 0; i < COUNT; i++)
        items[i].first = (value)(i % 8);
}

__attribute__((noinline)) static value sum_first(const struct item *items)
{
    value sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += items[i].first;
    return sum;
}

#if SIZE > 8
__attribute__((noinline)) static value sum_both(struct item *items)
{
    value sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        items[i].last = items[i].first + 1;
        sum += items[i].last;
    }
    return sum;
}
#endif

int main(int argc, char **argv)
{
    struct item *items = calloc(COUNT, sizeof *items);
    value sum = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    if (!items)
        return 1;
    set(items);
    for (int round = 0; round < rounds; round++) {
        __asm__ volatile("" ::: "memory"); /* or the first sum would be done once */
        sum += sum_first(items);
#if SIZE > 8
        sum += sum_both(items);
#endif
    }
    printf("%lld\n", (long long)sum);
    free(items);
    return 0;
}
