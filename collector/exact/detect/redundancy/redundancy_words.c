#include "collector/exact/detect/redundancy/redundancy_words.h"

#include "collector/exact/detect/redundancy/redundancy_windows.h"
#include "collector/exact/trace/store_element.h"
#include "collector/exact/valgrind/emit.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

enum { POINTER = offsetof(VexGuestAMD64State, guest_RSP), PIECE = sizeof(ULong), MOVE = 2 /* words */ };

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

UInt lwp_redundancy_left_moves(const IRSB *in)
{
    UInt moves = 0;
    for (Int i = 0; lwp_redundancy_windows && i < in->stmts_used; i++)
        moves += is_move(in, in->stmts[i]);
    return moves * MOVE;
}

/* ---- steps ---- */

static struct lwp_redundancy_step *step_next(struct lwp_redundancy_block *block, enum lwp_redundancy_kind kind, UInt bytes, UInt word)
{
    struct lwp_redundancy_step *step = &block->later->steps[block->later->count++];
    *step = (struct lwp_redundancy_step){.word = (UShort)word, .number = (UShort)block->index, .bytes = (UShort)bytes, .kind = (UChar)kind};
    return step;
}

void lwp_redundancy_left_enter(struct lwp_redundancy_block *block, UInt accesses)
{
    UInt most = 2 * accesses + block->left->moves / MOVE;
    if (!most)
        return;
    block->later = VG_(calloc)("lwp.redundancy", 1, sizeof *block->later + most * sizeof block->later->steps[0]);
    block->later->numbers = block->site.group;
}

void lwp_redundancy_left_load(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word)
{
    if (word)
        step_next(block, LWP_REDUNDANCY_LOAD, access->bytes, word);
}

void lwp_redundancy_left_store(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word)
{
    IRSB *out = block->out;
    UInt words = (access->bytes + PIECE - 1) / PIECE;
    if (!word)
        return;
    struct lwp_redundancy_step *step = step_next(block, LWP_REDUNDANCY_STORE, access->bytes, word);
    step->element = (UChar)lwp_store_element(block->in, access);
    step->values = (UShort)lwp_left_take(block->left, 2 * words);
    IRExpr *from = access->guard ? emit_value(out, IRExpr_ITE(access->guard, access->address, block->left->begin)) : access->address;
    lwp_left_store(block->left, step->values, emit_value(out, IRExpr_Load(Iend_LE, typeOfIRExpr(out->tyenv, access->data), from)));
    lwp_left_store(block->left, step->values + words, access->data);
}

void lwp_redundancy_left_other(struct lwp_redundancy_block *block, const IRStmt *statement)
{
    if (!is_move(block->in, statement))
        return;
    bool put = statement->tag == Ist_Put;
    UInt word = block->left->next_move;
    block->left->next_move += MOVE;
    step_next(block, put ? LWP_REDUNDANCY_STACK : LWP_REDUNDANCY_DEAD, put ? 0 : (UInt)statement->Ist.AbiHint.len, word);
    lwp_left_store(block->left, word, put ? emit_register(block->out, POINTER) : statement->Ist.AbiHint.base);
    if (put)
        lwp_left_store(block->left, word + 1, statement->Ist.Put.data);
}

void lwp_redundancy_left_until(struct lwp_redundancy_block *block, IRExpr *guard)
{
    IRSB *out = block->out;
    EMIT_CALL(out, guard, 2, lwp_redundancy_windows_until, mkIRExprVec_2(emit_pointer(block->later), emit_word(block->later->count)));
    IRExpr *base = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&block->site.group->base)));
    block->base = emit_value(out, IRExpr_Unop(Iop_32Uto64, base));
}
