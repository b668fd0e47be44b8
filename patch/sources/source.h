/* What is written in the source files, and what is to be changed there? Edits are places and their new text; two that touch the
 * same bytes in different ways are an error, never dropped. */
#ifndef LWP_PATCH_SOURCE_H
#define LWP_PATCH_SOURCE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct lwp_edit {
    size_t begin, end; /* bytes of the file, end excluded; begin == end: an insertion */
    size_t anchor;     /* the use it belongs to: of insertions at one place the largest comes first (the outermost expression) */
    const char *text;
};

struct lwp_source {
    const char *path; /* absolute */
    char *text;       /* ends with NUL */
    size_t length;
    struct lwp_arena *arena;
    bool created;     /* by the patch */
    bool given;       /* its text is not that of the file */
    bool has_returns; /* lines end with \r\n */
    struct lwp_edit *edits;
    size_t edit_count, edit_room;
};

struct lwp_sources {
    struct lwp_arena *arena;
    struct lwp_source **sources;
    size_t source_count, source_room;
};

/* The file as it is on disk, read once; NULL: cannot be read. Lives as long as the sources. */
struct lwp_source *lwp_source_open(struct lwp_sources *sources, const char *path);

/* Another text in place of a file's, to be read as if it were there. Before the file is opened. */
void lwp_source_give(struct lwp_sources *sources, const char *path, const char *text);

/* A file that the patch adds. */
void lwp_source_create(struct lwp_sources *sources, const char *path, const char *text);

/* `text` must live as long as the arena; its lines will end as those of the file. The same edit twice (a header in two translation units)
 * is one. */
void lwp_source_edit(struct lwp_source *source, size_t begin, size_t end, size_t anchor, const char *text);

/* Sorts all edits and looks for conflicts. */
int lwp_sources_settle(struct lwp_sources *sources, struct lwp_error *err);

/* The text after its edits, for free(); they must be settled. */
char *lwp_source_apply(const struct lwp_source *source);

void lwp_sources_free(struct lwp_sources *sources);

/* The first place of a whole word in `length` bytes, or NULL. */
const char *lwp_find_word(const char *text, size_t length, const char *word);
bool lwp_is_word_character(char c);

/* The line of a byte, from 1. */
unsigned lwp_source_line(const struct lwp_source *source, size_t offset);

#endif
