#include "analysis/check/check.h"

#include "analysis/json/json_value.h"
#include "analysis/tables/redundancy_kinds.h"
#include "base/json_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int baseline_compare(const void *a, const void *b)
{
    const struct lwp_baseline_entry *x = a, *y = b;
    int order = strcmp(x->rule, y->rule);
    order = order ? order : strcmp(x->subject, y->subject);
    return order ? order : strcmp(x->fingerprint, y->fingerprint);
}

static void baseline_add(struct lwp_baseline *baseline, const struct lwp_baseline_entry *entry)
{
    for (size_t i = 0; i < baseline->count; i++)
        if (strcmp(baseline->entries[i].fingerprint, entry->fingerprint) == 0) {
            baseline->entries[i].accepted = fmax(baseline->entries[i].accepted, entry->accepted);
            return;
        }
    LWP_GROW(&baseline->entries, baseline->count, &baseline->room);
    baseline->entries[baseline->count++] = *entry;
}

/* Two digits: numbers that differ from run to run by less make no difference. Up, so that this run is within. */
static double baseline_accepted(const struct lwp_review_item *item)
{
    double high = item->share > 0 && item->share_high > 0 ? item->part * item->share_high / item->share : item->part;
    return ceil(100 * (item->low > 0 ? item->high : fmin(1, high)) - 1e-9) / 100;
}

static void baseline_add_item(struct lwp_baseline *baseline, const struct lwp_review_item *item, struct lwp_arena *arena)
{
    baseline_add(baseline, &(struct lwp_baseline_entry){.rule = lwp_arena_strdup(arena, item->rule),
                                                        .subject = lwp_arena_strdup(arena, item->subject),
                                                        .fingerprint = lwp_arena_strdup(arena, item->fingerprint),
                                                        .accepted = baseline_accepted(item)});
}

static int baseline_of_analysis(struct lwp_baseline *baseline, json_t *root, struct lwp_arena *arena, struct lwp_error *err)
{
    struct lwp_review *review = lwp_review_new(root, NULL, err);
    if (!review)
        return err->status;
    for (size_t i = 0; i < review->count; i++)
        baseline_add_item(baseline, &review->items[i], arena);
    lwp_review_free(review);
    return LWP_OK;
}

static int baseline_parse(struct lwp_baseline *baseline, json_t *root, const char *path, struct lwp_arena *arena, struct lwp_error *err)
{
    const json_t *finding;
    size_t i;
    if (strcmp(lwp_json_string_or(root, "schema", ""), "lwp-analysis") == 0)
        return baseline_of_analysis(baseline, root, arena, err);
    if (!lwp_json_is(root, "schema", "lwp-baseline"))
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is no baseline of lwp check", path);
    if (strncmp(lwp_json_string_or(root, "version", ""), "1.", 2) != 0)
        return lwp_error_set(err, LWP_ERR_NEWER, "%s was written by another version of lwp; write it anew (--write-baseline)", path);
    json_array_foreach(json_object_get(root, "findings"), i, finding) {
        struct lwp_baseline_entry entry = {.rule = lwp_json_string_or(finding, "rule", ""),
                                           .subject = lwp_json_string_or(finding, "subject", ""),
                                           .fingerprint = lwp_json_string_or(finding, "fingerprint", ""),
                                           .accepted = lwp_json_amount(finding, "accepted")};
        if (!*entry.rule || !*entry.fingerprint || entry.accepted <= 0)
            return lwp_error_set(err, LWP_ERR_FORMAT, "%s: finding %zu has no rule, fingerprint or accepted", path, i + 1);
        entry.rule = lwp_arena_strdup(arena, entry.rule);
        entry.subject = lwp_arena_strdup(arena, entry.subject);
        entry.fingerprint = lwp_arena_strdup(arena, entry.fingerprint);
        baseline_add(baseline, &entry);
    }
    return LWP_OK;
}

int lwp_baseline_read(struct lwp_baseline *baseline, const char *path, struct lwp_arena *arena, struct lwp_error *err)
{
    json_error_t problem;
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? lwp_error_set(err, LWP_ERR_MISSING, "there is no baseline '%s'; --write-baseline makes it", path)
                               : lwp_error_errno(err, "cannot read the baseline '%s'", path);
    json_t *root = lwp_json_stream(file, JSON_REJECT_DUPLICATES, &problem);
    fclose(file);
    if (!root)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is no baseline of lwp check (line %d: %s)", path, problem.line, problem.text);
    lwp_review_clean(root);
    int status = baseline_parse(baseline, root, path, arena, err);
    json_decref(root);
    if (baseline->count)
        qsort(baseline->entries, baseline->count, sizeof *baseline->entries, baseline_compare);
    return status;
}

void lwp_baseline_fini(struct lwp_baseline *baseline)
{
    free(baseline->entries);
    *baseline = (struct lwp_baseline){0};
}

/* How many of the names of `a`, separated by ", ", are among those of `b`; *names: how many there are. */
static size_t baseline_common(const char *a, const char *b, size_t *names)
{
    size_t common = 0;
    *names = 0;
    for (const char *at = a; *at;) {
        const char *end = strstr(at, ", ");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        ++*names;
        for (const char *other = b; other; other = strstr(other, ", ") ? strstr(other, ", ") + 2 : NULL)
            if (strncmp(other, at, length) == 0 && (!other[length] || strncmp(other + length, ", ", 2) == 0)) {
                common++;
                break;
            }
        at += length + (end ? 2 : 0);
    }
    return common;
}

struct lwp_baseline_entry *lwp_baseline_find(const struct lwp_baseline *baseline, const struct lwp_review_item *item)
{
    size_t here, there;
    for (size_t i = 0; i < baseline->count; i++)
        if (strcmp(baseline->entries[i].fingerprint, item->fingerprint) == 0)
            return &baseline->entries[i];
    for (size_t i = 0; i < baseline->count && strcmp(item->rule, "regroup") == 0; i++) {
        struct lwp_baseline_entry *entry = &baseline->entries[i];
        size_t common = baseline_common(item->subject, entry->subject, &here);
        baseline_common(entry->subject, item->subject, &there);
        if (strcmp(entry->rule, item->rule) == 0 && 2 * common >= (here > there ? here : there))
            return entry;
    }
    return NULL;
}

bool lwp_baseline_looked_for(const struct lwp_review *review, const struct lwp_baseline_entry *entry)
{
    const char *section = lwp_review_rule(entry->rule)->section;
    const json_t *found = json_object_get(review->root, section);
    if (strcmp(section, "redundancies") != 0)
        return found && !json_is_null(found);
    const json_t *totals = json_object_get(review->root, "redundancy_totals");
    for (size_t i = 0; i < LWP_WATCHPOINT_KINDS; i++)
        if (strcmp(lwp_redundancy_rows[i].rule, entry->rule) == 0)
            return json_is_object(json_object_get(totals, lwp_redundancy_rows[i].key));
    return false;
}

/* What the new file holds. */
static void baseline_make(struct lwp_baseline *baseline, const struct lwp_baseline *before, const struct lwp_review *review)
{
    for (size_t i = 0; i < review->count; i++) {
        const struct lwp_review_item *item = &review->items[i];
        const struct lwp_baseline_entry *known = lwp_baseline_find(before, item);
        if (known && (item->low > 0 ? item->low : item->part_low) <= known->accepted)
            baseline_add(baseline, known);
        else
            baseline_add_item(baseline, item, review->arena);
    }
    for (size_t i = 0; i < before->count; i++)
        if (!lwp_baseline_looked_for(review, &before->entries[i]))
            baseline_add(baseline, &before->entries[i]);
    if (baseline->count)
        qsort(baseline->entries, baseline->count, sizeof *baseline->entries, baseline_compare);
}

/* One line a finding, so that two changes of it merge. */
static int baseline_print(FILE *out, const struct lwp_baseline *baseline)
{
    fputs("{\n \"schema\": \"lwp-baseline\",\n \"version\": \"1.0\",\n \"findings\": [", out);
    for (size_t i = 0; i < baseline->count; i++) {
        const struct lwp_baseline_entry *entry = &baseline->entries[i];
        json_t *line = json_pack("{s:s,s:s,s:s,s:f}", "rule", entry->rule, "subject", entry->subject, "fingerprint", entry->fingerprint,
                                 "accepted", entry->accepted);
        fputs(i ? ",\n  " : "\n  ", out);
        bool failed = !line || json_dumpf(line, out, JSON_REAL_PRECISION(6));
        json_decref(line);
        if (failed)
            return -1;
    }
    fputs(baseline->count ? "\n ]\n}\n" : "]\n}\n", out);
    return ferror(out) ? -1 : 0;
}

int lwp_baseline_write(const struct lwp_baseline *before, const struct lwp_review *review, const char *path, struct lwp_error *err)
{
    struct lwp_baseline baseline = {0};
    const char *aside = lwp_arena_printf(review->arena, "%s.%ld.tmp", path, (long)getpid());
    FILE *out = fopen(aside, "wxe");
    if (!out)
        return lwp_error_errno(err, "cannot write %s", path);
    baseline_make(&baseline, before, review);
    int failed = baseline_print(out, &baseline);
    failed |= fclose(out);
    lwp_baseline_fini(&baseline);
    if (failed || rename(aside, path)) {
        lwp_error_errno(err, "cannot write %s", path);
        unlink(aside);
        return LWP_ERR_SYSTEM;
    }
    return LWP_OK;
}
