/* In: analysis.json. Out: one item for each finding, in its order. What is particular to a kind of finding is in
 * review_layout.c and review_access.c, what all are made of in review_item.c. */
#include "analysis/review/review_parts.h"

#include "analysis/review/names.h"
#include "analysis/review/tried.h"
#include "analysis/tables/engines.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a finding can be about: the key of its reference, the array that leads into, and what is particular to it. */
static const struct {
    const char *ref, *parent, *array;
    void (*build)(struct lwp_review *review, struct lwp_review_item *item, const json_t *part);
} kinds[] = {
    {"split", NULL, "splits", lwp_review_split},
    {"regroup", NULL, "regroups", lwp_review_regroup},
    {"conflict", NULL, "conflicts", lwp_review_conflict},
    {"redundancy", NULL, "redundancies", lwp_review_redundancy},
    {"sharing", NULL, "sharing", lwp_review_sharing},
    {"locality", NULL, "locality", lwp_review_locality},
    {"communication", "communication", "regions", lwp_review_communication},
};

/* The rule whose prefix stands before the hash in the finding's id. */
static const char *review_rule_of_id(const char *id)
{
    for (size_t i = 0; i < lwp_review_rule_count; i++) {
        const char *prefix = lwp_review_rules[i].prefix;
        if (prefix && strncmp(id, prefix, strlen(prefix)) == 0)
            return lwp_review_rules[i].id;
    }
    return "other";
}

/* Committed to repositories and kept by code scanning services: another formula makes every finding a new one. */
static const char *review_fingerprint(struct lwp_arena *arena, const char *rule, const char *subject)
{
    return lwp_arena_printf(arena, "%016llx", (unsigned long long)lwp_hash_text(lwp_arena_printf(arena, "%s\n%s", rule, subject)));
}

static void review_tried(struct lwp_review *review, const json_t *finding, struct lwp_review_item *item)
{
    const json_t *tried = json_object_get(finding, "tried");
    char *text = lwp_tried_text(finding);
    item->patch = lwp_json_string(tried, "patch");
    item->patch_root = lwp_json_string(tried, "root");
    if (!text)
        return;
    item->tried = lwp_arena_strdup(review->arena, text);
    free(text);
}

static void review_item(struct lwp_review *review, const json_t *finding, struct lwp_review_item *item)
{
    const json_t *refs = json_object_get(finding, "refs"), *part = NULL;
    const char *unit = lwp_json_string(json_object_get(review->root, "run"), "weight_unit");
    *item = (struct lwp_review_item){.id = lwp_json_string_or(finding, "id", "?"),
                                     .title = lwp_json_string_or(finding, "title", "?"),
                                     .next_step = lwp_json_string_or(finding, "next_step", ""),
                                     .severity = lwp_json_string_or(finding, "severity", "low"),
                                     .share_of = "of all time",
                                     .speedup = lwp_json_amount(finding, "speedup"),
                                     .low = lwp_json_end(finding, "expected_speedup", 0),
                                     .high = lwp_json_end(finding, "expected_speedup", 1),
                                     .gain_of = lwp_unit_named(unit)->gain_of,
                                     .stake = lwp_json_amount(finding, "time_at_stake"),
                                     .subject = "?"};
    lwp_review_interval(item, finding);
    const double share = item->share;
    review_tried(review, finding, item);
    item->rule = review_rule_of_id(item->id);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !part; i++) {
        const json_t *root = kinds[i].parent ? json_object_get(review->root, kinds[i].parent) : review->root;
        if ((part = lwp_json_entry(root, kinds[i].array, refs, kinds[i].ref)))
            kinds[i].build(review, item, part);
    }
    item->rule = lwp_review_rule(item->rule)->id;
    item->part = share;
    item->part_low = item->exact || item->share <= 0 ? share : share * fmin(1, item->share_low / item->share);
    item->fingerprint = review_fingerprint(review->arena, item->rule, item->subject);
}

static void review_items(struct lwp_review *review)
{
    const json_t *findings = json_object_get(review->root, "findings"), *finding;
    size_t i;
    review->items = lwp_arena_alloc(review->arena, json_array_size(findings) + 1, sizeof *review->items);
    json_array_foreach(findings, i, finding) {
        struct lwp_review_item *item = &review->items[review->count];
        review_item(review, finding, item);
        item->ordinal = 1;
        for (size_t k = 0; k < review->count; k++)
            item->ordinal += strcmp(review->items[k].fingerprint, item->fingerprint) == 0;
        review->count++;
    }
}

struct lwp_review *lwp_review_new(json_t *root, const char *source_root, struct lwp_error *err)
{
    if (!lwp_json_is(root, "schema", "lwp-analysis")) {
        lwp_error_set(err, LWP_ERR_FORMAT, "this is no analysis that lwp has written");
        return NULL;
    }
    const char *version = lwp_json_string_or(root, "version", "");
    if (strncmp(version, "1.", 2) != 0) {
        lwp_error_set(err, LWP_ERR_NEWER, "the analysis is of version %.20s; this lwp reads version 1", version);
        return NULL;
    }
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_review *review = lwp_arena_alloc(arena, 1, sizeof *review);
    lwp_review_clean(root);
    *review = (struct lwp_review){.root = root, .arena = arena};
    review->source_root = lwp_source_root(arena, root, source_root);
    review_items(review);
    return review;
}

void lwp_review_free(struct lwp_review *review)
{
    for (size_t i = 0; review && i < review->count; i++) {
        free(review->items[i].facts);
        free(review->items[i].rows);
        free(review->items[i].locations);
    }
    if (review)
        lwp_arena_free(review->arena);
}
