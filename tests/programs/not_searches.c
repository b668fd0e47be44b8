/* What looks like a search from one end to the other, and is not worth changing: a few keys in each of many nodes, a skip list.
 * A hash table whose chains are compared by memcmp(), and a tree whose nodes are by strcmp(). A loop with a constant that the compiler
 * keeps in memory. Two results of one loop that stay as they were, and a linear search by strcmp(), are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 4096, KEYS = 6, LEVELS = 12, TOWERS = 2000, WEIGHTS = 20000, ENTRIES = 4096, CHAINS = 2048, NAMES = 400 };

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

struct entry {
    struct entry *next, *left, *right;
    char key[24];
    size_t length;
};
static struct entry *chains[CHAINS], *root, entries[ENTRIES];

__attribute__((noinline)) static const struct entry *chained(const char *key, size_t length)
{
    size_t hash = length;
    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)key[i];
    for (const struct entry *at = chains[hash % CHAINS]; at; at = at->next)
        if (at->length == length && memcmp(at->key, key, length) == 0)
            return at;
    return NULL;
}

__attribute__((noinline)) static const struct entry *in_tree(const struct entry *at, const char *key)
{
    while (at) {
        int order = strcmp(key, at->key);
        if (order == 0)
            return at;
        at = order < 0 ? at->left : at->right;
    }
    return NULL;
}

static const char *names[NAMES];

__attribute__((noinline)) static long by_name(const char *key)
{
    for (long i = 0; i < NAMES; i++)
        if (strcmp(names[i], key) == 0)
            return i;
    return -1;
}

static void add_entries(void)
{
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *entry = &entries[i], **to = &root;
        size_t hash = entry->length = (size_t)snprintf(entry->key, sizeof entry->key, "key %llu", (unsigned long long)next() % 100000);
        for (size_t k = 0; k < entry->length; k++)
            hash = hash * 31 + (unsigned char)entry->key[k];
        entry->next = chains[hash % CHAINS];
        chains[hash % CHAINS] = entry;
        while (*to)
            to = strcmp(entry->key, (*to)->key) < 0 ? &(*to)->left : &(*to)->right;
        *to = entry;
        if (i < NAMES)
            names[i] = entry->key;
    }
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
    add_entries();
    for (int i = 0; i < 40000; i++) {
        const struct entry *key = &entries[next() % ENTRIES];
        sum += chained(key->key, key->length)->length + in_tree(root, key->key)->length;
    }
    for (int i = 0; i < 1000; i++)
        sum += (uint64_t)by_name(names[next() % NAMES]);
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
