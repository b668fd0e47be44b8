/* Memory redundancies in windows only. What was touched in one is forgotten at its end, since nobody knows what became of it
 * afterwards: so no pair reaches from one window into another, and none is false. Where the whole run counts an access calls the
 * shadow; here it becomes a step that is noted as the superblock is translated. Inside of a window, where each superblock is
 * handed on when the next begins (trace.h), its steps are gone through one after the other; outside nobody reads what they left. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_WINDOWS_H
#define LWP_COLLECTOR_EXACT_DETECT_REDUNDANCY_REDUNDANCY_WINDOWS_H

#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/accesses.h"
#include "collector/exact/trace/translation.h"
#include "collector/exact/valgrind/tool.h"

extern bool lwp_redundancy_windows; /* else the whole run is followed */

/* Nothing that happens now matters. */
static inline bool lwp_redundancy_idle(void)
{
    return lwp_redundancy_windows && !lwp_trace_open;
}

enum { LWP_REDUNDANCY_REDZONE = 128 }; /* bytes below the stack pointer that functions may use */

enum lwp_redundancy_kind {
    LWP_REDUNDANCY_LOAD,
    LWP_REDUNDANCY_STORE,
    LWP_REDUNDANCY_DEAD,  /* bytes that are of no use from now on */
    LWP_REDUNDANCY_STACK, /* the stack pointer moves: as it was, and in the next word as it is */
};

struct lwp_redundancy_step {
    UShort word;   /* of the address, among the superblock's; it is 0 where the step was not done */
    UShort values; /* of a store: words of what was there, as many as its bytes take, and as many of what is */
    UShort number; /* of the access, from the group's first */
    UShort bytes;
    UChar kind;    /* enum lwp_redundancy_kind */
    UChar element; /* of a store: bytes of each floating point number, 0: none */
};

struct lwp_redundancy_steps {
    struct lwp_numbered_group *numbers; /* NULL: it accesses nothing */
    UInt count;
    struct lwp_redundancy_step step[];
};

/* A superblock while it is translated. */
struct lwp_redundancy_block {
    struct lwp_translation *now;
    struct lwp_numbered_block numbers;  /* group NULL: it accesses nothing */
    IRExpr *base;                       /* I64: the first number of its group on the path it runs on */
    struct lwp_redundancy_steps *steps; /* where only windows count, else NULL */
    struct lwp_numbered_access last;
    UInt index;                         /* of the last one */
};

/* Words that the superblock's moves of the stack need, among those that are cleared. */
UInt lwp_redundancy_stack_words(const IRSB *in);
/* At its start: block->steps, if it may have any. */
void lwp_redundancy_steps_enter(struct lwp_redundancy_block *block, UInt accesses);
/* Before an access, block->index; `word`: where its address is, 0: nowhere, and nothing is done. A store's is to be written
 * after this: then all of it was. */
void lwp_redundancy_step_load(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word);
void lwp_redundancy_step_store(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word);
/* Before any other statement. */
void lwp_redundancy_step_other(struct lwp_redundancy_block *block, const IRStmt *statement);
/* What follows is counted at once: all steps before are gone through. Sets block->base. */
void lwp_redundancy_steps_until(struct lwp_redundancy_block *block, IRExpr *guard);

/* The superblock has run; `words`: its words. */
void lwp_redundancy_steps_run(const struct lwp_redundancy_steps *steps, const ULong *words);

/* The program accesses the bytes, in a window. */
void lwp_redundancy_touched(Addr address, SizeT bytes);

/* A window ends. */
void lwp_redundancy_window_ends(void);

#endif
