/* Matches the structures of two results.
 *
 * Structures go by names that survive an edit: the type, otherwise variable and allocating function. What is left over
 * is looked at as parts: a new structure is a part of an old one when loops of the old one use it, and its fields, its
 * name, the advised declaration, or its count of elements say so; a structure that only has a pointer or index where
 * fields were has been split, too, though the other part was not seen. The other way round, a new structure is a
 * regrouping of old arrays when its fields have their names, or it has their count of elements and their loops. Limits:
 * a structure that was given another name and other field names is "gone" and "new". */
#include "analysis/diff/diff_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CANDIDATES_MAX = 300, DECLARATION_MAX = 65536 };

struct match {
    struct lwp_diff_result *before, *after;
    struct lwp_arena *arena;
    struct lwp_diff_rows *rows;
};

static bool match_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Adds a structure of BEFORE or AFTER to a row, which may be the next one. */
static void match_put(struct match *match, uint32_t row, uint32_t structure, bool after)
{
    struct lwp_diff_row *to = &match->rows->rows[row];
    uint32_t **list = after ? &to->after : &to->before;
    size_t *count = after ? &to->after_count : &to->before_count;
    uint32_t *longer = lwp_arena_alloc(match->arena, *count + 1, sizeof *longer);
    if (*count)
        memcpy(longer, *list, *count * sizeof *longer);
    longer[(*count)++] = structure;
    *list = longer;
    (after ? match->after : match->before)->structures[structure].row = row;
    match->rows->count += row == match->rows->count;
}

static size_t match_candidates(const struct lwp_diff_result *result)
{
    return result->structure_count < CANDIDATES_MAX ? result->structure_count : CANDIDATES_MAX;
}

/* 0: not the same; otherwise how sure. */
static int match_identity(const struct lwp_diff_structure *a, const struct lwp_diff_structure *b)
{
    bool names = strcmp(a->name, b->name) == 0, sites = match_equal(a->site, b->site);
    bool types = a->type && match_equal(a->type, b->type), kinds = strcmp(a->kind, b->kind) == 0;
    if (a->composite != b->composite)
        return names && sites && kinds && a->order == b->order ? 1 : 0;
    if (a->composite && a->type && b->type)
        return types ? 5 + kinds + names : 0;
    if (!names || a->order != b->order)
        return 0;
    return 1 + (sites && kinds ? 2 : 0) + types;
}

/* The surest pairs first. Few levels, so that it stays one pass each over the unmatched. */
static void match_same(struct match *match)
{
    struct lwp_diff_structure *x = match->before->structures, *y = match->after->structures;
    size_t n = match_candidates(match->before), m = match_candidates(match->after);
    for (int sure = 7; sure >= 1; sure--)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; x[i].row == LWP_DIFF_NONE && j < m; j++) {
                if (y[j].row != LWP_DIFF_NONE || match_identity(&x[i], &y[j]) != sure)
                    continue;
                match_put(match, (uint32_t)match->rows->count, (uint32_t)i, false);
                match_put(match, x[i].row, (uint32_t)j, true);
            }
}

static bool match_part_name(const char *whole, const char *part)
{
    size_t length = whole ? strlen(whole) : 0;
    return length >= 3 && part && strncasecmp(whole, part, length) == 0 && part[length] != '\0';
}

static bool match_has_field(const struct lwp_diff_structure *structure, const char *name)
{
    for (size_t i = 0; i < structure->field_count; i++)
        if (strcmp(structure->fields[i].name, name) == 0)
            return true;
    return false;
}

/* The new declarations of the advice name this type. */
static bool match_declared(const struct lwp_diff_structure *whole, const char *tag)
{
    const char *text = lwp_json_string(whole->advice, "declaration");
    size_t length = tag ? strlen(tag) : 0;
    if (!text || length < 3 || strlen(text) > DECLARATION_MAX || match_has_field(whole, tag))
        return false;
    for (const char *at = strcasestr(text, tag); at; at = strcasestr(at + 1, tag)) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}

/* Whether loops that use `old` before use `fresh` after. */
static bool match_common_loop(const struct match *match, const struct lwp_diff_structure *old, const struct lwp_diff_structure *fresh)
{
    for (size_t i = 0; i < fresh->use_count; i++) {
        uint32_t loop = match->after->loops[fresh->uses[i].loop].match;
        for (size_t k = 0; k < old->use_count && loop != LWP_DIFF_NONE; k++)
            if (old->uses[k].loop == loop)
                return true;
    }
    return false;
}

/* Its blocks are of as many elements, of a size that is a part of the old one. */
static bool match_elements(const struct lwp_diff_structure *whole, const struct lwp_diff_structure *part)
{
    return whole->elements >= 1000 && part->bytes >= whole->elements && part->bytes % whole->elements == 0 &&
           part->bytes / whole->elements < whole->element_bytes;
}

/* How much speaks for `part` being made of `whole`; 0: too little. `kept`: what the whole still is, or NULL. */
static int match_part(const struct match *match, const struct lwp_diff_structure *whole, const struct lwp_diff_structure *kept,
                      const struct lwp_diff_structure *part)
{
    size_t own = 0;
    if (!whole->composite || whole->element_bytes < 2 || (part->element_bytes >= whole->element_bytes && part->element_bytes > 1))
        return 0;
    for (size_t f = 0; f < part->field_count && !part->offsets_only; f++)
        own += match_has_field(whole, part->fields[f].name) && !(kept && match_has_field(kept, part->fields[f].name));
    int fields = own && 2 * own >= part->field_count ? 2 : 0;
    int names = (match_part_name(whole->tag, part->tag) || match_part_name(whole->name, part->name)) + 2 * match_declared(whole, part->tag);
    int loops = match_common_loop(match, whole, part), elements = match_elements(whole, part);
    bool sites = whole->site && match_equal(whole->site, part->site);
    int score = 2 * fields + names + 2 * elements + loops + sites;
    return (loops || sites) && score >= 3 && (fields || names || (elements && !part->composite)) ? score : 0;
}

static bool match_layout_equal(const struct lwp_diff_structure *a, const struct lwp_diff_structure *b)
{
    if (a->element_bytes != b->element_bytes || a->single != b->single)
        return false;
    if (a->offsets_only || b->offsets_only)
        return true;
    if (a->field_count != b->field_count)
        return false;
    for (size_t i = 0; i < a->field_count; i++)
        if (strcmp(a->fields[i].name, b->fields[i].name) != 0 || a->fields[i].offset != b->fields[i].offset ||
            a->fields[i].bytes != b->fields[i].bytes)
            return false;
    return true;
}

/* The whole that most speaks for, or LWP_DIFF_NONE. */
static uint32_t match_whole(const struct match *match, const struct lwp_diff_structure *part)
{
    const struct lwp_diff_structure *x = match->before->structures;
    uint32_t of = LWP_DIFF_NONE;
    int best = 0;
    for (size_t i = 0; i < match_candidates(match->before); i++) {
        const struct lwp_diff_row *row = x[i].row == LWP_DIFF_NONE ? NULL : &match->rows->rows[x[i].row];
        const struct lwp_diff_structure *kept = row && row->after_count ? &match->after->structures[row->after[0]] : NULL;
        int score = kept && match_layout_equal(&x[i], kept) ? 0 : match_part(match, &x[i], kept, part);
        if (score > best) {
            best = score;
            of = (uint32_t)i;
        }
    }
    return of;
}

static void match_parts(struct match *match)
{
    struct lwp_diff_structure *x = match->before->structures, *y = match->after->structures;
    for (size_t j = 0; j < match_candidates(match->after); j++) {
        if (y[j].row != LWP_DIFF_NONE || strcmp(y[j].kind, "unknown") == 0 || strcmp(y[j].kind, "stack") == 0)
            continue;
        uint32_t of = match_whole(match, &y[j]);
        if (of == LWP_DIFF_NONE)
            continue;
        if (x[of].row == LWP_DIFF_NONE)
            match_put(match, (uint32_t)match->rows->count, of, false);
        match_put(match, x[of].row, (uint32_t)j, true);
    }
}

/* A field called like the array, or a part of it: "x" of "x" or "pos_x". */
static bool match_field_of_array(const struct lwp_diff_structure *fresh, const struct lwp_diff_structure *array)
{
    size_t length = strlen(array->name);
    for (size_t f = 0; f < fresh->field_count && !fresh->offsets_only; f++) {
        size_t field = strlen(fresh->fields[f].name);
        if (strcasecmp(fresh->fields[f].name, array->name) == 0)
            return true;
        if (field && field < length && array->name[length - field - 1] == '_' &&
            strcasecmp(array->name + length - field, fresh->fields[f].name) == 0)
            return true;
    }
    return false;
}

static bool match_regroup(const struct match *match, const struct lwp_diff_structure *array, const struct lwp_diff_structure *fresh)
{
    if (fresh->element_bytes <= array->element_bytes || !array->element_bytes)
        return false;
    bool elements = array->elements >= 1000 && fresh->elements == array->elements;
    bool loops = match_common_loop(match, array, fresh);
    bool advised = array->advice_is_regroup && match_declared(array, fresh->tag);
    return match_field_of_array(fresh, array) ? loops || elements || advised : loops && (elements || advised);
}

static void match_regroups(struct match *match)
{
    const struct lwp_diff_structure *x = match->before->structures, *y = match->after->structures;
    for (size_t j = 0; j < match_candidates(match->after); j++) {
        uint32_t found[256];
        size_t count = 0;
        if (y[j].row != LWP_DIFF_NONE || y[j].element_bytes < 2)
            continue;
        for (size_t i = 0; i < match_candidates(match->before) && count < sizeof found / sizeof *found; i++)
            if (x[i].row == LWP_DIFF_NONE && match_regroup(match, &x[i], &y[j]))
                found[count++] = (uint32_t)i;
        if (count < 2)
            continue;
        match_put(match, (uint32_t)match->rows->count, (uint32_t)j, true);
        for (size_t i = 0; i < count; i++)
            match_put(match, y[j].row, found[i], false);
    }
}

static void match_alone(struct match *match)
{
    for (int after = 0; after < 2; after++) {
        struct lwp_diff_result *result = after ? match->after : match->before;
        for (size_t i = 0; i < result->structure_count; i++)
            if (result->structures[i].row == LWP_DIFF_NONE)
                match_put(match, (uint32_t)match->rows->count, (uint32_t)i, after);
    }
}

/* Fields have left, and all that is new is a way to them, a pointer or an index: what was cold may take no sample. */
static bool match_moved_out(const struct lwp_diff_structure *old, const struct lwp_diff_structure *now)
{
    size_t fresh = 0;
    if (!old->composite || !now->composite || old->offsets_only || now->offsets_only || now->element_bytes >= old->element_bytes)
        return false;
    for (size_t f = 0; f < now->field_count; f++)
        if (!match_has_field(old, now->fields[f].name)) {
            fresh++;
            if (now->fields[f].bytes > sizeof(void *))
                return false;
        }
    return fresh == 1 && now->field_count > 1 && now->field_count - fresh < old->field_count;
}

static void match_status(struct match *match, struct lwp_diff_row *row)
{
    const struct lwp_diff_structure *old = row->before_count ? &match->before->structures[row->before[0]] : NULL;
    const struct lwp_diff_structure *now = row->after_count ? &match->after->structures[row->after[0]] : NULL;
    if (!now || !old)
        row->status = now ? LWP_DIFF_NEW : LWP_DIFF_GONE;
    else if (row->before_count > 1)
        row->status = LWP_DIFF_REGROUPED;
    else if (row->after_count > 1 || match_identity(old, now) == 0 || match_moved_out(old, now))
        row->status = LWP_DIFF_SPLIT;
    else
        row->status = match_layout_equal(old, now) ? LWP_DIFF_SAME : LWP_DIFF_CHANGED;
}

static double match_weight(const struct match *match, const struct lwp_diff_row *row)
{
    double before = 0, after = 0;
    for (size_t i = 0; i < row->before_count; i++)
        before += match->before->structures[row->before[i]].share;
    for (size_t i = 0; i < row->after_count; i++)
        after += match->after->structures[row->after[i]].share;
    return before > after ? before : after;
}

static int match_row_compare(const void *a, const void *b, void *match)
{
    const struct lwp_diff_row *x = a, *y = b;
    double p = match_weight(match, x), q = match_weight(match, y);
    if (p != q)
        return p < q ? 1 : -1;
    uint32_t i = x->before_count ? x->before[0] : UINT32_MAX, j = y->before_count ? y->before[0] : UINT32_MAX;
    if (i != j)
        return i < j ? -1 : 1;
    i = x->after_count ? x->after[0] : UINT32_MAX;
    j = y->after_count ? y->after[0] : UINT32_MAX;
    return (i > j) - (i < j);
}

void lwp_diff_match(struct lwp_diff_result *before, struct lwp_diff_result *after, struct lwp_arena *arena, struct lwp_diff_rows *rows)
{
    struct match match = {before, after, arena, rows};
    rows->rows = lwp_arena_alloc(arena, before->structure_count + after->structure_count + 1, sizeof *rows->rows);
    rows->count = 0;
    lwp_diff_match_loops(before, after, arena);
    match_same(&match);
    match_regroups(&match);
    match_parts(&match);
    match_alone(&match);
    for (size_t i = 0; i < rows->count; i++)
        match_status(&match, &rows->rows[i]);
    qsort_r(rows->rows, rows->count, sizeof *rows->rows, match_row_compare, &match);
    for (size_t r = 0; r < rows->count; r++) {
        for (size_t i = 0; i < rows->rows[r].before_count; i++)
            before->structures[rows->rows[r].before[i]].row = (uint32_t)r;
        for (size_t i = 0; i < rows->rows[r].after_count; i++)
            after->structures[rows->rows[r].after[i]].row = (uint32_t)r;
    }
}

static size_t match_shared(const json_t *group, const struct lwp_diff_structure *part)
{
    const json_t *name;
    size_t i, shared = 0;
    json_array_foreach(json_object_get(group, "fields"), i, name) {
        const char *text = json_string_value(name);
        size_t length = text ? strlen(text) : 0, tag = part->tag ? strlen(part->tag) : 0;
        if (i >= CANDIDATES_MAX)
            break;
        /* Structures of one field have no field list: their name ends in it. */
        shared +=
            text && (match_has_field(part, text) || (!part->field_count && length && tag > length && part->tag[tag - length - 1] == '_' &&
                                                     strcasecmp(part->tag + tag - length, text) == 0));
    }
    return shared;
}

int lwp_diff_group(const struct lwp_diff_structure *whole, const struct lwp_diff_structure *part)
{
    const json_t *groups = whole->advice_is_regroup ? NULL : json_object_get(whole->advice, "groups"), *group;
    size_t i, most = match_shared(json_object_get(whole->advice, "cold"), part);
    int best = most ? -1 : -2;
    json_array_foreach(groups, i, group) {
        size_t shared = i < CANDIDATES_MAX ? match_shared(group, part) : 0;
        if (shared > most) {
            most = shared;
            best = (int)i;
        }
    }
    return best;
}
