#include "analysis/reuse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, BLOCK_WORDS = 8, BLOCK = WORD * BLOCK_WORDS, TIMES_FIRST = 1 << 14, LINES_FIRST = 1 << 12 };

static void *reuse_array(size_t count, size_t size)
{
    void *items = calloc(count, size);
    if (!items)
        abort();
    return items;
}

void lwp_reuse_init(struct lwp_reuse *reuse)
{
    *reuse = (struct lwp_reuse){.line_room = LINES_FIRST, .times = TIMES_FIRST};
    reuse->lines = reuse_array(reuse->line_room, sizeof *reuse->lines);
    reuse->bits = reuse_array(reuse->times / WORD, sizeof *reuse->bits);
    reuse->sums = reuse_array(reuse->times / BLOCK + 1, sizeof *reuse->sums);
    reuse->whose = reuse_array(reuse->times, sizeof *reuse->whose);
}

void lwp_reuse_free(struct lwp_reuse *reuse)
{
    free(reuse->lines);
    free(reuse->bits);
    free(reuse->sums);
    free(reuse->whose);
    *reuse = (struct lwp_reuse){0};
}

void lwp_reuse_clear(struct lwp_reuse *reuse)
{
    lwp_reuse_free(reuse);
    lwp_reuse_init(reuse);
}

static void *reuse_same(const void *from, size_t bytes)
{
    return memcpy(reuse_array(bytes, 1), from, bytes);
}

void lwp_reuse_copy(struct lwp_reuse *to, const struct lwp_reuse *from)
{
    *to = *from;
    to->lines = reuse_same(from->lines, from->line_room * sizeof *from->lines);
    to->bits = reuse_same(from->bits, from->times / WORD * sizeof *from->bits);
    to->sums = reuse_same(from->sums, (from->times / BLOCK + 1) * sizeof *from->sums);
    to->whose = reuse_same(from->whose, from->times * sizeof *from->whose);
}

/* ---- bits ---- */

static inline uint32_t reuse_count(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (uint32_t)(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

/* Bits from the begin of its block to `time`, that one included. */
static inline uint32_t reuse_in_block(const struct lwp_reuse *reuse, uint32_t time)
{
    uint32_t word = time / WORD, count = reuse_count(reuse->bits[word] & (UINT64_MAX >> (WORD - 1 - time % WORD)));
    for (uint32_t i = word / BLOCK_WORDS * BLOCK_WORDS; i < word; i++)
        count += reuse_count(reuse->bits[i]);
    return count;
}

static void reuse_sum_add(struct lwp_reuse *reuse, uint32_t block, uint32_t more)
{
    for (uint32_t i = block + 1; i <= reuse->times / BLOCK; i += i & -i)
        reuse->sums[i] += more;
}

static uint32_t reuse_sum_before(const struct lwp_reuse *reuse, uint32_t block)
{
    uint32_t sum = 0;
    for (uint32_t i = block; i; i &= i - 1)
        sum += reuse->sums[i];
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
    reuse->lines = reuse_array(reuse->line_room, sizeof *reuse->lines);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].time) {
            uint32_t to = reuse_slot(reuse, old[i].line);
            reuse->lines[to] = old[i];
            reuse->whose[old[i].time] = to;
        }
    free(old);
}

/* The lines in the order of their last accesses get times 1, 2, ...; at least half of all times are free then. */
static void reuse_renumber(struct lwp_reuse *reuse)
{
    uint32_t *whose = reuse->whose, count = 0, old = reuse->now + 1;
    for (uint32_t word = 0; word <= reuse->now / WORD; word++)
        for (uint64_t bits = reuse->bits[word]; bits; bits &= bits - 1) {
            uint32_t line = whose[word * WORD + (uint32_t)__builtin_ctzll(bits)];
            whose[++count] = line; /* count never overtakes what is read */
            reuse->lines[line].time = count;
        }
    if (2 * (uint64_t)count >= reuse->times) {
        reuse->times *= 4;
        reuse->whose = reuse_array(reuse->times, sizeof *whose);
        memcpy(reuse->whose, whose, old * sizeof *whose);
        free(whose);
        free(reuse->bits);
        free(reuse->sums);
        reuse->bits = reuse_array(reuse->times / WORD, sizeof *reuse->bits);
        reuse->sums = reuse_array(reuse->times / BLOCK + 1, sizeof *reuse->sums);
    } else {
        memset(reuse->bits, 0, reuse->times / WORD * sizeof *reuse->bits);
        memset(reuse->sums, 0, (reuse->times / BLOCK + 1) * sizeof *reuse->sums);
    }
    for (uint32_t time = 1; time <= count; time++)
        reuse->bits[time / WORD] |= (uint64_t)1 << time % WORD;
    for (uint32_t block = 0; block < count / BLOCK; block++)
        reuse_sum_add(reuse, block, reuse_in_block(reuse, block * BLOCK + BLOCK - 1));
    reuse->now = count;
}

/* A time of its own for the line. */
static inline void reuse_now(struct lwp_reuse *reuse, uint32_t line)
{
    if (reuse->now + 1 == reuse->times)
        reuse_renumber(reuse);
    uint32_t now = ++reuse->now;
    if (now % BLOCK == 0)
        reuse_sum_add(reuse, now / BLOCK - 1, reuse_in_block(reuse, now - 1));
    reuse->bits[now / WORD] |= (uint64_t)1 << now % WORD;
    reuse->whose[now] = line;
    reuse->lines[line].time = now;
    reuse->last = line;
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
        uint32_t block = time / BLOCK, below = reuse_in_block(reuse, time);
        bool open = block == reuse->now / BLOCK;
        distance = (open ? reuse_in_block(reuse, reuse->now) : reuse->live - reuse_sum_before(reuse, block)) - below;
        reuse->bits[time / WORD] &= ~((uint64_t)1 << time % WORD);
        if (!open)
            reuse_sum_add(reuse, block, -1u);
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
