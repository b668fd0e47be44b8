/* The findings of an analysis.json as a neutral list, in the form that every output format (terminal, Markdown, SARIF,
 * JUnit) and lwp check work from: title, evidence, location, gain, fingerprint. Knows analysis.json, never a sample. */
#ifndef LWP_ANALYSIS_REVIEW_REVIEW_H
#define LWP_ANALYSIS_REVIEW_REVIEW_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of evidence: "memory", "a pass over all elements goes through 183 MiB, then 30.1 MiB". */
struct lwp_review_fact {
    const char *label, *text; /* label "": goes on with the one before */
};

/* A loop's part in it. */
struct lwp_review_row {
    double share;
    const char *location, *text;
};

struct lwp_review_location {
    const char *role;     /* "declared", "allocated", "stored", "loop", ... */
    const char *function; /* or NULL */
    const char *file;     /* relative to the review's root where it lies below, otherwise as recorded */
    unsigned first, last; /* lines; 0: not known */
};

struct lwp_review_item {
    const char *id, *title, *next_step;
    const char *rule;                  /* a row of lwp_review_rules */
    const char *subject;               /* what it is about, by names that survive other edits: "struct neuron (layer)" */
    const char *fingerprint;           /* 16 hexadecimal digits, of rule and names: no line, address or number goes into it */
    unsigned ordinal;                  /* among items of one fingerprint, from 1 */
    const char *severity, *confidence; /* confidence may be NULL */
    const char *declaration;           /* or NULL */
    const json_t *split;               /* the advice about one structure, or NULL */
    const char *tried;                 /* "1.27x (1.25-1.29)": measured with the patch of lwp patch; or NULL */
    const char *patch, *patch_root;    /* a unified diff, its bytes as they are, and the folder it is made for; or NULL */
    double speedup, low, high;         /* expected, and its interval; low 0: not predicted */
    const char *gain_of;               /* what these are of: "the whole program" */
    double stake;                      /* the part of the time that there is to gain at most; 0: not known */
    double share, share_low, share_high;
    const char *share_of;    /* "of all time", "of all stores", ... */
    double part, part_low;   /* of the program that it concerns, and what is sure of that */
    bool exact;              /* counted: intervals have no width */
    const char *row_heading; /* of the rows' texts, NULL: there are none */
    struct lwp_review_fact *facts;
    struct lwp_review_row *rows;
    struct lwp_review_location *locations; /* the first is where to look */
    size_t fact_count, row_count, location_count, fact_room, row_room, location_room;
};

struct lwp_review {
    const json_t *root;
    struct lwp_arena *arena;
    struct lwp_review_item *items; /* largest expected gain first */
    size_t count;
    const char *source_root; /* of relative files; NULL: unknown */
};

/* The kinds of findings, by the name that SARIF calls a rule. */
struct lwp_review_rule {
    const char *id;      /* "split" */
    const char *name;    /* "SplitStructure": what SARIF viewers list */
    const char *section; /* of analysis.json: null or absent there means that it was not looked for */
    const char *brief;   /* one sentence */
    const char *help;    /* what it means, and what to do, in Markdown that is plain text too */
    const char *prefix;  /* of the findings' ids, where that is what says the rule; or NULL */
};

extern const struct lwp_review_rule lwp_review_rules[];
extern const size_t lwp_review_rule_count;

/* Never NULL: the last rule stands for what is not known. */
const struct lwp_review_rule *lwp_review_rule(const char *id);

/* ---- what lwp check decided, in the form that every output format can show ---- */

enum lwp_judged { LWP_JUDGED_PASSES, LWP_JUDGED_FAILS, LWP_JUDGED_SKIPPED };

/* One thing checked: a finding of this run, one of the baseline that is gone, a budget, or that enough was measured. */
struct lwp_judged_line {
    enum lwp_judged result;
    const char *state;                  /* "new", "known", "gone"; "": no finding */
    const char *rule, *subject;         /* a finding's; or the budget's name */
    const char *why;                    /* a clause: "at least 1.38x, more than the 1.05x allowed" */
    const struct lwp_review_item *item; /* NULL: gone, or no finding */
};

struct lwp_judgement {
    struct lwp_judged_line *lines; /* those that fail first */
    size_t count, failed;
    const char *sentence; /* "1 of 4 checks failed" */
};

/* ---- from an analysis to a review ---- */

/* The path of an analysis.json, into path[size]. `name` is one, or a folder that lwp collect has written, analysed first
 * when that has not been done. */
int lwp_analysis_path(const char *name, char *path, size_t size, struct lwp_error *err);

/* What is in it. The caller owns the answer; NULL with `err` set. */
json_t *lwp_analysis_load(const char *name, struct lwp_error *err);

/* Texts of `root` are made fit to be shown in place (base/text.h) and shortened; it must outlive the review.
 * `source_root` NULL: found (names.h). NULL with `err` set when `root` is no analysis.json of this version. */
struct lwp_review *lwp_review_new(json_t *root, const char *source_root, struct lwp_error *err);
void lwp_review_free(struct lwp_review *review); /* NULL is fine */

/* Makes all texts of any JSON fit to be shown, in place; line breaks stay in what is called "declaration". */
void lwp_review_clean(json_t *root);

/* "1.62x to 5.37x", "1.62x", "at most 1.20x", or "not predicted". */
const char *lwp_review_gain(const struct lwp_review *review, const struct lwp_review_item *item);

/* Whether too little is known of it to fail a check, or to colour it. */
bool lwp_review_is_unsure(const struct lwp_review_item *item);

/* What measuring added to the run's CPU time: "1.4 %"; NULL: unknown. */
const char *lwp_review_cost(const struct lwp_review *review);

/* What to say where there is no finding: what could not be measured, that nothing is to be gained, or that what there is is left
 * alone. And what would tell more, or NULL. */
const char *lwp_review_none(const struct lwp_review *review);
const char *lwp_review_help(const struct lwp_review *review);

/* "p"; where another one has that name, too: "p, below balance_quick (sqlite3.c:75792)". */
const char *lwp_review_object(const struct lwp_review *review, const json_t *object);

/* A data object with much stall time that no advice is about. */
struct lwp_review_left {
    const char *name, *sentence, *code;
    double share;
};

/* Fills `left` with number `index`, where there is one; returns how many there are. */
size_t lwp_review_left_alone(const struct lwp_review *review, size_t index, struct lwp_review_left *left);

/* "53.4 % of all stores (44.8-62.0)" or, counted, without the interval. */
const char *lwp_review_share(const struct lwp_review *review, const struct lwp_review_item *item);

/* Why to believe it, as one sentence: "Memory stall on it is 68.7 % of all time (65.3-71.9); confidence high." */
const char *lwp_review_why(const struct lwp_review *review, const struct lwp_review_item *item);

/* "main.c:12-14", "main.c:12"; "" when the line is not known. */
const char *lwp_review_lines(const struct lwp_review *review, const struct lwp_review_location *location);

#endif
