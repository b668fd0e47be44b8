/* Memory redundancies (shadow.h): what translated code tells the shadow, and its counts as records. Of the whole run,
 * whatever the trace's windows are, or, if so asked, of the windows only: then superblocks are looked at when they have run
 * (redundancy_windows.h). */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_H

#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/accesses.h"
#include "collector/exact/trace/window_words.h"
#include "collector/exact/valgrind/tool.h"

/* A superblock while it is translated. */
struct lwp_redundancy_block {
    IRSB *out;
    const IRSB *in;
    struct lwp_numbered_block site;  /* group NULL: it accesses nothing */
    IRExpr *base;                    /* I64: the first number of its group on the path it runs on */
    struct lwp_redundancy_site *later; /* where only windows count, else NULL */
    struct lwp_left_words *left;     /* its words, if `later` */
    struct lwp_numbered_access last;
    UInt index;                      /* of the last one */
};

/* Nothing below does anything unless this was called; false: no memory. */
bool lwp_redundancy_start(bool windows);

/* At the superblock's start; its first instruction is at `start`. */
void lwp_redundancy_enter(struct lwp_redundancy_block *block, struct lwp_left_words *left, const IRSB *in, Addr start);
/* Before an access's statement, and after it. `word`: its address among the superblock's words, 0: it has none. */
void lwp_redundancy_before(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word);
void lwp_redundancy_after(struct lwp_redundancy_block *block, const IRStmt *statement,
                          const struct lwp_ir_access *access);
/* Before any other statement. */
void lwp_redundancy_other(struct lwp_redundancy_block *block, const IRStmt *statement);

/* The program went into the region that is counted, or out of it (region.h). What memory holds is followed all the time. */
void lwp_redundancy_region(void);

/* The memory is given back. */
void lwp_redundancy_forget(Addr address, SizeT bytes);

/* Writes all counts so far. */
void lwp_redundancy_keep(void);
/* Counts begin anew; what is in memory stays known. */
void lwp_redundancy_anew(void);

#endif
