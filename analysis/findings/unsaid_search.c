/* Samples show which loop searches, by its code, and how much of the time it takes. Whether it pays to search in another way depends on how
 * many elements it looks at, and on whether they stay: that takes watchpoints, or a trace. Without these nothing can be advised, a hash
 * table's chain looks as a long list does; but "nothing was found" would be wrong. */
#include "analysis/findings/unsaid_search.h"

#include "analysis/advice/locality/long_lists.h"
#include "analysis/advice/redundancy/redundancy_search.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/program/flow/machine_code.h"

#include <inttypes.h>
#include <math.h>

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

/* Of the time at least, however few samples there are: less could not make the program 1.1x as fast. */
static const double share_least = 1 - 1 / 1.1;

static bool search_is_one(struct lwp_profile *profile, uint32_t region)
{
    const struct lwp_region *of = &profile->regions[region];
    if (of->same_as != region || of->is_function || of->module == LWP_NONE || lwp_objects_system_library(profile, of->module))
        return false;
    const enum lwp_loop_search search = lwp_loop_search_by_call(profile->code, of->module, of->address);
    return search == LWP_LOOP_SEARCH_LIST || search == LWP_LOOP_SEARCH_SCAN;
}

/* Whether it is known how long a search is: what that is worth has been decided. */
static bool search_is_known(const struct lwp_redundant_line *line)
{
    return line->sure && line->searched > 0 && (!line->searched_least || line->saved.value >= lwp_redundancy_time);
}

/* What accesses in it showed; NULL: none was watched. */
static const struct lwp_redundant_line *search_line(struct lwp_profile *profile, const struct lwp_redundancies *redundancies,
                                                    uint32_t region)
{
    const struct lwp_redundant_line *found = NULL;
    for (size_t i = 0; i < redundancies->line_count && !(found && search_is_known(found)); i++) {
        const struct lwp_redundant_line *line = &redundancies->lines[i];
        const struct lwp_redundancy *item = &redundancies->items[line->item];
        if (lwp_redundancy_is_search(item->why) &&
            lwp_redundancy_search_region(profile, lwp_redundancy_search_place(profile, item->pair->second)) == region)
            found = line;
    }
    return found;
}

static const char *search_where(struct lwp_profile *profile, const struct lwp_region *region)
{
    const char *lines = lwp_regions_lines(profile, region);
    return lines ? SAY("at %s", lines) : region->function ? SAY("in %s", region->function) : "in code without a name";
}

void lwp_unsaid_search_say(struct lwp_profile *profile, const struct lwp_redundancies *redundancies, const struct lwp_locality_tips *tips,
                           struct lwp_silence *silence)
{
    uint32_t found = LWP_NONE;
    struct lwp_share most = {.low = share_least};
    const bool counted = profile->watchpoints.exact && redundancies->totals[LWP_WATCHPOINT_SILENT_LOAD].measured;
    for (uint32_t i = 0; i < profile->region_count && profile->code && !counted; i++) {
        const struct lwp_share share = search_is_one(profile, i) ? lwp_redundancy_search_share(profile, i) : (struct lwp_share){0};
        if (share.low <= most.low || lwp_long_lists_are_in(tips, i))
            continue;
        const struct lwp_redundant_line *line = search_line(profile, redundancies, i);
        if (line && search_is_known(line))
            continue;
        most = share;
        found = i;
    }
    if (found == LWP_NONE)
        return;
    const struct lwp_redundant_line *line = search_line(profile, redundancies, found);
    const double least = floor(lwp_moves_length_least(profile, found));
    const char *many = least > 1 ? SAY(" (%.0f or more)", least) : "";
    const char *unknown =
        !line ? SAY("it was not measured how many it looks at each time%s, nor whether they stay the same", many)
              : SAY("only %" PRIu64 " watchpoint%s on its loads %s decided, too few to know how many it looks at each time%s, or whether "
                    "they stay the same",
                    line->samples, line->samples == 1 ? "" : "s", line->samples == 1 ? "was" : "were", many);
    const char *sentence = SAY("%.0f %% of the time goes to a search from one element to the next, %s; %s", 100 * most.value,
                               search_where(profile, &profile->regions[found]), unknown);
    const char *help = "If they are many and rarely change, look things up by bisection or in a hash table; lwp collect -e exact --detect "
                       "redundancy shows it.";
    if (!silence->kind)
        lwp_profile_note(profile, "%s. %s", sentence, help);
    else
        *silence = (struct lwp_silence){"not_measured", "search_length", sentence, help};
}
