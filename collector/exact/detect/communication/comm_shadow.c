/* A cell: the last writer's number (0: nobody yet), whether several threads have used the granule, and the set of threads
 * that have read it since it was written (comm_sets.h). 0: untouched. */
#include "collector/exact/detect/communication/comm_shadow.h"

#include <string.h>

enum {
    ADDRESS_BITS = 48,
    TOPS = 1 << (ADDRESS_BITS - LWP_COMM_MIDDLE_BITS - LWP_COMM_LEAF_BITS),
    MIDDLES = 1 << LWP_COMM_MIDDLE_BITS,
    LEAF_BYTES = 1 << LWP_COMM_LEAF_BITS,
    LINE_BITS = 6,
    SLAB = 4 << 20,
    THINNED_MOST = 20,
    SET_MASK = LWP_COMM_SETS - 1,
};

/* ---- leaves ---- */

static size_t leaf_size(const struct lwp_comm_shadow *shadow)
{
    return ((size_t)LEAF_BYTES >> shadow->granule_bits) * sizeof(uint32_t);
}

static uint32_t *leaf_new(struct lwp_comm_shadow *shadow)
{
    size_t size = leaf_size(shadow);
    if (shadow->spare) {
        void **leaf = shadow->spare;
        shadow->spare = *leaf;
        memset(leaf, 0, size);
        shadow->leaves++;
        return (uint32_t *)leaf;
    }
    if (shadow->slab_left < size) {
        shadow->slab = shadow->port->map(SLAB);
        shadow->slab_left = shadow->slab ? SLAB : 0;
    }
    if (shadow->slab_left < size)
        return NULL;
    shadow->slab_left -= size;
    shadow->leaves++;
    return (uint32_t *)(shadow->slab + shadow->slab_left);
}

static void leaf_free(struct lwp_comm_shadow *shadow, uint32_t *leaf)
{
    *(void ***)leaf = shadow->spare;
    shadow->spare = (void **)leaf;
    shadow->leaves--;
}

/* Where the leaf `number` is kept; NULL: there is none, and none was to be made. */
static uint32_t **leaf_place(struct lwp_comm_shadow *shadow, uint64_t number, bool make)
{
    uint32_t ***middle = &shadow->top[number >> LWP_COMM_MIDDLE_BITS];
    if (!*middle && make)
        *middle = shadow->port->map(MIDDLES * sizeof **middle);
    return *middle ? &(*middle)[number % MIDDLES] : NULL;
}

/* ---- every second line ---- */

/* Which line of the two that make up `pair` is kept when lines are halved for the `step`th time. */
static unsigned line_kept(uint64_t pair, unsigned step)
{
    return (unsigned)((pair * 0x9e3779b97f4a7c15u ^ (uint64_t)(step + 1) * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u >> 63);
}

/* Address among the lines that are kept; false: it is not. */
static bool line_place(const struct lwp_comm_shadow *shadow, uint64_t address, uint64_t *place)
{
    uint64_t line = address >> LINE_BITS;
    for (unsigned step = 0; step < shadow->thinned; step++, line >>= 1)
        if ((line & 1) != line_kept(line >> 1, step))
            return false;
    *place = line << LINE_BITS | (address & ((1 << LINE_BITS) - 1));
    return true;
}

/* Of the lines of one leaf, those that are kept go to the half of another. */
static void leaf_halve(struct lwp_comm_shadow *shadow, uint64_t number, const uint32_t *from, uint32_t *half, unsigned step)
{
    unsigned lines = LEAF_BYTES >> LINE_BITS, cells = 1u << LINE_BITS >> shadow->granule_bits;
    uint64_t first = number * lines;
    for (unsigned i = 0; i < lines; i++) {
        const uint32_t *cell = from + (size_t)i * cells;
        bool kept = ((first + i) & 1) == line_kept((first + i) >> 1, step);
        for (unsigned k = 0; kept && k < cells; k++) {
            half[(size_t)(i >> 1) * cells + k] = cell[k];
            shadow->touched += cell[k] != 0;
            shadow->shared += (cell[k] & LWP_COMM_SHARED) != 0;
        }
    }
}

static void pair_halve(struct lwp_comm_shadow *shadow, uint64_t number, uint32_t **pair)
{
    uint32_t *old[2] = {pair[0], pair[1]}, **place = leaf_place(shadow, number / 2, true);
    uint32_t *whole = place ? leaf_new(shadow) : NULL;
    size_t half = leaf_size(shadow) / sizeof *whole / 2;
    pair[0] = pair[1] = NULL;
    for (unsigned i = 0; i < 2; i++)
        if (old[i]) {
            if (whole)
                leaf_halve(shadow, number + i, old[i], whole + i * half, shadow->thinned);
            leaf_free(shadow, old[i]);
        }
    if (place)
        *place = whole;
    shadow->full |= !whole;
}

static void shadow_thin(struct lwp_comm_shadow *shadow)
{
    shadow->touched = shadow->shared = 0;
    for (uint64_t number = 0; number < (uint64_t)TOPS * MIDDLES; number += 2) {
        uint32_t **pair = leaf_place(shadow, number, false);
        if (!pair)
            number = (number / MIDDLES + 1) * MIDDLES - 2;
        else if (pair[0] || pair[1])
            pair_halve(shadow, number, pair);
    }
    shadow->thinned++;
    shadow->direct = NULL;
}

/* ---- cells by address ---- */

/* The leaf of a place, NULL: there is none. */
static uint32_t *leaf_at(struct lwp_comm_shadow *shadow, uint64_t place, bool make)
{
    uint64_t number = place >> LWP_COMM_LEAF_BITS;
    uint32_t **leaf = place >> ADDRESS_BITS ? NULL : leaf_place(shadow, number, make);
    if (!leaf || (!*leaf && !make))
        return NULL;
    if (!*leaf && !(*leaf = leaf_new(shadow)))
        shadow->full = true;
    return *leaf;
}

/* The cell of the granule that `address` is in; NULL: it is not followed. */
static uint32_t *cell_at(struct lwp_comm_shadow *shadow, uint64_t address, bool make)
{
    uint64_t place;
    if (!line_place(shadow, address, &place))
        return NULL;
    uint32_t *leaf = leaf_at(shadow, place, false);
    while (!leaf && make && shadow->leaves >= shadow->leaves_most && shadow->thinned < THINNED_MOST) {
        shadow_thin(shadow);
        if (!line_place(shadow, address, &place))
            return NULL;
    }
    if (!leaf && !(leaf = leaf_at(shadow, place, make)))
        return NULL;
    return leaf + ((place & (LEAF_BYTES - 1)) >> shadow->granule_bits);
}

static void cell_first(struct lwp_comm_shadow *shadow)
{
    shadow->touched++;
    uint64_t alone = (shadow->touched - shadow->shared) << shadow->granule_bits << shadow->thinned;
    if (alone > shadow->alone_most)
        shadow->alone_most = alone;
}

static uint32_t cell_shared(struct lwp_comm_shadow *shadow, uint32_t cell)
{
    shadow->shared += !(cell & LWP_COMM_SHARED);
    return LWP_COMM_SHARED;
}

/* ---- the ways that nearly all accesses go ---- */

#define WRITER ((uint64_t)LWP_COMM_THREADS << LWP_COMM_WRITER_AT)
#define UNSHARED ((uint64_t)(uint32_t)~LWP_COMM_SHARED)
#define TWICE(bits) ((bits) << 32 | (bits))

const struct lwp_comm_way lwp_comm_ways[2 * LWP_COMM_WAYS] = {
    [1] = {WRITER, UINT32_MAX, 15},
    [2] = {WRITER, UINT32_MAX, 7},
    [4] = {WRITER, UINT32_MAX, 1},
    [8] = {TWICE(WRITER), UINT64_MAX, 1},
    [LWP_COMM_WAYS + 1] = {UNSHARED, 0, 15},
    [LWP_COMM_WAYS + 2] = {UNSHARED, 0, 7},
    [LWP_COMM_WAYS + 4] = {UNSHARED, 0, 1},
    [LWP_COMM_WAYS + 8] = {TWICE(UNSHARED), 0, 1},
};

/* ---- accesses ---- */

static void event_add(struct lwp_comm_event events[LWP_COMM_EVENTS], unsigned *count, uint32_t writer, bool again)
{
    for (unsigned i = 0; i < *count; i++)
        if (events[i].writer == writer) {
            events[i].again &= again;
            return;
        }
    if (*count < LWP_COMM_EVENTS)
        events[(*count)++] = (struct lwp_comm_event){writer, again};
}

static void cell_load(struct lwp_comm_shadow *shadow, uint32_t *at, struct lwp_comm_event events[LWP_COMM_EVENTS], unsigned *count)
{
    uint32_t cell = *at, writer = cell >> LWP_COMM_WRITER_AT, set = cell & SET_MASK, thread = shadow->thread;
    if (writer == thread)
        return;
    bool again = lwp_comm_sets_has(&shadow->sets, set, thread);
    if (writer)
        event_add(events, count, writer, again);
    if (again) {
        shadow->seen = writer ? shadow->seen : (uint64_t)cell << 32 | cell;
        return;
    }
    uint32_t shared = cell & LWP_COMM_SHARED;
    if (!cell)
        cell_first(shadow);
    else
        shared = cell_shared(shadow, cell);
    *at = writer << LWP_COMM_WRITER_AT | shared | lwp_comm_sets_with(&shadow->sets, set, thread);
}

static void cell_store(struct lwp_comm_shadow *shadow, uint32_t *at)
{
    uint32_t cell = *at, shared = cell & LWP_COMM_SHARED, writer = cell >> LWP_COMM_WRITER_AT;
    if (!cell)
        cell_first(shadow);
    else if (writer != shadow->thread &&
             (writer || (cell & SET_MASK) != ((uint32_t)shadow->read & SET_MASK))) /* else only this thread has read it */
        shared = cell_shared(shadow, cell);
    *at = (uint32_t)shadow->written | shared;
}

/* As lwp_comm_cells() has them, to be changed. */
static uint32_t *cells_at(const struct lwp_comm_shadow *shadow, uint64_t address)
{
    return address >> ADDRESS_BITS ? NULL : lwp_comm_cells(shadow, address);
}

static uint64_t granule_count(const struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes)
{
    return ((address + bytes - 1) >> shadow->granule_bits) - (address >> shadow->granule_bits) + 1;
}

unsigned lwp_comm_load_slowly(struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes,
                              struct lwp_comm_event events[LWP_COMM_EVENTS])
{
    unsigned events_count = 0;
    uint64_t count = granule_count(shadow, address, bytes);
    uint32_t *cells = cells_at(shadow, address);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *cell = cells ? &cells[i] : cell_at(shadow, address + (i << shadow->granule_bits), true);
        if (cell)
            cell_load(shadow, cell, events, &events_count);
    }
    return events_count;
}

void lwp_comm_store_slowly(struct lwp_comm_shadow *shadow, uint64_t address, unsigned bytes)
{
    uint64_t count = granule_count(shadow, address, bytes);
    uint32_t *cells = cells_at(shadow, address);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t *cell = cells ? &cells[i] : cell_at(shadow, address + (i << shadow->granule_bits), true);
        if (cell)
            cell_store(shadow, cell);
    }
}

/* Only what is not 0 is written: memory that was never touched is to stay so. */
static void cells_forget(struct lwp_comm_shadow *shadow, uint32_t *cell, uint64_t count)
{
    typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));
    four touched = {0}, shared = {0};
    for (; count >= 4; count -= 4, cell += 4) {
        four now = *(four *)cell;
        if (!(now[0] | now[1] | now[2] | now[3]))
            continue;
        touched -= (four)(now != 0); /* true is all bits */
        shared += now / LWP_COMM_SHARED & 1;
        *(four *)cell = (four){0};
    }
    for (; count; count--, cell++) {
        touched[0] += *cell != 0;
        shared[0] += (*cell & LWP_COMM_SHARED) != 0;
        *cell = 0;
    }
    shadow->touched -= touched[0] + touched[1] + touched[2] + touched[3];
    shadow->shared -= shared[0] + shared[1] + shared[2] + shared[3];
}

void lwp_comm_forget(struct lwp_comm_shadow *shadow, uint64_t address, uint64_t bytes)
{
    uint64_t granule = (uint64_t)1 << shadow->granule_bits, line = (uint64_t)1 << LINE_BITS;
    uint64_t end = (address + bytes) & ~(granule - 1); /* granules that are only partly gone stay */
    address = (address + granule - 1) & ~(granule - 1);
    while (address < end) {
        uint64_t place, next = (address | (line - 1)) + 1, whole = (address | (LEAF_BYTES - 1)) + 1;
        if (!shadow->thinned && !leaf_at(shadow, address, false)) {
            address = whole;
            continue;
        }
        next = shadow->thinned || next > whole ? next : whole;
        next = next < end ? next : end;
        if (line_place(shadow, address, &place)) {
            uint32_t *leaf = leaf_at(shadow, place, false);
            if (leaf)
                cells_forget(shadow, leaf + ((place & (LEAF_BYTES - 1)) >> shadow->granule_bits),
                             (next - address) >> shadow->granule_bits);
        }
        address = next;
    }
}

/* ---- start and end ---- */

bool lwp_comm_init(struct lwp_comm_shadow *shadow, const struct lwp_comm_port *port, unsigned granule_bits, size_t most)
{
    *shadow = (struct lwp_comm_shadow){.port = port, .granule_bits = granule_bits};
    shadow->leaves_most = most / leaf_size(shadow);
    shadow->top = port->map(TOPS * sizeof *shadow->top);
    shadow->direct = granule_bits == 2 ? shadow->top : NULL;
    if (shadow->top && lwp_comm_sets_init(&shadow->sets, port)) {
        lwp_comm_run(shadow, 1);
        return true;
    }
    lwp_comm_fini(shadow);
    return false;
}

void lwp_comm_fini(struct lwp_comm_shadow *shadow)
{
    /* Slabs stay with the process, as it does not end before it. */
    if (shadow->top)
        shadow->port->unmap(shadow->top, TOPS * sizeof *shadow->top);
    lwp_comm_sets_fini(&shadow->sets);
    *shadow = (struct lwp_comm_shadow){0};
}

void lwp_comm_run(struct lwp_comm_shadow *shadow, uint32_t thread)
{
    uint64_t written = (uint64_t)thread << LWP_COMM_WRITER_AT;
    uint64_t read = lwp_comm_sets_with(&shadow->sets, 0, thread);
    shadow->thread = thread;
    shadow->written = written << 32 | written;
    shadow->read = shadow->seen = read << 32 | read;
}
