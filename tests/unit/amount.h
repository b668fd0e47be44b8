/* How much a test repeats: in full as compiled for users (make check-unit, check-long), a part of it in the build with sanitizers
 * (make check), where all takes several times as long and the kinds of cases count, not their number. */
#ifndef LWP_TESTS_AMOUNT_H
#define LWP_TESTS_AMOUNT_H

#ifdef __SANITIZE_ADDRESS__
#define AMOUNT(full, part) (part)
#else
#define AMOUNT(full, part) (full)
#endif

#endif
