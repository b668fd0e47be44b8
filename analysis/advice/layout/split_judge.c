/* What stands against a structure's other layout: too little time, too few samples, too little gain, threads that would share lines. */
#include "analysis/advice/layout/split_internal.h"
#include "analysis/profile/objects.h"
#include "analysis/tables/severity.h"

#include <string.h>

static const double witnessed_least = 0.5; /* of the accesses: those whose field the code names, too */

const struct lwp_split_needs lwp_split_needs = {.share = 0.02, .gain = 1.02};

static uint64_t split_footprint(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < layout->object_count; k++)
        bytes += profile->objects[layout->objects[k]].bytes;
    return bytes;
}

const char *lwp_split_name(struct lwp_profile *profile, const struct lwp_layout *layout)
{
    return layout->type ? layout->type->name : lwp_objects_name(profile, layout->objects[0]);
}

const char *lwp_split_confidence(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    const struct lwp_object *first = &profile->objects[layout->objects[0]];
    const struct lwp_agreement *agreement = &layout->agreement;
    const enum lwp_evidence evidence = lwp_evidence_of(layout->weight.samples);
    /* A declared variable needs no pointer to tell its type. */
    bool declared = first->kind == LWP_OBJECT_STATIC && first->type_exact;
    bool witnessed = layout->type && (declared || agreement->compared >= witnessed_least * agreement->looked_at);
    if (evidence >= LWP_EVIDENCE_MUCH && witnessed && layout->probability > 0.99)
        return "high";
    if (evidence >= LWP_EVIDENCE_GOOD && layout->probability > 0.95)
        return "medium";
    return "low";
}

static bool split_evident(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    return lwp_evidence_of_share(layout->weight.samples, lwp_share_of(&layout->weight, &profile->total).value);
}

bool lwp_split_worth(struct lwp_profile *profile, const struct lwp_layout *layout, const struct lwp_gain *gain,
                     struct lwp_split_reason *reason)
{
    if (gain->high > reason->high) {
        reason->speedup = gain->speedup;
        reason->low = gain->low;
        reason->high = gain->high;
    }
    if (gain->high < lwp_split_needs.gain)
        return false;
    const bool evident = split_evident(profile, layout);
    reason->few |= !evident;
    if (!evident)
        lwp_profile_note(profile,
                         "Too few samples (%llu) on %s to advise on its layout; let the program run longer or sample more (" LWP_SAMPLE_MORE
                         ").",
                         (unsigned long long)layout->weight.samples, lwp_objects_name(profile, layout->objects[0]));
    return evident && gain->low >= lwp_split_needs.gain;
}

bool lwp_split_shares_falsely(struct lwp_profile *profile, const struct lwp_split *split)
{
    const struct lwp_layout *layout = split->layout;
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    bool stored[LWP_FIELDS_MAX], shares = false;
    unsigned turns = layout->element_bytes >= line / 2 ? lwp_element_writers_turns(profile, layout) : 0;
    if (!turns)
        return false;
    lwp_element_writers_fields(profile, layout, stored);
    for (int g = split->cold ? -1 : 0; g < (int)split->groups && !shares; g++) {
        struct lwp_split_part part;
        lwp_split_part(split, g, &part);
        for (size_t i = 0; i < part.count; i++)
            shares |= stored[part.fields[i]] && part.bytes < line && part.bytes < layout->element_bytes;
    }
    if (shares)
        lwp_profile_note(profile,
                         "%s is not advised to be split although its loops use only parts of it: threads own its elements in turn (element "
                         "modulo %u), and smaller parts would put fields that different threads write on one cache line.",
                         lwp_split_name(profile, layout), turns);
    return shares;
}

bool lwp_split_padded(struct lwp_profile *profile, const struct lwp_layout *layout, const int *group)
{
    uint64_t line = lwp_gain_caches(profile->machine).line_bytes;
    const struct lwp_type *type = layout->type;
    bool padded = type && type->aligned && type->alignment >= line;
    for (size_t f = 0; f < layout->field_count && type; f++)
        padded |= group[f] < 0 && layout->fields[f].alignment == 1 && strstr(layout->fields[f].name, "pad") != NULL;
    if (!padded || layout->element_bytes % line || !lwp_element_writers_mingle(profile, layout))
        return false;
    lwp_profile_note(profile,
                     "%s is not advised to be changed: its elements are padded to whole cache lines, and threads write elements that lie "
                     "among those of others; without the padding they would share lines.",
                     type->name);
    return true;
}

bool lwp_split_is_vague(const struct lwp_layout *layout)
{
    return layout->vague >= 0.3 * layout->weight.weight;
}

bool lwp_split_is_copied(const struct lwp_layout *layout)
{
    return layout->copied > 0.5 * layout->vague;
}

enum lwp_split_verdict lwp_split_before(const struct lwp_profile *profile, const struct lwp_layout *layout)
{
    struct lwp_share share = lwp_share_of(&layout->weight, &profile->total);
    return share.value < lwp_split_needs.share                                                  ? LWP_SPLIT_LITTLE_TIME
           : split_footprint(profile, layout) <= lwp_gain_caches(profile->machine).l2_bytes / 2 ? LWP_SPLIT_FITS_CACHE
           : !layout->type && layout->probability < 0.95                                        ? LWP_SPLIT_UNSURE_SIZE
                                                                                                : LWP_SPLIT_NOT_JUDGED;
}

enum lwp_split_verdict lwp_split_against(const struct lwp_profile *profile, const struct lwp_layout *layout,
                                         const struct lwp_split_reason *reason)
{
    return reason->verdict != LWP_SPLIT_NOT_JUDGED ? reason->verdict
           : lwp_split_is_vague(layout)            ? LWP_SPLIT_VAGUE
           : reason->few                           ? LWP_SPLIT_FEW_SAMPLES
           : reason->unknown                       ? LWP_SPLIT_UNKNOWN_GAIN
           : reason->high > 0                      ? LWP_SPLIT_LITTLE_GAIN
           : !split_evident(profile, layout)       ? LWP_SPLIT_FEW_SAMPLES
                                                   : LWP_SPLIT_USED_TOGETHER;
}
