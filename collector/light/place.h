/* What came before an interrupted instruction: found by decoding its function from the start, once per address. */
#ifndef LWP_LIGHT_PLACE_H
#define LWP_LIGHT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_code_cache;

struct lwp_place {
    uint64_t ip;
    uint64_t low, high;  /* of the function; 0, 0: unknown (JIT, no unwind table): nothing else is valid */
    uint64_t access;     /* the memory instruction executed just before, 0: none (compute) */
    bool sure;           /* `access` is the only possible predecessor, so its registers may be undone */
    uint64_t store;      /* a store of the innermost loop around ip when that loop loads nothing, else 0 */
};

struct lwp_insn;

/* Memory for one thread: decoded instructions and places (mmap'ed, touched lazily). NULL: none left. */
struct lwp_code_cache *lwp_code_cache_new(void);
void lwp_code_cache_free(struct lwp_code_cache *cache);

/* Never NULL; valid until the next call. */
const struct lwp_place *lwp_place_find(struct lwp_code_cache *cache, uint64_t ip);

/* The instruction at `ip`, which lies within [low, high). Valid until the next call for another address. */
const struct lwp_insn *lwp_code_at(struct lwp_code_cache *cache, uint64_t ip, uint64_t high);

#endif
