#include "analysis/profile/communication_counts.h"

#include "analysis/profile/locations.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/regions.h"
#include "base/arena.h"
#include "base/order.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS_MOST = 1 << 22 };

void lwp_communication_counts_how(struct lwp_communication_counts *counts, const struct lwps_flows *record)
{
    struct lwps_flows *how = &counts->how;
    counts->measured = true;
    LWP_RAISE(how->granule_bytes, record->granule_bytes);
    LWP_RAISE(how->alone_bytes, record->alone_bytes);
    LWP_RAISE(how->thinned, record->thinned);
    LWP_RAISE(how->distances_thinned, record->distances_thinned);
    how->accesses += record->accesses >> 56 ? 0 : record->accesses;
}

static bool counts_refuses(struct lwp_communication_counts *counts, bool sound, size_t count)
{
    bool refuses = !sound || count >= RECORDS_MOST;
    counts->refused += refuses;
    return refuses;
}

void lwp_communication_counts_party(struct lwp_communication_counts *counts, uint32_t process, const struct lwps_party *record)
{
    if (counts_refuses(counts, record->number && record->number < LWP_COMMUNICATION_PARTIES, counts->party_count))
        return;
    struct lwp_communication_party *party =
        LWP_APPEND(&counts->parties, &counts->party_count, &counts->party_room,
                   (struct lwp_communication_party){.process = process, .number = record->number, .tid = record->tid});
    strncat(party->name, record->name, sizeof party->name - 1);
}

void lwp_communication_counts_flow(struct lwp_communication_counts *counts, uint32_t process, uint32_t location,
                                   const struct lwps_flow *record)
{
    bool sound = (record->first | record->again) >> 48 == 0 && record->writer < LWP_COMMUNICATION_PARTIES &&
                 record->reader < LWP_COMMUNICATION_PARTIES;
    if (counts_refuses(counts, sound, counts->flow_count))
        return;
    LWP_PUSH(counts->flow, (struct lwp_communication_flow){.process = process, .writer = record->writer,
                                                           .reader = record->reader, .bytes = record->bytes,
                                                           .first = record->first, .again = record->again,
                                                           .site = {.location = location, .region = LWP_NONE}});
}

void lwp_communication_counts_distance(struct lwp_communication_counts *counts, uint32_t location, uint32_t before,
                                       const struct lwps_flow_distance *record)
{
    if (counts_refuses(counts, record->count >> 48 == 0, counts->reuse_count))
        return;
    LWP_PUSH(counts->reuse, (struct lwp_communication_reuse){.up_to = record->up_to, .count = record->count,
                                                             .site = {.location = location, .region = LWP_NONE},
                                                             .before = {.location = before, .region = LWP_NONE}});
}

void lwp_communication_counts_pieces(struct lwp_communication_counts *counts, uint32_t location, const struct lwps_flow_pieces *record)
{
    if (counts_refuses(counts, (record->count | record->lines | record->bytes) >> 48 == 0, counts->piece_count))
        return;
    LWP_PUSH(counts->piece, (struct lwp_communication_fragments){.count = record->count, .lines = record->lines,
                                                                 .bytes = record->bytes,
                                                                 .even = record->even < record->count ? record->even : record->count,
                                                                 .step = record->step,
                                                                 .site = {.location = location, .region = LWP_NONE}});
}

void lwp_communication_counts_merge(struct lwp_communication_counts *into, struct lwp_communication_counts *from)
{
    if (from->measured)
        lwp_communication_counts_how(into, &from->how);
    LWP_APPEND_ALL(&into->parties, &into->party_count, &into->party_room, from->parties, from->party_count);
    LWP_APPEND_ALL(&into->flows, &into->flow_count, &into->flow_room, from->flows, from->flow_count);
    LWP_APPEND_ALL(&into->reuses, &into->reuse_count, &into->reuse_room, from->reuses, from->reuse_count);
    LWP_APPEND_ALL(&into->pieces, &into->piece_count, &into->piece_room, from->pieces, from->piece_count);
    into->refused += from->refused;
    lwp_communication_counts_free(from);
}

void lwp_communication_counts_free(struct lwp_communication_counts *counts)
{
    free(counts->parties);
    free(counts->flows);
    free(counts->reuses);
    free(counts->pieces);
    *counts = (struct lwp_communication_counts){0};
}

/* ---- sites ---- */

/* Copying and comparing memory is the program's work; all else in these libraries is their own. */
static bool counts_is_runtime(const char *path, const char *function)
{
    static const char *const own[] = {"libgomp.so", "libpthread", "ld-linux", "libomp.so", "libiomp5.so", "libtbb"};
    static const char *const for_program[] = {"mem", "__mem", "str", "__str", "wmem", "__wmem", "bcopy", "qsort", "msort", "__libc_mem"};
    const char *name = path ? lwp_path_last(path) : "";
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
            return true;
    if (strncmp(name, "libc.so", 7) && strncmp(name, "libc-", 5))
        return false;
    for (size_t i = 0; function && i < sizeof for_program / sizeof *for_program; i++)
        if (strncmp(function, for_program[i], strlen(for_program[i])) == 0)
            return false;
    return true;
}

bool lwp_communication_is_runtime(struct lwp_profile *profile, uint32_t location)
{
    uint32_t module = LWP_NONE;
    uint64_t address = 0;
    if (location != LWP_NONE)
        lwp_locations_address(profile, location, &module, &address);
    if (module == LWP_NONE)
        return false;
    const struct lwp_symbolized *code = lwp_code_symbolize(profile->code, module, address);
    return counts_is_runtime(lwp_code_module_info(profile->code, module)->path,
                             code && code->frame_count ? code->frames[code->frame_count - 1].function : NULL);
}

static void counts_locate(struct lwp_profile *profile, struct lwp_communication_site *site)
{
    uint32_t module = LWP_NONE;
    uint64_t address = 0;
    if (site->location != LWP_NONE)
        lwp_locations_address(profile, site->location, &module, &address);
    site->module = module;
    if (module == LWP_NONE)
        return;
    site->region = lwp_regions_at(profile, module, address);
    const struct lwp_symbolized *code = lwp_code_symbolize(profile->code, module, address);
    site->function = code && code->function_low ? code->function_low : address;
    site->runtime = lwp_communication_is_runtime(profile, site->location);
}

void lwp_communication_counts_locate(struct lwp_profile *profile)
{
    struct lwp_communication_counts *counts = &profile->communication;
    for (size_t i = 0; i < counts->flow_count; i++)
        counts_locate(profile, &counts->flows[i].site);
    for (size_t i = 0; i < counts->reuse_count; i++) {
        counts_locate(profile, &counts->reuses[i].site);
        counts_locate(profile, &counts->reuses[i].before);
    }
    for (size_t i = 0; i < counts->piece_count; i++)
        counts_locate(profile, &counts->pieces[i].site);
}
