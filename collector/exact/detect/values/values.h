/* Redundant computations by runtime value numbering (value_number.h), fed by the trace: which superblocks ran, with which
 * addresses, until which exit. Numbers need no values, so that nothing else is added to the program. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUES_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUES_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>
#include <stdint.h>

extern bool lwp_values_runs;

/* `last`: numbers remembered for each instruction. Nothing below does anything unless this was called; false: out of memory. */
bool lwp_values_start(uint32_t last);

/* Value numbering of a superblock whose first instruction is at `start`; never freed; NULL: values are not asked for.
 * `access`: as for lwp_value_block_of(); `count`: accesses with a word in the trace; `words`: its words in the trace after the
 * first. */
struct lwp_values_site;
struct lwp_values_site *lwp_values_site(const IRSB *in, const Short *access, UInt count, UInt words, Addr start);

/* Numbers what the running thread has done, from its words in the trace. */
void lwp_values_ran(const ULong *begin, const ULong *end);

/* A window begins. */
void lwp_values_window(void);

/* Saves the numbers of registers for the thread that stops (`from` NULL: it has ended; *from is allocated if NULL) and takes
 * those of the thread that runs next. */
struct lwp_values_thread;
void lwp_values_switch(struct lwp_values_thread **from, struct lwp_values_thread *const *to);
void lwp_values_thread_free(struct lwp_values_thread *thread);

/* The memory was freed, or is mapped anew. */
void lwp_values_forget(Addr address, SizeT bytes);

/* Writes all counts so far to t0.1.lwps in the process's folder, replacing it. */
void lwp_values_keep(void);
/* Resets the counts. */
void lwp_values_anew(void);

#endif
