/* Spatial redundancy (RedSpy; Wen's thesis, 3.4.2): elements of an array beside each other that have one value. Looked at
 * are, when a window ends (or much was stored in it, or the block is freed), the parts of heap blocks and static data that
 * an instruction has stored to in it without leaving much out, by the distance and the width of its stores; and what
 * the program asks for with LWP_ARRAY() (collector/lwp.h). */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_SPATIAL_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_SPATIAL_H

#include "collector/exact/program/trace_words.h"

/* False: only what the program asks for is looked at. Set before anything is translated. */
extern bool lwp_spatial_runs;

/* A superblock ran in a window: the addresses of its accesses, 0: it did not happen. */
void lwp_spatial_block(const struct lwp_trace_block *block, const ULong *addresses);
/* What was stored to since the last time is looked at: all, or what lies in [start, start + size). */
void lwp_spatial_look(void);
void lwp_spatial_gone(Addr start, SizeT size);
/* It is something else by now, which may not even be there to be read (a file's mapping behind the file's end). */
void lwp_spatial_forget(Addr start, SizeT size);
/* LWP_ARRAY(), at the code `ip`. */
void lwp_spatial_array(Addr ip, Addr pointer, SizeT count, SizeT size, bool is_float);

#endif
