/* Temporal redundancy in registers (RedSpy; Wen's thesis, 3.4.1): an instruction that writes to a register the value that
 * is there already. Looked at are the general registers but for the stack pointer, the vector registers (floating point
 * numbers one by one, integers as a whole) and those of the x87; not flags. A conditional move makes no value and is
 * left out. What the kernel writes has no writer. Where only windows count, superblocks are looked at when they have run
 * (register_windows.h); else as they run:
 *
 * Who wrote a register last is kept in Valgrind's shadow of it, which changes with the thread: the number of its
 * (call path, instruction) (access_numbers.h) for every 4 bytes. Of the general registers the lower half stands for all of
 * the register and the upper for ah and the like. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTERS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTERS_H

#include "collector/exact/detect/registers/register_windows.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/float_class.h"
#include "collector/exact/trace/window_words.h"
#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>

enum { LWP_REGISTERS_PENDING = 4 };

/* A superblock while it is translated. Zeroed at first. */
struct lwp_registers_block {
    IRSB *out;
    const IRSB *in;
    struct lwp_numbered_block site; /* group NULL: it writes to no register that is looked at */
    struct lwp_registers_site *later; /* where only windows count, else NULL */
    struct lwp_register_part done;   /* so far */
    struct lwp_left_words *left;     /* its words, if `later` */
    const IRDirty *helper;           /* the statement before, which may have written registers, or NULL */
    IRExpr *base, *twice;            /* I64: number of its first write on the path it runs on; the same in both halves */
    Addr ip;
    struct lwp_float_class class;
    bool counted;                    /* the instruction has written one value already */
    UInt instructions, bytes[2][2];  /* since they were last added: [loaded][floating point] */
    struct lwp_registers_pending {   /* vector registers that the instruction writes, perhaps in several steps */
        Int base, low, high;         /* offset; bytes of it that are written, but for zeroes */
        IRExpr *before[2];           /* V128 */
        const IRExpr *data;          /* what is written last */
        Int from, to;                /* bytes of it that are written, but for an upper half that is cleared */
        UInt puts;                   /* of these */
        IRExpr *put;                 /* the last one's */
        bool clears_upper;
    } pending[LWP_REGISTERS_PENDING];
    UInt pending_count;
};

extern bool lwp_registers_run;

/* Nothing below does anything unless this was called, before anything is translated; false: no memory. */
bool lwp_registers_start(bool windows);

/* At the superblock's start, behind its first IMark; its first instruction is at `start`. */
void lwp_registers_enter(struct lwp_registers_block *block, struct lwp_left_words *left, const IRSB *in, Addr start);
/* Before each statement, and at the end. */
void lwp_registers_before(struct lwp_registers_block *block, const IRStmt *statement);
void lwp_registers_end(struct lwp_registers_block *block);

#endif
