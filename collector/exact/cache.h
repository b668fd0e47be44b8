/* A model of the data caches, for what an access costs: up to three levels, set-associative, least recently used out
 * first, filled on loads and stores alike; lines that follow each other are fetched ahead. One processor: what others
 * take from it is not modelled, nor are address translation and accesses that wait for each other or do not.
 * Freestanding. */
#ifndef LWP_EXACT_CACHE_H
#define LWP_EXACT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_CACHE_LEVELS = 3, LWP_CACHE_STREAMS = 32 };

struct lwp_cache_level {
    uint64_t bytes;
    uint32_t ways, sets;
    uint32_t *tags; /* sets * ways, most recent first; line number + 1, 0: empty. Line numbers beyond 32 bits are folded */
};

/* Lines that were touched one after the other. */
struct lwp_cache_stream {
    uint64_t line, used;
    int step; /* +1, -1 or, before the second, 0 */
    uint32_t length;
};

struct lwp_cache {
    unsigned levels, line_shift;
    struct lwp_cache_level level[LWP_CACHE_LEVELS];
    struct lwp_cache_stream streams[LWP_CACHE_STREAMS];
    unsigned recent; /* stream: the next line is mostly of it or of the one behind */
    uint64_t clock;
};

/* Cycles of an access that is answered there, above what its instruction takes anyway. */
enum {
    LWP_CACHE_L1_CYCLES = 1,
    LWP_CACHE_L2_CYCLES = 14,
    LWP_CACHE_L3_CYCLES = 60,
    LWP_CACHE_MEMORY_CYCLES = 220,
    LWP_CACHE_AHEAD_CYCLES = 16, /* fetched ahead: as fast as memory delivers lines */
};

/* Reads "BYTES:WAYS:LINE,..." from the first level on, as sysfs has it; false: not so. */
bool lwp_cache_parse(struct lwp_cache *cache, const char *text);
/* Bytes of `tags` of a level, which the caller provides zeroed. */
size_t lwp_cache_tag_bytes(const struct lwp_cache_level *level);

/* Cycles of one access; where its (slowest) line was found, as enum lwps_level, goes to `where`. */
unsigned lwp_cache_access(struct lwp_cache *cache, uint64_t address, unsigned bytes, uint8_t *where);

#endif
