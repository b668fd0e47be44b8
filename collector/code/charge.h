/* What a thread was waiting for where it was interrupted: which access the time is charged to, and that access's address. */
#ifndef LWP_COLLECTOR_CODE_CHARGE_H
#define LWP_COLLECTOR_CODE_CHARGE_H

#include "collector/code/forward_walk.h"
#include "collector/code/insn.h"
#include "collector/code/predecessors.h"
#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the interrupt found the thread. */
struct lwp_point {
    struct lwp_code_location location;
    struct lwp_registers registers; /* these two are the caller's to set */
    uint64_t flags;
    struct lwp_insn insn; /* about to run */
};

/* Accesses that the forward walk passes before it keeps some, at random: fewer than this many. */
enum { LWP_DITHER_MOST = 48 };

/* Fills in location and insn. False: code that cannot be decoded. */
bool lwp_point_find(struct lwp_code_cache *cache, uint64_t ip, struct lwp_point *point);

/* The memory instruction that ran just before; 0: none (compute). False: it may have been another one. */
bool lwp_point_before(struct lwp_code_cache *cache, const struct lwp_point *point, uint64_t *access);

/* Sets the sample's kind and its charged accesses; those whose address is known (LWPS_ACCESS_KNOWN) have it and its source. Returns the
 * instruction of the access whose address is not known yet, else 0. */
uint64_t lwp_point_charge(struct lwp_code_cache *cache, const struct lwp_point *point, struct lwps_sample *sample);

/* What is known of an access but for its address, as it is recorded. */
struct lwps_access lwp_access_record(const struct lwp_insn_access *access);

#endif
