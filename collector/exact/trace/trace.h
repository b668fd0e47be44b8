/* The trace of what superblocks access, inside of windows. Translated code counts instructions down and writes the address
 * of each access (0: it did not happen) to the superblock's words of a buffer. If all is traced it takes its words from the
 * buffer itself, behind a word that says which superblock it is, and calls lwp_trace_tick() when the buffer may be full;
 * unless it is for the cache model alone: then it overwrites the same words, too, and hands on only superblocks that may
 * miss, or in which a sample may be due (filter.h).
 * If there are windows it overwrites the same words again and again: outside of a window nobody reads them (where nothing
 * but windows counts there are plain translations for outside, which write none: duplication.h); inside of one the
 * countdown is kept below zero, so that each superblock calls lwp_trace_tick(), which hands on the words of the one before.
 * Accesses are handed on, to the cache model and the detectors, before anything changes that they are attributed by: the
 * call stack, the thread, the heap, the modules. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_TRACE_H
#define LWP_COLLECTOR_EXACT_TRACE_TRACE_H

#include "collector/exact/program/trace_words.h"

#include <stdbool.h>

/* `needs`: of all detectors that were asked for (detector.h). */
void lwp_trace_start(unsigned needs);
/* What runs from now on is recorded, or not (region.h); windows and gaps are counted inside only. */
void lwp_trace_region(bool inside);

/* What Valgrind calls to have code added to the program's (instrument.c). */
IRSB *lwp_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
                     const VexArchInfo *host, IRType guest_word, IRType host_word);

/* Called from translated code when `left` is below 0, before the superblock takes its words. */
VG_REGPARM(1) void lwp_trace_tick(struct lwp_trace_block *block);

/* The same of a superblock that nearly always has something to do, before it has been counted. */
VG_REGPARM(2) void lwp_trace_full(struct lwp_trace_block *block, ULong instructions);

/* The same if filtered: there is something to do about the last superblock, or `left` is below 0. */
void lwp_trace_attend(void);

/* The running thread stops running or ends: all of it is drained and its last sample written. */
void lwp_trace_leave_thread(void);

#endif
