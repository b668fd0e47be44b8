/* How much a test repeats: in full as compiled for users (make check-unit, check-long), a part of it in the build with sanitizers
 * (make check), where all takes several times as long and the kinds of cases count, not their number. */
#ifndef LWP_TESTS_AMOUNT_H
#define LWP_TESTS_AMOUNT_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define AMOUNT(full, part) (part)
#else
#define AMOUNT(full, part) (full)
#endif

/* What takes long even so: in full only in check-long, which sets LONG. */
#define LONG_AMOUNT(full, part) (AMOUNT(true, false) && getenv("LONG") ? (full) : (part))

#endif
