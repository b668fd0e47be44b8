#include "collector/exact/trace/filter.h"

#include "collector/exact/trace/sampling.h"
#include "collector/exact/trace/trace.h"
#include "collector/exact/valgrind/emit.h"

#include <stddef.h>

/* Of each temporary of the superblock: what it is made from by adding a constant. */
static struct made {
    IRTemp root;
    Long more;
} *made;
static Int made_room, made_count;

static Long constant_of(const IRExpr *value)
{
    return value->tag == Iex_Const && value->Iex.Const.con->tag == Ico_U64 ? (Long)value->Iex.Const.con->Ico.U64 : 0;
}

static void made_note(const IRSB *in)
{
    made = tool_room(made, &made_room, in->tyenv->types_used, sizeof *made);
    made_count = in->tyenv->types_used;
    for (Int i = 0; i < made_count; i++)
        made[i] = (struct made){(IRTemp)i, 0};
    for (Int i = 0; i < in->stmts_used; i++) {
        const IRExpr *data = in->stmts[i]->tag == Ist_WrTmp ? in->stmts[i]->Ist.WrTmp.data : NULL;
        if (!data || data->tag != Iex_Binop || (data->Iex.Binop.op != Iop_Add64 && data->Iex.Binop.op != Iop_Sub64) ||
            data->Iex.Binop.arg1->tag != Iex_RdTmp || data->Iex.Binop.arg2->tag != Iex_Const)
            continue;
        Long more = constant_of(data->Iex.Binop.arg2);
        const struct made *from = &made[data->Iex.Binop.arg1->Iex.RdTmp.tmp];
        made[in->stmts[i]->Ist.WrTmp.tmp] = (struct made){from->root, from->more + (data->Iex.Binop.op == Iop_Add64 ? more : -more)};
    }
}

static IRExpr *state_at(const struct lwp_filter *filter, SizeT offset)
{
    return emit_binary(filter->out, Iop_Add64, filter->state, emit_word(offset));
}

static void state_store(const struct lwp_filter *filter, SizeT offset, IRExpr *value)
{
    addStmtToIRSB(filter->out, IRStmt_Store(Iend_LE, state_at(filter, offset), value));
}

static IRExpr *state_load(const struct lwp_filter *filter, IRExpr *at)
{
    return emit_value(filter->out, IRExpr_Load(Iend_LE, Ity_I64, at));
}

void lwp_filter_enter(struct lwp_filter *filter, IRSB *out, const IRSB *in, const struct lwp_trace_block *block)
{
    *filter = (struct lwp_filter){.out = out, .block = block};
    made_note(in);
    IRExpr *low = emit_binary(out, Iop_And64, emit_load(out, &lwp_trace_state.left), emit_word(LWP_TRACE_LEFT_NONE)),
           *missed = emit_binary(out, Iop_And64, emit_load(out, &lwp_trace_state.missed), emit_word((ULong)-LWP_TRACE_LINE));
    EMIT_CALL(out, emit_binary(out, Iop_CmpNE64, emit_binary(out, Iop_Or64, low, missed), emit_word(0)), 0, lwp_trace_attend,
              mkIRExprVec_0());
    filter->state = emit_load(out, &lwp_trace_state.self);
    state_store(filter, offsetof(struct lwp_trace_state, block), emit_pointer(block));
    ULong all = lwp_trace_left(block->instructions) + lwp_sampling_halves(block, block->count);
    filter->left = emit_binary(out, Iop_Sub64, state_load(filter, state_at(filter, offsetof(struct lwp_trace_state, left))), emit_word(all));
}

/* ---- which of the accesses between two exits are compared ---- */

/* If what was checked hits, so does this: it lies in one line that was, or, as aligned as its size, in one of two. */
static bool range_covers(const struct lwp_filter_range *checked, const struct lwp_filter_range *range)
{
    UInt bytes = (UInt)(range->high - range->low);
    return checked->root == range->root && checked->low <= range->low && range->high <= checked->high &&
           (checked->aligned == 1 || (checked->aligned % bytes == 0 && (range->low - checked->low) % bytes == 0));
}

static bool filter_knows(const struct lwp_filter *filter, const struct lwp_filter_range *range)
{
    for (UInt i = 0; i < filter->checked_count; i++)
        if (range_covers(&filter->checked[i], range))
            return true;
    return false;
}

static void filter_or(struct lwp_filter *filter, IRExpr *missed)
{
    filter->missed = filter->missed ? emit_binary(filter->out, Iop_Or64, filter->missed, missed) : missed;
}

static void filter_check(struct lwp_filter *filter, const struct lwp_filter_range *range)
{
    _Static_assert(!offsetof(struct lwp_trace_state, recent), "it is where the state is");
    IRSB *out = filter->out;
    ULong more = (ULong)(range->high - range->low) - 1;
    IRExpr *line = emit_binary(out, Iop_Shr64, range->address, IRExpr_Const(IRConst_U8(LWP_TRACE_LINE_BITS - 3)));
    line = emit_binary(out, Iop_And64, line, emit_word((LWP_TRACE_LINES - 1) * sizeof(ULong)));
    IRExpr *from = emit_binary(out, Iop_Sub64, range->address, state_load(filter, emit_binary(out, Iop_Add64, filter->state, line)));
    filter_or(filter, more ? emit_binary(out, Iop_Add64, from, emit_word(more)) : from);
}

/* As if it missed, unless it is aligned. */
static void filter_check_aligned(struct lwp_filter *filter, IRExpr *address, UInt bytes)
{
    IRExpr *more = emit_binary(filter->out, Iop_And64, address, emit_word(bytes - 1));
    filter_or(filter, emit_binary(filter->out, Iop_Shl64, more, IRExpr_Const(IRConst_U8(LWP_TRACE_LINE_BITS))));
}

static void filter_done(struct lwp_filter *filter, const struct lwp_filter_range *range)
{
    if (range->root != IRTemp_INVALID && filter->checked_count < LWP_FILTER_CHECKED)
        filter->checked[filter->checked_count++] = *range;
}

static bool is_part(const struct lwp_filter_range *range, const struct lwp_filter_range *of)
{
    Long bytes = range->high - range->low, wide = of->high - of->low;
    return range->root == of->root && range->low >= of->low && range->high <= of->low + LWP_TRACE_LINE && bytes > 0 &&
           !(wide & (wide - 1)) && wide % bytes == 0 && (range->low - of->low) % bytes == 0;
}

/* Those at most a line above `first`: the highest of them stands for all. NULL: there are too few. */
static const struct lwp_filter_range *filter_highest(const struct lwp_filter *filter, const struct lwp_filter_range *first)
{
    enum { FEW = 2 };
    const struct lwp_filter_range *highest = first;
    UInt count = 0;
    for (UInt i = 0; i < filter->waiting_count && first->root != IRTemp_INVALID; i++)
        if (is_part(&filter->waiting[i], first)) {
            count++;
            highest = filter->waiting[i].high > highest->high ? &filter->waiting[i] : highest;
        }
    return count > FEW ? highest : NULL;
}

static void filter_wait_ends(struct lwp_filter *filter)
{
    for (UInt i = 0; i < filter->waiting_count; i++) {
        const struct lwp_filter_range *lowest = &filter->waiting[i];
        for (UInt k = 0; k < filter->waiting_count; k++)
            if (is_part(lowest, &filter->waiting[k]) && filter->waiting[k].low < lowest->low)
                lowest = &filter->waiting[k];
        struct lwp_filter_range range = *lowest;
        const struct lwp_filter_range *highest = filter_knows(filter, &filter->waiting[i]) ? NULL : filter_highest(filter, lowest);
        if (!highest)
            continue;
        range.aligned = (UInt)(range.high - range.low);
        filter_check(filter, lowest);
        filter_check(filter, highest);
        filter_check_aligned(filter, range.address, range.aligned);
        range.high = highest->high;
        filter_done(filter, &range);
    }
    for (UInt i = 0; i < filter->waiting_count; i++)
        if (!filter_knows(filter, &filter->waiting[i])) {
            filter_check(filter, &filter->waiting[i]);
            filter_done(filter, &filter->waiting[i]);
        }
    filter->waiting_count = 0;
}

void lwp_filter_access(struct lwp_filter *filter, UInt number, IRExpr *address)
{
    UInt bytes = filter->block->access[number].bytes;
    struct lwp_filter_range range = {IRTemp_INVALID, 0, bytes, address, 1};
    state_store(filter, (SizeT)&lwp_trace_words[1 + number] - (SizeT)&lwp_trace_state, address);
    if (address->tag == Iex_RdTmp && address->Iex.RdTmp.tmp < (IRTemp)made_count) {
        const struct made *from = &made[address->Iex.RdTmp.tmp];
        range = (struct lwp_filter_range){from->root, from->more, from->more + bytes, address, 1};
    }
    if (filter->waiting_count == LWP_FILTER_WAITING)
        filter_wait_ends(filter);
    filter->waiting[filter->waiting_count++] = range;
}

void lwp_filter_exit(struct lwp_filter *filter, UInt passed)
{
    filter_wait_ends(filter);
    IRExpr *left = filter->left;
    ULong more = lwp_sampling_halves(filter->block, filter->block->count) - lwp_sampling_halves(filter->block, passed);
    if (more)
        left = emit_binary(filter->out, Iop_Add64, left, emit_word(more));
    state_store(filter, offsetof(struct lwp_trace_state, left), left);
    state_store(filter, offsetof(struct lwp_trace_state, missed), filter->missed ? filter->missed : emit_word(0));
    state_store(filter, offsetof(struct lwp_trace_state, passed), emit_word(passed));
}
