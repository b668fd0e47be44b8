/* A code location where a thread was interrupted, and every instruction that can have run just before it. */
#ifndef LWP_COLLECTOR_CODE_PREDECESSORS_H
#define LWP_COLLECTOR_CODE_PREDECESSORS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_code_cache;
struct lwp_insn;
struct lwp_program;

enum { LWP_LOCATION_WAYS = 6, LWP_WAY_RAN = 4, LWP_LOCATION_CODE = 24 };

struct lwp_code_location {
    uint64_t ip;
    uint64_t low, high;   /* of the function; 0, 0: unknown (JIT, no unwind table): nothing else is valid */
    bool decoded;         /* ip is the start of an instruction; else nothing below is valid */
    uint64_t before;      /* the instruction in front of ip, 0: none */
    bool falls;           /* the instruction in front of ip can have run before it */
    bool syscall;         /* it enters the kernel */
    bool others;          /* there may be ways to ip that are not among these: */
    unsigned way_count;
    struct lwp_code_way {
        uint64_t access; /* of the instruction that ran last, or of a compare fused with it; 0: none */
        uint16_t met;    /* conditions that the flags meet after it, one bit each: of the jump taken, and not those of jumps passed */
        struct lwp_code_ran {
            uint64_t ip;
            uint16_t met;   /* by the flags that it left */
        } ran[LWP_WAY_RAN]; /* what surely ran on it, the last one first, but for jumps; ip 0: no more */
    } way[LWP_LOCATION_WAYS];
    uint64_t store; /* a store of the innermost loop around ip when that loop loads nothing, else 0 */
    uint8_t code[LWP_LOCATION_CODE], code_before, code_bytes; /* as it was: another library may be there later */
};

/* Memory for one thread: decoded instructions and code locations (mmap'ed, touched lazily). NULL: none left.
 * The program outlives it. */
struct lwp_code_cache *lwp_code_cache_new(const struct lwp_program *program);
void lwp_code_cache_free(struct lwp_code_cache *cache);
void lwp_code_cache_forget(struct lwp_code_cache *cache); /* other code may be there now */
const struct lwp_program *lwp_code_cache_program(const struct lwp_code_cache *cache);

/* Never NULL; valid until the next call. */
const struct lwp_code_location *lwp_code_location_find(struct lwp_code_cache *cache, uint64_t ip);

/* What surely ran right before the instruction at `ip`, the last one first, but for jumps: how many, `most` at most. */
unsigned lwp_code_ran_before(struct lwp_code_cache *cache, uint64_t ip, uint64_t *ran, unsigned most);

/* Whether flags, of which those in `known` are, meet all conditions (one bit each) as far as that is known. */
bool lwp_flags_meet_all(uint64_t flags, unsigned known, uint16_t met);

/* The instruction at `ip`, which lies within [low, high). Valid until the next call for another address. */
const struct lwp_insn *lwp_code_at(struct lwp_code_cache *cache, uint64_t ip, uint64_t high);

#endif
