/* Ten million small mallocs and frees as programs do them: search trees with lists at their nodes are built, walked
 * some times and dropped. With --pure nothing but malloc and free, pair by pair. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 10000000, KEYS = 60000, WALKS = 40, PARTS = 4 /* of building, and of the walks */ };

struct item {
    struct item *next;
    uint64_t value;
};

struct node {
    struct node *left, *right;
    struct item *items;
    uint64_t key;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        abort();
    return memory;
}

/* Adds a key, or one more item at a key that is there; returns the blocks taken. */
static unsigned add(struct node **root, uint64_t key)
{
    unsigned blocks = 1;
    while (*root && (*root)->key != key)
        root = key < (*root)->key ? &(*root)->left : &(*root)->right;
    if (!*root) {
        *root = allocate(sizeof **root);
        memset(*root, 0, sizeof **root);
        (*root)->key = key;
        blocks++;
    }
    struct item *item = allocate(sizeof *item + key % 48);
    item->value = key;
    item->next = (*root)->items;
    (*root)->items = item;
    return blocks;
}

static uint64_t sum(const struct node *node)
{
    if (!node)
        return 0;
    uint64_t total = node->key + sum(node->left) + sum(node->right);
    for (const struct item *item = node->items; item; item = item->next)
        total += item->value;
    return total;
}

static void drop(struct node *node)
{
    if (!node)
        return;
    drop(node->left);
    drop(node->right);
    for (struct item *item = node->items, *next; item; item = next) {
        next = item->next;
        free(item);
    }
    free(node);
}

static void pure(void)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        void *volatile memory = malloc(16 + i % 64);
        free(memory);
    }
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    uint64_t total = 0, blocks = 0;
    double seconds = 0;
    if (argc > 1 && !strcmp(argv[1], "--pure")) {
        pure();
        return 0;
    }
    while (blocks < BLOCKS) { /* in pieces that bench/within sees: WITHIN_PIECES of bench/cost */
        struct node *root = NULL;
        for (unsigned part = 0; part < PARTS; part++) {
            double begun = cpu_seconds();
            for (unsigned i = 0; i < 2 * KEYS / PARTS; i++)
                blocks += add(&root, random_next() % KEYS * 2654435761u % 1000003);
            seconds += cpu_seconds() - begun;
        }
        for (unsigned part = 0; part < PARTS; part++) {
            double begun = cpu_seconds();
            for (unsigned i = 0; i < WALKS / PARTS; i++)
                total += sum(root);
            seconds += cpu_seconds() - begun;
        }
        double begun = cpu_seconds();
        drop(root);
        seconds += cpu_seconds() - begun;
    }
    printf("%llu blocks, sum %llu, %.2f s\n", (unsigned long long)blocks, (unsigned long long)total, seconds);
    return 0;
}
