/* In: the accesses of each sample. Out: for each instruction on each object a bounded uniform sample (Vitter's
 * algorithm R) of the distances between two executions of it. That an access steps by a register's value is seen here,
 * where code shows no constant. */
#include "analysis/profile/moves.h"

#include "analysis/profile/profile.h"
#include "analysis/profile/regions.h"
#include "analysis/program/code.h"
#include "analysis/program/flow/machine_code.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* LOOK_PAIRS: samples look at three accesses one after the other. */
enum { MOVES_MAX = 1 << 15, PAIR_NEAR = 4, PARENTS_MOST = 64, LOOK_PAIRS = 2, NEXT_LEAST = 10 };

void lwp_moves_fini(struct lwp_moves *moves)
{
    for (size_t i = 0; i < moves->count; i++)
        free(moves->items[i].kept);
    free(moves->items);
    lwp_map_fini(&moves->index);
    free(moves->pairs);
    lwp_map_fini(&moves->pair_index);
    free(moves->nexts);
    lwp_map_fini(&moves->next_index);
    for (size_t i = 0; i < moves->block_count; i++)
        free(moves->blocks[i].starts);
    free(moves->blocks);
    lwp_map_fini(&moves->block_index);
    *moves = (struct lwp_moves){0};
}

static uint64_t moves_random(struct lwp_moves *moves)
{
    moves->random = (moves->random ? moves->random : 0x9e3779b97f4a7c15u) * 6364136223846793005u + 1442695040888963407u;
    return moves->random >> 24;
}

/* Keys are hashes: of two that collide one gets the next key. NULL: it would be one too many. */
static struct lwp_code_moves *moves_of(struct lwp_moves *moves, const struct lwp_traversal_access *access)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(access->object, access->region), access->code);
    for (uint32_t *at = lwp_map_at(&moves->index, key); *at != LWP_MAP_NONE; at = lwp_map_at(&moves->index, ++key)) {
        struct lwp_code_moves *item = &moves->items[*at];
        if (item->object == access->object && item->region == access->region && item->code == access->code)
            return item;
    }
    if (moves->count >= MOVES_MAX)
        return NULL;
    *lwp_map_at(&moves->index, key) = (uint32_t)moves->count;
    return LWP_APPEND(&moves->items, &moves->count, &moves->room,
                      (struct lwp_code_moves){.object = access->object, .region = access->region, .code = access->code});
}

static void moves_keep(struct lwp_moves *moves, struct lwp_code_moves *item, struct lwp_move move)
{
    item->seen++;
    if (item->count < LWP_MOVES_KEPT) {
        LWP_GROW(&item->kept, item->count, &item->room);
        item->kept[item->count++] = move;
        return;
    }
    uint64_t at = moves_random(moves) % item->seen;
    if (at < LWP_MOVES_KEPT)
        item->kept[at] = move;
}

static struct lwp_code_pair *pair_of(struct lwp_moves *moves, const struct lwp_traversal_access *from,
                                     const struct lwp_traversal_access *to)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(lwp_hash_mix(to->object, to->region), to->code), from->code);
    for (uint32_t *at = lwp_map_at(&moves->pair_index, key); *at != LWP_MAP_NONE; at = lwp_map_at(&moves->pair_index, ++key)) {
        struct lwp_code_pair *pair = &moves->pairs[*at];
        if (pair->object == to->object && pair->region == to->region && pair->code == to->code && pair->from == from->code)
            return pair;
    }
    if (moves->pair_count >= MOVES_MAX)
        return NULL;
    *lwp_map_at(&moves->pair_index, key) = (uint32_t)moves->pair_count;
    return LWP_APPEND(&moves->pairs, &moves->pair_count, &moves->pair_room,
                      (struct lwp_code_pair){.object = to->object, .region = to->region, .code = to->code, .from = from->code});
}

/* The accesses before number `i` that are a few instructions away. */
static void moves_pairs(struct lwp_moves *moves, const struct lwp_traversal_access *accesses, int i)
{
    for (int k = i - 1; k >= 0 && k >= i - PAIR_NEAR && accesses[k + 1].close; k--) {
        if (accesses[k].object != accesses[i].object || accesses[k].region != accesses[i].region)
            continue;
        if (accesses[k].code == accesses[i].code)
            return;
        struct lwp_code_pair *pair = pair_of(moves, &accesses[k], &accesses[i]);
        if (!pair)
            return;
        uint64_t at = pair->seen++ < LWP_PAIR_KEPT ? pair->count++ : moves_random(moves) % pair->seen;
        if (at < LWP_PAIR_KEPT)
            pair->bytes[at] = (int64_t)(accesses[i].address - accesses[k].address);
    }
}

static void moves_next(struct lwp_moves *moves, const struct lwp_traversal_access *from, const struct lwp_traversal_access *to)
{
    uint64_t key = lwp_hash_mix(lwp_hash_mix(from->region, from->code), to->code);
    for (uint32_t *at = lwp_map_at(&moves->next_index, key); *at != LWP_MAP_NONE; at = lwp_map_at(&moves->next_index, ++key)) {
        struct lwp_next_access *next = &moves->nexts[*at];
        if (next->region == from->region && next->from == from->code && next->code == to->code) {
            next->seen++;
            return;
        }
    }
    if (moves->next_count >= MOVES_MAX)
        return;
    *lwp_map_at(&moves->next_index, key) = (uint32_t)moves->next_count;
    LWP_APPEND(&moves->nexts, &moves->next_count, &moves->next_room,
               (struct lwp_next_access){.region = from->region, .from = from->code, .code = to->code, .seen = 1});
}

static bool moves_leads(const struct lwp_profile *profile, const struct lwp_next_access *next, uint32_t region, uint64_t low, uint64_t high)
{
    return lwp_regions_final(profile, next->region) == region && !(next->from >= low && next->from < high) && next->code >= low &&
           next->code < high;
}

double lwp_moves_part(const struct lwp_profile *profile, uint32_t region, uint64_t low, uint64_t high)
{
    const struct lwp_moves *moves = &profile->moves;
    struct lwp_map leading = {0}; /* addresses that lead there */
    uint64_t there = 0, all = 0;
    for (size_t i = 0; i < moves->next_count; i++)
        if (moves_leads(profile, &moves->nexts[i], region, low, high)) {
            *lwp_map_at(&leading, moves->nexts[i].from) = 0;
            there += moves->nexts[i].seen;
        }
    for (size_t i = 0; i < moves->next_count && there; i++)
        all += lwp_map_get(&leading, moves->nexts[i].from) != LWP_MAP_NONE ? moves->nexts[i].seen : 0;
    lwp_map_fini(&leading);
    return all < NEXT_LEAST ? -1 : (double)there / (double)all;
}

static void moves_block(struct lwp_moves *moves, const struct lwp_traversal_access *access)
{
    uint32_t *at = lwp_map_at(&moves->block_index, access->object);
    if (*at == LWP_MAP_NONE) {
        *at = (uint32_t)moves->block_count;
        LWP_APPEND(&moves->blocks, &moves->block_count, &moves->block_room, (struct lwp_seen_blocks){.object = access->object});
    }
    struct lwp_seen_blocks *blocks = &moves->blocks[*at];
    const uint64_t start = access->address - access->offset;
    blocks->seen++;
    if (blocks->count < LWP_BLOCKS_KEPT) {
        LWP_GROW(&blocks->starts, blocks->count, &blocks->room);
        blocks->starts[blocks->count++] = start;
        return;
    }
    uint64_t which = moves_random(moves) % blocks->seen;
    if (which < LWP_BLOCKS_KEPT)
        blocks->starts[which] = start;
}

const struct lwp_seen_blocks *lwp_moves_blocks(const struct lwp_moves *moves, uint32_t object)
{
    uint32_t at = lwp_map_get(&moves->block_index, object);
    return at == LWP_MAP_NONE ? NULL : &moves->blocks[at];
}

/* Whether the access is to code of the same function around the loop that `in` is in: what runs then has left the loop. What a call from
 * around it runs is taken for a part of that, so only the code tells. */
static bool moves_is_around(const struct lwp_profile *profile, const struct lwp_traversal_access *access,
                            const struct lwp_traversal_access *in)
{
    const struct lwp_region *regions = profile->regions;
    uint32_t up = access->region;
    for (int depth = 0; up != LWP_NONE && depth < PARENTS_MOST; up = regions[up].parent, depth++)
        if (up == in->region)
            return false;
    const uint32_t module = regions[in->region].module;
    if (!profile->code || module == LWP_NONE || regions[access->region].module != module)
        return false;
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, module, access->code);
    const uint64_t function = place ? place->function_low : 0;
    place = lwp_code_symbolize(profile->code, module, in->code);
    return function && place && place->function_low == function;
}

/* What comes first after each execution of an instruction in a loop: the next one, or the loop's end. */
static void moves_ends(struct lwp_moves *moves, const struct lwp_profile *profile, const struct lwp_traversal_access *accesses, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        const struct lwp_traversal_access *now = &accesses[i];
        int next = i + 1;
        if (now->region >= profile->region_count || profile->regions[now->region].is_function)
            continue;
        while (next < count && accesses[next].code != now->code &&
               (accesses[next].region == now->region || !moves_is_around(profile, &accesses[next], now)))
            next++;
        struct lwp_code_moves *item = next < count ? moves_of(moves, now) : NULL;
        if (item && accesses[next].code == now->code)
            item->stays++;
        else if (item)
            item->leaves++;
    }
}

static bool moves_in_loop(const struct lwp_profile *profile, const struct lwp_traversal_access *access)
{
    return access->region < profile->region_count && !profile->regions[access->region].is_function;
}

/* Within one look each execution of an instruction is as likely to be seen as any other, and its loop's end behind it at least as likely as
 * another execution. Looks that end early do so where the code's way is not known, or where the loop's function returns. */
static void moves_passes(struct lwp_moves *moves, const struct lwp_profile *profile, const struct lwp_traversal_access *accesses, int count)
{
    int pairs = 0;
    for (int i = 0; i < count; i++) {
        const struct lwp_traversal_access *now = &accesses[i];
        int next = i + 1;
        pairs += now->close;
        if (!moves_in_loop(profile, now))
            continue;
        while (next < count && accesses[next].close && accesses[next].code != now->code &&
               (accesses[next].region == now->region || !moves_is_around(profile, &accesses[next], now)))
            next++;
        struct lwp_code_moves *item = next < count && accesses[next].close ? moves_of(moves, now) : NULL;
        if (item && accesses[next].code == now->code) {
            item->passes++;
            item->backs += accesses[next].address < now->address;
        } else if (item) {
            item->ends++;
        }
    }
    struct lwp_code_moves *last =
        count && pairs < LOOK_PAIRS && moves_in_loop(profile, &accesses[count - 1]) ? moves_of(moves, &accesses[count - 1]) : NULL;
    if (last)
        last->lost++;
}

/* What is counted as `seen` comes to no more than this in the mean, with a probability of 95 % (Wilson and Hilferty's approximation of the
 * Poisson distribution's limit). */
static double count_most(double seen)
{
    const double n = seen + 1;
    return n * pow(1 - 1 / (9 * n) + 1.645 / (3 * sqrt(n)), 3);
}

double lwp_moves_length_of(double passes, double ends)
{
    return 1 + passes / count_most(ends);
}

/* Whether the loop around accesses anything: of one that does not, the next search seems to go on with the one before. */
static bool moves_has_around(const struct lwp_profile *profile, uint32_t region)
{
    const uint32_t outer = lwp_regions_final(profile, profile->regions[region].parent);
    bool seen = outer == LWP_NONE || profile->regions[outer].is_function;
    for (size_t i = 0; i < profile->stream_count && !seen; i++)
        seen = lwp_regions_final(profile, profile->streams[i].region) == outer;
    return seen;
}

/* What was seen behind one of the loop's instructions, that which was seen most, and what was lost behind any of them. An array is gone
 * over upwards, if at all, and from its end to the start of the next search. */
double lwp_moves_length_least(const struct lwp_profile *profile, uint32_t region)
{
    const struct lwp_region *of = &profile->regions[region];
    const bool chained = lwp_loop_search_by_call(profile->code, of->module, of->address) == LWP_LOOP_SEARCH_LIST;
    struct lwp_map index = {0};
    struct lwp_code_moves *sums = lwp_zeroed(profile->moves.count + 1, sizeof *sums);
    size_t count = 0, most = 0;
    double lost = 0;
    for (size_t i = 0; i < profile->moves.count; i++) {
        const struct lwp_code_moves *more = &profile->moves.items[i];
        if (lwp_regions_final(profile, more->region) != region)
            continue;
        uint32_t *at = lwp_map_at(&index, more->code);
        count += lwp_number_new(at, count);
        sums[*at].passes += more->passes - (chained ? 0 : more->backs);
        sums[*at].ends += more->ends + (chained ? 0 : more->backs);
        lost += more->lost;
    }
    for (size_t i = 0; i < count; i++)
        most = sums[i].passes + sums[i].ends > sums[most].passes + sums[most].ends ? i : most;
    const double least = lwp_moves_length_of(sums[most].passes, sums[most].ends + lost);
    free(sums);
    lwp_map_fini(&index);
    return chained && !moves_has_around(profile, region) ? 1 : least;
}

bool lwp_moves_is_of(const struct lwp_profile *profile, const struct lwp_code_moves *moves, const struct lwp_stream *stream)
{
    return moves->object == stream->object && moves->code == stream->address &&
           lwp_regions_final(profile, moves->region) == lwp_regions_final(profile, stream->region);
}

void lwp_moves_give(struct lwp_profile *profile, const struct lwp_stream *stream, uint32_t to)
{
    for (size_t i = 0; i < profile->moves.count; i++)
        if (lwp_moves_is_of(profile, &profile->moves.items[i], stream))
            profile->moves.items[i].object = to;
}

void lwp_moves_sample(struct lwp_moves *moves, const struct lwp_profile *profile, const struct lwp_traversal_access *accesses, int count)
{
    moves_ends(moves, profile, accesses, count);
    moves_passes(moves, profile, accesses, count);
    for (int i = 0; i < count; i++) { /* those after the first one of an object lie where that leads to */
        int k = 0;
        while (k < i && accesses[k].object != accesses[i].object)
            k++;
        if (k == i)
            moves_block(moves, &accesses[i]);
    }
    for (int i = 1; i < count; i++) {
        const struct lwp_traversal_access *now = &accesses[i];
        moves_pairs(moves, accesses, i);
        if (now->close)
            moves_next(moves, &accesses[i - 1], now);
        bool next = now->close;
        for (int k = i - 1; k >= 0; next &= accesses[k].close, k--) {
            const struct lwp_traversal_access *before = &accesses[k];
            if (before->code != now->code || before->object != now->object || before->region != now->region)
                continue;
            struct lwp_code_moves *item = moves_of(moves, now);
            if (item)
                moves_keep(moves, item,
                           (struct lwp_move){.bytes = (int64_t)(now->address - before->address),
                                             .within = (int64_t)(now->offset - before->offset),
                                             .next = next});
            break;
        }
    }
}
