/* A bump allocator: everything of one analysis is in one arena and is freed at once.
 * Nothing here returns NULL: without memory the command ends (lwp_out_of_memory). */
#ifndef LWP_BASE_ARENA_H
#define LWP_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lwp_arena;

struct lwp_arena *lwp_arena_new(void);
void lwp_arena_free(struct lwp_arena *arena); /* NULL is fine */

/* `count` * `size` zeroed bytes, aligned for any type. */
void *lwp_arena_alloc(struct lwp_arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));
char *lwp_arena_strdup(struct lwp_arena *arena, const char *text);
char *lwp_arena_strndup(struct lwp_arena *arena, const char *text, size_t length);
char *lwp_arena_printf(struct lwp_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "a, b and c"; "a, b and 7 more" where there are more of them. */
const char *lwp_arena_list(struct lwp_arena *arena, const char *const *names, size_t count, size_t more);

/* What malloc(), strdup() or the like returned. */
void *lwp_allocated(void *memory) __attribute__((returns_nonnull));

/* A formatted string on the heap, for free(). */
char *lwp_format(const char *format, ...) __attribute__((returns_nonnull, format(printf, 1, 2)));

/* The same at the end of such a string. */
void lwp_format_more(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Zeroed on the heap, for free(): `count` * `size` bytes, and room for one more. */
void *lwp_zeroed(size_t count, size_t size) __attribute__((returns_nonnull));

/* A growing array on the heap: `LWP_GROW(&items, count, &capacity)` makes room for one more. */
void *lwp_grow(void *items, size_t count, size_t *capacity, size_t size) __attribute__((returns_nonnull));
#define LWP_GROW(items, count, capacity) (*(items) = lwp_grow(*(items), (count), (capacity), sizeof **(items)))

/* Appends an item: `LWP_APPEND(&items, &count, &capacity, (struct item){...})`. Its place in the array. */
#define LWP_APPEND(items, count, capacity, ...)                                                                        \
    ({                                                                                                                 \
        LWP_GROW(items, *(count), capacity);                                                                           \
        (*(items))[*(count)] = __VA_ARGS__;                                                                            \
        &(*(items))[(*(count))++];                                                                                     \
    })

/* The same for an array `x->items` with `x->item_count` and `x->item_room`: `LWP_PUSH(x->item, ...)`. */
#define LWP_PUSH(item, ...) LWP_APPEND(&item##s, &item##_count, &item##_room, __VA_ARGS__)

/* Appends all of another array. */
#define LWP_APPEND_ALL(items, count, capacity, more, more_count)                                                                   \
    do {                                                                                                                           \
        for (size_t i_ = 0; i_ < (more_count); i_++)                                                                               \
            LWP_APPEND(items, count, capacity, (more)[i_]);                                                                        \
    } while (0)

/* Whether a map (hash.h) had no value at `number` before; it is the next index of an array of `count` then. */
static inline bool lwp_number_new(uint32_t *number, size_t count)
{
    bool is_new = *number == UINT32_MAX;
    *number = is_new ? (uint32_t)count : *number;
    return is_new;
}

#endif
