/* A branch of #if that is skipped in every unit that includes its file may use the type, and nobody has read it. */
#include "patch/uses/walk.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

struct range {
    struct lwp_source *source;
    size_t begin, end;
    unsigned units; /* that skip it */
};

struct included {
    struct lwp_source *source;
    unsigned units;
};

struct skipped {
    struct range *ranges;
    size_t range_count, range_room;
    struct included *includeds;
    size_t included_count, included_room;
};

static void count_file(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
    struct walk *walk = data;
    struct skipped *skipped = walk->skipped;
    (void)stack;
    (void)depth;
    char *path = walk_string(walk, clang.File_tryGetRealPathName(file));
    struct lwp_source *source = *path == '/' && !lwp_path_is_system(path) ? lwp_source_open(walk->uses->sources, path) : NULL;
    for (size_t i = 0; source && i < skipped->included_count; i++)
        if (skipped->includeds[i].source == source) {
            skipped->includeds[i].units += skipped->includeds[i].units < walk->uses->units_read;
            return;
        }
    if (source)
        LWP_PUSH(skipped->included, (struct included){source, 1});
}

/* "#if 0": no compilation ever reads it. */
static bool is_never(const struct range *range)
{
    const char *text = range->source->text + range->begin;
    text += *text == '#';
    text += strspn(text, " \t");
    if (strncmp(text, "if", 2) != 0)
        return false;
    text += 2 + strspn(text + 2, " \t");
    return *text == '0' && strchr(" \t\r\n/", text[1]);
}

void walk_skipped(struct walk *walk)
{
    if (!walk->skipped)
        walk->skipped = lwp_zeroed(1, sizeof *walk->skipped);
    clang.getInclusions(walk->unit, count_file, walk);
    CXSourceRangeList *list = clang.getAllSkippedRanges(walk->unit);
    for (unsigned i = 0; list && i < list->count; i++) {
        struct range range = {.units = 1};
        struct lwp_source *other;
        CXSourceLocation begin = clang.getRangeStart(list->ranges[i]);
        if (clang.Location_isInSystemHeader(begin) || !walk_place(walk, begin, &range.source, &range.begin) ||
            !walk_place(walk, clang.getRangeEnd(list->ranges[i]), &other, &range.end) || other != range.source || range.end < range.begin)
            continue;
        if (is_never(&range))
            continue;
        bool known = false;
        for (size_t r = 0; r < walk->skipped->range_count && !known; r++) {
            struct range *old = &walk->skipped->ranges[r];
            known = old->source == range.source && old->begin == range.begin && old->end == range.end;
            old->units += known;
        }
        if (!known)
            LWP_PUSH(walk->skipped->range, range);
    }
    if (list)
        clang.disposeSourceRangeList(list);
}

static bool uses_type(const struct lwp_type *type, const char *text, size_t length)
{
    if ((type->tag && lwp_find_word(text, length, type->tag)) || (type->alias && lwp_find_word(text, length, type->alias)))
        return true;
    for (size_t f = 0; f < type->field_count; f++)
        for (size_t at = 1; at < length; at++)
            if ((text[at - 1] == '.' || (text[at - 1] == '>' && at > 1 && text[at - 2] == '-')) &&
                lwp_find_word(text + at, strlen(type->fields[f].name) < length - at ? strlen(type->fields[f].name) : length - at,
                              type->fields[f].name))
                return true;
    return false;
}

void walk_skipped_decide(struct walk *walk)
{
    const struct skipped *skipped = walk->skipped;
    for (size_t r = 0; skipped && r < skipped->range_count; r++) {
        const struct range *range = &skipped->ranges[r];
        unsigned included = 0;
        for (size_t i = 0; i < skipped->included_count; i++)
            if (skipped->includeds[i].source == range->source)
                included = skipped->includeds[i].units;
        if (range->units >= included && uses_type(&walk->uses->type, range->source->text + range->begin, range->end - range->begin))
            lwp_uses_refuse(walk->uses, IN_ALL, LWP_REFUSAL_INACTIVE, range->source, range->begin);
    }
}

void walk_skipped_free(struct walk *walk)
{
    if (!walk->skipped)
        return;
    free(walk->skipped->ranges);
    free(walk->skipped->includeds);
    free(walk->skipped);
}
