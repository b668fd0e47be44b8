/* lwp_split.h: hot and cold parts of a structure in runs of memory of their own. Written by lwp patch.
 *
 * A pool reserves a region of address space, aligned to its size (another when it is full; 128 GiB each, or less where address space
 * is limited). The first run holds the hot parts, each further run another part, by the same index; so a part is found from the pointer
 * to the hot part by arithmetic, and no pointer is stored. Memory is used as elements are allocated. Blocks of any number of elements
 * can be allocated, resized and freed, from any thread; they are zero.
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
#include <sys/resource.h>

#define LWP_SPLIT_RUNS   8                             /* the last one has what is known of blocks */
#define LWP_SPLIT_RUN    ((size_t)1 << lwp_split_bits) /* bytes of address space of each part */
#define LWP_SPLIT_REGION (LWP_SPLIT_RUN * LWP_SPLIT_RUNS)
#define LWP_SPLIT_MOST   (sizeof(void *) > 4 ? 34 : 24) /* bits */
#define LWP_SPLIT_LEAST  20
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

/* Of all pools; smaller where address space is limited (ulimit -v). 0: no pool has been used yet. */
__attribute__((weak)) unsigned char lwp_split_bits;

struct lwp_split_pool {
    char *regions; /* the last one first; most pools never need a second one */
    unsigned char lock;
};

/* At the start of a region's last run; blocks come after it. */
struct lwp_split_region {
    char *next;
    size_t used, ready[LWP_SPLIT_RUNS]; /* elements; bytes of each run that can be accessed */
    uint32_t single, several;           /* free blocks of one element, of more; index plus 1 */
};

static __inline__ LWP_SPLIT_UNUSED struct lwp_split_region *lwp_split_head(char *base)
{
    return (struct lwp_split_region *)(void *)(base + (LWP_SPLIT_RUNS - 1) * LWP_SPLIT_RUN);
}

static __inline__ LWP_SPLIT_UNUSED struct lwp_split_block *lwp_split_block(char *base, size_t index)
{
    return (struct lwp_split_block *)(void *)(lwp_split_head(base) + 1) + index;
}

static __inline__ LWP_SPLIT_UNUSED char *lwp_split_base(const void *memory)
{
    return (char *)((uintptr_t)memory & ~(uintptr_t)(LWP_SPLIT_REGION - 1));
}

static __inline__ LWP_SPLIT_UNUSED char *lwp_split_map(char *where, size_t bytes)
{
    char *all = (char *)mmap(where, bytes, PROT_NONE, LWP_SPLIT_MAP | LWP_SPLIT_LAZY, -1, 0);
    return all == (char *)MAP_FAILED ? NULL : all;
}

/* Address space that is aligned to its size: cut out of twice as much. */
static __inline__ LWP_SPLIT_UNUSED char *lwp_split_aligned(unsigned bits)
{
    size_t region = ((size_t)1 << bits) * LWP_SPLIT_RUNS;
    char *all = lwp_split_map(NULL, 2 * region);
    if (!all)
        return NULL;
    char *base = (char *)(((uintptr_t)all + region - 1) & ~(uintptr_t)(region - 1));
    if (base > all)
        munmap(all, (size_t)(base - all));
    munmap(base + region, (size_t)(all + region - base));
    return base;
}

/* The first pool of all decides how large regions are: a small part of what the process may have. */
static __inline__ LWP_SPLIT_UNUSED char *lwp_split_reserve(void)
{
    for (;;) {
        unsigned char known = __atomic_load_n(&lwp_split_bits, __ATOMIC_ACQUIRE), bits = known ? known : LWP_SPLIT_MOST;
        struct rlimit limit;
        if (!known && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            while (bits > LWP_SPLIT_LEAST && ((size_t)8 * LWP_SPLIT_RUNS) << bits > limit.rlim_cur)
                bits--;
        char *base = lwp_split_aligned(bits);
        while (!base && !known && bits > LWP_SPLIT_LEAST)
            base = lwp_split_aligned(--bits);
        if (!base || known || __atomic_compare_exchange_n(&lwp_split_bits, &known, bits, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            known == bits)
            return base;
        munmap(base, ((size_t)1 << bits) * LWP_SPLIT_RUNS); /* another thread's pool was first */
    }
}

/* Makes the first `bytes` of a run accessible. */
static __inline__ LWP_SPLIT_UNUSED int lwp_split_ready(char *base, unsigned run, size_t bytes, size_t *ready)
{
    if (bytes <= *ready)
        return 1;
    size_t more = bytes + bytes / 4 + LWP_SPLIT_STEP;
    more = more > LWP_SPLIT_RUN ? LWP_SPLIT_RUN : more & ~(LWP_SPLIT_STEP - 1);
    if (bytes > LWP_SPLIT_RUN || mprotect(base + run * LWP_SPLIT_RUN + *ready, more - *ready, PROT_READ | PROT_WRITE) != 0)
        return 0;
    *ready = more;
    return 1;
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_take_in(char *base, const size_t *sizes, unsigned parts, size_t count)
{
    struct lwp_split_region *region = lwp_split_head(base);
    uint32_t *link = count == 1 ? &region->single : &region->several;
    unsigned part;
    for (int tries = 0; *link && tries < 256; tries++) {
        size_t index = *link - 1;
        struct lwp_split_block *block = lwp_split_block(base, index);
        if (block->count >= count) {
            *link = block->next;
            for (part = 0; part < parts; part++)
                memset(base + part * LWP_SPLIT_RUN + index * sizes[part], 0, block->count * sizes[part]);
            return base + index * sizes[0];
        }
        link = &block->next;
    }
    size_t used = region->used + count;
    if (count > UINT32_MAX - 1 - region->used)
        return NULL;
    for (part = 0; part < parts; part++)
        if (!lwp_split_ready(base, part, used * sizes[part], &region->ready[part]))
            return NULL;
    if (!lwp_split_ready(base, LWP_SPLIT_RUNS - 1, sizeof *region + used * sizeof(struct lwp_split_block),
                         &region->ready[LWP_SPLIT_RUNS - 1]))
        return NULL;
    lwp_split_block(base, region->used)->count = (uint32_t)count;
    region->used = used;
    return base + (used - count) * sizes[0];
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_take(struct lwp_split_pool *pool, const size_t *sizes, unsigned parts, size_t count)
{
    void *memory = NULL;
    char *base;
    for (base = pool->regions; base && !memory; base = lwp_split_head(base)->next)
        memory = lwp_split_take_in(base, sizes, parts, count);
    if (memory || !(base = lwp_split_reserve()))
        return memory;
    size_t ready = 0;
    if (lwp_split_ready(base, LWP_SPLIT_RUNS - 1, sizeof(struct lwp_split_region), &ready)) {
        lwp_split_head(base)->ready[LWP_SPLIT_RUNS - 1] = ready;
        memory = lwp_split_take_in(base, sizes, parts, count);
    }
    if (!memory) { /* more than a region holds, or there is no memory */
        munmap(base, LWP_SPLIT_REGION);
        return NULL;
    }
    lwp_split_head(base)->next = pool->regions;
    pool->regions = base;
    return memory;
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_part(void *memory, const size_t *sizes, unsigned part)
{
    char *base = lwp_split_base(memory);
    return base + part * LWP_SPLIT_RUN + (size_t)((char *)memory - base) / sizes[0] * sizes[part];
}

/* Where lwp listens, it knows the blocks of a pool as malloc's: what lwp.h says by LWP_ALLOC and LWP_FREE. */
extern void *lwp_split_symbol(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
typedef void lwp_split_listener(const void *pool, void *block, unsigned long size);

/* To Valgrind, which the exact engine runs on; without it nothing happens, and the answer is 0. */
static __inline__ LWP_SPLIT_UNUSED unsigned long lwp_split_request(unsigned long request, const void *pool, void *block, size_t size)
{
    unsigned long answer = 0;
#ifdef __x86_64__
    volatile unsigned long said[6] = {0, 0, 0, 0, 0, 0};
    said[0] = request;
    said[1] = (unsigned long)pool;
    said[2] = (unsigned long)block;
    said[3] = size;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(said)
                     : "cc", "memory");
#else
    (void)request, (void)pool, (void)block, (void)size;
#endif
    return answer;
}

static __inline__ LWP_SPLIT_UNUSED int lwp_split_listens(void)
{
    static int known; /* 1: nobody listens, 2: somebody does */
    if (!known)
        known = 1 + (lwp_split_request(0x1001, NULL, NULL, 0) != 0 || (lwp_split_symbol && lwp_split_symbol(NULL, "lwp_block_alloc")));
    return known > 1;
}

/* `size` 0: it is freed. A function of its own: lwp takes its caller for what allocates. */
static __attribute__((noinline, unused)) void lwp_split_say(const void *pool, void *block, size_t size)
{
    static lwp_split_listener *listeners[2];
    static int asked[2];
    const int frees = size == 0;
    lwp_split_request(((unsigned long)'L' << 24 | 'W' << 16) + 3 + (unsigned long)frees, pool, block, size);
    if (!asked[frees]) {
        if (lwp_split_symbol)
            *(void **)&listeners[frees] = lwp_split_symbol(NULL, frees ? "lwp_block_free" : "lwp_block_alloc");
        asked[frees] = 1;
    }
    if (listeners[frees])
        listeners[frees](pool, block, size);
    __asm__ volatile(""); /* nothing is called last: that would be a jump, from no function */
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
    if (!memory) {
        errno = ENOMEM;
        return NULL;
    }
    count = count ? count : 1;
    if (!lwp_split_listens())
        return memory;
    lwp_split_say(pool, memory, count * sizes[0]); /* another place in the code than that of the other parts: another data object */
    for (unsigned part = 1; part < parts; part++)
        lwp_split_say(pool, lwp_split_part(memory, sizes, part), count * sizes[part]);
    return memory;
}

static __inline__ LWP_SPLIT_UNUSED void lwp_split_free(struct lwp_split_pool *pool, const size_t *sizes, unsigned parts, void *memory)
{
    if (!memory)
        return;
    char *base = lwp_split_base(memory);
    size_t index = (size_t)((char *)memory - base) / sizes[0];
    for (unsigned part = 0; part < parts && lwp_split_listens(); part++)
        lwp_split_say(pool, lwp_split_part(memory, sizes, part), 0);
    lwp_split_lock(pool);
    struct lwp_split_block *block = lwp_split_block(base, index);
    struct lwp_split_region *region = lwp_split_head(base);
    uint32_t *list = block->count == 1 ? &region->single : &region->several;
    block->next = *list;
    *list = (uint32_t)index + 1;
    lwp_split_unlock(pool);
}

static __inline__ LWP_SPLIT_UNUSED void *lwp_split_realloc(struct lwp_split_pool *pool, const size_t *sizes, unsigned parts, void *memory,
                                                           size_t count)
{
    if (!memory)
        return lwp_split_malloc(pool, sizes, parts, count);
    char *from = lwp_split_base(memory);
    size_t index = (size_t)((char *)memory - from) / sizes[0], had = lwp_split_block(from, index)->count;
    if (count <= had)
        return memory;
    char *larger = (char *)lwp_split_malloc(pool, sizes, parts, count);
    if (!larger)
        return NULL;
    char *into = lwp_split_base(larger);
    size_t to = (size_t)(larger - into) / sizes[0];
    for (unsigned part = 0; part < parts; part++)
        memcpy(into + part * LWP_SPLIT_RUN + to * sizes[part], from + part * LWP_SPLIT_RUN + index * sizes[part], had * sizes[part]);
    lwp_split_free(pool, sizes, parts, memory);
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
        lwp_split_free(&name##_pool, name##_sizes, sizeof name##_sizes / sizeof *name##_sizes, memory);                                    \
    }

/* The function that finds a part of an element. */
#define LWP_SPLIT_PART(name, hot, part, number)                                                                                            \
    static __inline__ LWP_SPLIT_UNUSED part *name(const hot *element)                                                                      \
    {                                                                                                                                      \
        uintptr_t at = (uintptr_t)element, base = at & ~(uintptr_t)(LWP_SPLIT_REGION - 1);                                                 \
        return (part *)(base + (number)*LWP_SPLIT_RUN) + (at - base) / sizeof(hot);                                                        \
    }

#endif
