#include "analysis/tables/severity.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    double medium, high; /* from here on */
} rules[] = {
    [LWP_SEVERITY_OF_GAIN] = {1.05, 1.15},
    [LWP_SEVERITY_OF_REDUNDANCY] = {0.25, INFINITY},
    [LWP_SEVERITY_OF_SHARING] = {0.05, 0.2},
    [LWP_SEVERITY_OF_COMMUNICATION] = {5, 20},
};

static const uint64_t samples_needed[] = {
    [LWP_EVIDENCE_THIN] = LWP_SAMPLES_LEAST, [LWP_EVIDENCE_SOME] = 100, [LWP_EVIDENCE_GOOD] = 150, [LWP_EVIDENCE_MUCH] = 500};

enum lwp_evidence lwp_evidence_of(uint64_t samples)
{
    enum lwp_evidence evidence = LWP_EVIDENCE_MUCH;
    while (evidence && samples < samples_needed[evidence])
        evidence--;
    return evidence;
}

enum lwp_evidence lwp_evidence_of_share(uint64_t samples, double share)
{
    enum { LOOKS_LEAST = 29 }; /* 0.9 to that power is 0.05 */
    const enum lwp_evidence evidence = lwp_evidence_of(samples);
    const bool enough = samples >= LOOKS_LEAST && (double)samples >= (1 - share) * LWP_SAMPLES_LEAST;
    return evidence == LWP_EVIDENCE_NONE && enough ? LWP_EVIDENCE_THIN : evidence;
}

static const char *const names[] = {"low", "medium", "high"};

const char *lwp_severity(enum lwp_severity_rule rule, double value)
{
    return names[(value >= rules[rule].medium) + (value >= rules[rule].high)];
}

const char *lwp_severity_name(int level)
{
    return names[level];
}

int lwp_severity_level(const char *name)
{
    return strcmp(name, names[LWP_SEVERITY_HIGH]) == 0 ? LWP_SEVERITY_HIGH : strcmp(name, names[LWP_SEVERITY_MEDIUM]) == 0;
}
