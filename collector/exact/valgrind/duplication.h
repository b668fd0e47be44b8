/* Two translations of each superblock, where only windows count (full duplication: Arnold and Ryder, PLDI 2001): a plain one,
 * which counts instructions down and follows calls and the heap, and the full one, which is right inside of a window and
 * outside. Each is chained to its own kind only. The plain one is left for the full one before a superblock that has
 * something to do for lwp_trace_tick(), as all of a window have; the full one is left for the plain one before one that has not.
 *
 * Valgrind knows translations by the program's address: full ones have an address that no program has. Its four functions
 * that make, add, find and run translations are wrapped (the linker's --wrap). Kept because windows take 1.0 (layout) to 1.5
 * (all detectors) times as long as no tool with it, and 1.2 to 2.2 times without. */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_DUPLICATION_H
#define LWP_COLLECTOR_EXACT_VALGRIND_DUPLICATION_H

#include "libvex_ir.h"

/* From now on; before anything is translated. */
void lwp_duplication_start(void);

/* The translation that is being made. */
enum lwp_duplication {
    LWP_DUPLICATION_ONLY, /* there is no other */
    LWP_DUPLICATION_PLAIN,
    LWP_DUPLICATION_FULL,
};
extern enum lwp_duplication lwp_duplication_now;

/* Leaves the superblock, which has done nothing yet, for its other translation. */
static const IRJumpKind lwp_duplication_leave = Ijk_SigBUS; /* of which VEX has no use on Linux */

#endif
