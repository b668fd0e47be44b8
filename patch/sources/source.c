#include "patch/sources/source.h"

#include "base/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MOST = 64 << 20 };

static char *source_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    *length = 0;
    for (;;) {
        LWP_GROW(&text, *length + 4096, &room);
        size_t got = fread(text + *length, 1, room - *length - 1, file);
        *length += got;
        if (!got || *length > SOURCE_MOST)
            break;
    }
    bool whole = !ferror(file) && *length <= SOURCE_MOST;
    fclose(file);
    text[*length] = '\0';
    if (whole)
        return text;
    free(text);
    return NULL;
}

static struct lwp_source *source_add(struct lwp_sources *sources, const char *path, char *text, size_t length)
{
    struct lwp_source *source = lwp_arena_alloc(sources->arena, 1, sizeof *source);
    source->path = lwp_arena_strdup(sources->arena, path);
    source->text = text;
    source->length = length;
    source->arena = sources->arena;
    const char *line = strchr(text, '\n');
    source->has_returns = line && line > text && line[-1] == '\r';
    LWP_PUSH(sources->source, source);
    return source;
}

struct lwp_source *lwp_source_open(struct lwp_sources *sources, const char *path)
{
    for (size_t i = sources->source_count; i-- > 0;)
        if (strcmp(sources->sources[i]->path, path) == 0)
            return sources->sources[i];
    size_t length;
    char *text = source_read(path, &length);
    return text ? source_add(sources, path, text, length) : NULL;
}

void lwp_source_give(struct lwp_sources *sources, const char *path, const char *text)
{
    source_add(sources, path, lwp_format("%s", text), strlen(text))->given = true;
}

void lwp_source_create(struct lwp_sources *sources, const char *path, const char *text)
{
    struct lwp_source *source = source_add(sources, path, lwp_format("%s", ""), 0);
    source->created = true;
    lwp_source_edit(source, 0, 0, 0, text);
}

static const char *with_returns(struct lwp_arena *arena, const char *text)
{
    size_t length = strlen(text);
    char *all = lwp_arena_alloc(arena, 2 * length + 1, 1), *to = all;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
            *to++ = '\r';
        *to++ = text[i];
    }
    *to = '\0';
    return all;
}

void lwp_source_edit(struct lwp_source *source, size_t begin, size_t end, size_t anchor, const char *text)
{
    if (source->has_returns)
        text = with_returns(source->arena, text);
    for (size_t i = 0; i < source->edit_count; i++) {
        const struct lwp_edit *edit = &source->edits[i];
        if (edit->begin == begin && edit->end == end && edit->anchor == anchor && strcmp(edit->text, text) == 0)
            return;
    }
    LWP_PUSH(source->edit, (struct lwp_edit){begin, end, anchor, text});
}

/* By place; insertions before what is replaced there, outer ones first. */
static int edit_order(const void *a, const void *b)
{
    const struct lwp_edit *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    bool inserted = left->begin == left->end, other_inserted = right->begin == right->end;
    if (inserted != other_inserted)
        return inserted ? -1 : 1;
    return left->anchor == right->anchor ? 0 : left->anchor > right->anchor ? -1 : 1;
}

int lwp_sources_settle(struct lwp_sources *sources, struct lwp_error *err)
{
    for (size_t s = 0; s < sources->source_count; s++) {
        struct lwp_source *source = sources->sources[s];
        if (source->edit_count)
            qsort(source->edits, source->edit_count, sizeof *source->edits, edit_order);
        for (size_t i = 1; i < source->edit_count; i++) {
            const struct lwp_edit *one = &source->edits[i - 1], *two = &source->edits[i];
            bool same_insertion =
                one->begin == two->begin && one->end == one->begin && two->end == two->begin && one->anchor == two->anchor;
            if (two->begin < one->end || same_insertion || (one->begin == two->begin && one->end > one->begin))
                return lwp_error_set(err, LWP_ERR_LIMIT, "%s:%u: two edits conflict: '%s' and '%s'", source->path,
                                     lwp_source_line(source, two->begin), one->text, two->text);
        }
    }
    return LWP_OK;
}

char *lwp_source_apply(const struct lwp_source *source)
{
    size_t length = source->length;
    for (size_t i = 0; i < source->edit_count; i++)
        length += strlen(source->edits[i].text);
    char *text = lwp_zeroed(length, 1), *to = text;
    size_t from = 0;
    for (size_t i = 0; i < source->edit_count; i++) {
        const struct lwp_edit *edit = &source->edits[i];
        memcpy(to, source->text + from, edit->begin - from);
        to = stpcpy(to + (edit->begin - from), edit->text);
        from = edit->end;
    }
    memcpy(to, source->text + from, source->length - from);
    return text;
}

void lwp_sources_free(struct lwp_sources *sources)
{
    for (size_t i = 0; i < sources->source_count; i++) {
        free(sources->sources[i]->text);
        free(sources->sources[i]->edits);
    }
    free(sources->sources);
    *sources = (struct lwp_sources){0};
}

bool lwp_is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *lwp_find_word(const char *text, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; size && i + size <= length; i++)
        if (memcmp(text + i, word, size) == 0 && (i == 0 || !lwp_is_word_character(text[i - 1])) &&
            (i + size == length || !lwp_is_word_character(text[i + size])))
            return text + i;
    return NULL;
}

unsigned lwp_source_line(const struct lwp_source *source, size_t offset)
{
    unsigned line = 1;
    for (size_t i = 0; i < offset && i < source->length; i++)
        line += source->text[i] == '\n';
    return line;
}
