/* Translated code calls the shadow for each access, before it is done; an access is (call path, instruction) as numbered
 * by access_numbers.h. What the kernel, the allocator and the stack do to memory is told the shadow, too. */
#include "collector/exact/detect/redundancy/redundancy.h"

#include "collector/exact/detect/redundancy/redundancy_counts.h"
#include "collector/exact/detect/redundancy/redundancy_windows.h"
#include "collector/exact/detect/redundancy/redundancy_words.h"
#include "collector/exact/detect/redundancy/shadow_fast.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/store_element.h"
#include "collector/exact/valgrind/emit.h"
#include "format/record.h"

enum {
    PIECE = 8,
    BYTES_AT = 32,     /* in `what`, above the access's number: bytes, and... */
    ELEMENT_AT = 48,   /* ...bytes of each floating point number */
    AFTER_MOST = 1024, /* bytes that one instruction stores at most (xsave) */
};

static bool redundancy_runs;

/* ---- called from translated code ---- */

static unsigned what_bytes(ULong what)
{
    return (unsigned)(what >> BYTES_AT) & 0xffff;
}

static __attribute__((noinline)) void redundancy_load_slowly(ULong what, Addr address, unsigned bytes)
{
    lwp_redundancy_number = (uint32_t)what;
    lwp_shadow_load_slowly(&lwp_redundancy_shadow, address, bytes, (uint32_t)what);
}

static __attribute__((noinline)) void redundancy_store_slowly(ULong what, Addr address, ULong value, ULong before, unsigned bytes)
{
    lwp_redundancy_number = (uint32_t)what;
    lwp_shadow_store_slowly(&lwp_redundancy_shadow, address, bytes, (uint32_t)what, before, value,
                            (unsigned)(what >> ELEMENT_AT));
}

/* For each of the usual widths, with the way that nearly all go and that calls nothing. */
#define ACCESS(width, type)                                                                                    \
    static VG_REGPARM(2) void redundancy_load_##width(ULong what, Addr address)                                \
    {                                                                                                          \
        if (!lwp_shadow_load_fast(&lwp_redundancy_shadow, address, width, (uint32_t)what))                     \
            redundancy_load_slowly(what, address, width);                                                      \
    }                                                                                                          \
    static VG_REGPARM(3) void redundancy_store_##width(ULong what, Addr address, ULong value)                  \
    {                                                                                                          \
        ULong before = *(const type *)address;                                                                 \
        if (!lwp_shadow_store_fast(&lwp_redundancy_shadow, address, width, (uint32_t)what, before, value,      \
                                   before == value ? LWPS_VALUE_SAME : LWPS_VALUE_OTHER))                      \
            redundancy_store_slowly(what, address, value, before, width);                                      \
    }
ACCESS(1, UChar)
ACCESS(2, UShort)
ACCESS(4, UInt)
ACCESS(8, ULong)

static void redundancy_piece(ULong what, Addr address, unsigned bytes, ULong before, ULong after)
{
    lwp_redundancy_number = (uint32_t)what;
    lwp_shadow_store(&lwp_redundancy_shadow, address, bytes, (uint32_t)what, before, after, (unsigned)(what >> ELEMENT_AT));
}

/* A floating point number, which may be close to what was there. */
static VG_REGPARM(3) void redundancy_store_float(ULong what, Addr address, ULong value)
{
    ULong before = what_bytes(what) == 8 ? *(const ULong *)address : *(const UInt *)address;
    if (what_bytes(what) == 8 &&
        lwp_shadow_store_fast(&lwp_redundancy_shadow, address, 8, (uint32_t)what, before, value, lwp_value_compare(before, value, 8, 8)))
        return;
    redundancy_store_slowly(what, address, value, before, what_bytes(what));
}

static VG_REGPARM(2) void redundancy_load(ULong what, Addr address)
{
    lwp_redundancy_number = (uint32_t)what;
    lwp_shadow_load_all(&lwp_redundancy_shadow, address, what_bytes(what), (uint32_t)what);
}

static uint64_t redundancy_value(Addr address, unsigned bytes)
{
    uint64_t value = 0;
    if (bytes == 8)
        return *(const ULong *)address;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)((const UChar *)address)[i] << 8 * i;
    return value;
}

static void redundancy_store_16(ULong what, Addr address, ULong low, ULong high)
{
    const ULong *before = (const ULong *)address;
    redundancy_piece(what, address, 8, before[0], low);
    redundancy_piece(what, address + 8, 8, before[1], high);
}

static void redundancy_store_32(ULong what, Addr address, ULong a, ULong b, ULong c, ULong d)
{
    redundancy_store_16(what, address, a, b);
    redundancy_store_16(what, address + 16, c, d);
}

/* What an instruction stores without saying it in an expression: what is there before and after. */
static UChar stored_before[AFTER_MOST];

static void redundancy_keep(ULong bytes, Addr address)
{
    VG_(memcpy)(stored_before, (const void *)address, bytes);
}

static void redundancy_compare(ULong what, Addr address)
{
    if (lwp_redundancy_idle())
        return;
    if (lwp_redundancy_windows)
        lwp_redundancy_touched(address, what_bytes(what));
    for (unsigned bytes = what_bytes(what), done = 0; done < bytes; done += PIECE) {
        unsigned piece = bytes - done < PIECE ? bytes - done : PIECE;
        redundancy_piece(what, address + done, piece, redundancy_value((Addr)stored_before + done, piece),
                         redundancy_value(address + done, piece));
    }
}

static VG_REGPARM(1) void redundancy_dead(Addr address, ULong bytes)
{
    lwp_shadow_forget(&lwp_redundancy_shadow, address, bytes);
}

/* ---- what translated code is given ---- */

static IRExpr *emit_unary(IRSB *out, IROp operation, IRExpr *value)
{
    return emit_value(out, IRExpr_Unop(operation, value));
}

void lwp_redundancy_enter(struct lwp_redundancy_block *block, struct lwp_left_words *left, const IRSB *in, Addr start)
{
    struct lwp_ir_access access;
    UInt count = 0;
    IRSB *out = left->out;
    *block = (struct lwp_redundancy_block){.out = out, .in = in, .left = left};
    if (!redundancy_runs)
        return;
    for (Int i = 0; i < in->stmts_used; i++)
        count += lwp_ir_access_of(in->tyenv, in->stmts[i], 0, &access);
    if (count)
        block->site = lwp_numbers_block(start, count);
    struct lwp_numbered_group *group = block->site.group;
    if (lwp_redundancy_windows)
        lwp_redundancy_left_enter(block, count);
    if (lwp_redundancy_windows || !count)
        return;
    IRExpr *now = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&lwp_context_now)));
    IRExpr *last = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&group->node)));
    EMIT_CALL(out, emit_binary(out, Iop_CmpNE32, now, last), 1, lwp_numbers_enter, mkIRExprVec_1(emit_pointer(group)));
    IRExpr *base = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&group->base)));
    block->base = emit_value(out, IRExpr_Unop(Iop_32Uto64, base));
}

static IRExpr *emit_what(IRSB *out, IRExpr *base, UInt index, UInt bytes, UInt element)
{
    return emit_binary(out, Iop_Add64, base,
                       emit_word((ULong)element << ELEMENT_AT | (ULong)bytes << BYTES_AT | index));
}

/* A value of at most 8 bytes as an I64, NULL: of a type that is not. */
static IRExpr *emit_widened(IRSB *out, IRExpr *value)
{
    switch (typeOfIRExpr(out->tyenv, value)) {
    case Ity_I8:
        return emit_unary(out, Iop_8Uto64, value);
    case Ity_I16:
        return emit_unary(out, Iop_16Uto64, value);
    case Ity_I32:
        return emit_unary(out, Iop_32Uto64, value);
    case Ity_I64:
        return value;
    case Ity_F32:
        return emit_unary(out, Iop_32Uto64, emit_unary(out, Iop_ReinterpF32asI32, value));
    case Ity_F64:
        return emit_unary(out, Iop_ReinterpF64asI64, value);
    default:
        return NULL;
    }
}

/* Its value is an expression of a type that emit_stored() takes. */
static bool access_tells(const IRSB *block, const struct lwp_ir_access *access)
{
    switch (access->data ? typeOfIRExpr(block->tyenv, access->data) : Ity_INVALID) {
    case Ity_I8:
    case Ity_I16:
    case Ity_I32:
    case Ity_I64:
    case Ity_F32:
    case Ity_F64:
    case Ity_V128:
    case Ity_V256:
        return true;
    default:
        return false;
    }
}

static void emit_stored(IRSB *out, IRExpr *guard, IRExpr *what, const struct lwp_ir_access *access, UInt element)
{
    IRExpr *data = access->data;
    switch (typeOfIRExpr(out->tyenv, data)) {
    case Ity_V128:
        EMIT_CALL(out, guard, 0, redundancy_store_16,
                  mkIRExprVec_4(what, access->address, emit_unary(out, Iop_V128to64, data),
                                emit_unary(out, Iop_V128HIto64, data)));
        return;
    case Ity_V256:
        EMIT_CALL(out, guard, 0, redundancy_store_32,
                  mkIRExprVec_6(what, access->address, emit_unary(out, Iop_V256to64_0, data),
                                emit_unary(out, Iop_V256to64_1, data), emit_unary(out, Iop_V256to64_2, data),
                                emit_unary(out, Iop_V256to64_3, data)));
        return;
    default:
        break;
    }
    IRExpr **arguments = mkIRExprVec_3(what, access->address, emit_widened(out, data));
    if (element)
        EMIT_CALL(out, guard, 3, redundancy_store_float, arguments);
    else if (access->bytes == 8)
        EMIT_CALL(out, guard, 3, redundancy_store_8, arguments);
    else if (access->bytes == 4)
        EMIT_CALL(out, guard, 3, redundancy_store_4, arguments);
    else if (access->bytes == 2)
        EMIT_CALL(out, guard, 3, redundancy_store_2, arguments);
    else
        EMIT_CALL(out, guard, 3, redundancy_store_1, arguments);
}

static void emit_loaded(IRSB *out, IRExpr *guard, IRExpr *what, const struct lwp_ir_access *access)
{
    IRExpr **arguments = mkIRExprVec_2(what, access->address);
    switch (access->bytes) {
    case 8:
        EMIT_CALL(out, guard, 2, redundancy_load_8, arguments);
        return;
    case 4:
        EMIT_CALL(out, guard, 2, redundancy_load_4, arguments);
        return;
    case 2:
        EMIT_CALL(out, guard, 2, redundancy_load_2, arguments);
        return;
    case 1:
        EMIT_CALL(out, guard, 2, redundancy_load_1, arguments);
        return;
    default:
        EMIT_CALL(out, guard, 2, redundancy_load, arguments);
    }
}

static UInt after_bytes(const struct lwp_ir_access *access)
{
    return access->bytes < AFTER_MOST ? access->bytes : AFTER_MOST;
}

static IRExpr *block_what(const struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt element)
{
    return emit_what(block->out, block->base, block->index, after_bytes(access), element);
}

/* What is called knows the width. */
static bool is_usual(const IRSB *block, const struct lwp_ir_access *access, UInt element)
{
    UInt bytes = access->bytes;
    return !element && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
           (!(access->flags & LWPS_ACCESS_STORE) || access_tells(block, access));
}

void lwp_redundancy_before(struct lwp_redundancy_block *block, const struct lwp_ir_access *access, UInt word)
{
    if (!block->site.group || lwp_ir_access_is_made_up(access->ip))
        return;
    IRSB *out = block->out;
    const struct lwp_numbered_access now = {access->ip, access->bytes, access->flags};
    /* a locked add is a load and then a compare-and-swap, which loads once more */
    bool again = block->last.ip == now.ip && block->last.bytes == now.bytes && block->last.flags & LWPS_ACCESS_LOAD &&
                 now.flags & LWPS_ACCESS_STORE;
    bool loads = access->flags & LWPS_ACCESS_LOAD && !again, stores = access->flags & LWPS_ACCESS_STORE;
    bool told = stores && access_tells(block->in, access);
    block->last = now;
    block->index = lwp_numbers_index(&block->site, &now);
    if (stores && !told)
        EMIT_CALL(out, access->guard, 2, redundancy_keep, mkIRExprVec_2(emit_word(after_bytes(access)), access->address));
    if (block->later) {
        if (told)
            lwp_redundancy_left_store(block, access, word);
        if (loads)
            lwp_redundancy_left_load(block, access, word);
        return;
    }
    UInt element = stores ? lwp_store_element(block->in, access) : 0;
    IRExpr *what = is_usual(block->in, access, element) ? emit_what(out, block->base, block->index, 0, 0) /* short */
                                                        : block_what(block, access, element);
    if (loads)
        emit_loaded(out, access->guard, what, access);
    if (told)
        emit_stored(out, access->guard, what, access, element);
}

void lwp_redundancy_after(struct lwp_redundancy_block *block, const IRStmt *statement,
                          const struct lwp_ir_access *access)
{
    if (!block->site.group || !(access->flags & LWPS_ACCESS_STORE) || access_tells(block->in, access))
        return;
    IRExpr *guard = statement->tag == Ist_CAS ? lwp_ir_swapped(block->out, statement->Ist.CAS.details) : access->guard;
    if (block->later)
        lwp_redundancy_left_until(block, guard);
    EMIT_CALL(block->out, guard, 2, redundancy_compare,
              mkIRExprVec_2(block_what(block, access, lwp_store_element(block->in, access)), access->address));
}

void lwp_redundancy_other(struct lwp_redundancy_block *block, const IRStmt *statement)
{
    if (block->later)
        lwp_redundancy_left_other(block, statement);
    else if (redundancy_runs && statement->tag == Ist_AbiHint)
        EMIT_CALL(block->out, NULL, 2, redundancy_dead,
                  mkIRExprVec_2(statement->Ist.AbiHint.base, emit_word((ULong)statement->Ist.AbiHint.len)));
}

/* ---- what else happens to memory ---- */

/* Of the superblock before. */
static void redundancy_catch_up(void)
{
    if (lwp_redundancy_windows)
        lwp_trace_drain();
}

void lwp_redundancy_forget(Addr address, SizeT bytes)
{
    if (!redundancy_runs || lwp_redundancy_idle())
        return;
    redundancy_catch_up();
    lwp_shadow_forget(&lwp_redundancy_shadow, address, bytes);
}

/* The stack pointer went up; what is not below it by more than the red zone is still in use. */
static void redundancy_stack_died(Addr address, SizeT bytes)
{
    lwp_shadow_forget(&lwp_redundancy_shadow, address - LWP_REDUNDANCY_REDZONE, bytes);
}

/* Valgrind has calls of their own for the usual steps. */
#define STACK_DIED(bytes)                                                 \
    static VG_REGPARM(1) void redundancy_stack_died_##bytes(Addr new_pointer) \
    {                                                                     \
        redundancy_stack_died(new_pointer - (bytes), bytes);              \
    }
STACK_DIED(4)
STACK_DIED(8)
STACK_DIED(12)
STACK_DIED(16)
STACK_DIED(32)
STACK_DIED(112)
STACK_DIED(128)
STACK_DIED(144)
STACK_DIED(160)

static void redundancy_follow_stack(void)
{
    VG_(track_die_mem_stack)(redundancy_stack_died);
    VG_(track_die_mem_stack_4)(redundancy_stack_died_4);
    VG_(track_die_mem_stack_8)(redundancy_stack_died_8);
    VG_(track_die_mem_stack_12)(redundancy_stack_died_12);
    VG_(track_die_mem_stack_16)(redundancy_stack_died_16);
    VG_(track_die_mem_stack_32)(redundancy_stack_died_32);
    VG_(track_die_mem_stack_112)(redundancy_stack_died_112);
    VG_(track_die_mem_stack_128)(redundancy_stack_died_128);
    VG_(track_die_mem_stack_144)(redundancy_stack_died_144);
    VG_(track_die_mem_stack_160)(redundancy_stack_died_160);
}

static void redundancy_kernel_reads(CorePart part, ThreadId thread, const HChar *name, Addr address, SizeT bytes)
{
    (void)part, (void)thread, (void)name;
    if (lwp_redundancy_idle())
        return;
    redundancy_catch_up();
    lwp_shadow_use(&lwp_redundancy_shadow, address, bytes);
}

static void redundancy_kernel_reads_text(CorePart part, ThreadId thread, const HChar *name, Addr address)
{
    if (!lwp_redundancy_idle() && VG_(am_is_valid_for_client)(address, 1, VKI_PROT_READ))
        redundancy_kernel_reads(part, thread, name, address, VG_(strlen)((const HChar *)address) + 1);
}

bool lwp_redundancy_start(bool windows)
{
    if (!lwp_redundancy_counts_start())
        return false;
    redundancy_runs = true;
    lwp_redundancy_windows = windows;
    if (!windows)
        redundancy_follow_stack();
    VG_(track_pre_mem_read)(redundancy_kernel_reads);
    VG_(track_pre_mem_read_asciiz)(redundancy_kernel_reads_text);
    VG_(track_die_mem_brk)(lwp_redundancy_forget);
    return true;
}

void lwp_redundancy_region(void)
{
    if (redundancy_runs)
        lwp_redundancy_counts_change();
}

void lwp_redundancy_keep(void)
{
    if (!redundancy_runs)
        return;
    if (!lwp_trace_inside)
        lwp_redundancy_counts_change();
    lwp_redundancy_counts_write();
    if (!lwp_trace_inside)
        lwp_redundancy_counts_change();
}

void lwp_redundancy_anew(void)
{
    if (redundancy_runs)
        lwp_redundancy_counts_clear();
}
