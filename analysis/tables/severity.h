/* How severe a finding is, by one table of rules. */
#ifndef LWP_ANALYSIS_TABLES_SEVERITY_H
#define LWP_ANALYSIS_TABLES_SEVERITY_H

#include <stdint.h>

enum lwp_severity_rule {
    LWP_SEVERITY_OF_GAIN,          /* the low end of the expected speed-up */
    LWP_SEVERITY_OF_REDUNDANCY,    /* the redundant part of the program: removing it is not always possible, so never high */
    LWP_SEVERITY_OF_SHARING,       /* the share of time on falsely shared lines */
    LWP_SEVERITY_OF_COMMUNICATION, /* how many times as much communication as is worth a finding */
};

/* What so many samples are enough for. The only rule about it. */
enum lwp_evidence {
    LWP_EVIDENCE_NONE, /* no advice */
    LWP_EVIDENCE_THIN, /* advice, but nothing of high severity; that something is absent is not said */
    LWP_EVIDENCE_SOME, /* ... with low confidence */
    LWP_EVIDENCE_GOOD, /* medium confidence */
    LWP_EVIDENCE_MUCH, /* high confidence */
};
enum { LWP_SAMPLES_LEAST = 40 };

/* What gets more of them in the same time: a frequency alone does not where the allowed overhead is what holds them back. */
#define LWP_SAMPLE_MORE "lwp collect -F 2000 --max-overhead 10"

enum lwp_evidence lwp_evidence_of(uint64_t samples);

/* ... where they are this share of all samples. A large share is known better than a small one: its relative error is that of
 * samples / (1 - share) on a small one. In any case there are so many that what one visit in ten uses was seen (95 %). */
enum lwp_evidence lwp_evidence_of_share(uint64_t samples, double share);

enum { LWP_SEVERITY_LOW, LWP_SEVERITY_MEDIUM, LWP_SEVERITY_HIGH };

/* "high", "medium" or "low", as in analysis.json. */
const char *lwp_severity(enum lwp_severity_rule rule, double value);

/* That of a level. */
const char *lwp_severity_name(int level);

/* The level of a name; confidence has the same three. LOW for anything else. */
int lwp_severity_level(const char *name);

#endif
