/* A model of the data caches that says what an access costs: up to three levels, set-associative with LRU replacement,
 * write-allocate, with a stream prefetcher. One processor: not modelled are coherence, address translation and
 * memory-level parallelism. Freestanding. */
#ifndef LWP_BASE_CACHE_H
#define LWP_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_CACHE_LEVELS = 3, LWP_CACHE_STREAMS = 32, LWP_CACHE_LINE_LEAST = 16 /* bytes */ };
enum lwp_cache_where { LWP_CACHE_L1, LWP_CACHE_L2, LWP_CACHE_L3, LWP_CACHE_MEMORY = LWP_CACHE_LEVELS };

struct lwp_cache_level {
    uint64_t bytes;
    uint32_t ways, sets;
    uint32_t mask;       /* sets - 1; 0: they are no power of two */
    uint64_t reciprocal; /* 2^64 / sets */
    uint32_t *tags; /* sets * ways, most recent first; line number + 1, 0: empty. Line numbers beyond 32 bits are folded */
};

/* The stream prefetcher: sequences of adjacent lines. */
struct lwp_cache_streams {
    uint32_t line[LWP_CACHE_STREAMS]; /* the last one's number, its low bits */
    uint32_t length[LWP_CACHE_STREAMS];
    int8_t step[LWP_CACHE_STREAMS];   /* +1, -1 or, before the second, 0 */
    uint32_t advanced;                /* bit by stream: since `hand` passed by */
    unsigned hand;                    /* the next new one may take its place */
    unsigned recent;                  /* the stream that advanced last: the next line is mostly its own */
};

struct lwp_cache {
    unsigned levels, line_shift;
    struct lwp_cache_level level[LWP_CACHE_LEVELS];
    struct lwp_cache_streams streams;
};

/* Cycles of an access that hits there, in addition to those of its instruction. */
enum {
    LWP_CACHE_L1_CYCLES = 1,
    LWP_CACHE_L2_CYCLES = 14,
    LWP_CACHE_L3_CYCLES = 60,
    LWP_CACHE_MEMORY_CYCLES = 220,
    LWP_CACHE_AHEAD_CYCLES = 16, /* prefetched: the bandwidth of memory */
};

/* Parses "BYTES:WAYS:LINE,..." from the first level on; false: it is malformed. */
bool lwp_cache_parse(struct lwp_cache *cache, const char *text);
/* Bytes of the `tags` of a level; the caller provides them, zeroed. */
size_t lwp_cache_tag_bytes(const struct lwp_cache_level *level);

static inline uint32_t lwp_cache_tag(uint64_t line)
{
    return (uint32_t)(line ^ line >> 32) + 1;
}

static inline uint32_t *lwp_cache_set(const struct lwp_cache_level *level, uint64_t line)
{
    uint64_t set = line & level->mask;
    if (!level->mask) {
        set = line - (uint64_t)((unsigned __int128)line * level->reciprocal >> 64) * level->sets;
        set -= set >= level->sets ? level->sets : 0;
    }
    return level->tags + set * level->ways;
}

/* Whether the access hits the most recent line of its set in the first level, which changes nothing. */
static inline bool lwp_cache_hits_last(const struct lwp_cache *cache, uint64_t address, unsigned bytes)
{
    uint64_t line = address >> cache->line_shift;
    return (address + bytes - 1) >> cache->line_shift == line && *lwp_cache_set(&cache->level[0], line) == lwp_cache_tag(line);
}

/* Whether the line hits in the first level; it is there afterwards. */
bool lwp_cache_first(struct lwp_cache *cache, uint64_t line);
/* After a miss: cycles in the other levels, as for lwp_cache_access(). May be called later, but in order. */
unsigned lwp_cache_beyond(struct lwp_cache *cache, uint64_t line, uint8_t *where);
/* Prefetches the tags for a line that is looked up soon: the model is larger than the machine's caches. */
static inline void lwp_cache_expect(const struct lwp_cache *cache, uint64_t line)
{
    for (unsigned i = 1; i < cache->levels; i++)
        __builtin_prefetch(lwp_cache_set(&cache->level[i], line), 1);
}

/* Cycles of one access; where its (slowest) line was found, as enum lwp_cache_where, goes to `where`. */
unsigned lwp_cache_access(struct lwp_cache *cache, uint64_t address, unsigned bytes, uint8_t *where);

/* Removes the line. */
void lwp_cache_drop(struct lwp_cache_level *level, uint64_t line);

#endif
