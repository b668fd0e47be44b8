/* What a detector is to the rest of the engine: one row of functions, each called when what it is named after happens; NULL: that
 * does not matter to it. The rows are listed in detectors.c, and nothing below knows any of them by name. Functions that run
 * for every access or every superblock are not here: `survey` to `end` emit calls of them into translated code. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_DETECTOR_H
#define LWP_COLLECTOR_EXACT_PROGRAM_DETECTOR_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdbool.h>

struct lwp_exact_thread;
struct lwp_ir_access;
struct lwp_trace_access;
struct lwp_translation;

/* What it needs of the trace. */
enum lwp_detector_needs {
    LWP_NEEDS_SAMPLES = 1,     /* accesses are weighted by the cache model, and sampled */
    LWP_NEEDS_ADDRESSES = 2,   /* of all accesses */
    LWP_NEEDS_WINDOW_WORDS = 4, /* the same, where only windows count */
    LWP_NEEDS_WHOLE_RUN = 8,   /* there are no windows */
    LWP_NEEDS_PATHS = 16,      /* the call path of what is traced */
    LWP_NEEDS_EVERY_PATH = 32, /* the call path of all that runs, unless only windows count */
};

struct lwp_detector {
    const char *option; /* --lwp-OPTION: how much is asked for, "yes" is 1; NULL: it always runs */
    unsigned most;      /* ... at most; 0: only yes or no */
    unsigned needs;     /* enum lwp_detector_needs */
    const char *failed; /* the note where `start` returns false: there is no memory */

    /* ---- its life ---- */
    bool (*start)(unsigned asked); /* nothing else is called before, nor if false */
    void (*finish)(void);          /* nothing more comes for the files of the process; `write` and `reset` follow */
    void (*write)(void);           /* all counts so far into a file, in place of what it held */
    void (*reset)(void);           /* counting begins anew, in a new process, too */

    /* ---- translation of a superblock ---- */
    /* An access that is traced. */
    void (*describe)(const struct lwp_translation *, const struct lwp_ir_access *, struct lwp_trace_access *);
    void (*survey)(struct lwp_translation *);  /* all of them are described; nothing was emitted yet */
    void (*enter)(struct lwp_translation *);   /* behind the countdown */
    /* Before each statement; its access, NULL: none, and which of the superblock's words has the address, 0: none. */
    void (*before)(struct lwp_translation *, const IRStmt *, const struct lwp_ir_access *, UInt word);
    void (*after)(struct lwp_translation *, const IRStmt *, const struct lwp_ir_access *); /* where it has an access */
    void (*end)(struct lwp_translation *);     /* before the last jump */

    /* ---- what ran ---- */
    void (*words)(ULong *begin, ULong *end);   /* the running thread's words of the trace (trace.h) */
    void (*window)(bool opens);                /* a window of the region is entered, or was left */
    void (*region)(void);                      /* the region was entered or left (region.h) */
    void (*flush)(void);                       /* what follows is of another thread, or of other blocks or modules */

    /* ---- memory ---- */
    void (*forget)(Addr, SizeT);               /* mapped, unmapped: what was there is gone */
    void (*kernel_wrote)(Addr, SizeT);
    void (*freeing)(Addr, SizeT);              /* a heap block, or part of a mapping, which is still there */
    void (*freed)(Addr, SizeT);                /* all or part of a heap block */
    void (*allocated)(Addr, SizeT);            /* what a heap block holds at first is of no use */
    void (*array)(ThreadId, const UWord *arguments); /* LWP_ARRAY() of collector/lwp.h */

    /* ---- threads ---- */
    void (*thread_made)(struct lwp_exact_thread *);
    void (*thread_runs)(ThreadId, struct lwp_exact_thread *before, struct lwp_exact_thread *now); /* before: may be NULL */
    void (*thread_ends)(struct lwp_exact_thread *);
};

enum { LWP_DETECTORS_MOST = 16 };

/* Those that run, in the order of the table, then NULL. */
extern const struct lwp_detector *lwp_detectors[LWP_DETECTORS_MOST + 1];
/* Their `words`, then NULL: called for each superblock of a window. */
extern void (*lwp_detector_words[LWP_DETECTORS_MOST + 1])(ULong *begin, ULong *end);

void lwp_detector_add(const struct lwp_detector *detector);

/* Calls one function of all that have it. */
#define LWP_DETECTORS(function, ...)                                          \
    do                                                                        \
        for (const struct lwp_detector **one_ = lwp_detectors; *one_; one_++) \
            if ((*one_)->function)                                            \
                (*one_)->function(__VA_ARGS__);                               \
    while (0)

#endif
