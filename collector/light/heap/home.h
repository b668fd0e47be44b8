/* Whose memory an address is: a stack frame's, a pool's, or not known here. */
#ifndef LWP_COLLECTOR_LIGHT_HEAP_HOME_H
#define LWP_COLLECTOR_LIGHT_HEAP_HOME_H

#include "collector/code/charge.h"
#include "collector/light/code/unwind.h"
#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Fills in the address of an access and the home it has now. */
void lwp_home_find(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t address, enum lwps_source source,
                   struct lwps_access *access);

/* Whether the page there was never written: all such pages are one page of zeros, which is in the nearest cache. Where the system does not
 * say, it is taken to be another one. */
bool lwp_home_is_zeros(uint64_t address);

/* Bytes that both touch; an address that is not known is 0 and touches none. */
static inline unsigned lwp_overlap(const struct lwps_access *a, const struct lwps_access *b)
{
    uint64_t low = a->address > b->address ? a->address : b->address;
    uint64_t high = a->address + a->bytes < b->address + b->bytes ? a->address + a->bytes : b->address + b->bytes;
    return high > low ? (unsigned)(high - low) : 0;
}

#endif
