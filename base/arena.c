#include "base/arena.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_CHUNK = 256 * 1024, ARENA_ALIGN = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    _Alignas(ARENA_ALIGN) char data[];
};

struct lwp_arena {
    struct arena_chunk *chunks;
};

struct lwp_arena *lwp_arena_new(void)
{
    return lwp_allocated(calloc(1, sizeof(struct lwp_arena)));
}

void lwp_arena_free(struct lwp_arena *arena)
{
    if (!arena)
        return;
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

void *lwp_arena_alloc(struct lwp_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        lwp_out_of_memory();
    bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    struct arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        size_t room = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
        chunk = lwp_allocated(calloc(1, sizeof *chunk + room));
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *result = chunk->data + chunk->used;
    chunk->used += bytes;
    return result;
}

char *lwp_arena_strndup(struct lwp_arena *arena, const char *text, size_t length)
{
    char *copy = lwp_arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *lwp_arena_strdup(struct lwp_arena *arena, const char *text)
{
    return lwp_arena_strndup(arena, text, strlen(text));
}

char *lwp_arena_printf(struct lwp_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        lwp_out_of_memory();
    char *text = lwp_arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

const char *lwp_arena_list(struct lwp_arena *arena, const char *const *names, size_t count, size_t more)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        const bool last = i + 1 == count && more == 0;
        text = lwp_arena_printf(arena, "%s%s%s", text, i == 0 ? "" : last ? " and " : ", ", names[i]);
    }
    return more ? lwp_arena_printf(arena, "%s and %zu more", text, more) : text;
}

void *lwp_allocated(void *memory)
{
    if (!memory)
        lwp_out_of_memory();
    return memory;
}

char *lwp_format(const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        lwp_out_of_memory();
    va_end(args);
    return text;
}

void lwp_format_more(char **text, const char *format, ...)
{
    va_list args;
    char *more;
    va_start(args, format);
    if (vasprintf(&more, format, args) < 0)
        lwp_out_of_memory();
    va_end(args);
    size_t length = strlen(*text), added = strlen(more) + 1;
    *text = lwp_allocated(realloc(*text, length + added));
    memcpy(*text + length, more, added);
    free(more);
}

void *lwp_zeroed(size_t count, size_t size)
{
    return lwp_allocated(calloc(count + 1, size));
}

void *lwp_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 16, bytes;
    if (__builtin_mul_overflow(larger, size, &bytes))
        lwp_out_of_memory();
    *capacity = larger;
    return lwp_allocated(realloc(items, bytes));
}
