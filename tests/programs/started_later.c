/* Allocates a known number of blocks at once, frees some, and works on them for a while: `started_later MILLISECONDS [fork|frees]`.
 * `frees`: what is freed was allocated before the fork. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 3000, DROPPED = 100, NUMBERS = 100000 };

struct node {
    struct node *next;
    long key, pad;
};

static struct node *list(int count)
{
    struct node *first = NULL;
    for (int i = 0; i < count; i++) {
        struct node *node = malloc(sizeof *node);
        *node = (struct node){first, i, 0};
        first = node;
    }
    return first;
}

static struct node *kept, *dropped;

static void allocate(void)
{
    kept = list(KEPT);
    dropped = list(DROPPED);
}

static long work(long milliseconds)
{
    while (dropped) {
        struct node *next = dropped->next;
        free(dropped);
        dropped = next;
    }
    long *numbers = calloc(NUMBERS, sizeof *numbers), sum = 0;
    numbers = realloc(numbers, 2 * NUMBERS * sizeof *numbers);
    clock_t from = clock();
    do {
        for (int i = 0; i < NUMBERS; i++)
            numbers[i] += i;
        for (struct node *node = kept; node; node = node->next)
            sum += node->key;
    } while (clock() - from < milliseconds * (CLOCKS_PER_SEC / 1000));
    return sum;
}

int main(int argc, char **argv)
{
    bool early = argc > 2 && !strcmp(argv[2], "frees");
    if (early)
        allocate();
    if (argc > 2 && fork() > 0) {
        wait(NULL);
        return 0;
    }
    if (!early)
        allocate();
    return work(atol(argv[1])) < 0;
}
