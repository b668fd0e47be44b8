/* Redundant computations by runtime value numbering (value_number.h), fed by the trace: which superblocks ran, with which
 * addresses, until which exit. Numbers need no values, so that nothing else is added to the program. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUES_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUES_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>
#include <stdint.h>

extern bool lwp_values_runs;

/* `last`: numbers kept of each instruction. Nothing below does anything unless this was called; false: no memory. */
bool lwp_values_start(uint32_t last);

/* What value numbering does with a superblock, whose first instruction is at `start`; kept for good; NULL: values are not
 * asked for. `access`: as for lwp_value_block_of(); `count`: accesses with a word in the trace; `words`: of the trace,
 * behind the first. */
struct lwp_values_site;
struct lwp_values_site *lwp_values_site(const IRSB *in, const Short *access, UInt count, UInt words, Addr start);

/* The running thread has run what the trace has words of. */
void lwp_values_ran(const ULong *begin, const ULong *end);

/* A window begins. */
void lwp_values_window(void);

/* Registers of a thread while others run; NULL: none yet, to be made. `to` is theirs from now on. */
struct lwp_values_thread;
void lwp_values_switch(struct lwp_values_thread **from, struct lwp_values_thread *const *to);
void lwp_values_thread_free(struct lwp_values_thread *thread);

/* The memory is given back, or is another. */
void lwp_values_forget(Addr address, SizeT bytes);

/* Writes all counts so far to t0.1.lwps in the process's folder, in place of what was there. */
void lwp_values_keep(void);
/* Counts begin anew. */
void lwp_values_anew(void);

#endif
