/* lwp_split.h: hot and cold parts of a structure in runs of memory of their own. Written by lwp patch.
 *
 * A pool reserves one region of address space, aligned to its size. The first run holds the hot parts, each further run another
 * part, by the same index; so a part is found from the pointer to the hot part by arithmetic, and no pointer is stored. Memory is
 * used as elements are allocated. Blocks of any number of elements can be allocated, resized and freed, from any thread; they are
 * zero.
 *
 *     struct city_cold { ... };
 *     struct city { ... };
 *     LWP_SPLIT_POOL(city, struct city, sizeof(struct city), sizeof(struct city_cold))
 *     LWP_SPLIT_PART(city_cold, struct city, struct city_cold, 1)
 *
 *     struct city *p = city_malloc(10 * sizeof *p);     also city_calloc, city_realloc, city_free
 *     city_cold(p + 3)->name
 *
 * Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted. It is provided
 * "as is", without warranty of any kind. (0BSD) */
#ifndef LWP_SPLIT_H
#define LWP_SPLIT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define LWP_SPLIT_RUN    ((size_t)1 << 34) /* bytes of address space of each part */
#define LWP_SPLIT_RUNS   8                 /* the last one has what is known of blocks */
#define LWP_SPLIT_REGION (LWP_SPLIT_RUN * LWP_SPLIT_RUNS)
#define LWP_SPLIT_STEP   ((size_t)1 << 20)
#ifdef MAP_ANONYMOUS
#define LWP_SPLIT_MAP (MAP_PRIVATE | MAP_ANONYMOUS)
#else
#define LWP_SPLIT_MAP (MAP_PRIVATE | 0x20) /* hidden by -std=c99 */
#endif
#ifdef MAP_NORESERVE
#define LWP_SPLIT_LAZY MAP_NORESERVE
#else
#define LWP_SPLIT_LAZY 0x4000
#endif
#define LWP_SPLIT_UNUSED __attribute__((unused))

struct lwp_split_block {
    uint32_t count, next; /* elements; the index of the next free block, plus 1 */
};

struct lwp_split_pool {
    char *base;
    size_t used, ready[LWP_SPLIT_RUNS]; /* elements; bytes of each run that can be accessed */
    uint32_t single, several;           /* free blocks of one element, of more; index plus 1 */
    unsigned char lock;
};

static __inline__ LWP_SPLIT_UNUSED struct lwp_split_block *lwp_split_block(char *base, size_t index)
{
    return (struct lwp_split_block *)(void *)(base + (LWP_SPLIT_RUNS - 1) * LWP_SPLIT_RUN) + index;
}

static __inline__ LWP_SPLIT_UNUSED int lwp_split_reserve(struct lwp_split_pool *pool)
{
    char *all = (char *)mmap(NULL, 2 * LWP_SPLIT_REGION, PROT_NONE, LWP_SPLIT_MAP | LWP_SPLIT_LAZY, -1, 0);
    if (all == (char *)MAP_FAILED)
        return 0;
    char *base = (char *)(((uintptr_t)all + LWP_SPLIT_REGION - 1) & ~(uintptr_t)(LWP_SPLIT_REGION - 1));
    if (base > all)
        munmap(all, (size_t)(base - all));
    munmap(base + LWP_SPLIT_REGION, (size_t)(all + LWP_SPLIT_REGION - base));
    pool->base = base;
    return 1;
}

/* Makes the first `bytes` of a run accessible. */
static __inline__ LWP_SPLIT_UNUSED int lwp_split_ready(struct lwp_split_pool *pool, unsigned run, size_t bytes)
{
    if (bytes <= pool->ready[run])
        return 1;
    size_t ready = bytes + bytes / 4 + LWP_SPLIT_STEP;
    ready = ready > LWP_SPLIT_RUN ? LWP_SPLIT_RUN : ready & ~(LWP_SPLIT_STEP - 1);
    char *from = pool->base + run * LWP_SPLIT_RUN + pool->ready[run];
    if (bytes > LWP_SPLIT_RUN || mprotect(from, ready - pool->ready[run], PROT_READ | PROT_WRITE) != 0)
        return 0;
    pool->ready[run] = ready;
    return 1;
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_take(struct lwp_split_pool *pool, const size_t *sizes, unsigned parts, size_t count)
{
    uint32_t *link = count == 1 ? &pool->single : &pool->several;
    unsigned part;
    for (int tries = 0; *link && tries < 256; tries++) {
        size_t index = *link - 1;
        struct lwp_split_block *block = lwp_split_block(pool->base, index);
        if (block->count >= count) {
            *link = block->next;
            for (part = 0; part < parts; part++)
                memset(pool->base + part * LWP_SPLIT_RUN + index * sizes[part], 0, block->count * sizes[part]);
            return pool->base + index * sizes[0];
        }
        link = &block->next;
    }
    if (count > UINT32_MAX - 1 - pool->used || (!pool->base && !lwp_split_reserve(pool)))
        return NULL;
    for (part = 0; part < parts; part++)
        if (!lwp_split_ready(pool, part, (pool->used + count) * sizes[part]))
            return NULL;
    if (!lwp_split_ready(pool, LWP_SPLIT_RUNS - 1, (pool->used + count) * sizeof(struct lwp_split_block)))
        return NULL;
    lwp_split_block(pool->base, pool->used)->count = (uint32_t)count;
    pool->used += count;
    return pool->base + (pool->used - count) * sizes[0];
}

static __inline__ LWP_SPLIT_UNUSED void lwp_split_lock(struct lwp_split_pool *pool)
{
    while (__atomic_test_and_set(&pool->lock, __ATOMIC_ACQUIRE))
        ;
}

static __inline__ LWP_SPLIT_UNUSED void lwp_split_unlock(struct lwp_split_pool *pool)
{
    __atomic_clear(&pool->lock, __ATOMIC_RELEASE);
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_malloc(struct lwp_split_pool *pool, const size_t *sizes, unsigned parts, size_t count)
{
    lwp_split_lock(pool);
    void *memory = lwp_split_take(pool, sizes, parts, count ? count : 1);
    lwp_split_unlock(pool);
    if (!memory)
        errno = ENOMEM;
    return memory;
}

static __inline__ LWP_SPLIT_UNUSED void lwp_split_free(struct lwp_split_pool *pool, const size_t *sizes, void *memory)
{
    if (!memory)
        return;
    size_t index = (size_t)((char *)memory - pool->base) / sizes[0];
    lwp_split_lock(pool);
    struct lwp_split_block *block = lwp_split_block(pool->base, index);
    uint32_t *list = block->count == 1 ? &pool->single : &pool->several;
    block->next = *list;
    *list = (uint32_t)index + 1;
    lwp_split_unlock(pool);
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_realloc(struct lwp_split_pool *pool, const size_t *sizes, unsigned parts, void *memory,
                                                           size_t count)
{
    if (!memory)
        return lwp_split_malloc(pool, sizes, parts, count);
    size_t index = (size_t)((char *)memory - pool->base) / sizes[0], had = lwp_split_block(pool->base, index)->count;
    if (count <= had)
        return memory;
    char *larger = (char *)lwp_split_malloc(pool, sizes, parts, count);
    if (!larger)
        return NULL;
    size_t to = (size_t)(larger - pool->base) / sizes[0];
    for (unsigned part = 0; part < parts; part++)
        memcpy(pool->base + part * LWP_SPLIT_RUN + to * sizes[part], pool->base + part * LWP_SPLIT_RUN + index * sizes[part],
               had * sizes[part]);
    lwp_split_free(pool, sizes, memory);
    return larger;
}

/* The pool of a type and its functions; what follows `hot` are the sizes of all parts, the hot one first. One pool for all sources. */
#define LWP_SPLIT_POOL(name, hot, ...)                                                                                                     \
    __attribute__((weak)) struct lwp_split_pool name##_pool;                                                                               \
    static const size_t name##_sizes[] LWP_SPLIT_UNUSED = {__VA_ARGS__};                                                                   \
    static __inline__ LWP_SPLIT_UNUSED hot *name##_malloc(size_t bytes)                                                                    \
    {                                                                                                                                      \
        return (hot *)lwp_split_malloc(&name##_pool, name##_sizes, sizeof name##_sizes / sizeof *name##_sizes, bytes / sizeof(hot));       \
    }                                                                                                                                      \
    static __inline__ LWP_SPLIT_UNUSED hot *name##_calloc(size_t count, size_t bytes)                                                      \
    {                                                                                                                                      \
        if (bytes && count > (size_t)-1 / bytes) {                                                                                         \
            errno = ENOMEM;                                                                                                                \
            return NULL;                                                                                                                   \
        }                                                                                                                                  \
        return name##_malloc(count * bytes);                                                                                               \
    }                                                                                                                                      \
    static __inline__ LWP_SPLIT_UNUSED hot *name##_realloc(hot *memory, size_t bytes)                                                      \
    {                                                                                                                                      \
        return (hot *)lwp_split_realloc(&name##_pool, name##_sizes, sizeof name##_sizes / sizeof *name##_sizes, memory,                    \
                                        bytes / sizeof(hot));                                                                              \
    }                                                                                                                                      \
    static __inline__ LWP_SPLIT_UNUSED void name##_free(hot *memory)                                                                       \
    {                                                                                                                                      \
        lwp_split_free(&name##_pool, name##_sizes, memory);                                                                                \
    }

/* The function that finds a part of an element. */
#define LWP_SPLIT_PART(name, hot, part, number)                                                                                            \
    static __inline__ LWP_SPLIT_UNUSED part *name(const hot *element)                                                                      \
    {                                                                                                                                      \
        uintptr_t at = (uintptr_t)element, base = at & ~(uintptr_t)(LWP_SPLIT_REGION - 1);                                                 \
        return (part *)(base + (number)*LWP_SPLIT_RUN) + (at - base) / sizeof(hot);                                                        \
    }

#endif
