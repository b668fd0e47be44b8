/* The bits of all sets lie in one table, as wide as the highest thread's number asks for; what it may grow to is mapped
 * at the start, and costs nothing until it is touched. Programs that read in some order have few sets; those that do not
 * may run out of them, and then readers are forgotten: what they read again counts as communicated once more. */
#include "collector/exact/detect/communication/comm_sets.h"

#include <string.h>

enum {
    BITS_BYTES = 64 << 20,
    SLOTS = 2 * LWP_COMM_SETS,
    STEPS = 1 << LWP_COMM_STEP_BITS,
    WORDS_MOST = (LWP_COMM_THREADS + 64) / 64,
};

static uint64_t sets_hash(const uint64_t *bits, uint32_t words)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words; i++)
        hash = (hash ^ bits[i]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
    return (hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 40;
}

static uint32_t sets_room(uint32_t words)
{
    size_t most = BITS_BYTES / sizeof(uint64_t) / words;
    return most < LWP_COMM_SETS ? (uint32_t)most : LWP_COMM_SETS;
}

bool lwp_comm_sets_init(struct lwp_comm_sets *sets, const struct lwp_comm_port *port)
{
    *sets = (struct lwp_comm_sets){.port = port, .words = 1, .count = 1, .room = sets_room(1)};
    sets->bits = port->map(BITS_BYTES);
    sets->index = port->map(SLOTS * sizeof *sets->index);
    sets->steps = port->map(STEPS * sizeof *sets->steps);
    if (sets->bits && sets->index && sets->steps)
        return true;
    lwp_comm_sets_fini(sets);
    return false;
}

void lwp_comm_sets_fini(struct lwp_comm_sets *sets)
{
    if (sets->bits)
        sets->port->unmap(sets->bits, BITS_BYTES);
    if (sets->index)
        sets->port->unmap(sets->index, SLOTS * sizeof *sets->index);
    if (sets->steps)
        sets->port->unmap(sets->steps, STEPS * sizeof *sets->steps);
    *sets = (struct lwp_comm_sets){0};
}

/* The slot of the set with these bits, or a free one. */
static uint32_t *sets_slot(const struct lwp_comm_sets *sets, const uint64_t *bits)
{
    uint32_t at = (uint32_t)sets_hash(bits, sets->words) % SLOTS;
    while (sets->index[at] &&
           memcmp(&sets->bits[(size_t)sets->index[at] * sets->words], bits, sets->words * sizeof *bits) != 0)
        at = (at + 1) % SLOTS;
    return &sets->index[at];
}

/* All sets get wider. False: they do not fit. */
static bool sets_widen(struct lwp_comm_sets *sets, uint32_t words)
{
    if (sets->count > sets_room(words))
        return false;
    for (uint32_t set = sets->count; set--;) {
        uint64_t wide[WORDS_MOST] = {0};
        memcpy(wide, &sets->bits[(size_t)set * sets->words], sets->words * sizeof *wide);
        memcpy(&sets->bits[(size_t)set * words], wide, words * sizeof *wide);
    }
    sets->words = words;
    sets->room = sets_room(words);
    memset(sets->index, 0, SLOTS * sizeof *sets->index);
    for (uint32_t set = 1; set < sets->count; set++)
        *sets_slot(sets, &sets->bits[(size_t)set * words]) = set;
    return true;
}

/* UINT32_MAX: no room. */
static uint32_t sets_number(struct lwp_comm_sets *sets, const uint64_t *bits)
{
    uint32_t *slot = sets_slot(sets, bits);
    if (*slot)
        return *slot;
    if (sets->count >= sets->room)
        return UINT32_MAX;
    memcpy(&sets->bits[(size_t)sets->count * sets->words], bits, sets->words * sizeof *bits);
    return *slot = sets->count++;
}

static uint32_t sets_make(struct lwp_comm_sets *sets, uint32_t set, uint32_t thread)
{
    uint64_t bits[WORDS_MOST] = {0}, bit = (uint64_t)1 << thread % 64;
    uint32_t wanted = sets->words;
    while (thread / 64 >= wanted)
        wanted = 2 * wanted < WORDS_MOST ? 2 * wanted : WORDS_MOST;
    if (wanted > sets->words && !sets_widen(sets, wanted)) {
        sets->lost++;
        return set;
    }
    memcpy(bits, &sets->bits[(size_t)set * sets->words], sets->words * sizeof *bits);
    bits[thread / 64] |= bit;
    uint32_t made = sets_number(sets, bits);
    if (made != UINT32_MAX)
        return made;
    sets->lost++;
    memset(bits, 0, sizeof bits);
    bits[thread / 64] = bit;
    made = sets_number(sets, bits);
    return made != UINT32_MAX ? made : set;
}

uint32_t lwp_comm_sets_with(struct lwp_comm_sets *sets, uint32_t set, uint32_t thread)
{
    uint32_t key = set << LWP_COMM_THREAD_BITS | thread;
    struct lwp_comm_step *step = &sets->steps[(key * 0x9e3779b1u) >> (32 - LWP_COMM_STEP_BITS)];
    if (step->key == key)
        return step->set;
    uint32_t made = sets_make(sets, set, thread);
    *step = (struct lwp_comm_step){key, made};
    return made;
}
