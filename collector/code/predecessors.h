/* A code location where a thread was interrupted, and every instruction that can have run just before it. */
#ifndef LWP_COLLECTOR_CODE_PREDECESSORS_H
#define LWP_COLLECTOR_CODE_PREDECESSORS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_code_cache;
struct lwp_insn;
struct lwp_program;

enum { LWP_LOCATION_JUMPS = 4, LWP_LOCATION_CODE = 24 };

struct lwp_code_location {
    uint64_t ip;
    uint64_t low, high;   /* of the function; 0, 0: unknown (JIT, no unwind table): nothing else is valid */
    bool decoded;         /* ip is the start of an instruction; else nothing below is valid */
    uint64_t before;      /* the instruction in front of ip, 0: none */
    bool falls;           /* the instruction in front of ip can have run before it... */
    uint64_t fall_access; /* ...and this is its access, 0: none */
    struct {
        uint64_t access;   /* of a compare fused with the jump, 0: none */
        uint8_t condition; /* LWP_JUMP_ALWAYS or of the jcc */
        bool back;
    } jump[LWP_LOCATION_JUMPS];
    unsigned jump_count;
    bool syscall; /* the instruction in front of ip enters the kernel */
    bool others; /* indirect jumps, or too many: there may be yet other ways here */
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

/* The memory instruction that ran just before, given the flags at ip; 0: none (compute). `sure`: no other can have, so
 * that its address may be taken from the registers. */
uint64_t lwp_predecessor_access(const struct lwp_code_location *location, uint64_t flags, bool *sure);

/* The instruction at `ip`, which lies within [low, high). Valid until the next call for another address. */
const struct lwp_insn *lwp_code_at(struct lwp_code_cache *cache, uint64_t ip, uint64_t high);

#endif
