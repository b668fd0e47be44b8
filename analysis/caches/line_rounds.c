#include "analysis/caches/line_rounds.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 1 << 12, ROOM_MOST = 1 << 20 };

void lwp_rounds_free(struct lwp_rounds *rounds)
{
    free(rounds->lines);
    free(rounds->used);
    free(rounds->threads);
    *rounds = (struct lwp_rounds){0};
}

static size_t rounds_place(const struct lwp_rounds *rounds, uint64_t line)
{
    size_t at = (size_t)(line * 0x9e3779b97f4a7c15u >> 32) & (rounds->room - 1);
    while (rounds->lines[at].round == rounds->round && rounds->lines[at].line != line)
        at = (at + 1) & (rounds->room - 1);
    return at;
}

static void rounds_grow(struct lwp_rounds *rounds)
{
    struct lwp_rounds old = *rounds;
    rounds->room = old.room ? 2 * old.room : ROOM_FIRST;
    rounds->lines = lwp_zeroed(rounds->room, sizeof *rounds->lines);
    for (size_t i = 0; i < old.count; i++) {
        const struct lwp_round_line *line = &old.lines[old.used[i]];
        size_t at = rounds_place(rounds, line->line);
        rounds->lines[at] = *line;
        rounds->used[i] = (uint32_t)at;
    }
    free(old.lines);
}

/* NULL: there are too many lines in the round. */
static struct lwp_round_line *rounds_line(struct lwp_rounds *rounds, uint64_t number)
{
    if (2 * rounds->count >= rounds->room && rounds->room < ROOM_MOST)
        rounds_grow(rounds);
    size_t at = rounds_place(rounds, number);
    struct lwp_round_line *line = &rounds->lines[at];
    if (line->round == rounds->round)
        return line;
    if (4 * rounds->count >= 3 * rounds->room)
        return NULL;
    *line = (struct lwp_round_line){.line = number, .round = rounds->round};
    LWP_APPEND(&rounds->used, &rounds->count, &rounds->used_room, (uint32_t)at);
    return line;
}

/* What is left of a line when parts of turns that were cut are gone. */
static bool round_is_shared(const struct lwp_rounds *rounds, struct lwp_round_line *line)
{
    uint32_t kept = 0, stores = 0;
    for (uint32_t i = 0; i < line->count; i++)
        if (line->part[i].turn == rounds->threads[line->part[i].thread].turn) {
            stores += line->part[i].stores;
            line->part[kept++] = line->part[i];
        }
    line->count = kept;
    return kept > 1 && stores > 0;
}

void lwp_rounds_end(struct lwp_rounds *rounds, void (*visit)(void *, const struct lwp_round_line *), void *to)
{
    for (size_t i = 0; i < rounds->count; i++)
        if (round_is_shared(rounds, &rounds->lines[rounds->used[i]]))
            visit(to, &rounds->lines[rounds->used[i]]);
    rounds->count = 0;
    rounds->round++;
}

void lwp_rounds_turn(struct lwp_rounds *rounds, unsigned thread, uint64_t accesses, void (*visit)(void *, const struct lwp_round_line *),
                     void *to)
{
    bool goes_on = rounds->now == thread + 1;
    if (!rounds->round)
        rounds->round = 1;
    while (rounds->thread_count <= thread)
        LWP_APPEND(&rounds->threads, &rounds->thread_count, &rounds->thread_room, (struct lwp_round_thread){0});
    struct lwp_round_thread *of = &rounds->threads[thread];
    if (rounds->now && !goes_on) {
        uint64_t before = rounds->threads[rounds->now - 1].whole;
        rounds->longest = before > rounds->longest || !rounds->several ? before : rounds->longest;
        rounds->several = true;
    }
    if (!goes_on && of->round == rounds->round) {
        lwp_rounds_end(rounds, visit, to);
        rounds->longest = rounds->threads[rounds->now - 1].whole;
    }
    /* A thread that goes on while others do not run has no company: of a turn longer than theirs the last part counts. */
    if (!goes_on || !rounds->several || of->kept + accesses > 2 * rounds->longest) {
        of->turn = ++rounds->turns;
        of->kept = 0;
    }
    of->whole = (goes_on ? of->whole : 0) + accesses;
    of->kept += accesses;
    of->round = rounds->round;
    rounds->now = thread + 1;
}

/* A bit for each byte. */
static uint64_t bits_of(unsigned from, unsigned bytes)
{
    bytes = bytes > 64 - from ? 64 - from : bytes;
    return (bytes == 64 ? UINT64_MAX : ((uint64_t)1 << bytes) - 1) << from;
}

void lwp_rounds_access(struct lwp_rounds *rounds, uint64_t number, unsigned from, unsigned bytes, bool store, uint32_t what)
{
    if (!rounds->several || !rounds->now)
        return;
    struct lwp_round_line *line = rounds_line(rounds, number);
    const uint32_t thread = rounds->now - 1, turn = rounds->threads[thread].turn;
    struct lwp_round_part *part = NULL;
    for (uint32_t i = 0; line && i < line->count && !part; i++)
        part = line->part[i].thread == thread ? &line->part[i] : NULL;
    if (line && !part && line->count < LWP_ROUND_THREADS)
        part = &line->part[line->count++];
    if (!part)
        return;
    if (part->turn != turn) /* new, or of a part of the turn that was cut off */
        *part = (struct lwp_round_part){.thread = thread, .turn = turn};
    part->accesses++;
    part->stores += store;
    *(store ? &part->stored : &part->loaded) |= bits_of(from, bytes);
    if (store || !part->stores)
        part->what = what;
}

/* ---- what comes of it ---- */

/* Of `mine` events among `others` in an even mix, those that directly follow one of the others. */
static double mixed(double mine, double others)
{
    return mine + others > 0 ? mine * others / (mine + others) : 0;
}

struct lwp_round_conflicts lwp_round_conflicts(const struct lwp_round_line *line, const struct lwp_round_part *part)
{
    double others = 0, mine = part->stores;
    for (uint32_t i = 0; i < line->count; i++)
        others += &line->part[i] == part ? 0 : line->part[i].stores;
    if (mine <= 0 || others <= 0)
        return (struct lwp_round_conflicts){0};
    double mean = mixed(mine, others);
    return (struct lwp_round_conflicts){mean, fmin(1, mean), fmin(mine, others)};
}

double lwp_round_false(const struct lwp_round_line *line, const struct lwp_round_part *part)
{
    uint64_t mine = part->loaded | part->stored, all = 0;
    double stores = 0, accesses = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        const struct lwp_round_part *other = &line->part[i];
        uint64_t its = other->loaded | other->stored, common = (part->stored & its) | (mine & other->stored);
        if (other == part)
            continue;
        all |= its;
        stores += common ? 0 : other->stores;
        accesses += common ? 0 : other->accesses;
    }
    if (!(all & ~mine)) /* it goes over all that the others use: not each over its own */
        return 0;
    double taken = mixed(part->accesses, stores), shared = mixed(part->stores, accesses);
    return taken > shared ? taken : shared;
}
