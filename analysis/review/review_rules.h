/* The kinds of findings, by the name that SARIF calls a rule. */
#ifndef LWP_ANALYSIS_REVIEW_REVIEW_RULES_H
#define LWP_ANALYSIS_REVIEW_REVIEW_RULES_H

#include <stddef.h>

struct lwp_review_rule {
    const char *id;      /* "split" */
    const char *name;    /* "SplitStructure": what SARIF viewers list */
    const char *section; /* of analysis.json: null or absent there means that it was not looked for */
    const char *brief;   /* one sentence */
    const char *help;    /* what it means, and what to do, in Markdown that is plain text too */
};

extern const struct lwp_review_rule lwp_review_rules[];
extern const size_t lwp_review_rule_count;

/* Never NULL: the last rule stands for what is not known. */
const struct lwp_review_rule *lwp_review_rule(const char *id);

#endif
