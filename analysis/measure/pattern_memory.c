/* The memory that a pattern visits: arrays of the program's sizes, from fresh mappings as malloc has them, so that the system gives
 * them the pages that it gives the program. */
#include "analysis/measure/pattern.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { VISITS_MOST = 1 << 21 }; /* anywhere: of as many lines, several times what a last cache holds */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static const size_t page = 4096, huge_page = 2 << 20;
static const double line_bytes = 64;

static uint64_t memory_array(const struct lwp_pattern_array *array, uint64_t elements)
{
    return array->extent ? array->extent : elements * array->spacing;
}

/* What access `i` goes over in its array and none before it did, from *low to *high. Between such parts nothing is ever touched. */
static bool memory_part(const struct lwp_pattern *pattern, size_t i, uint64_t elements, uint64_t *low, uint64_t *high)
{
    const struct lwp_pattern_access *access = &pattern->accesses[i];
    const struct lwp_pattern_array *array = &pattern->arrays[access->array];
    *low = access->offset;
    *high = access->offset + elements * array->spacing + access->bytes;
    for (size_t k = 0; k < i; k++) {
        const struct lwp_pattern_access *other = &pattern->accesses[k];
        uint64_t end = other->offset + elements * array->spacing + other->bytes;
        if (other->array == access->array && other->offset <= *low && end > *low)
            *low = end;
    }
    return *low < *high;
}

/* An array of other elements than those that its accesses go over one by one. */
static bool memory_has_gaps(const struct lwp_pattern_array *array)
{
    return array->extent && array->walk == LWP_PATTERN_STEPS;
}

/* The rows of a nest that goes to a part of each of them: how far they are apart, how many there are, and what of them is touched. */
struct memory_rows {
    uint64_t apart, count, bytes;
};

/* False: they are not pages apart, and all of the array is touched. */
static bool memory_has_rows(const struct lwp_pattern *pattern, const struct lwp_pattern_array *array, uint64_t elements,
                            struct memory_rows *rows)
{
    enum { PAGES_LEAST = 3 };
    if (array->walk != LWP_PATTERN_NESTED || !pattern->inner || pattern->runs || !array->extent)
        return false;
    const uint64_t inner = pattern->inner < elements ? pattern->inner : elements, runs = (elements + inner - 1) / inner;
    const bool far = array->spacing > array->outer;
    *rows = (struct memory_rows){.apart = far ? array->spacing : array->outer,
                                 .count = far ? inner : runs,
                                 .bytes = ((far ? runs : inner) - 1) * (far ? array->outer : array->spacing)};
    return rows->apart > rows->bytes + PAGES_LEAST * page;
}

double lwp_pattern_bytes(const struct lwp_pattern *pattern)
{
    double bytes = 0;
    uint64_t low, high;
    struct memory_rows rows;
    for (size_t a = 0; a < pattern->array_count; a++)
        if (!pattern->arrays[a].within && memory_has_rows(pattern, &pattern->arrays[a], pattern->elements, &rows))
            bytes += (double)(pattern->arrays[a].extent / rows.apart + 1) * (double)(rows.bytes + 2 * page);
        else if (!memory_has_gaps(&pattern->arrays[a]) && !pattern->arrays[a].within)
            bytes += (double)memory_array(&pattern->arrays[a], pattern->elements);
    for (size_t i = 0; i < pattern->access_count; i++)
        if (memory_has_gaps(&pattern->arrays[pattern->accesses[i].array]) && memory_part(pattern, i, pattern->elements, &low, &high))
            bytes += (double)(high - low);
    return bytes;
}

double lwp_pattern_busy(const struct lwp_pattern *pattern)
{
    double bytes = 0;
    for (size_t a = 0; a < pattern->array_count; a++) {
        double lines = pattern->arrays[a].walk == LWP_PATTERN_CHAINED ? line_bytes : 0;
        for (size_t i = 0; i < pattern->access_count; i++)
            lines += pattern->accesses[i].array == a ? line_bytes : 0;
        bytes += (double)pattern->elements * fmin((double)pattern->arrays[a].spacing, lines);
    }
    return bytes;
}

static uint64_t memory_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* ---- the order of visits ---- */

/* Fisher and Yates. */
static void memory_disorder(uint32_t *items, uint64_t count, uint64_t *state)
{
    for (uint64_t i = count; i > 1; i--) {
        uint64_t other = memory_random(state) % i;
        uint32_t kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}

/* Runs of 1 / far elements on average that stay together, one after the other in another order. */
static int memory_shuffle(double far, uint32_t *order, uint32_t count, uint64_t *state)
{
    uint64_t runs = 0, most = (uint64_t)(fmin(1, far) * 4294967296.0);
    uint32_t *starts = malloc(((size_t)count + 1) * sizeof *starts), *near = malloc(count * sizeof *near), *which = NULL;
    for (uint32_t i = 0; starts && i < count; i++)
        if (i == 0 || (memory_random(state) >> 32) < most)
            starts[runs++] = i;
    which = malloc((runs + 1) * sizeof *which);
    int status = starts && near && which ? LWP_OK : LWP_ERR_MEMORY;
    if (!status) {
        starts[runs] = count;
        memcpy(near, order, count * sizeof *near);
        for (uint64_t i = 0; i < runs; i++)
            which[i] = (uint32_t)i;
        memory_disorder(which, runs, state);
        for (uint64_t i = 0, at = 0; i < runs; i++)
            for (uint32_t e = starts[which[i]]; e < starts[which[i] + 1]; e++)
                order[at++] = near[e];
    }
    free(which);
    free(near);
    free(starts);
    return status;
}

/* Whether visits go anywhere, independent of the one before. A tree has all elements. */
static bool memory_scattered(const struct lwp_pattern *pattern)
{
    return pattern->far >= 1 && pattern->window <= 1 && !pattern->inner && !pattern->tree && !pattern->bisects;
}

/* Elements in no order, each once: `i` is mixed by steps that lead to each number below a power of two once. */
static uint32_t memory_mixed(uint32_t i, uint32_t count)
{
    unsigned bits = 2;
    while (bits < 32 && count > (uint32_t)1 << bits)
        bits++;
    const uint32_t mask = bits < 32 ? ((uint32_t)1 << bits) - 1 : UINT32_MAX;
    uint32_t at = i;
    do
        for (int round = 0; round < 3; round++) {
            at = (at * 0x9e3779b1 + 0x7f4a7c15) & mask;
            at ^= at >> (bits / 2);
        }
    while (at >= count);
    return at;
}

/* A chain goes through each element once. */
static bool memory_draws(const struct lwp_pattern *pattern)
{
    bool draws = pattern->far >= 1;
    for (size_t a = 0; a < pattern->array_count; a++)
        draws &= pattern->arrays[a].walk != LWP_PATTERN_CHAINED && !pattern->arrays[a].leads;
    return draws;
}

/* Round and round, each element once: where a round ends at its first element the next one begins beside it. */
static void memory_jumps(uint64_t jump, uint32_t elements, uint32_t *order, uint32_t count)
{
    uint64_t first = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint32_t)at;
        at = (at + jump) % elements;
        if (at == first)
            first = at = (first + 1) % elements;
    }
}

/* Which pass an element is in. */
static uint32_t memory_pass(const struct lwp_pattern *pattern, uint32_t element)
{
    return pattern->even ? element % pattern->passes : memory_mixed(element, UINT32_MAX) % pattern->passes;
}

static int memory_passes(const struct lwp_pattern *pattern, uint32_t *order, uint32_t count)
{
    uint32_t *next = calloc((size_t)pattern->passes + 1, sizeof *next); /* place of each pass' next element */
    if (!next)
        return LWP_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        next[memory_pass(pattern, i) + 1]++;
    for (uint32_t p = 1; p < pattern->passes; p++)
        next[p] += next[p - 1];
    for (uint32_t i = 0; i < count; i++)
        order[next[memory_pass(pattern, i)]++] = i;
    free(next);
    return LWP_OK;
}

/* One after the other, each window in disorder, or pass after pass; a part of the steps goes anywhere. */
static int memory_neighbours(const struct lwp_pattern *pattern, uint32_t *order, uint32_t count, uint64_t *state)
{
    int status = LWP_OK;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint64_t i = 0; pattern->window > 1 && i < count; i += pattern->window)
        memory_disorder(order + i, count - i < pattern->window ? count - i : pattern->window, state);
    if (pattern->passes > 1)
        status = memory_passes(pattern, order, count);
    return !status && pattern->far > 0 ? memory_shuffle(pattern->far, order, count, state) : status;
}

/* ---- trees: each level has twice as many elements as the one before ---- */

static uint64_t memory_child(uint64_t element, unsigned which)
{
    return 2 * element + 1 + which;
}

/* From the leftmost one to the rightmost, as sorted data is put in. */
static uint32_t memory_sorted(uint32_t *order, uint64_t count, uint64_t element, uint32_t next)
{
    if (element >= count)
        return next;
    order[element] = memory_sorted(order, count, memory_child(element, 0), next);
    return memory_sorted(order, count, memory_child(element, 1), order[element] + 1);
}

static void memory_tree(const struct lwp_pattern *pattern, uint32_t *order, uint32_t count)
{
    if (pattern->far < 1)
        memory_sorted(order, count, 0, 0);
    for (uint32_t i = 0; pattern->far >= 1 && i < count; i++)
        order[i] = memory_mixed(i, count);
}

static int memory_visits(const struct lwp_pattern *pattern, uint32_t elements, uint32_t *order, uint32_t count)
{
    uint64_t state = 88172645463325252ull;
    if (pattern->tree)
        memory_tree(pattern, order, count);
    else if (pattern->jump)
        memory_jumps(pattern->jump, elements, order, count);
    else if (memory_draws(pattern))
        for (uint32_t i = 0; i < count; i++)
            order[i] = (uint32_t)(memory_random(&state) % elements);
    else if (memory_scattered(pattern))
        for (uint32_t i = 0; i < count; i++)
            order[i] = memory_mixed(i, elements);
    else
        return memory_neighbours(pattern, order, count, &state);
    return LWP_OK;
}

static int memory_order(const struct lwp_pattern *pattern, struct lwp_pattern_memory *memory, struct lwp_error *err)
{
    if (pattern->inner || pattern->draws || pattern->bisects)
        return LWP_OK;
    memory->order = malloc(memory->visits * sizeof *memory->order);
    const int status =
        memory->order ? memory_visits(pattern, (uint32_t)memory->elements, memory->order, (uint32_t)memory->visits) : LWP_ERR_MEMORY;
    return status ? lwp_error_set(err, status, "no memory for the indices of a pattern") : LWP_OK;
}

static void memory_leads(const struct lwp_pattern *pattern, const struct lwp_pattern_memory *memory)
{
    const size_t leader = lwp_pattern_leader(pattern);
    for (uint64_t i = 0; leader < pattern->array_count && i < memory->visits; i++)
        memcpy(memory->first[leader] + memory->order[i] * pattern->arrays[leader].spacing + pattern->arrays[leader].link,
               &memory->order[(i + 1) % memory->visits], sizeof *memory->order);
}

static bool memory_has_heads(const struct lwp_pattern *pattern)
{
    return pattern->heads && pattern->search && pattern->arrays[0].walk == LWP_PATTERN_CHAINED;
}

static void memory_put(uint8_t *at, const uint8_t *address)
{
    memcpy(at, &address, sizeof address);
}

static void memory_links(const struct lwp_pattern *pattern, const struct lwp_pattern_memory *memory)
{
    const struct lwp_pattern_array *chain = &pattern->arrays[0];
    for (uint64_t i = 0; memory->order && i < memory->visits; i++) {
        const uint64_t element = memory->order[i];
        uint8_t *at = memory->first[0] + element * chain->spacing + chain->link;
        for (unsigned which = 0; which < 2 && pattern->tree; which++) {
            const uint64_t child = memory_child(i, which);
            memory_put(at + which * sizeof at, memory->first[0] + memory->order[child < memory->visits ? child : 0] * chain->spacing);
        }
        if (chain->walk == LWP_PATTERN_CHAINED && !pattern->tree)
            memory_put(at, memory->first[0] + memory->order[(i + 1) % memory->visits] * chain->spacing);
    }
}

/* Each element has the addresses of those of the same number in arrays that are linked to its own. */
static void memory_linked(const struct lwp_pattern *pattern, const struct lwp_pattern_memory *memory)
{
    for (size_t a = 1; a < pattern->array_count; a++) {
        const struct lwp_pattern_array *array = &pattern->arrays[a];
        for (uint64_t i = 0; i < memory->elements && array->walk == LWP_PATTERN_LINKED; i++)
            memory_put(memory->first[array->from] + i * pattern->arrays[array->from].spacing + array->link,
                       memory->first[a] + i * array->spacing);
    }
}

/* Where visits go beside a chain, once that is linked: anywhere, however near the chain's own elements are. */
static void memory_beside(const struct lwp_pattern *pattern, struct lwp_pattern_memory *memory)
{
    bool indexed = false;
    for (size_t a = 1; a < pattern->array_count; a++)
        indexed |= pattern->arrays[a].walk == LWP_PATTERN_INDEXED && !pattern->arrays[a].leads;
    const bool chain = pattern->arrays[0].walk == LWP_PATTERN_CHAINED && !pattern->search && !pattern->tree;
    for (uint64_t i = 0; memory->order && indexed && chain && i < memory->visits; i++)
        memory->order[i] = memory_mixed((uint32_t)i, (uint32_t)memory->elements);
}

/* Searches come to the table in no order. */
static int memory_heads(const struct lwp_pattern *pattern, struct lwp_pattern_memory *memory, struct lwp_error *err)
{
    const uint32_t searches = (uint32_t)(memory->visits / pattern->search);
    memory->heads_bytes = searches * pattern->heads;
    void *const mapped = mmap(NULL, memory->heads_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return lwp_error_errno(err, "no memory for where the searches of a pattern begin");
    memory->heads = mapped;
    for (uint32_t i = 0; i < searches; i++) {
        uint32_t *const first = &memory->order[(size_t)i * pattern->search];
        const uint32_t place = memory_mixed(i, searches);
        memory_put(memory->heads + place * pattern->heads, memory->first[0] + *first * pattern->arrays[0].spacing);
        *first = place;
    }
    return LWP_OK;
}

/* Its pages come in one call, where the kernel has that (Linux 5.14): one by one each takes 27 us in a guest of PVM, so 14. */
static void memory_fill(uint8_t *first, size_t bytes)
{
    uint8_t *start = first - (uintptr_t)first % page;
    (void)madvise(start, (size_t)(first + bytes - start), MADV_POPULATE_WRITE);
    memset(first, 1, bytes);
}

/* Of this process's memory, on huge pages; negative: not known. */
static double memory_huge_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    char text[256];
    uint64_t kib;
    double bytes = -1;
    while (file && fgets(text, sizeof text, file))
        if (sscanf(text, "AnonHugePages: %" SCNu64, &kib) == 1)
            bytes = 1024.0 * (double)kib;
    if (file)
        fclose(file);
    return bytes;
}

/* The part that the system gave on huge pages, which has none left when its memory is in pieces. `already`: memory_huge_bytes() before. */
static double memory_huge_part(const struct lwp_pattern *pattern, const struct lwp_pattern_memory *memory, double already)
{
    double asked = 0; /* a mapping begins and ends with a part of one */
    for (size_t a = 0; a < pattern->array_count && pattern->pages == LWP_PATTERN_HUGE; a++)
        if (memory->mapped_bytes[a] > 2 * huge_page)
            asked += (double)(memory->mapped_bytes[a] - 2 * huge_page);
    return asked > 0 && already >= 0 ? fmin(1, (memory_huge_bytes() - already) / asked) : 1;
}

int lwp_pattern_memory_make(const struct lwp_pattern *pattern, uint64_t elements, struct lwp_pattern_memory *memory, struct lwp_error *err)
{
    const bool some = memory_scattered(pattern) && !pattern->draws && elements > VISITS_MOST;
    const double already = pattern->pages == LWP_PATTERN_HUGE ? memory_huge_bytes() : -1;
    struct memory_rows rows;
    *memory = (struct lwp_pattern_memory){.elements = elements, .visits = some ? VISITS_MOST : elements};
    for (size_t a = 0; a < pattern->array_count; a++) {
        const struct lwp_pattern_array *array = &pattern->arrays[a];
        if (array->within)
            continue;
        size_t start = array->start % page, bytes = start + memory_array(array, elements) + 2 * page;
        memory->mapped[a] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory->mapped[a] == MAP_FAILED) {
            memory->mapped[a] = NULL;
            lwp_pattern_memory_free(memory);
            return lwp_error_errno(err, "no memory for the arrays of a pattern");
        }
        memory->mapped_bytes[a] = bytes;
        if (pattern->pages != LWP_PATTERN_AS_GIVEN) /* of a kernel without huge pages it fails, and all are small */
            (void)madvise(memory->mapped[a], bytes, pattern->pages == LWP_PATTERN_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        memory->first[a] = (uint8_t *)memory->mapped[a] + start;
        if (!memory_has_gaps(array) && !memory_has_rows(pattern, array, elements, &rows))
            memory_fill(memory->mapped[a], bytes);
    }
    for (size_t a = 0; a < pattern->array_count; a++)
        if (pattern->arrays[a].within)
            memory->first[a] = memory->first[pattern->arrays[a].within - 1];
    uint64_t low, high;
    for (size_t i = 0; i < pattern->access_count; i++) {
        const size_t a = pattern->accesses[i].array;
        const uint64_t offset = pattern->accesses[i].offset;
        if (memory_has_rows(pattern, &pattern->arrays[a], elements, &rows))
            for (uint64_t row = 0; row < rows.count; row++)
                memory_fill(memory->first[a] + offset + row * rows.apart, rows.bytes + pattern->accesses[i].bytes);
        if (memory_has_gaps(&pattern->arrays[a]) && memory_part(pattern, i, elements, &low, &high))
            memory_fill(memory->first[a] + low, high - low);
    }
    memory->huge = memory_huge_part(pattern, memory, already);
    int status = memory_order(pattern, memory, err);
    if (!status) {
        memory_links(pattern, memory);
        memory_linked(pattern, memory);
        memory_leads(pattern, memory);
        memory_beside(pattern, memory);
        status = memory_has_heads(pattern) ? memory_heads(pattern, memory, err) : LWP_OK;
    }
    if (status)
        lwp_pattern_memory_free(memory);
    return status;
}

void lwp_pattern_memory_free(struct lwp_pattern_memory *memory)
{
    for (size_t a = 0; a < LWP_PATTERN_ARRAYS; a++)
        if (memory->mapped[a])
            munmap(memory->mapped[a], memory->mapped_bytes[a]);
    if (memory->heads)
        munmap(memory->heads, memory->heads_bytes);
    free(memory->order);
    *memory = (struct lwp_pattern_memory){0};
}
