/* What a superblock leaves of itself in words of the trace's buffer, to be looked at when it has run. Where only windows count
 * it takes more as it is translated, behind those that the trace itself needs (trace_words.h). */
#ifndef LWP_COLLECTOR_EXACT_TRACE_WINDOW_WORDS_H
#define LWP_COLLECTOR_EXACT_TRACE_WINDOW_WORDS_H

#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/emit.h"
#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

/* Of a superblock while it is translated. */
struct lwp_left_words {
    IRSB *out;
    IRExpr *begin; /* I64: where its words begin */
    UInt used;     /* also the next one, from there */
    UInt moves, next_move; /* words of what becomes of the stack (trace_words.h), the next one from there */
};

/* The most that are taken: of registers, and what each access stores. */
enum { LWP_LEFT_REGISTERS = 4096, LWP_LEFT_STORED = 2 * 4 * LWP_TRACE_ACCESSES };
_Static_assert(LWP_TRACE_WORDS >= 2 * LWP_TRACE_ACCESSES + LWP_LEFT_REGISTERS + LWP_LEFT_STORED, "room");

static inline UInt lwp_left_take(struct lwp_left_words *words, UInt count)
{
    words->used += count;
    return words->used - count;
}

static inline void lwp_left_store(const struct lwp_left_words *words, UInt word, IRExpr *value)
{
    IRExpr *at = emit_binary(words->out, Iop_Add64, words->begin, emit_word(word * sizeof(ULong)));
    addStmtToIRSB(words->out, IRStmt_Store(Iend_LE, at, value));
}

#endif
