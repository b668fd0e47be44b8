/* Cells of a union with a large member lie as close in an arena as the member that they use needs, as those of a Scheme interpreter do. */
#include <stdio.h>
#include <stdlib.h>

struct cell {
    long tag;
    union {
        struct {
            struct cell *first, *rest;
        } pair;
        long number;
        char text[4000];
    } value;
};

enum { ARENA = 16 << 20, PAIR = 3 * sizeof(long), PAIRS = ARENA / 4 / PAIR };

int main(void)
{
    char *arena = malloc(ARENA), *end = arena;
    struct cell *list = NULL;
    long sum = 0;
    if (!arena)
        return 1;
    for (long i = 0; i < PAIRS; i++) {
        struct cell *number = (struct cell *)end, *pair = (struct cell *)(end + 2 * sizeof(long) + (size_t)(i % 3) * sizeof(long));
        end = (char *)pair + PAIR;
        number->tag = 1;
        number->value.number = i;
        pair->tag = 2;
        pair->value.pair.first = number;
        pair->value.pair.rest = list;
        list = pair;
    }
    for (int pass = 0; pass < 2; pass++)
        for (const struct cell *at = list; at; at = at->value.pair.rest)
            sum += at->value.pair.first->value.number + at->tag;
    printf("%ld\n", sum);
    return 0;
}
