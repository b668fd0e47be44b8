/* Temporal redundancy in registers (RedSpy; Wen's thesis, 3.4.1): an instruction that writes to a register the value that
 * is there already. Looked at are the general registers but for the stack pointer, the vector registers (floating point
 * numbers one by one, integers as a whole) and those of the x87; not flags. A conditional move makes no value and is
 * left out. What the kernel writes has no writer.
 *
 * Who wrote a register last is kept in Valgrind's shadow of it, which changes with the thread: the number of its
 * (call path, instruction) (access_numbers.h) for every 4 bytes. Of the general registers the lower half stands for all of
 * the register and the upper for ah and the like. Where only windows count, who wrote a register before the window is not known:
 * the shadow of the stack pointer, which is not looked at, says of which window a thread's shadow is. */
#include "collector/exact/detect/registers/register_counts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/accesses.h"
#include "collector/exact/trace/translation.h"
#include "format/record.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

enum { PENDING = 4 };

/* The superblock that is translated. */
static struct {
    IRSB *out;
    const IRSB *in;
    struct lwp_numbered_block numbers;
    IRExpr *base, *twice;            /* I64: number of its first write on the path it runs on; the same in both halves */
    Addr ip;
    struct lwp_float_class class;
    bool counted;                    /* the instruction has written one value already */
    UInt instructions, bytes[2][2];  /* since they were last added: [loaded][floating point] */
    struct pending {                 /* vector registers that the instruction writes, perhaps in several steps */
        Int base, low, high;         /* offset; bytes of it that are written, but for zeroes */
        IRExpr *before[2];           /* V128 */
        const IRExpr *data;          /* what is written last */
    } pending[PENDING];
    UInt pending_count;
} block;

static ULong window = 1;
static const UChar nobody[sizeof(VexGuestAMD64State)]; /* who wrote them */

#define OFFSET(name) ((Int)offsetof(VexGuestAMD64State, guest_##name))

enum { LANE = 8, HALF = 16, VECTOR = 32, NUMBERS_X87 = 8 };

static bool is_general(Int offset)
{
    return offset >= OFFSET(RAX) && offset < OFFSET(R15) + 8 && (offset < OFFSET(RSP) || offset >= OFFSET(RSP) + 8);
}

static bool is_vector(Int offset)
{
    return offset >= OFFSET(YMM0) && offset < OFFSET(YMM15) + VECTOR;
}

static bool is_x87(const IRStmt *statement)
{
    return statement->tag == Ist_PutI && statement->Ist.PutI.details->descr->base == OFFSET(FPREG);
}

static bool is_looked_at(const IRStmt *statement)
{
    if (statement->tag == Ist_Put)
        return is_general(statement->Ist.Put.offset) || is_vector(statement->Ist.Put.offset);
    return is_x87(statement);
}

static bool is_zero(const IRExpr *data)
{
    if (data->tag != Iex_Const)
        return false;
    const IRConst *constant = data->Iex.Const.con;
    return (constant->tag == Ico_V128 && !constant->Ico.V128) || (constant->tag == Ico_V256 && !constant->Ico.V256) ||
           (constant->tag == Ico_U64 && !constant->Ico.U64);
}

/* ---- whose a value is ---- */

/* In a window that began since the thread ran last nobody has written anything. */
static void writers_begin(ThreadId thread)
{
    ULong seen;
    if (!lwp_exact_options.windows || !lwp_trace_open)
        return;
    VG_(get_shadow_regs_area)(thread, (UChar *)&seen, 1, OFFSET(RSP), sizeof seen);
    if (seen == window)
        return;
    VG_(set_shadow_regs_area)(thread, 1, 0, sizeof nobody, nobody);
    VG_(set_shadow_regs_area)(thread, 1, OFFSET(RSP), sizeof window, (const UChar *)&window);
}

static void registers_kernel_wrote(CorePart part, ThreadId thread, PtrdiffT offset, SizeT bytes)
{
    (void)part;
    VG_(set_shadow_regs_area)(thread, 1, offset, bytes < sizeof nobody ? bytes : sizeof nobody, nobody);
    writers_begin(thread);
}

static void registers_thread_runs(ThreadId thread, struct lwp_exact_thread *before, struct lwp_exact_thread *now)
{
    (void)before;
    lwp_register_counts_thread(now);
    writers_begin(thread);
}

static void registers_window(bool opens)
{
    window += opens;
    writers_begin(VG_(get_running_tid)());
    lwp_register_counts_part();
}

/* ---- what is written ---- */

/* What each temporary of the superblock is made by; NULL: by a load under a condition, or nothing that is an expression. */
static const IRExpr **made;
static Int made_room;

static void made_note(const IRSB *in)
{
    made = tool_room(made, &made_room, in->tyenv->types_used, sizeof *made);
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

/* Who wrote the 4 bytes there. */
static IRExpr *emit_writer(IRSB *out, Int offset)
{
    return emit_unary(out, Iop_32Uto64, emit_get(out, shadow_of(offset), Ity_I32));
}

/* The number of a write of the instruction, from its group's first. */
static UInt block_write(UInt bytes, bool load, bool is_float, bool vector)
{
    const struct lwp_numbered_access write = {
        block.ip, (UShort)bytes,
        (UChar)((load ? LWPS_ACCESS_LOAD : 0) | (is_float ? LWPS_ACCESS_FLOAT : 0) | (vector ? LWPS_ACCESS_VECTOR : 0))};
    block.bytes[load][is_float] += bytes;
    return lwp_numbers_index(&block.numbers, &write);
}

static ULong block_what(UInt index, UInt bytes, UInt element)
{
    ULong counts = !block.counted;
    block.counted = true;
    return counts << LWP_REGISTER_COUNTS_AT | (ULong)element << LWP_REGISTER_ELEMENT_AT | (ULong)bytes << LWP_REGISTER_BYTES_AT |
           (ULong)index;
}

static IRExpr *emit_what(UInt index, UInt bytes, UInt element)
{
    return emit_binary(block.out, Iop_Add64, block.base, emit_word(block_what(index, bytes, element)));
}

/* The write's number in both halves. */
static IRExpr *emit_twice(UInt index)
{
    return emit_binary(block.out, Iop_Add64, block.twice, emit_word((ULong)index << 32 | (ULong)index));
}

static IRExpr *emit_equal(IRSB *out, IRType type, IRExpr *a, IRExpr *b)
{
    IROp operation = type == Ity_I8 ? Iop_CmpEQ8 : type == Ity_I16 ? Iop_CmpEQ16 : type == Ity_I32 ? Iop_CmpEQ32 : Iop_CmpEQ64;
    return emit_binary(out, operation, a, b);
}

/* One floating point number of 4 or 8 bytes, as an I64 before and after. It is only called for where the bits are so near
 * that the numbers may be: within as many steps as --approx is at most (value.c). */
static void emit_number(UInt index, UInt element, IRExpr *writer, IRExpr *before, IRExpr *after)
{
    IRSB *out = block.out;
    ULong far = lwp_register_far(element);
    IRExpr *apart = emit_binary(out, Iop_Add64, emit_binary(out, Iop_Sub64, after, before), emit_word(far));
    EMIT_CALL(out, emit_binary(out, Iop_CmpLE64U, apart, emit_word(2 * far)), 0, lwp_register_near,
              mkIRExprVec_4(emit_what(index, element, element), writer, before, after));
}

/* ---- one register ---- */

static void emit_general(Int offset, IRExpr *data)
{
    IRSB *out = block.out;
    IRType type = typeOfIRExpr(block.in->tyenv, data);
    if (made_by_tag(data, Iex_ITE))
        return;
    UInt bytes = general_bytes(type, data);
    UInt index = block_write(bytes, made_by_tag(data, Iex_Load), false, false);
    Int whole = offset & ~7, writer = offset == whole ? whole : whole + 4; /* ah has a writer of its own */
    EMIT_CALL(out, emit_equal(out, type, emit_get(out, offset, type), data), 2, lwp_register_same,
              mkIRExprVec_2(emit_what(index, bytes, 0), emit_writer(out, writer)));
    IRExpr *now = emit_twice(index);
    if (bytes >= 2)
        emit_put(out, shadow_of(whole), now);
    else
        emit_put(out, shadow_of(writer), emit_unary(out, Iop_64to32, now));
}

static void emit_x87(const IRPutI *put)
{
    IRSB *out = block.out;
    UInt index = block_write(LANE, made_by_tag(put->data, Iex_Load), true, false);
    IRRegArray *writers = mkIRRegArray(shadow_of(put->descr->base), Ity_I64, NUMBERS_X87);
    IRExpr *before = emit_unary(out, Iop_ReinterpF64asI64, emit_value(out, IRExpr_GetI(put->descr, put->ix, put->bias)));
    IRExpr *writer = emit_value(out, IRExpr_GetI(writers, put->ix, put->bias));
    writer = emit_binary(out, Iop_And64, writer, emit_word(0xffffffff));
    emit_number(index, LANE, writer, before, emit_unary(out, Iop_ReinterpF64asI64, put->data));
    addStmtToIRSB(out, IRStmt_PutI(mkIRPutI(writers, put->ix, put->bias, emit_twice(index))));
}

/* ---- vector registers ---- */

static void vector_put(Int offset, IRExpr *data)
{
    IRSB *out = block.out;
    Int base = OFFSET(YMM0) + (offset - OFFSET(YMM0)) / VECTOR * VECTOR, low = offset - base;
    Int high = low + sizeofIRType(typeOfIRExpr(block.in->tyenv, data));
    UInt at = 0;
    while (at < block.pending_count && block.pending[at].base != base)
        at++;
    if (at == PENDING)
        return;
    struct pending *pending = &block.pending[at];
    if (at == block.pending_count) {
        block.pending_count++;
        *pending = (struct pending){.base = base, .low = VECTOR, .data = data};
        for (Int i = 0; i < 2; i++)
            pending->before[i] = emit_get(out, base + i * HALF, Ity_V128);
    }
    if (is_zero(data))
        return;
    pending->data = data;
    pending->low = low < pending->low ? low : pending->low;
    pending->high = high > pending->high ? high : pending->high;
}

/* 8 bytes as they were. */
static IRExpr *vector_before(IRSB *out, const struct pending *pending, Int at)
{
    return emit_unary(out, at % HALF ? Iop_V128HIto64 : Iop_V128to64, pending->before[at / HALF]);
}

/* 4 bytes of 8. */
static IRExpr *vector_single(IRSB *out, IRExpr *eight, Int at)
{
    return at % LANE ? emit_binary(out, Iop_Shr64, eight, IRExpr_Const(IRConst_U8(32)))
                     : emit_unary(out, Iop_32Uto64, emit_unary(out, Iop_64to32, eight));
}

static void vector_numbers(const struct pending *pending, UInt index, UInt element)
{
    IRSB *out = block.out;
    for (Int at = pending->low; at < pending->high; at += (Int)element) {
        Int lane = at & ~(LANE - 1);
        IRExpr *before = vector_before(out, pending, lane), *after = emit_get(out, pending->base + lane, Ity_I64);
        if (element == 4) {
            before = vector_single(out, before, at);
            after = vector_single(out, after, at);
        }
        emit_number(index, element, emit_writer(out, pending->base + at), before, after);
    }
}

/* All of it must be the same. */
static void vector_whole(const struct pending *pending, UInt index, UInt bytes)
{
    IRSB *out = block.out;
    IRExpr *differ = NULL;
    for (Int lane = pending->low & ~(LANE - 1); lane < pending->high; lane += LANE) {
        IRExpr *apart = emit_binary(out, Iop_Xor64, vector_before(out, pending, lane), emit_get(out, pending->base + lane, Ity_I64));
        differ = differ ? emit_binary(out, Iop_Or64, differ, apart) : apart;
    }
    EMIT_CALL(out, emit_binary(out, Iop_CmpEQ64, differ, emit_word(0)), 2, lwp_register_same,
              mkIRExprVec_2(emit_what(index, bytes, 0), emit_writer(out, pending->base + pending->low)));
}

static void vector_finish(struct pending *pending)
{
    IRSB *out = block.out;
    UInt element = lwp_value_element(block.in, pending->data, block.class);
    if (pending->low >= pending->high) {
        pending->low = 0;
        pending->high = HALF;
    }
    if (element && block.class.scalar)
        pending->high = pending->low + (Int)element;
    UInt bytes = (UInt)(pending->high - pending->low);
    if (element && bytes % element)
        element = 0;
    UInt index = block_write(bytes, made_by_tag(pending->data, Iex_Load), element != 0, bytes > LANE);
    if (element)
        vector_numbers(pending, index, element);
    else
        vector_whole(pending, index, bytes);
    IRExpr *now = emit_twice(index);
    for (Int lane = pending->low & ~(LANE - 1); lane < pending->high; lane += LANE)
        emit_put(out, shadow_of(pending->base + lane), now);
}

/* ---- superblocks ---- */

static void block_instruction_ends(void)
{
    for (UInt i = 0; i < block.pending_count; i++)
        vector_finish(&block.pending[i]);
    block.pending_count = 0;
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
static void block_add(void)
{
    IRExpr *totals = emit_load(block.out, &lwp_register_totals);
    for (unsigned i = 0; i < 4; i++)
        emit_add(block.out, totals, offsetof(struct lwp_register_totals, bytes) + i * sizeof(ULong), &block.bytes[i / 2][i % 2]);
    emit_add(block.out, totals, offsetof(struct lwp_register_totals, instructions), &block.instructions);
}

static void block_part_ends(void)
{
    block_instruction_ends();
    block_add();
}

static void block_instruction(Addr ip)
{
    block.ip = ip;
    block.class = lwp_float_class((const UChar *)ip);
    block.counted = false;
    block.instructions++;
}

static void registers_enter(struct lwp_translation *now)
{
    UInt count = 0;
    for (Int i = 0; i < now->in->stmts_used; i++)
        count += is_looked_at(now->in->stmts[i]);
    made_note(now->in);
    VG_(memset)(&block, 0, sizeof block);
    block.out = now->out;
    block.in = now->in;
    block.numbers = lwp_numbers_block(now->start, count);
    block.base = lwp_numbers_emit(now->out, block.numbers.group);
    block.twice = emit_binary(now->out, Iop_Or64, block.base, emit_binary(now->out, Iop_Shl64, block.base, IRExpr_Const(IRConst_U8(32))));
    block_instruction(now->start);
}

static void registers_before(struct lwp_translation *now, const IRStmt *statement, const struct lwp_ir_access *access, UInt word)
{
    (void)now, (void)access, (void)word;
    switch (statement->tag) {
    case Ist_IMark:
        block_instruction_ends();
        block_instruction((Addr)statement->Ist.IMark.addr + statement->Ist.IMark.delta);
        return;
    case Ist_Exit:
        block_part_ends();
        return;
    case Ist_Put:
        if (is_general(statement->Ist.Put.offset))
            emit_general(statement->Ist.Put.offset, statement->Ist.Put.data);
        else if (is_vector(statement->Ist.Put.offset))
            vector_put(statement->Ist.Put.offset, statement->Ist.Put.data);
        return;
    default:
        if (is_x87(statement))
            emit_x87(statement->Ist.PutI.details);
    }
}

static void registers_end(struct lwp_translation *now)
{
    (void)now;
    block_part_ends();
}

static bool registers_start(unsigned asked)
{
    (void)asked;
    if (!lwp_register_counts_start())
        return false;
    /* else what is overwritten in the superblock is not written at all (dead_puts.h) */
    VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
    VG_(clo_vex_control).iropt_unroll_thresh = 0; /* as superblocks of different length would be in windows and outside (duplication.c) */
    VG_(track_post_reg_write)(registers_kernel_wrote);
    return true;
}

const struct lwp_detector lwp_registers_detector = {
    .option = "registers",
    .needs = LWP_NEEDS_EVERY_PATH,
    .failed = "Values written to registers were not counted: there is not enough memory.",
    .start = registers_start,
    .write = lwp_register_counts_write,
    .reset = lwp_register_counts_reset,
    .enter = registers_enter,
    .before = registers_before,
    .end = registers_end,
    .window = registers_window,
    .region = lwp_register_counts_part,
    .thread_runs = registers_thread_runs,
};
