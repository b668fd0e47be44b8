/* Memory that was mapped for nobody to touch: an allocator's, which makes it accessible bit by bit as it grows. */
#ifndef LWP_COLLECTOR_RECORD_RESERVED_H
#define LWP_COLLECTOR_RECORD_RESERVED_H

#include <stdbool.h>
#include <stdint.h>

void lwp_reserved_add(uint64_t address, uint64_t bytes);

/* Is unmapped, or mapped anew. */
void lwp_reserved_remove(uint64_t address, uint64_t bytes);

/* Some of the memory at the address becomes accessible: *low and *bytes are what was reserved around it, which is not any more. False: none
 * was. */
bool lwp_reserved_take(uint64_t address, uint64_t *low, uint64_t *bytes);

#endif
