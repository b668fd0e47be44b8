/* The stack distance of an access is the number of lines whose last access is later than the line's own (Mattson 1970; Bennett and
 * Kruskal 1975). A bit at the time of each line's last access, and a tree of partial sums over them as a Fenwick tree's, with a
 * fan-out of 16 that suits SSE2: the sums of a level are updated by four additions, and a count reads one per level. */
#include "analysis/caches/reuse_distance.h"

#include "base/pages.h"

#include <emmintrin.h>
#include <stdbool.h>
#include <string.h>

enum { WORD = 64, FAN = 16, TIMES_FIRST = 1 << 14, LINES_FIRST = 1 << 12 };

/* Places of all levels of the tree over so many words; where each level begins to `levels`. */
static uint32_t reuse_levels(uint32_t words, uint32_t levels[LWP_REUSE_LEVELS], unsigned *count)
{
    uint32_t places = 0;
    *count = 0;
    for (uint32_t parts = words; parts > 1 || !*count; parts = (parts + FAN - 1) / FAN) {
        levels[(*count)++] = places;
        places += (parts + FAN - 1) / FAN * FAN;
    }
    return places;
}

/* Room for as many times as `times` says. */
static void reuse_times(struct lwp_reuse *reuse)
{
    uint32_t words = reuse->times / WORD;
    reuse->bits = lwp_pages_alloc(words * sizeof *reuse->bits);
    reuse->sum_count = reuse_levels(words, reuse->levels, &reuse->level_count);
    reuse->sums = lwp_pages_alloc(reuse->sum_count * sizeof *reuse->sums);
    reuse->whose = lwp_pages_alloc(reuse->times * sizeof *reuse->whose);
}

static void reuse_times_free(struct lwp_reuse *reuse)
{
    lwp_pages_free(reuse->bits, reuse->times / WORD * sizeof *reuse->bits);
    lwp_pages_free(reuse->sums, reuse->sum_count * sizeof *reuse->sums);
    lwp_pages_free(reuse->whose, reuse->times * sizeof *reuse->whose);
}

void lwp_reuse_init(struct lwp_reuse *reuse)
{
    *reuse = (struct lwp_reuse){.line_room = LINES_FIRST, .times = TIMES_FIRST};
    reuse->lines = lwp_pages_alloc(reuse->line_room * sizeof *reuse->lines);
    reuse_times(reuse);
}

void lwp_reuse_free(struct lwp_reuse *reuse)
{
    lwp_pages_free(reuse->lines, reuse->line_room * sizeof *reuse->lines);
    reuse_times_free(reuse);
    *reuse = (struct lwp_reuse){0};
}

/* `to` is not initialised yet. */
static void reuse_copy(struct lwp_reuse *to, const struct lwp_reuse *from)
{
    *to = *from;
    to->lines = lwp_pages_alloc(from->line_room * sizeof *from->lines);
    memcpy(to->lines, from->lines, from->line_room * sizeof *from->lines);
    reuse_times(to);
    memcpy(to->bits, from->bits, from->times / WORD * sizeof *from->bits);
    memcpy(to->sums, from->sums, from->sum_count * sizeof *from->sums);
    memcpy(to->whose, from->whose, from->times * sizeof *from->whose);
}

/* ---- bits ---- */

static inline uint32_t reuse_count(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (uint32_t)(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

/* Bits from the begin of its word to `time`, that one included. */
static inline uint32_t reuse_in_word(const struct lwp_reuse *reuse, uint32_t time)
{
    return reuse_count(reuse->bits[time / WORD] & (UINT64_MAX >> (WORD - 1 - time % WORD)));
}

/* So many more bits in the word: at each level, in all parts behind its own of their FAN. */
static inline void reuse_sum_add(struct lwp_reuse *reuse, uint32_t word, uint32_t more)
{
    static const uint32_t behind[2 * FAN] = {[FAN] = UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                             UINT32_MAX,         UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                             UINT32_MAX,         UINT32_MAX, UINT32_MAX, UINT32_MAX};
    __m128i all = _mm_set1_epi32((int)more);
    for (unsigned i = 0; i < reuse->level_count; i++, word /= FAN) {
        uint32_t *sums = reuse->sums + reuse->levels[i] + word / FAN * FAN;
        const uint32_t *mask = behind + FAN - 1 - word % FAN;
        for (unsigned k = 0; k < FAN; k += 4) {
            __m128i *four = (__m128i *)(sums + k);
            _mm_store_si128(four, _mm_add_epi32(_mm_load_si128(four), _mm_and_si128(all, _mm_loadu_si128((const __m128i *)(mask + k)))));
        }
    }
}

/* Bits of the words before. */
static inline uint32_t reuse_sum_before(const struct lwp_reuse *reuse, uint32_t word)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < reuse->level_count; i++, word /= FAN)
        sum += reuse->sums[reuse->levels[i] + word];
    return sum;
}

/* ---- lines ---- */

static inline uint32_t reuse_slot(const struct lwp_reuse *reuse, uint64_t line)
{
    uint32_t mask = reuse->line_room - 1, at = (uint32_t)(line * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (reuse->lines[at].time && reuse->lines[at].line != line)
        at = (at + 1) & mask;
    return at;
}

static void reuse_grow_lines(struct lwp_reuse *reuse)
{
    struct lwp_reuse_line *old = reuse->lines;
    uint32_t room = reuse->line_room;
    reuse->line_room *= 2;
    reuse->lines = lwp_pages_alloc(reuse->line_room * sizeof *reuse->lines);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].time) {
            uint32_t to = reuse_slot(reuse, old[i].line);
            reuse->lines[to] = old[i];
            reuse->whose[old[i].time] = to;
        }
    lwp_pages_free(old, room * sizeof *old);
}

/* The lines in the order of their last accesses get times 1, 2, ...; at least half of all times are free then. */
static void reuse_renumber(struct lwp_reuse *reuse)
{
    uint32_t *whose = reuse->whose, count = 0;
    for (uint32_t word = 0; word <= reuse->now / WORD; word++)
        for (uint64_t bits = reuse->bits[word]; bits; bits &= bits - 1) {
            uint32_t line = whose[word * WORD + (uint32_t)__builtin_ctzll(bits)];
            whose[++count] = line; /* count never overtakes what is read */
            reuse->lines[line].time = count;
        }
    if (2 * (uint64_t)count >= reuse->times) {
        struct lwp_reuse old = *reuse;
        reuse->times *= 4;
        reuse_times(reuse);
        memcpy(reuse->whose, old.whose, (count + 1) * sizeof *whose);
        reuse_times_free(&old);
    } else {
        memset(reuse->bits, 0, reuse->times / WORD * sizeof *reuse->bits);
        memset(reuse->sums, 0, reuse->sum_count * sizeof *reuse->sums);
    }
    for (uint32_t time = 1; time <= count; time++)
        reuse->bits[time / WORD] |= (uint64_t)1 << time % WORD;
    for (uint32_t word = 0; word < count / WORD; word++)
        reuse_sum_add(reuse, word, reuse_count(reuse->bits[word]));
    reuse->now = count;
}

/* A time of its own for the line. */
static inline void reuse_now(struct lwp_reuse *reuse, uint32_t line)
{
    if (reuse->now + 1 == reuse->times)
        reuse_renumber(reuse);
    uint32_t now = ++reuse->now;
    if (now % WORD == 0)
        reuse_sum_add(reuse, now / WORD - 1, reuse_count(reuse->bits[now / WORD - 1]));
    reuse->bits[now / WORD] |= (uint64_t)1 << now % WORD;
    reuse->whose[now] = line;
    reuse->lines[line].time = now;
    reuse->last = line;
}

void lwp_reuse_expect(const struct lwp_reuse *reuse, uint64_t later, uint64_t sooner)
{
    uint32_t mask = reuse->line_room - 1, at = (uint32_t)(sooner * 0x9e3779b97f4a7c15u >> 32) & mask;
    __builtin_prefetch(&reuse->lines[(uint32_t)(later * 0x9e3779b97f4a7c15u >> 32) & mask]);
    if (reuse->lines[at].line == sooner)
        __builtin_prefetch(&reuse->bits[reuse->lines[at].time / WORD]);
}

uint32_t lwp_reuse_access(struct lwp_reuse *reuse, uint64_t line, struct lwp_reuse_line **known)
{
    uint32_t at = reuse->last;
    if (reuse->lines[at].time && reuse->lines[at].line == line) {
        *known = &reuse->lines[at];
        return 0;
    }
    at = reuse_slot(reuse, line);
    uint32_t time = reuse->lines[at].time, distance = LWP_REUSE_FIRST;
    if (time) {
        uint32_t word = time / WORD, below = reuse_in_word(reuse, time);
        bool open = word == reuse->now / WORD;
        distance = (open ? reuse_in_word(reuse, reuse->now) : reuse->live - reuse_sum_before(reuse, word)) - below;
        reuse->bits[time / WORD] &= ~((uint64_t)1 << time % WORD);
        if (!open)
            reuse_sum_add(reuse, word, -1u);
    } else {
        if (4 * (uint64_t)++reuse->live > 3 * (uint64_t)reuse->line_room) {
            reuse_grow_lines(reuse);
            at = reuse_slot(reuse, line);
        }
        reuse->lines[at] = (struct lwp_reuse_line){.line = line};
    }
    reuse_now(reuse, at);
    *known = &reuse->lines[at];
    return distance;
}

/* ---- several cores ---- */

void lwp_reuse_cores_free(struct lwp_reuse_cores *cores)
{
    lwp_reuse_free(&cores->all);
    for (unsigned i = 0; i < LWP_REUSE_CORES; i++)
        lwp_reuse_free(&cores->core[i]);
    cores->used = cores->several = false;
}

/* The accesses so far were all of one core, whose order is that of all. */
static void cores_divide(struct lwp_reuse_cores *cores)
{
    for (unsigned i = 0; i < LWP_REUSE_CORES; i++)
        if (i != cores->first)
            lwp_reuse_init(&cores->core[i]);
    reuse_copy(&cores->core[cores->first], &cores->all);
    cores->several = true;
}

void lwp_reuse_cores_expect(const struct lwp_reuse_cores *cores, unsigned core, uint64_t later, uint64_t sooner)
{
    if (cores->used)
        lwp_reuse_expect(&cores->all, later, sooner);
    if (cores->several)
        lwp_reuse_expect(&cores->core[core % LWP_REUSE_CORES], later, sooner);
}

struct lwp_reused lwp_reuse_cores_access(struct lwp_reuse_cores *cores, unsigned core, uint64_t line, bool store)
{
    struct lwp_reuse_line *known, *own;
    core %= LWP_REUSE_CORES;
    if (!cores->used) {
        lwp_reuse_init(&cores->all);
        cores->used = true;
        cores->first = core;
    }
    if (!cores->several && core != cores->first)
        cores_divide(cores);
    uint64_t me = (uint64_t)1 << core;
    struct lwp_reused reused = {.distance = lwp_reuse_access(&cores->all, line, &known)};
    if (cores->several) {
        uint32_t distance = lwp_reuse_access(&cores->core[core], line, &own);
        reused.restarted = !(known->cores & me) && reused.distance != LWP_REUSE_FIRST;
        reused.distance = known->cores & me ? distance : reused.distance;
    }
    reused.others = store ? known->cores & ~me : 0;
    known->cores = store ? me : known->cores | me;
    return reused;
}
