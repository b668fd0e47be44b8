/* What looks like a search from one end to the other, and is not worth changing: a few keys in each of many nodes, a skip list.
 * A loop with a constant that the compiler keeps in memory. And two results of one loop that stay as they were. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 4096, KEYS = 6, LEVELS = 12, TOWERS = 2000, WEIGHTS = 20000 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

struct node {
    uint32_t count, key[KEYS], value[KEYS];
};
static struct node nodes[NODES];

__attribute__((noinline)) static uint32_t few_keys(const struct node *node, uint32_t key)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->key[i] == key)
            return node->value[i];
    return 0;
}

struct tower {
    uint64_t key;
    struct tower *next[LEVELS];
};

__attribute__((noinline)) static struct tower *skip_list(struct tower *at, int level, uint64_t key, struct tower **before)
{
    for (; level >= 0; level--) {
        while (at->next[level] && at->next[level]->key < key)
            at = at->next[level];
        if (before)
            before[level] = at;
    }
    return at->next[0];
}

static double total;
__attribute__((noinline)) static void add(double value)
{
    total += value;
}

__attribute__((noinline)) static void constants(int n)
{
    for (int i = 0; i < n; i++)
        add(i / 7.3);
}

static float weights[WEIGHTS], changes[WEIGHTS];

__attribute__((noinline)) static void update(const float *volatile *at, float delta)
{
    const float *inputs = *at;
    for (int i = 0; i < WEIGHTS; i++) {
        float change = 0.3f * delta * inputs[i] + 0.3f * changes[i];
        weights[i] += change; /* UPDATE */
        changes[i] = change;  /* UPDATE */
    }
}

int main(void)
{
    static struct tower head, towers[TOWERS];
    static float inputs[WEIGHTS];
    const float *volatile at = inputs;
    struct tower *before[LEVELS];
    uint64_t sum = 0;
    for (int i = 0; i < WEIGHTS; i++)
        weights[i] = (float)i, inputs[i] = 1;
    for (int i = 0; i < NODES; i++) {
        nodes[i].count = KEYS;
        for (int k = 0; k < KEYS; k++)
            nodes[i].key[k] = next() % 16;
    }
    for (int i = 0; i < TOWERS; i++) {
        towers[i].key = next();
        skip_list(&head, LEVELS - 1, towers[i].key, before);
        for (int level = __builtin_ctzll(next() | 1 << (LEVELS - 1)); level >= 0; level--) {
            towers[i].next[level] = before[level]->next[level];
            before[level]->next[level] = &towers[i];
        }
    }
    for (int i = 0; i < 60000; i++) {
        sum += few_keys(&nodes[next() % NODES], next() % 16);
        const struct tower *found = skip_list(&head, LEVELS - 1, next(), NULL);
        sum += found ? found->key : 0;
    }
    constants(300000);
    for (int pass = 0; pass < 60; pass++)
        update(&at, 0);
    printf("%llu %f %f\n", (unsigned long long)sum, total, (double)weights[5]);
}
