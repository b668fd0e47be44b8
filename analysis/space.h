/* What lay at an address of one process at a time: code of which module, data of which object. */
#ifndef LWP_ANALYSIS_SPACE_H
#define LWP_ANALYSIS_SPACE_H

#include "analysis/profile.h"
#include "format/record.h"

struct lwp_space;

struct lwp_space *lwp_space_new(struct lwp_profile *profile);
void lwp_space_free(struct lwp_space *space);

/* The records of process.lwps, in order; lwp_space_start first: what times are counted from. */
void lwp_space_start(struct lwp_space *space, uint64_t start_ns);
uint64_t lwp_space_time(const struct lwp_space *space, uint64_t time);
void lwp_space_module(struct lwp_space *space, const struct lwps_module *record);
void lwp_space_module_end(struct lwp_space *space, const struct lwps_module_end *record);
void lwp_space_context(struct lwp_space *space, const struct lwps_context *record);
void lwp_space_pool(struct lwp_space *space, const struct lwps_pool *record);
void lwp_space_pool_count(struct lwp_space *space, const struct lwps_pool_count *record);
void lwp_space_block(struct lwp_space *space, const struct lwps_block *record);
void lwp_space_block_end(struct lwp_space *space, const struct lwps_block_end *record);

/* After the last of them, before the first question. */
void lwp_space_ready(struct lwp_space *space);

/* The code at `ip`: its module and address there; module LWP_NONE and the address itself for JIT code. */
void lwp_space_code(struct lwp_space *space, uint64_t ip, uint64_t time, uint32_t *module, uint64_t *address);

/* The object at a known address whose home the collector left to us, and the offset in its block or variable.
 * LWP_NONE: none. */
uint32_t lwp_space_object(struct lwp_space *space, uint64_t address, uint64_t time, uint64_t *offset);

/* The object of a pool, LWP_NONE for an id that was never recorded. */
uint32_t lwp_space_pool_object(struct lwp_space *space, uint32_t pool);

#endif
