#include "collector/exact/detect/registers/registers.h"

#include "collector/exact/detect/registers/register_counts.h"
#include "collector/exact/detect/registers/register_words.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/store_element.h"
#include "collector/exact/valgrind/emit.h"
#include "collector/record/value.h"
#include "format/record.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

bool lwp_registers_run;
static bool registers_later;

/* What each temporary of the superblock is made by; NULL: by a load under a condition, or nothing that is an expression. */
static const IRExpr **made;
static Int made_room;

static void registers_kernel_wrote(CorePart part, ThreadId thread, PtrdiffT offset, SizeT bytes)
{
    static const UChar nobody[sizeof(VexGuestAMD64State)];
    (void)part;
    lwp_trace_drain();
    VG_(set_shadow_regs_area)(thread, 1, offset, bytes < sizeof nobody ? bytes : sizeof nobody, nobody);
}

bool lwp_registers_start(bool windows)
{
    lwp_registers_run = lwp_register_counts_start(windows);
    registers_later = windows;
    lwp_register_windows_start();
    if (!lwp_registers_run)
        return false;
    /* else what is overwritten in the superblock is not written at all (dead_puts.h) */
    VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
    VG_(clo_vex_control).iropt_unroll_thresh = 0; /* as superblocks of different length would be in windows and outside (duplication.c) */
    VG_(track_post_reg_write)(registers_kernel_wrote);
    return true;
}

/* ---- what is written ---- */

static void made_note(const IRSB *in)
{
    if (made_room < in->tyenv->types_used) {
        made_room = 2 * in->tyenv->types_used;
        VG_(free)(made);
        made = VG_(malloc)("lwp.made", (SizeT)made_room * sizeof *made);
    }
    VG_(memset)(made, 0, (SizeT)in->tyenv->types_used * sizeof *made);
    for (Int i = 0; i < in->stmts_used; i++)
        if (in->stmts[i]->tag == Ist_WrTmp)
            made[in->stmts[i]->Ist.WrTmp.tmp] = in->stmts[i]->Ist.WrTmp.data;
}

/* The operation behind an atom, past what only widens it or puts it into a vector; NULL: a constant, or unknown. */
static const IRExpr *made_by(const IRExpr *value)
{
    for (;;) {
        if (value && value->tag == Iex_RdTmp)
            value = made[value->Iex.RdTmp.tmp];
        else if (value && value->tag == Iex_Unop)
            value = value->Iex.Unop.arg;
        else if (value && value->tag == Iex_Binop &&
                 (value->Iex.Binop.op == Iop_64HLtoV128 || value->Iex.Binop.op == Iop_V128HLtoV256))
            value = value->Iex.Binop.arg2;
        else
            return value && value->tag != Iex_Const ? value : NULL;
    }
}

static bool made_by_tag(const IRExpr *value, IRExprTag tag)
{
    const IRExpr *by = made_by(value);
    return by && by->tag == tag;
}

/* Writes to the lower half of a general register clear the upper one. */
static UInt general_bytes(IRType type, const IRExpr *data)
{
    if (type != Ity_I64)
        return (UInt)sizeofIRType(type);
    if (data->tag == Iex_Const)
        return data->Iex.Const.con->Ico.U64 >> 32 ? 8 : 4;
    const IRExpr *by = data;
    while (by && by->tag == Iex_RdTmp)
        by = made[by->Iex.RdTmp.tmp];
    if (!by || by->tag != Iex_Unop)
        return 8;
    switch (by->Iex.Unop.op) {
    case Iop_32Uto64:
    case Iop_16Uto64:
    case Iop_8Uto64:
    case Iop_1Uto64:
        return 4;
    default:
        return 8;
    }
}

/* ---- emitting ---- */

static Int shadow_of(Int offset)
{
    return offset + (Int)sizeof(VexGuestAMD64State);
}

static void emit_put(IRSB *out, Int offset, IRExpr *value)
{
    addStmtToIRSB(out, IRStmt_Put(offset, value));
}

static IRExpr *emit_get(IRSB *out, Int offset, IRType type)
{
    return emit_value(out, IRExpr_Get(offset, type));
}

static IRExpr *emit_unary(IRSB *out, IROp operation, IRExpr *value)
{
    return emit_value(out, IRExpr_Unop(operation, value));
}

/* Who wrote the 4 bytes there. */
static IRExpr *emit_writer(IRSB *out, Int offset)
{
    return emit_unary(out, Iop_32Uto64, emit_get(out, shadow_of(offset), Ity_I32));
}

/* The number of a write of the instruction, from its group's first. */
static UInt block_write(struct lwp_registers_block *block, UInt bytes, bool load, bool is_float, bool vector)
{
    const struct lwp_numbered_access write = {
        block->ip, (UShort)bytes,
        (UChar)((load ? LWPS_ACCESS_LOAD : 0) | (is_float ? LWPS_ACCESS_FLOAT : 0) | (vector ? LWPS_ACCESS_VECTOR : 0))};
    block->bytes[load][is_float] += bytes;
    return lwp_numbers_index(&block->site, &write);
}

static ULong block_what(struct lwp_registers_block *block, UInt index, UInt bytes, UInt element)
{
    ULong counts = !block->counted;
    block->counted = true;
    return counts << LWP_REGISTER_COUNTS_AT | (ULong)element << LWP_REGISTER_ELEMENT_AT | (ULong)bytes << LWP_REGISTER_BYTES_AT |
           (ULong)index;
}

static IRExpr *emit_what(struct lwp_registers_block *block, UInt index, UInt bytes, UInt element)
{
    return emit_binary(block->out, Iop_Add64, block->base, emit_word(block_what(block, index, bytes, element)));
}

/* The write's number in both halves. */
static IRExpr *emit_twice(struct lwp_registers_block *block, UInt index)
{
    return emit_binary(block->out, Iop_Add64, block->twice, emit_word((ULong)index << 32 | (ULong)index));
}

static IRExpr *emit_equal(IRSB *out, IRType type, IRExpr *a, IRExpr *b)
{
    IROp operation = type == Ity_I8 ? Iop_CmpEQ8 : type == Ity_I16 ? Iop_CmpEQ16 : type == Ity_I32 ? Iop_CmpEQ32 : Iop_CmpEQ64;
    return emit_binary(out, operation, a, b);
}

/* One floating point number of 4 or 8 bytes, as an I64 before and after. It is only called for where the bits are so near
 * that the numbers may be: within as many steps as --approx is at most (value.c). */
static void emit_number(struct lwp_registers_block *block, UInt index, UInt element, IRExpr *writer, IRExpr *before,
                        IRExpr *after)
{
    IRSB *out = block->out;
    ULong far = lwp_register_far(element);
    IRExpr *apart = emit_binary(out, Iop_Add64, emit_binary(out, Iop_Sub64, after, before), emit_word(far));
    EMIT_CALL(out, emit_binary(out, Iop_CmpLE64U, apart, emit_word(2 * far)), 0, lwp_register_near,
              mkIRExprVec_4(emit_what(block, index, element, element), writer, before, after));
}

/* ---- one register ---- */

static void emit_general(struct lwp_registers_block *block, Int offset, IRExpr *data)
{
    IRSB *out = block->out;
    IRType type = typeOfIRExpr(block->in->tyenv, data);
    if (made_by_tag(data, Iex_ITE)) {
        if (block->later)
            lwp_left_write(block, offset & ~7, offset & 7, data);
        return;
    }
    UInt bytes = general_bytes(type, data);
    UInt index = block_write(block, bytes, made_by_tag(data, Iex_Load), false, false);
    Int whole = offset & ~7, writer = offset == whole ? whole : whole + 4; /* ah has a writer of its own */
    if (block->later) {
        struct lwp_register_write *write = lwp_left_write(block, whole, offset - whole, data);
        write->kind = LWP_REGISTER_INTEGER;
        write->what = block_what(block, index, bytes, 0);
        write->writer = (UShort)writer;
        write->part = bytes >= 2 ? LANE : LANE / 2;
        write->low = write->from;
        write->high = (UChar)(write->from + write->bytes);
        return;
    }
    EMIT_CALL(out, emit_equal(out, type, emit_get(out, offset, type), data), 2, lwp_register_same,
              mkIRExprVec_2(emit_what(block, index, bytes, 0), emit_writer(out, writer)));
    IRExpr *now = emit_twice(block, index);
    if (bytes >= 2)
        emit_put(out, shadow_of(whole), now);
    else
        emit_put(out, shadow_of(writer), emit_unary(out, Iop_64to32, now));
}

static void emit_x87(struct lwp_registers_block *block, const IRPutI *put)
{
    IRSB *out = block->out;
    UInt index = block_write(block, LANE, made_by_tag(put->data, Iex_Load), true, false);
    if (block->later) {
        struct lwp_register_write *write = lwp_left_write(block, put->descr->base, 0, put->data);
        write->kind = LWP_REGISTER_NUMBERS;
        write->what = block_what(block, index, LANE, LANE);
        write->element = write->high = LANE;
        write->turns = true;
        write->bias = (Char)put->bias;
        lwp_left_store(block->left, lwp_left_take(block->left, 1), put->ix); /* behind the value */
        return;
    }
    IRRegArray *writers = mkIRRegArray(shadow_of(put->descr->base), Ity_I64, NUMBERS_X87);
    IRExpr *before = emit_unary(out, Iop_ReinterpF64asI64, emit_value(out, IRExpr_GetI(put->descr, put->ix, put->bias)));
    IRExpr *writer = emit_value(out, IRExpr_GetI(writers, put->ix, put->bias));
    writer = emit_binary(out, Iop_And64, writer, emit_word(0xffffffff));
    emit_number(block, index, LANE, writer, before, emit_unary(out, Iop_ReinterpF64asI64, put->data));
    addStmtToIRSB(out, IRStmt_PutI(mkIRPutI(writers, put->ix, put->bias, emit_twice(block, index))));
}

/* ---- vector registers ---- */

static void vector_put(struct lwp_registers_block *block, Int offset, IRExpr *data)
{
    IRSB *out = block->out;
    Int base = OFFSET(YMM0) + (offset - OFFSET(YMM0)) / VECTOR * VECTOR, low = offset - base;
    Int high = low + sizeofIRType(typeOfIRExpr(block->in->tyenv, data));
    UInt at = 0;
    while (at < block->pending_count && block->pending[at].base != base)
        at++;
    if (at == LWP_REGISTERS_PENDING) {
        if (block->later)
            lwp_left_beyond(block, base, low, data);
        return;
    }
    struct lwp_registers_pending *pending = &block->pending[at];
    if (at == block->pending_count) {
        block->pending_count++;
        *pending = (struct lwp_registers_pending){.base = base, .low = VECTOR, .data = data, .from = VECTOR};
        for (Int i = 0; i < 2 && !block->later; i++)
            pending->before[i] = emit_get(out, base + i * HALF, Ity_V128);
    }
    if (is_zero(data) && low == HALF && high == VECTOR) {
        pending->clears_upper = true;
        return;
    }
    pending->puts++;
    pending->put = data;
    pending->from = low < pending->from ? low : pending->from;
    pending->to = high > pending->to ? high : pending->to;
    if (is_zero(data))
        return;
    pending->data = data;
    pending->low = low < pending->low ? low : pending->low;
    pending->high = high > pending->high ? high : pending->high;
}

/* 8 bytes as they were. */
static IRExpr *vector_before(IRSB *out, const struct lwp_registers_pending *pending, Int at)
{
    return emit_unary(out, at % HALF ? Iop_V128HIto64 : Iop_V128to64, pending->before[at / HALF]);
}

/* 4 bytes of 8. */
static IRExpr *vector_single(IRSB *out, IRExpr *eight, Int at)
{
    return at % LANE ? emit_binary(out, Iop_Shr64, eight, IRExpr_Const(IRConst_U8(32)))
                     : emit_unary(out, Iop_32Uto64, emit_unary(out, Iop_64to32, eight));
}

static void vector_numbers(struct lwp_registers_block *block, const struct lwp_registers_pending *pending, UInt index, UInt element)
{
    IRSB *out = block->out;
    for (Int at = pending->low; at < pending->high; at += (Int)element) {
        Int lane = at & ~(LANE - 1);
        IRExpr *before = vector_before(out, pending, lane), *after = emit_get(out, pending->base + lane, Ity_I64);
        if (element == 4) {
            before = vector_single(out, before, at);
            after = vector_single(out, after, at);
        }
        emit_number(block, index, element, emit_writer(out, pending->base + at), before, after);
    }
}

/* All of it must be the same. */
static void vector_whole(struct lwp_registers_block *block, const struct lwp_registers_pending *pending, UInt index, UInt bytes)
{
    IRSB *out = block->out;
    IRExpr *differ = NULL;
    for (Int lane = pending->low & ~(LANE - 1); lane < pending->high; lane += LANE) {
        IRExpr *apart = emit_binary(out, Iop_Xor64, vector_before(out, pending, lane), emit_get(out, pending->base + lane, Ity_I64));
        differ = differ ? emit_binary(out, Iop_Or64, differ, apart) : apart;
    }
    EMIT_CALL(out, emit_binary(out, Iop_CmpEQ64, differ, emit_word(0)), 2, lwp_register_same,
              mkIRExprVec_2(emit_what(block, index, bytes, 0), emit_writer(out, pending->base + pending->low)));
}

/* What the instruction has left in the register. */
static void vector_later(struct lwp_registers_block *block, const struct lwp_registers_pending *pending, UInt index, UInt bytes, UInt element)
{
    struct lwp_register_write *write;
    bool clears = pending->clears_upper && pending->to <= HALF;
    if (!pending->puts)
        write = lwp_left_write(block, pending->base, HALF, emit_word(0));
    else if (pending->puts == 1 && (clears || !pending->clears_upper))
        write = lwp_left_write(block, pending->base, pending->from, pending->put);
    else
        write = lwp_left_write(block, pending->base, 0, emit_get(block->out, pending->base, pending->to > HALF ? Ity_V256 : Ity_V128));
    write->kind = element ? LWP_REGISTER_NUMBERS : LWP_REGISTER_INTEGER;
    write->what = block_what(block, index, element ? element : bytes, element);
    write->writer = (UShort)(pending->base + pending->low);
    write->low = (UChar)pending->low;
    write->high = (UChar)pending->high;
    write->element = (UChar)element;
    write->clears_upper = clears;
}

static void vector_finish(struct lwp_registers_block *block, struct lwp_registers_pending *pending)
{
    IRSB *out = block->out;
    UInt element = lwp_value_element(block->in, pending->data, block->class);
    if (pending->low >= pending->high) {
        pending->low = 0;
        pending->high = HALF;
    }
    if (element && block->class.scalar)
        pending->high = pending->low + (Int)element;
    UInt bytes = (UInt)(pending->high - pending->low);
    if (element && bytes % element)
        element = 0;
    UInt index = block_write(block, bytes, made_by_tag(pending->data, Iex_Load), element != 0, bytes > LANE);
    if (block->later) {
        vector_later(block, pending, index, bytes, element);
        return;
    }
    if (element)
        vector_numbers(block, pending, index, element);
    else
        vector_whole(block, pending, index, bytes);
    IRExpr *now = emit_twice(block, index);
    for (Int lane = pending->low & ~(LANE - 1); lane < pending->high; lane += LANE)
        emit_put(out, shadow_of(pending->base + lane), now);
}

/* ---- superblocks ---- */

static void block_instruction_ends(struct lwp_registers_block *block)
{
    for (UInt i = 0; i < block->pending_count; i++)
        vector_finish(block, &block->pending[i]);
    block->pending_count = 0;
}

static void emit_add(IRSB *out, IRExpr *totals, SizeT at, UInt *more)
{
    if (!*more)
        return;
    IRExpr *to = emit_binary(out, Iop_Add64, totals, emit_word(at));
    IRExpr *sum = emit_binary(out, Iop_Add64, emit_value(out, IRExpr_Load(Iend_LE, Ity_I64, to)), emit_word(*more));
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, to, sum));
    *more = 0;
}

/* What has run until here, wherever it goes on. */
static void block_add(struct lwp_registers_block *block)
{
    IRExpr *totals = emit_load(block->out, &lwp_register_totals);
    for (unsigned i = 0; i < 4; i++)
        emit_add(block->out, totals, offsetof(struct lwp_register_totals, bytes) + i * sizeof(ULong), &block->bytes[i / 2][i % 2]);
    emit_add(block->out, totals, offsetof(struct lwp_register_totals, instructions), &block->instructions);
}

static void block_part_ends(struct lwp_registers_block *block)
{
    block_instruction_ends(block);
    if (block->later)
        lwp_left_part(block);
    else
        block_add(block);
}

void lwp_registers_enter(struct lwp_registers_block *block, struct lwp_left_words *left, const IRSB *in, Addr start)
{
    UInt count = 0;
    if (!lwp_registers_run)
        return;
    for (Int i = 0; i < in->stmts_used; i++)
        count += is_looked_at(in->stmts[i]);
    made_note(in);
    IRSB *out = left->out;
    block->left = left;
    block->out = out;
    block->in = in;
    block->instructions = 1;
    block->site = lwp_numbers_block(start, count);
    struct lwp_numbered_group *group = block->site.group;
    if (registers_later)
        lwp_left_enter(block);
    if (block->later)
        return;
    IRExpr *now = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&lwp_context_now)));
    IRExpr *last = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&group->node)));
    EMIT_CALL(out, emit_binary(out, Iop_CmpNE32, now, last), 1, lwp_numbers_enter, mkIRExprVec_1(emit_pointer(group)));
    block->base = emit_unary(out, Iop_32Uto64, emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&group->base))));
    block->twice = emit_binary(out, Iop_Or64, block->base,
                               emit_binary(out, Iop_Shl64, block->base, IRExpr_Const(IRConst_U8(32))));
}

static void block_instruction(struct lwp_registers_block *block, const IRStmt *mark)
{
    block->ip = (Addr)mark->Ist.IMark.addr + mark->Ist.IMark.delta;
    block->class = lwp_float_class((const UChar *)block->ip);
    block->counted = false;
}

void lwp_registers_before(struct lwp_registers_block *block, const IRStmt *statement)
{
    if (!lwp_registers_run)
        return;
    if (!block->site.group) {
        if (statement->tag == Ist_IMark)
            block_instruction(block, statement);
        return;
    }
    if (block->later)
        lwp_left_helper(block);
    switch (statement->tag) {
    case Ist_IMark:
        block_instruction_ends(block);
        block_instruction(block, statement);
        block->instructions++;
        return;
    case Ist_Exit:
        block_part_ends(block);
        return;
    case Ist_Dirty:
        block->helper = statement->Ist.Dirty.details;
        return;
    case Ist_Put:
        if (is_general(statement->Ist.Put.offset))
            emit_general(block, statement->Ist.Put.offset, statement->Ist.Put.data);
        else if (is_vector(statement->Ist.Put.offset))
            vector_put(block, statement->Ist.Put.offset, statement->Ist.Put.data);
        return;
    default:
        if (is_x87(statement))
            emit_x87(block, statement->Ist.PutI.details);
    }
}

void lwp_registers_end(struct lwp_registers_block *block)
{
    if (!block->site.group)
        return;
    if (block->later)
        lwp_left_helper(block);
    block_part_ends(block);
    if (block->later)
        lwp_registers_site_done(block->later);
}
