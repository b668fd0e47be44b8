#include "patch/sources/unified_diff.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3 };

/* Lines [old, old_end) became [new, new_end), counted from 0. */
struct change {
    size_t old, old_end, new, new_end;
};

struct lines {
    const char **begins; /* and one more: where the text ends */
    size_t begin_count, begin_room;
};

static struct lines lines_of(const char *text)
{
    struct lines lines = {0};
    while (*text) {
        LWP_PUSH(lines.begin, text);
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : text + strlen(text);
    }
    LWP_GROW(&lines.begins, lines.begin_count, &lines.begin_room);
    lines.begins[lines.begin_count] = text;
    return lines;
}

static size_t line_at(const char *text, size_t offset)
{
    size_t line = 0;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

static bool same_line(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    size_t length = (size_t)(a->begins[i + 1] - a->begins[i]);
    return length == (size_t)(b->begins[j + 1] - b->begins[j]) && memcmp(a->begins[i], b->begins[j], length) == 0;
}

/* Lines alike at both ends of a change belong to its surroundings. */
static struct change trimmed(struct change change, const struct lines *old, const struct lines *new)
{
    while (change.old < change.old_end && change.new < change.new_end &&same_line(old, change.old, new, change.new))
        change.old++, change.new ++;
    while (change.old < change.old_end && change.new < change.new_end &&same_line(old, change.old_end - 1, new, change.new_end - 1))
        change.old_end--, change.new_end--;
    return change;
}

/* A change for each run of edits that share lines. */
static struct change *changes_of(const struct lwp_source *source, const struct lines *old, const struct lines *new, size_t *count)
{
    struct change *changes = NULL;
    size_t room = 0;
    ptrdiff_t shift = 0; /* lines that the edits so far have added */
    *count = 0;
    for (size_t i = 0; i < source->edit_count;) {
        size_t first = line_at(source->text, source->edits[i].begin), last = first;
        ptrdiff_t before = shift;
        for (; i < source->edit_count && line_at(source->text, source->edits[i].begin) <= last; i++) {
            const struct lwp_edit *edit = &source->edits[i];
            size_t end = line_at(source->text, edit->end);
            last = end > last ? end : last;
            shift += (ptrdiff_t)line_at(edit->text, strlen(edit->text)) - (ptrdiff_t)(end - line_at(source->text, edit->begin));
        }
        size_t old_end = last + 1 < old->begin_count ? last + 1 : old->begin_count;
        size_t new_end = (size_t)((ptrdiff_t)last + 1 + shift);
        struct change change = {first, old_end, (size_t)((ptrdiff_t)first + before),
                                new_end < new->begin_count ? new_end : new->begin_count};
        change = trimmed(change, old, new);
        if (change.old < change.old_end || change.new < change.new_end)
            LWP_APPEND(&changes, count, &room, change);
    }
    return changes;
}

static void print_lines(FILE *to, char mark, const struct lines *lines, size_t from, size_t end)
{
    for (; from < end; from++) {
        size_t length = (size_t)(lines->begins[from + 1] - lines->begins[from]);
        fputc(mark, to);
        fwrite(lines->begins[from], 1, length, to);
        if (lines->begins[from][length - 1] != '\n')
            fputs("\n\\ No newline at end of file\n", to);
    }
}

static void print_hunk(FILE *to, const struct lines *old, const struct lines *new, const struct change *changes, size_t count)
{
    size_t from = changes[0].old > CONTEXT ? changes[0].old - CONTEXT : 0;
    size_t end = changes[count - 1].old_end + CONTEXT < old->begin_count ? changes[count - 1].old_end + CONTEXT : old->begin_count;
    size_t lead = changes[0].old - from, tail = end - changes[count - 1].old_end;
    size_t old_lines = end - from, new_lines = changes[count - 1].new_end - changes[0].new + lead + tail;
    fprintf(to, "@@ -%zu,%zu +%zu,%zu @@\n", old_lines ? from + 1 : from, old_lines, new_lines ? changes[0].new - lead + 1 : 0, new_lines);
    for (size_t i = 0; i < count; i++) {
        print_lines(to, ' ', old, from, changes[i].old);
        print_lines(to, '-', old, changes[i].old, changes[i].old_end);
        print_lines(to, '+', new, changes[i].new, changes[i].new_end);
        from = changes[i].old_end;
    }
    print_lines(to, ' ', old, from, end);
}

static void print_source(FILE *to, const struct lwp_source *source, const char *root)
{
    char *text = lwp_source_apply(source);
    struct lines old = lines_of(source->text), new = lines_of(text);
    size_t count;
    struct change *changes = changes_of(source, &old, &new, &count);
    const char *path = lwp_path_below(source->path, root);
    path = path ? path : source->path + 1;
    if (count && source->created)
        fprintf(to, "--- /dev/null\n+++ b/%s\n", path);
    else if (count)
        fprintf(to, "--- a/%s\n+++ b/%s\n", path, path);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && changes[end].old <= changes[end - 1].old_end + 2 * CONTEXT; end++)
            ;
        print_hunk(to, &old, &new, changes + i, end - i);
    }
    free(changes);
    free(old.begins);
    free(new.begins);
    free(text);
}

void lwp_unified_diff(FILE *to, const struct lwp_sources *sources, const char *root)
{
    for (size_t i = 0; i < sources->source_count; i++)
        if (sources->sources[i]->edit_count)
            print_source(to, sources->sources[i], root);
}
