/* In: analysis.json. Out: one item for each finding, in its order. What is particular to a kind of finding is in
 * review_layout.c and review_access.c, what all are made of in review_item.c. */
#include "analysis/review/review_parts.h"

#include "analysis/review/review_rules.h"
#include "analysis/review/source_root.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kind's own name within its kind: what stands before the hash in the finding's id. */
static const char *review_tip_rule(const char *id)
{
    static const char *const rules[][2] = {
        {"distance-", "communication-distance"}, {"pieces-", "communication-pieces"}, {"mapping-", "communication-mapping"},
        {"interchange-", "loop-interchange"},    {"fission-", "loop-fission"},        {"blocking-", "loop-blocking"},
        {"fusion-", "loop-fusion"},              {"pages-", "huge-pages"},            {"padding-", "padding"},
        {"touch-", "first-touch"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strncmp(id, rules[i][0], strlen(rules[i][0])) == 0)
            return rules[i][1];
    return "other";
}

static const json_t *review_ref(const struct lwp_review *review, const json_t *finding, const char *key, const char *array)
{
    return lwp_review_at(review, array, json_object_get(json_object_get(finding, "refs"), key));
}

/* Committed to repositories and kept by code scanning services: another formula makes every finding a new one. */
static const char *review_fingerprint(struct lwp_arena *arena, const char *rule, const char *subject)
{
    return lwp_arena_printf(arena, "%016llx", (unsigned long long)lwp_hash_text(lwp_arena_printf(arena, "%s\n%s", rule, subject)));
}

static void review_item(struct lwp_review *review, const json_t *finding, struct lwp_review_item *item)
{
    const json_t *gain = json_object_get(finding, "expected_speedup"), *part;
    *item = (struct lwp_review_item){.id = lwp_json_string_or(finding, "id", "?"), .title = lwp_json_string_or(finding, "title", "?"),
                                     .next_step = lwp_json_string_or(finding, "next_step", ""), .kind = lwp_json_string_or(finding, "kind", ""),
                                     .severity = lwp_json_string_or(finding, "severity", "low"), .share = lwp_review_number(finding, "share"),
                                     .share_of = "of all time", .low = json_number_value(json_array_get(gain, 0)),
                                     .high = json_number_value(json_array_get(gain, 1)), .subject = "?"};
    item->rule = review_tip_rule(item->id);
    if ((part = review_ref(review, finding, "split", "splits")))
        lwp_review_split(review, item, part);
    else if ((part = review_ref(review, finding, "regroup", "regroups")))
        lwp_review_regroup(review, item, part);
    else if ((part = review_ref(review, finding, "redundancy", "redundancies")))
        lwp_review_redundancy(review, item, part);
    else if ((part = review_ref(review, finding, "sharing", "sharing")))
        lwp_review_sharing(review, item, part);
    else if ((part = review_ref(review, finding, "locality", "locality")))
        lwp_review_locality(review, item, part);
    else if ((part = json_object_get(json_object_get(finding, "refs"), "communication")))
        lwp_review_communication(review, item, json_array_get(json_object_get(json_object_get(review->root, "communication"), "regions"),
                                                              (size_t)json_integer_value(part)));
    item->rule = lwp_review_rule(item->rule)->id;
    item->part = lwp_review_number(finding, "share");
    item->part_low = item->exact || item->share <= 0 ? item->part : item->part * fmin(1, item->share_low / item->share);
    item->fingerprint = review_fingerprint(review->arena, item->rule, item->subject);
}

static void review_items(struct lwp_review *review)
{
    const json_t *findings = json_object_get(review->root, "findings"), *finding;
    size_t i;
    review->items = lwp_arena_alloc(review->arena, json_array_size(findings) + 1, sizeof *review->items);
    json_array_foreach(findings, i, finding)
    {
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
    const char *schema = lwp_json_string_or(root, "schema", ""), *version = lwp_json_string_or(root, "version", "");
    if (strcmp(schema, "lwp-analysis") != 0) {
        lwp_error_set(err, LWP_ERR_FORMAT, "this is no analysis that lwp has written");
        return NULL;
    }
    if (strncmp(version, "1.", 2) != 0) {
        lwp_error_set(err, LWP_ERR_NEWER, "the analysis is of version %.20s; this lwp reads version 1", version);
        return NULL;
    }
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_review *review = lwp_arena_alloc(arena, 1, sizeof *review);
    lwp_review_clean(root);
    /* latencies do not say how much of the run they are */
    bool cycles = strcmp(lwp_json_string_or(json_object_get(root, "run"), "weight_unit", ""), "cycles") == 0;
    *review = (struct lwp_review){.root = root, .arena = arena, .gain_of = cycles ? "the time that accesses take" : "the whole program"};
    review->source_root = lwp_source_root(arena, root, source_root);
    review_items(review);
    return review;
}

void lwp_review_free(struct lwp_review *review)
{
    for (size_t i = 0; review && i < review->count; i++) {
        free(review->items[i].facts);
        free(review->items[i].rows);
        free(review->items[i].places);
    }
    if (review)
        lwp_arena_free(review->arena);
}
