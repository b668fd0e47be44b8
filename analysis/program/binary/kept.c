/* Answers and texts that are kept, and lists of texts to compare with. */
#include "analysis/program/binary/module.h"

#include <stdlib.h>
#include <string.h>

void **code_kept_at(struct code_kept *kept, uint64_t key, bool *fresh)
{
    if (!kept->index)
        kept->index = lwp_map_new();
    uint32_t *slot = lwp_map_at(kept->index, key);
    if (fresh)
        *fresh = *slot == LWP_MAP_NONE;
    if (*slot == LWP_MAP_NONE) {
        LWP_GROW(&kept->items, kept->count, &kept->capacity);
        *slot = (uint32_t)kept->count;
        kept->items[kept->count++] = NULL;
    }
    return &kept->items[*slot];
}

void code_kept_free(struct code_kept *kept)
{
    lwp_map_free(kept->index);
    free(kept->items);
}

const char *code_intern(struct lwp_code *code, const char *text)
{
    if (!text)
        return NULL;
    void **kept = code_kept_at(&code->strings, lwp_hash_text(text), NULL);
    if (*kept && !strcmp(*kept, text))
        return *kept;
    char *copy = lwp_arena_strdup(code->arena, text);
    if (!*kept) /* of two texts with one hash the later stays uninterned */
        *kept = copy;
    return copy;
}

bool code_is_one_of(const char *name, const char *words)
{
    size_t length = strlen(name);
    for (const char *at = words; length && (at = strstr(at, name)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

bool code_begins_with(const char *name, const char *texts)
{
    for (const char *at = texts; at; at = strchr(at, '|'), at += at != NULL) {
        size_t length = strcspn(at, "|");
        if (!strncmp(name, at, length))
            return true;
    }
    return false;
}
