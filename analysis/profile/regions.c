/* Source loops from machine loops.
 *
 * Compilers make several loops of one: peeled and vectorised parts, remainders, unswitched copies. They are one source
 * loop when function, lines and the calls that inlined the function are equal, or, with equal calls, when at least half of
 * the lines of the shorter one are those of the other and neither holds the other (nested loops never join). What is inlined at
 * two calls is two loops: they go over different data.
 * Limits: without line numbers each machine loop is its own; loops beside each other on one source line become one. */
#include "analysis/profile/regions.h"

#include "analysis/profile/contexts.h"
#include "base/order.h"
#include "base/path.h"

#include <math.h>
#include <string.h>

enum { REGIONS_MAX = 1 << 18 };

static bool region_text_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool region_calls_equal(const struct lwp_region *x, const struct lwp_region *y)
{
    if (x->call_count != y->call_count)
        return false;
    for (uint32_t i = 0; i < x->call_count; i++)
        if (x->calls[i].line != y->calls[i].line || !region_text_equal(x->calls[i].file, y->calls[i].file) ||
            !region_text_equal(x->calls[i].function, y->calls[i].function))
            return false;
    return true;
}

static uint32_t region_intern(struct lwp_profile *profile, uint64_t key, const struct lwp_region *made)
{
    uint32_t *at = lwp_map_at(profile->region_index, key);
    if (*at == LWP_MAP_NONE) {
        if (profile->region_count >= REGIONS_MAX)
            return LWP_NONE;
        *at = (uint32_t)profile->region_count;
        LWP_GROW(&profile->regions, profile->region_count, &profile->region_room);
        struct lwp_region *region = &profile->regions[profile->region_count];
        *region = *made;
        region->same_as = *at;
        region->reported = LWP_NONE;
        profile->region_count++;
    }
    return *at;
}

static uint64_t region_key(const struct lwp_region *region, uint64_t identity)
{
    uint64_t key = lwp_hash_mix(region->module, region->function ? lwp_hash_text(region->function) : 0);
    key = lwp_hash_mix(key, region->file ? lwp_hash_text(region->file) : 0);
    key = lwp_hash_mix(key, (uint64_t)region->first_line << 32 | region->last_line);
    for (uint32_t i = 0; i < region->call_count; i++) {
        const struct lwp_frame *call = &region->calls[i];
        key = lwp_hash_mix(lwp_hash_mix(key, call->function ? lwp_hash_text(call->function) : 0), call->line);
        key = lwp_hash_mix(key, call->file ? lwp_hash_text(call->file) : 0);
    }
    return lwp_hash_mix(key, region->first_line && !region->is_function ? 0 : identity + 1);
}

static bool region_holds(const struct lwp_profile *profile, uint32_t outer, uint32_t inner)
{
    for (int depth = 0; inner != LWP_NONE && depth < 64; depth++) {
        if (inner == outer)
            return true;
        inner = profile->regions[inner].parent;
    }
    return false;
}

static uint32_t region_of_loop(struct lwp_profile *profile, uint32_t index, int depth)
{
    if (index == LWP_NONE || depth > 64)
        return LWP_NONE;
    uint32_t known = lwp_map_get(profile->region_index, lwp_hash_mix(0x6c6f6f70u, index));
    if (known != LWP_MAP_NONE)
        return known;
    const struct lwp_loop *loop = lwp_code_loop(profile->code, index);
    if (!loop)
        return LWP_NONE;
    struct lwp_region region = {.module = loop->module,
                                .address = loop->header,
                                .function = loop->function,
                                .file = loop->file,
                                .first_line = loop->first_line,
                                .last_line = loop->last_line,
                                .calls = loop->calls,
                                .call_count = loop->call_count,
                                .parent = region_of_loop(profile, loop->parent, depth + 1)};
    uint64_t key = region_key(&region, loop->header);
    /* A nest written on one line: none of its loops is one of those around it. */
    while (lwp_map_get(profile->region_index, key) != LWP_MAP_NONE &&
           region_holds(profile, lwp_map_get(profile->region_index, key), region.parent))
        key++;
    uint32_t made = region_intern(profile, key, &region);
    *lwp_map_at(profile->region_index, lwp_hash_mix(0x6c6f6f70u, index)) = made;
    return made;
}

uint32_t lwp_regions_at(struct lwp_profile *profile, uint32_t module, uint64_t address)
{
    if (module == LWP_NONE)
        return LWP_NONE;
    const struct lwp_symbolized *place = lwp_code_symbolize(profile->code, module, address);
    if (!place)
        return LWP_NONE;
    if (place->loop != LWP_NONE) {
        uint32_t region = region_of_loop(profile, place->loop, 0);
        if (region != LWP_NONE)
            return region;
    }
    const struct lwp_frame *outer = &place->frames[place->frame_count - 1];
    struct lwp_region region = {.is_function = true, .module = module,
                                .address = place->function_low ? place->function_low : address,
                                .function = outer->function, .file = outer->file, .parent = LWP_NONE};
    uint32_t made = region_intern(profile, region_key(&region, place->function_low ? place->function_low : address), &region);
    if (made != LWP_NONE && outer->line) {
        struct lwp_region *at = &profile->regions[made];
        if (!at->first_line || outer->line < at->first_line)
            at->first_line = outer->line;
        LWP_RAISE(at->last_line, outer->line);
    }
    return made;
}

uint32_t lwp_regions_final(const struct lwp_profile *profile, uint32_t region)
{
    while (region != LWP_NONE && profile->regions[region].same_as != region)
        region = profile->regions[region].same_as;
    return region;
}

bool lwp_regions_within(const struct lwp_profile *profile, uint32_t inner, uint32_t outer)
{
    while (inner != LWP_NONE && inner != outer)
        inner = lwp_regions_final(profile, profile->regions[inner].parent);
    return inner != LWP_NONE;
}

const struct lwp_frame *lwp_regions_call(const struct lwp_region *region)
{
    const struct lwp_frame *outermost = NULL;
    for (uint32_t i = 0; i < region->call_count; i++) {
        if (region_text_equal(region->calls[i].function, region->function)) /* a part or a clone of itself */
            continue;
        if (region->calls[i].file && !lwp_path_is_system(region->calls[i].file))
            return &region->calls[i];
        outermost = &region->calls[i];
    }
    return outermost;
}

unsigned lwp_regions_level(const struct lwp_profile *profile, const struct lwp_region *region)
{
    unsigned level = 1;
    for (uint32_t outer = region->first_line ? region->parent : LWP_NONE; outer != LWP_NONE && level < 64;
         outer = profile->regions[outer].parent)
        level += !region->is_function && !profile->regions[outer].is_function && profile->regions[outer].first_line == region->first_line &&
                 profile->regions[outer].last_line == region->last_line && region_text_equal(profile->regions[outer].file, region->file) &&
                 region_calls_equal(&profile->regions[outer], region);
    return level;
}

const char *lwp_regions_lines(struct lwp_profile *profile, const struct lwp_region *region)
{
    const char *file = lwp_path_last(region->file), *lines;
    if (!file || !region->first_line)
        return NULL;
    lines = region->first_line == region->last_line
                ? lwp_arena_printf(profile->arena, "%s:%u", file, region->first_line)
                : lwp_arena_printf(profile->arena, "%s:%u-%u", file, region->first_line, region->last_line);
    unsigned level = lwp_regions_level(profile, region);
    if (level > 1)
        lines = lwp_arena_printf(profile->arena, "%s (loop %u of the nest)", lines, level);
    const struct lwp_frame *call = lwp_regions_call(region);
    return call && call->file && call->line
               ? lwp_arena_printf(profile->arena, "%s, inlined at %s:%u", lines, lwp_path_last(call->file), call->line)
               : lines;
}

static bool region_lines_shared(const struct lwp_region *x, const struct lwp_region *y)
{
    uint32_t first = x->first_line > y->first_line ? x->first_line : y->first_line;
    uint32_t last = x->last_line < y->last_line ? x->last_line : y->last_line;
    uint32_t shorter =
        x->last_line - x->first_line < y->last_line - y->first_line ? x->last_line - x->first_line : y->last_line - y->first_line;
    return first <= last && 2 * (uint64_t)(last - first + 1) >= (uint64_t)shorter + 1;
}

static bool region_same_source(const struct lwp_profile *profile, uint32_t a, uint32_t b)
{
    const struct lwp_region *x = &profile->regions[a], *y = &profile->regions[b];
    if (x->is_function || y->is_function || x->module != y->module || !x->first_line || !y->first_line)
        return false;
    if (!region_lines_shared(x, y) || !region_text_equal(x->function, y->function) || !region_text_equal(x->file, y->file) ||
        !region_calls_equal(x, y))
        return false;
    return !region_holds(profile, a, b) && !region_holds(profile, b, a) &&
           lwp_regions_final(profile, x->parent) == lwp_regions_final(profile, y->parent);
}

void lwp_regions_merge(struct lwp_profile *profile)
{
    /* Parents come before their children (region_of_loop makes them first), so they are joined first. */
    struct lwp_map *by_function = lwp_map_new();
    uint32_t *next = lwp_arena_alloc(profile->arena, profile->region_count + 1, sizeof *next);
    for (uint32_t i = 0; i < profile->region_count; i++) {
        struct lwp_region *region = &profile->regions[i];
        if (region->is_function)
            continue;
        uint32_t *head = lwp_map_at(by_function, lwp_hash_mix(region->module, region->function ? lwp_hash_text(region->function) : 0));
        for (uint32_t other = *head; other != LWP_MAP_NONE; other = next[other])
            if (region_same_source(profile, other, i)) {
                struct lwp_region *first = &profile->regions[other];
                LWP_LOWER(first->first_line, region->first_line);
                LWP_RAISE(first->last_line, region->last_line);
                lwp_tally_merge(&first->weight, &region->weight);
                region->same_as = other;
                break;
            }
        if (region->same_as == i) {
            next[i] = *head;
            *head = i;
        }
    }
    lwp_map_free(by_function);
    for (size_t i = 0; i < profile->region_count; i++)
        profile->regions[i].parent = lwp_regions_final(profile, profile->regions[i].parent);
    for (size_t i = 0; i < profile->stream_count; i++) {
        struct lwp_stream *stream = &profile->streams[i];
        stream->region = lwp_regions_final(profile, stream->region);
        if (stream->region != LWP_NONE)
            profile->regions[stream->region].stalled += stream->weight.weight;
    }
}

void lwp_regions_share_time(struct lwp_profile *profile)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        const struct lwp_region *region = stream->region == LWP_NONE ? NULL : &profile->regions[stream->region];
        double whole = region && region->stalled > 0 ? fmax(1, region->weight.weight / region->stalled) : 1;
        profile->objects[stream->object].time_weight += stream->weight.weight * whole;
    }
}
