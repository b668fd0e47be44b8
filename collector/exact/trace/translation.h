/* A superblock while it is translated, and the words of the trace's buffer that it writes as it runs: those that the trace itself
 * needs (trace_words.h), and behind them what detectors take to look at when it has run. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_TRANSLATION_H
#define LWP_COLLECTOR_EXACT_TRACE_TRANSLATION_H

#include "collector/exact/program/detector.h"
#include "collector/exact/program/stack_moves.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/filter.h"
#include "collector/exact/valgrind/emit.h"
#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

struct lwp_translation {
    const IRSB *in;
    IRSB *out;
    Int first;              /* index of the first IMark */
    Addr named;             /* as Valgrind knows it, where it replaces other code, too */
    Addr start, next_ip;    /* of the first instruction; behind the last one */
    UInt instructions;
    struct lwp_trace_block *block;
    UInt traced;            /* accesses passed so far */
    const Short *accesses;  /* of each statement: which of the block's it does, -1: none; NULL: addresses are not traced */
    UInt exits;             /* passed so far */
    struct lwp_filter filter;
    struct lwp_stack_moves moves;
    IRExpr *words;                 /* I64: where its words begin, NULL: it has none */
    UInt words_used;               /* also the next one, from there */
    UInt stack_words;              /* the next of block->moves, which are cleared before it runs */
};

/* The most words that are taken for what accesses store. */
enum { LWP_WORDS_STORED = 2 * 4 * LWP_TRACE_ACCESSES };
_Static_assert(LWP_TRACE_WORDS >= 2 * LWP_TRACE_ACCESSES + LWP_WORDS_STORED, "room");

static inline UInt lwp_words_take(struct lwp_translation *now, UInt count)
{
    now->words_used += count;
    return now->words_used - count;
}

static inline void lwp_words_store(const struct lwp_translation *now, UInt word, IRExpr *value)
{
    IRExpr *at = emit_binary(now->out, Iop_Add64, now->words, emit_word(word * sizeof(ULong)));
    addStmtToIRSB(now->out, IRStmt_Store(Iend_LE, at, value));
}

#endif
