/* Whether a value is what it was: the rule of silent stores and loads. */
#ifndef LWP_COLLECTOR_RECORD_VALUE_H
#define LWP_COLLECTOR_RECORD_VALUE_H

#include "format/record.h"

/* What --approx said: the largest part of the old value by which the new one may differ, below 0.5. 0: none. 1 % at first. */
extern double lwp_value_close;

/* Compares `bytes` (at most 8) low bytes. `element`: bytes of each floating point number in them (4, 8), 0: integers.
 * Normal numbers within lwp_value_close of each other are close (RedSpy's and Witch's rule); all else must be equal. */
enum lwps_value lwp_value_compare(uint64_t before, uint64_t after, unsigned bytes, unsigned element);

#endif
