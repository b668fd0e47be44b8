/* Loops that take turns displace each other's data. When each of them runs is not known for all data, only what it goes to. */
#include "analysis/advice/gain/displaced.h"

#include "analysis/advice/gain/timed.h"
#include "analysis/elements/element_count.h"
#include "analysis/profile/objects.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const double seldom = 0.1 /* of a loop's weight */, most_caches = 4 /* of a core: more is as if nothing stayed */;

bool lwp_gain_displaces(double weight, double other)
{
    return weight > seldom * other;
}

double lwp_gain_displaced(const struct lwp_profile *profile, uint32_t region, const uint32_t *objects, size_t count)
{
    double *elsewhere = lwp_zeroed(profile->object_count + 1, sizeof *elsewhere), loop = 0, bytes = 0;
    for (size_t i = 0; i < profile->stream_count; i++) {
        const struct lwp_stream *stream = &profile->streams[i];
        if (stream->region == region)
            loop += stream->weight.weight;
        else
            elsewhere[stream->object] += stream->weight.weight;
    }
    for (size_t k = 0; k < count; k++)
        elsewhere[objects[k]] = 0;
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct lwp_object *object = &profile->objects[i];
        bytes += lwp_objects_is_data(object) && lwp_gain_displaces(elsewhere[i], loop) ? (double)lwp_element_used(object) : 0;
    }
    free(elsewhere);
    return bytes;
}

/* A layout that fits into the core's own caches stays there while the loop goes on alone. Between others it takes the time of as many
 * elements as the data of all has bytes. Where today's stays there too, both are displaced alike. */
bool lwp_gain_time_displaced(struct lwp_profile *profile, const struct lwp_gain_visit *visit, const struct lwp_pattern *today,
                             const struct lwp_pattern *changed, double *after)
{
    const double own = (double)lwp_gain_caches(profile->machine).l2_bytes * fmax(1, today->threads), fits = lwp_pattern_busy(changed);
    struct lwp_pattern more[] = {*today, *changed};
    struct lwp_pattern_times times;
    if (fits <= 0 || fits > own || lwp_pattern_busy(today) <= own)
        return false;
    const double others = lwp_gain_displaced(profile, visit->region, visit->objects, visit->object_count) + visit->beside,
                 all = fmin(fits + others, most_caches * own);
    if (all <= own)
        return false;
    more[0].elements = more[1].elements = (uint64_t)((double)changed->elements * all / fits);
    *after = lwp_gain_times_once(profile, visit->region, &more[0], &more[1], &times) ? times.after : INFINITY;
    return true;
}

void lwp_gain_of_displaced(double ratio, struct lwp_gain_measured *measured)
{
    lwp_gain_lies_between(measured, fmax(measured->ratio, fmin(1, ratio))); /* today's time is displaced already */
}
