/* Types, variables and accesses known by construction, for tests/unit/test_types.c. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct vec3 {
    float x, y, z;
};

struct node {
    int key;
    struct node *left, *right;
    double w[4];
    struct vec3 position;
    int (*compare)(const void *, const void *);
    union {
        int number;
        float real;
    };
    struct {
        short low, high;
    };
    unsigned a : 3, b : 9;
    uint64_t wide : 40;
    const char *const name;
    int grid[2][3];
};

typedef struct {
    double value;
    long tag;
} pair_t;

typedef struct edge {
    struct node *from, *to;
} edge;

struct graph {
    size_t count;
    struct node *nodes;
    edge *edges;
};

struct node pool[100];
static pair_t pairs[7][3];
static struct node *table;
double plain[50];
struct opaque *hidden;

long sum_keys(const struct node *list, int n);
__attribute__((noinline)) long sum_keys(const struct node *list, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i].key;
    return sum;
}

double sum_graph(struct graph *graph);
__attribute__((noinline)) double sum_graph(struct graph *graph)
{
    double sum = 0;
    for (size_t i = 0; i < graph->count; i++)
        sum += graph->nodes[i].w[2];
    return sum;
}

struct node *make_nodes(size_t n);
__attribute__((noinline)) struct node *make_nodes(size_t n)
{
    struct node *made = malloc(n * sizeof *made);
    if (made)
        made->key = 3;
    return made;
}

void fill_table(size_t n);
__attribute__((noinline)) void fill_table(size_t n)
{
    table = calloc(n, sizeof *table);
}

void use_pairs(pair_t *at);
__attribute__((noinline)) void use_pairs(pair_t *at)
{
    at[2].value += at[3].tag;
}

double on_stack(int n);
__attribute__((noinline)) double on_stack(int n)
{
    pair_t local[16];
    for (int i = 0; i < 16; i++)
        local[i] = (pair_t){n, i};
    use_pairs(local);
    return local[2].value;
}

struct counter {
    volatile int value;
} counters[2];
struct buffer { /* lengths whose last index has the highest bit of one or two bytes set */
    char text[200];
    int table[256];
    short many[40000];
    long last;
} buffers[200];
struct letter {
    long at;
    struct counter count;
    char text[44]; /* has room for a counter, but is none */
} letters[3];

int main(int argc, char **argv)
{
    static int calls;
    calls += argc;
    struct graph graph = {1, make_nodes(4), NULL};
    fill_table(20);
    pairs[argc][1].value = 3;
    buffers[argc].last = sum_keys(pool, argc);
    printf("%ld\n", buffers[argc - 1].last);
    plain[argc] = 2;
    printf("%d %f %s\n", calls, plain[argc - 1], argv[0]);
    return (int)(sum_keys(pool, argc) + sum_keys(table, argc)) + (int)sum_graph(&graph) + (int)on_stack(argc) + (hidden != NULL) +
           (int)pairs[0][argc].tag + counters[argc].value + letters[argc].count.value;
}
