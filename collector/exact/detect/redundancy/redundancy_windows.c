/* Steps are noted as a superblock is translated, and what they need of its run is left in words: what a store finds and what it
 * puts there, and where the stack pointer goes; addresses are in the trace's. */
#include "collector/exact/detect/redundancy/redundancy_windows.h"

#include "collector/exact/detect/redundancy/redundancy_counts.h"
#include "collector/exact/detect/redundancy/shadow_fast.h"
#include "collector/exact/program/contexts.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

enum {
    TOUCHED_MOST = 1 << 20,
    POINTER = offsetof(VexGuestAMD64State, guest_RSP),
    PIECE = sizeof(ULong),
    MOVE = 2,                  /* words */
    STACK_MOVE_MOST = 2000000, /* larger ones lead to another stack, as Valgrind has it, too */
};

bool lwp_redundancy_windows;

/* ---- what a window touched ---- */

/* In the window, one after the other, many of them time and again; of longer windows all of the shadow is forgotten. */
static struct touched {
    Addr address;
    SizeT bytes;
} *touched;
static uint32_t touched_count;
static bool gap; /* there was a time outside of windows */

void lwp_redundancy_touched(Addr address, SizeT bytes)
{
    if (!touched)
        touched = VG_(malloc)("lwp.touched", TOUCHED_MOST * sizeof *touched);
    if (touched_count < TOUCHED_MOST)
        touched[touched_count] = (struct touched){address, bytes};
    touched_count += touched_count <= TOUCHED_MOST;
}

void lwp_redundancy_window_ends(void)
{
    if (touched_count > TOUCHED_MOST)
        lwp_shadow_forget_all(&lwp_redundancy_shadow);
    else
        for (uint32_t i = 0; i < touched_count; i++)
            lwp_shadow_forget(&lwp_redundancy_shadow, touched[i].address, touched[i].bytes);
    touched_count = 0;
    gap = true;
}

/* ---- what a superblock did ---- */

static UInt steps_done; /* of the one that runs */

static void step_store_piece(Addr address, unsigned bytes, uint32_t number, ULong before, ULong after, unsigned element)
{
    if (gap)
        lwp_shadow_store_first(&lwp_redundancy_shadow, address, bytes, number, before, after, element);
    lwp_shadow_store(&lwp_redundancy_shadow, address, bytes, number, before, after, element);
}

static void step_store(Addr address, unsigned bytes, uint32_t number, const ULong *before, unsigned element)
{
    const ULong *after = before + (bytes + PIECE - 1) / PIECE;
    for (; bytes > PIECE; bytes -= PIECE, address += PIECE)
        step_store_piece(address, PIECE, number, *before++, *after++, element);
    ULong mask = ~0ull >> (64 - 8 * bytes);
    step_store_piece(address, bytes, number, *before & mask, *after & mask, element);
}

/* What is not below the stack pointer by more than the red zone is still in use. */
static void step_stack(Addr from, Addr to)
{
    if (to > from && to - from <= STACK_MOVE_MOST)
        lwp_shadow_forget(&lwp_redundancy_shadow, from - LWP_REDUNDANCY_REDZONE, to - from);
}

static void step_run(const struct lwp_redundancy_step *step, const ULong *words, uint32_t number)
{
    Addr address = words[step->word];
    lwp_redundancy_number = number;
    switch (step->kind) {
    case LWP_REDUNDANCY_LOAD:
        lwp_redundancy_touched(address, step->bytes);
        lwp_shadow_load_all(&lwp_redundancy_shadow, address, step->bytes, number);
        return;
    case LWP_REDUNDANCY_STORE:
        lwp_redundancy_touched(address, step->bytes);
        if (lwp_redundancy_threads)
            lwp_redundancy_other_threads(address, step->bytes, number);
        step_store(address, step->bytes, number, &words[step->values], step->element);
        return;
    case LWP_REDUNDANCY_DEAD:
        lwp_shadow_forget(&lwp_redundancy_shadow, address, step->bytes);
        return;
    default:
        step_stack(address, words[step->word + 1]);
    }
}

static void steps_run(const struct lwp_redundancy_steps *steps, const ULong *words, UInt until)
{
    if (steps->numbers && steps->numbers->node != lwp_context_now)
        lwp_numbers_enter(steps->numbers);
    uint32_t first = steps->numbers ? steps->numbers->base : 0;
    for (UInt i = steps_done; i < until; i++)
        if (words[steps->step[i].word])
            step_run(&steps->step[i], words, first + steps->step[i].number);
    steps_done = until;
}

void lwp_redundancy_steps_run(const struct lwp_redundancy_steps *steps, const ULong *words)
{
    steps_run(steps, words, steps->count);
    steps_done = 0;
}

/* Called from translated code: it has done so many of its steps. */
static VG_REGPARM(2) void steps_until(const struct lwp_redundancy_steps *steps, ULong count)
{
    if (lwp_trace_pending && lwp_trace_open)
        steps_run(steps, lwp_trace_words, (UInt)count);
}

/* ---- the stack ---- */

/* Of what is written to the stack pointer: a step that makes the stack larger is of no interest. */
static bool stack_may_shrink(const IRSB *in, const IRExpr *to)
{
    for (Int i = in->stmts_used; to->tag == Iex_RdTmp && i--;) {
        const IRStmt *statement = in->stmts[i];
        if (statement->tag != Ist_WrTmp || statement->Ist.WrTmp.tmp != to->Iex.RdTmp.tmp)
            continue;
        const IRExpr *made = statement->Ist.WrTmp.data;
        if (made->tag != Iex_Binop || made->Iex.Binop.op != Iop_Sub64 || made->Iex.Binop.arg2->tag != Iex_Const)
            return true;
        return made->Iex.Binop.arg2->Iex.Const.con->Ico.U64 >> 63;
    }
    return true;
}

static bool is_move(const IRSB *in, const IRStmt *statement)
{
    if (statement->tag == Ist_Put)
        return statement->Ist.Put.offset == POINTER && stack_may_shrink(in, statement->Ist.Put.data);
    return statement->tag == Ist_AbiHint;
}

UInt lwp_redundancy_stack_words(const IRSB *in)
{
    UInt moves = 0;
    for (Int i = 0; i < in->stmts_used; i++)
        moves += is_move(in, in->stmts[i]);
    return moves * MOVE;
}

/* ---- steps ---- */

static struct lwp_redundancy_step *step_next(struct lwp_redundancy_block *block, enum lwp_redundancy_kind kind, UInt bytes, UInt word)
{
    struct lwp_redundancy_step *step = &block->steps->step[block->steps->count++];
    *step = (struct lwp_redundancy_step){.word = (UShort)word, .number = (UShort)block->index, .bytes = (UShort)bytes, .kind = (UChar)kind};
    return step;
}

void lwp_redundancy_steps_enter(struct lwp_redundancy_block *block, UInt accesses)
{
    UInt most = 2 * accesses + block->now->block->moves / MOVE;
    if (!most)
        return;
    block->steps = VG_(calloc)("lwp.redundancy", 1, sizeof *block->steps + most * sizeof block->steps->step[0]);
    block->steps->numbers = block->numbers.group;
    block->now->block->redundancy = block->steps;
}

void lwp_redundancy_step_load(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word)
{
    if (word)
        step_next(block, LWP_REDUNDANCY_LOAD, access->bytes, word);
}

void lwp_redundancy_step_store(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word)
{
    struct lwp_translation *now = block->now;
    IRSB *out = now->out;
    UInt words = (access->bytes + PIECE - 1) / PIECE;
    if (!word)
        return;
    struct lwp_redundancy_step *step = step_next(block, LWP_REDUNDANCY_STORE, access->bytes, word);
    step->element = (UChar)lwp_store_element(now->in, access);
    step->values = (UShort)lwp_words_take(now, 2 * words);
    IRExpr *from = access->guard ? emit_value(out, IRExpr_ITE(access->guard, access->address, now->words)) : access->address;
    lwp_words_store(now, step->values, emit_value(out, IRExpr_Load(Iend_LE, typeOfIRExpr(out->tyenv, access->data), from)));
    lwp_words_store(now, step->values + words, access->data);
}

void lwp_redundancy_step_other(struct lwp_redundancy_block *block, const IRStmt *statement)
{
    struct lwp_translation *now = block->now;
    if (!is_move(now->in, statement))
        return;
    bool put = statement->tag == Ist_Put;
    UInt word = now->stack_words;
    now->stack_words += MOVE;
    step_next(block, put ? LWP_REDUNDANCY_STACK : LWP_REDUNDANCY_DEAD, put ? 0 : (UInt)statement->Ist.AbiHint.len, word);
    lwp_words_store(now, word, put ? emit_register(now->out, POINTER) : statement->Ist.AbiHint.base);
    if (put)
        lwp_words_store(now, word + 1, statement->Ist.Put.data);
}

void lwp_redundancy_steps_until(struct lwp_redundancy_block *block, IRExpr *guard)
{
    EMIT_CALL(block->now->out, guard, 2, steps_until, mkIRExprVec_2(emit_pointer(block->steps), emit_word(block->steps->count)));
    block->base = lwp_numbers_base(block->now->out, block->numbers.group);
}
