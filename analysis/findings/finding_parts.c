#include "analysis/findings/finding_parts.h"

#include "analysis/tables/engines.h"
#include "analysis/tables/severity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) lwp_arena_printf(profile->arena, __VA_ARGS__)

const char *lwp_finding_id(struct lwp_profile *profile, const char *words, uint64_t hash)
{
    return SAY("%s-%04x", words, (unsigned)(hash & 0xffff));
}

void lwp_finding_share(const struct lwp_profile *profile, const struct lwp_tally *weight, struct lwp_finding *finding)
{
    struct lwp_share share = lwp_share_of(weight, &profile->total);
    finding->share = share.value;
    if (lwp_engine_row(profile->engine)->exact)
        return;
    finding->share_low = share.low;
    finding->share_high = share.high;
    finding->samples = weight->samples;
}

void lwp_finding_gain(struct lwp_finding *finding, double speedup, double low, double high)
{
    finding->speedup = speedup;
    finding->low = low;
    finding->high = high;
    finding->rank = speedup;
    finding->severity = lwp_severity(LWP_SEVERITY_OF_GAIN, low);
}

double lwp_finding_rank(double stake)
{
    return 1 / (1 - stake / 2);
}

void lwp_finding_gain_unknown(struct lwp_finding *finding, double stake)
{
    finding->stake = stake;
    finding->rank = lwp_finding_rank(stake);
    finding->severity = lwp_severity(LWP_SEVERITY_OF_GAIN, finding->rank);
    lwp_finding_temper(finding);
}

void lwp_finding_temper(struct lwp_finding *finding)
{
    if (lwp_severity_level(finding->severity) == LWP_SEVERITY_HIGH)
        finding->severity = lwp_severity_name(LWP_SEVERITY_MEDIUM);
}

/* Of those of which nothing is known the more severe first. */
static int finding_compare(const void *a, const void *b)
{
    const struct lwp_finding *x = a, *y = b;
    double p = x->rank, q = y->rank;
    if (p == q && p == 0) {
        p = lwp_severity_level(x->severity), q = lwp_severity_level(y->severity);
        if (p == q)
            p = x->share, q = y->share;
    }
    return p != q ? (p < q) - (p > q) : strcmp(x->id, y->id);
}

void lwp_finding_sort(struct lwp_finding *findings, size_t count)
{
    double sure = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (findings[i].low > 0 && lwp_severity_level(findings[i].severity) == LWP_SEVERITY_HIGH)
            sure = fmin(sure, findings[i].rank);
    for (size_t i = 0; i < count; i++)
        if (findings[i].low <= 0)
            findings[i].rank = fmin(findings[i].rank, nextafter(sure, 0));
    qsort(findings, count, sizeof *findings, finding_compare);
}
