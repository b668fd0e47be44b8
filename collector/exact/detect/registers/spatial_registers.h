/* Spatial redundancy of registers (RedSpy; Wen's thesis, 3.4.2): of the general, the x87's and the vector registers (their
 * first 8 bytes) how many hold a value that another one of the kind holds, too, when a window ends. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_SPATIAL_REGISTERS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_SPATIAL_REGISTERS_H

/* At a superblock's start, when the running thread's registers are all written. */
void lwp_spatial_registers_look(void);
/* Says it in a note. */
void lwp_spatial_registers_finish(void);
/* Begins anew. */
void lwp_spatial_registers_reset(void);

#endif
