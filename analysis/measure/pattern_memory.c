/* The memory that a pattern visits: arrays of the program's sizes, from fresh mappings as malloc has them, so that the system gives
 * them the pages that it gives the program. */
#include "analysis/measure/pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t page = 4096;

double lwp_pattern_bytes(const struct lwp_pattern *pattern)
{
    double bytes = 0;
    for (size_t a = 0; a < pattern->array_count; a++)
        bytes += (double)pattern->arrays[a].spacing * (double)pattern->elements;
    return bytes;
}

static uint64_t memory_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Each element once. Elements that follow each other stay together in runs, of 1 / far on average; the runs are shuffled. */
static int memory_order(const struct lwp_pattern *pattern, struct lwp_pattern_memory *memory, struct lwp_error *err)
{
    uint64_t state = 88172645463325252ull, runs = 0, count = memory->elements;
    uint64_t most = pattern->far > 0 ? (uint64_t)(fmin(1, pattern->far) * 4294967296.0) : 0;
    uint32_t *starts = malloc((count + 1) * sizeof *starts);
    memory->order = malloc(count * sizeof *memory->order);
    if (!starts || !memory->order) {
        free(starts);
        return lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the indices of a pattern");
    }
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || (memory_random(&state) >> 32) < most)
            starts[runs++] = (uint32_t)i;
    starts[runs] = (uint32_t)count;
    uint32_t *which = malloc(runs * sizeof *which);
    if (!which) {
        free(starts);
        return lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the indices of a pattern");
    }
    for (uint64_t i = 0; i < runs; i++)
        which[i] = (uint32_t)i;
    for (uint64_t i = runs; i > 1; i--) {
        uint64_t other = memory_random(&state) % i;
        uint32_t kept = which[i - 1];
        which[i - 1] = which[other];
        which[other] = kept;
    }
    for (uint64_t i = 0, at = 0; i < runs; i++)
        for (uint32_t e = starts[which[i]]; e < starts[which[i] + 1]; e++)
            memory->order[at++] = e;
    free(which);
    free(starts);
    return LWP_OK;
}

static void memory_put(uint8_t *at, const uint8_t *address)
{
    memcpy(at, &address, sizeof address);
}

static void memory_links(const struct lwp_pattern *pattern, const struct lwp_pattern_memory *memory)
{
    uint64_t spacing = pattern->arrays[0].spacing;
    for (uint64_t i = 0; i < memory->elements; i++) {
        uint8_t *element = memory->first[0] + memory->order[i] * spacing;
        if (pattern->arrays[0].walk == LWP_PATTERN_CHAINED)
            memory_put(element + pattern->arrays[0].link, memory->first[0] + memory->order[(i + 1) % memory->elements] * spacing);
        for (size_t a = 1; a < pattern->array_count; a++)
            if (pattern->arrays[a].walk == LWP_PATTERN_LINKED)
                memory_put(element + pattern->arrays[a].link, memory->first[a] + memory->order[i] * pattern->arrays[a].spacing);
    }
}

int lwp_pattern_memory_make(const struct lwp_pattern *pattern, uint64_t elements, struct lwp_pattern_memory *memory, struct lwp_error *err)
{
    *memory = (struct lwp_pattern_memory){.elements = elements};
    for (size_t a = 0; a < pattern->array_count; a++) {
        const struct lwp_pattern_array *array = &pattern->arrays[a];
        size_t start = array->start % page, bytes = start + elements * array->spacing + 2 * page;
        memory->mapped[a] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory->mapped[a] == MAP_FAILED) {
            memory->mapped[a] = NULL;
            lwp_pattern_memory_free(memory);
            return lwp_error_errno(err, "no memory for the arrays of a pattern");
        }
        memory->mapped_bytes[a] = bytes;
        memory->first[a] = (uint8_t *)memory->mapped[a] + start;
        memset(memory->mapped[a], 1, bytes);
    }
    int status = memory_order(pattern, memory, err);
    if (!status)
        memory_links(pattern, memory);
    else
        lwp_pattern_memory_free(memory);
    return status;
}

void lwp_pattern_memory_free(struct lwp_pattern_memory *memory)
{
    for (size_t a = 0; a < LWP_PATTERN_ARRAYS; a++)
        if (memory->mapped[a])
            munmap(memory->mapped[a], memory->mapped_bytes[a]);
    free(memory->order);
    *memory = (struct lwp_pattern_memory){0};
}
