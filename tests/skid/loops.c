/* Runs the labelled loops for a while each and writes what is true of them, for check.c:
 *   case NAME START END KIND        KIND: load, store (the marked accesses get the weight), compute (none does), any,
 *                                  most (a load that the processor lets slip away from now and then)
 *   access IP LOW BYTES ELEMENT OFFSET MARK
 * An access at IP touches [LOW, LOW + BYTES), at OFFSET of each ELEMENT (0: anywhere). MARK: hot, cold. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { NODES = 1 << 20, TABLE = 64, NEAR = 8 };

struct node {
    uint64_t word[8];
};

#define LOOP(name) extern const char skid_##name[], skid_##name##_end[]
#define AT(name) extern const char at_##name[]

LOOP(chase); LOOP(chase_alu); LOOP(index); LOOP(loadop); LOOP(slips); LOOP(compare); LOOP(found); LOOP(joined); LOOP(mixed); LOOP(pair); LOOP(gather);
LOOP(rep_movs); LOOP(rep_stos); LOOP(stores); LOOP(unrolled); LOOP(vector); LOOP(tls); LOOP(rewritten); LOOP(cases);
LOOP(compute);
AT(chase); AT(chase_alu); AT(index); AT(loadop); AT(slips); AT(compare); AT(compare_next); AT(mixed_hit1); AT(mixed_hit2); AT(mixed_hit3);
AT(mixed_store); AT(mixed_miss); AT(pair_near); AT(pair_far); AT(gather); AT(rep_movs); AT(rep_stos); AT(stores);
AT(unrolled0); AT(unrolled8); AT(unrolled16); AT(unrolled24); AT(vector_load); AT(vector_store); AT(tls);
AT(rewritten_store); AT(rewritten_slot); AT(rewritten_node); AT(rewritten_back); AT(cases_first); AT(cases_second);
AT(cases_third); AT(cases_table_load); AT(compute_before); AT(found); AT(found_next);
AT(joined_near); AT(joined_next); AT(joined_far);

static FILE *truth;
static double seconds = 0.4;
static __thread uint64_t tls_array[1024];

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at); /* not wall time: the machine may be busy */
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void tell_case(const char *name, const char *start, const char *end, const char *kind)
{
    fprintf(truth, "case %s %llx %llx %s\n", name, (unsigned long long)(uintptr_t)start,
            (unsigned long long)(uintptr_t)end, kind);
}

static void tell(const char *ip, const void *low, size_t bytes, size_t element, size_t offset, const char *mark)
{
    fprintf(truth, "access %llx %llx %zx %zx %zx %s\n", (unsigned long long)(uintptr_t)ip,
            (unsigned long long)(uintptr_t)low, bytes, element, offset, mark);
}

static uint64_t run(const char *code, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t (*loop)(uint64_t, uint64_t, uint64_t, uint64_t) = (void *)(uintptr_t)code;
    uint64_t result = 0;
    for (double end = now() + seconds; now() < end;)
        result += loop(a, b, c, d);
    return result;
}

#define CASE(name, kind) tell_case(#name, skid_##name, skid_##name##_end, kind)
#define RUN(name, a, b, c, d) run(skid_##name, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d))

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void *must(void *memory)
{
    if (!memory)
        exit(2);
    return memory;
}

/* Small pages, so that a miss takes long against what else a loop does. */
static void *far_memory(size_t bytes)
{
    void *memory = must(aligned_alloc(4096, bytes));
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

/* One ring through all nodes in random order, through words 0 and 1, and word 2 as a distance. */
static void link_ring(struct node *nodes, unsigned count)
{
    uint32_t *order = must(malloc(count * sizeof *order));
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count - 1; i > 0; i--) {
        unsigned j = (unsigned)(random_next() % (i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (unsigned i = 0; i < count; i++) {
        struct node *next = &nodes[order[(i + 1) % count]];
        nodes[order[i]].word[0] = (uint64_t)(uintptr_t)&next->word[0];
        nodes[order[i]].word[1] = (uint64_t)(uintptr_t)next;
        nodes[order[i]].word[2] = (uint64_t)(uintptr_t)next - (uint64_t)(uintptr_t)&nodes[order[i]];
    }
    free(order);
}

static uint64_t *index_ring(unsigned count)
{
    uint64_t *array = must(malloc(count * sizeof *array));
    for (unsigned i = 0; i < count; i++)
        array[i] = i;
    for (unsigned i = count - 1; i > 0; i--) { /* Sattolo: one cycle */
        unsigned j = (unsigned)(random_next() % i);
        uint64_t swap = array[i];
        array[i] = array[j];
        array[j] = swap;
    }
    return array;
}

int main(int count, char **arguments)
{
    if (count < 2 || !(truth = fopen(arguments[1], "w")))
        return 2;
    if (count > 2)
        seconds = atof(arguments[2]);
    size_t bytes = NODES * sizeof(struct node), node = sizeof(struct node);
    struct node *nodes = far_memory(bytes), *others = far_memory(bytes);
    struct node *near = must(aligned_alloc(64, NEAR * node));
    uint64_t *table = must(calloc(4 * TABLE, 8)), *slot = must(calloc(8, 8)), *decoy = must(calloc(64, 8));
    uint64_t *one = must(calloc(64, 8));
    memset(others, 1, bytes);
    memset(nodes, 0, bytes);
    memset(near, 0, NEAR * node);
    link_ring(nodes, NODES);
    link_ring(near, NEAR);
    uint64_t sum = 0;

    CASE(chase, "load");
    tell(at_chase, nodes, bytes, node, 8, "hot");
    sum += RUN(chase, nodes, 10000, 0, 0);

    CASE(chase_alu, "load");
    tell(at_chase_alu, nodes, bytes, node, 0, "hot");
    sum += RUN(chase_alu, nodes, 10000, 0, 0);

    CASE(loadop, "load");
    tell(at_loadop, nodes, bytes, node, 16, "hot");
    sum += RUN(loadop, nodes, 10000, 0, 0);

    CASE(slips, "most");
    tell(at_slips, nodes, bytes, node, 8, "hot");
    sum += RUN(slips, nodes, nodes, 10000, 0);

    CASE(compare, "load");
    tell(at_compare, nodes, bytes, node, 24, "hot");
    tell(at_compare_next, nodes, bytes, node, 8, "cold");
    sum += RUN(compare, nodes, 10000, 0, 0);

    CASE(found, "load");
    tell(at_found, nodes, bytes, node, 24, "hot");
    tell(at_found_next, nodes, bytes, node, 8, "cold");
    sum += RUN(found, nodes, 10000, 0, 0);

    CASE(joined, "load");
    tell(at_joined_near, near, NEAR * node, node, 24, "cold");
    tell(at_joined_next, nodes, bytes, node, 8, "cold");
    tell(at_joined_far, nodes, bytes, node, 24, "hot");
    sum += RUN(joined, nodes, near, 10000, 0);

    CASE(mixed, "load");
    tell(at_mixed_hit1, table, TABLE * 8, 8, 0, "cold");
    tell(at_mixed_hit2, table, TABLE * 8, 8, 0, "cold");
    tell(at_mixed_hit3, table + 1, 8, 8, 0, "cold");
    tell(at_mixed_store, table + TABLE, TABLE * 8, 8, 0, "cold");
    tell(at_mixed_miss, nodes, bytes, node, 8, "hot");
    sum += RUN(mixed, nodes, table, 10000, 0);

    CASE(pair, "load");
    tell(at_pair_near, near, NEAR * node, node, 8, "cold");
    tell(at_pair_far, nodes, bytes, node, 8, "hot");
    sum += RUN(pair, nodes, near, 10000, 0);

    size_t words = bytes / 8;
    uint64_t *indices = index_ring((unsigned)words / 2);
    CASE(index, "load");
    tell(at_index, indices, words / 2 * 8, 8, 0, "hot");
    sum += RUN(index, indices, 0, 10000, 0);
    if (__builtin_cpu_supports("avx2")) {
        const uint64_t start[4] = {0, 1, 2, 3};
        CASE(gather, "load");
        tell(at_gather, indices, words / 2 * 8, 8, 0, "hot");
        sum += RUN(gather, indices, start, 10000, 0);
    }
    free(indices);

    CASE(stores, "store");
    tell(at_stores, others, bytes, node, 16, "hot");
    sum += RUN(stores, others, NODES - 1, 100000, 0);

    CASE(rep_movs, "load");
    tell(at_rep_movs, others, bytes, 8, 0, "hot"); /* the load */
    tell(at_rep_movs, nodes, bytes, 8, 0, "hot");  /* and the store */
    sum += RUN(rep_movs, nodes, others, words, 0);

    CASE(rep_stos, "store");
    tell(at_rep_stos, nodes, bytes, 8, 0, "hot");
    sum += RUN(rep_stos, nodes, words, 0, 0);

    CASE(unrolled, "any");
    tell(at_unrolled0, others, bytes, 32, 0, "hot");
    tell(at_unrolled8, others, bytes, 32, 8, "hot");
    tell(at_unrolled16, others, bytes, 32, 16, "hot");
    tell(at_unrolled24, others, bytes, 32, 24, "hot");
    sum += RUN(unrolled, others, (char *)others + bytes, 1, 0);

    CASE(vector, "any");
    tell(at_vector_load, others, bytes, 64, 32, "hot");
    tell(at_vector_store, nodes, bytes, 64, 0, "hot");
    sum += RUN(vector, others, nodes, bytes, 1);

    CASE(tls, "any");
    tell(at_tls, tls_array, sizeof tls_array, 8, 0, "hot");
    sum += RUN(tls, (char *)tls_array - (char *)__builtin_thread_pointer(), 1023, 100000, 0);

    CASE(rewritten, "any");
    tell(at_rewritten_store, slot, 8, 8, 0, "cold");
    tell(at_rewritten_slot, slot, 8, 8, 0, "cold");
    tell(at_rewritten_node, one, 64, 64, 8, "cold");
    tell(at_rewritten_back, slot, 8, 8, 0, "cold");
    sum += RUN(rewritten, slot, one, decoy, 100000);

    CASE(cases, "any");
    tell(at_cases_first, nodes, bytes / 2, node, 8, "hot");
    tell(at_cases_second, others, bytes / 2, node, 40, "hot");
    tell(at_cases_third, nodes, bytes / 2, node, 16, "hot");
    tell(at_cases_table_load, (void *)0, 0, 4, 0, "cold"); /* any address of it: not checked */
    sum += RUN(cases, nodes, others, 100000, 0);

    CASE(compute, "compute");
    tell(at_compute_before, table, 8, 8, 0, "cold");
    sum += RUN(compute, table, table, 100000, 0);

    if (fclose(truth))
        return 2;
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
