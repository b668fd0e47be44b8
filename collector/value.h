/* Whether a value is what it was: the rule of silent stores and loads. */
#ifndef LWP_COLLECTOR_VALUE_H
#define LWP_COLLECTOR_VALUE_H

#include "format/record.h"

/* Compares `bytes` (at most 8) low bytes. `element`: bytes of each floating point number in them (4, 8), 0: integers.
 * Normal numbers within 1 % of each other are close (RedSpy's and Witch's rule); all else must be equal. */
enum lwps_value lwp_value_compare(uint64_t before, uint64_t after, unsigned bytes, unsigned element);

#endif
