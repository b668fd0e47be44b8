/* Memory redundancies (shadow.h) of the whole run, whatever the trace's windows are, or, if so asked, of windows only
 * (redundancy_windows.h). Translated code calls the shadow for each access, before it is done; an access is (call path,
 * instruction) as numbered by access_numbers.h. What the kernel, the allocator and the stack do to memory reaches the shadow, too. */
#include "collector/exact/detect/redundancy/redundancy_counts.h"
#include "collector/exact/detect/redundancy/redundancy_windows.h"
#include "collector/exact/detect/redundancy/shadow_fast.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/process.h"
#include "collector/exact/trace/access_numbers.h"
#include "collector/exact/trace/translation.h"
#include "format/record.h"

enum {
    PIECE = 8,
    BYTES_AT = 32,     /* in `what`, above the access's number: bytes, and... */
    ELEMENT_AT = 48,   /* ...bytes of each floating point number */
    AFTER_MOST = 1024, /* bytes that one instruction stores at most (xsave) */
};

_Static_assert((int)LWP_NUMBERED_NOBODY == (int)LWP_SHADOW_UNKNOWN, "what is no access has an unknown context");

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
        if (__builtin_expect(lwp_redundancy_threads, 0) &&                                                     \
            !lwp_shadow_threads_same(&lwp_redundancy_storers, address, width, lwp_redundancy_thread))          \
            lwp_redundancy_other_threads(address, width, (uint32_t)what);                                      \
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
    if (lwp_redundancy_threads)
        lwp_redundancy_other_threads(address, bytes, (uint32_t)what);
    lwp_shadow_store(&lwp_redundancy_shadow, address, bytes, (uint32_t)what, before, after, (unsigned)(what >> ELEMENT_AT));
}

/* A floating point number, which may be close to what was there. */
static VG_REGPARM(3) void redundancy_store_float(ULong what, Addr address, ULong value)
{
    ULong before = what_bytes(what) == 8 ? *(const ULong *)address : *(const UInt *)address;
    if (lwp_redundancy_threads)
        lwp_redundancy_other_threads(address, what_bytes(what), (uint32_t)what);
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

/* What an instruction stores without an expression that has its value: what is there before and after. */
static UChar stored_before[AFTER_MOST];

static void redundancy_note(ULong bytes, Addr address)
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

static struct lwp_redundancy_block block; /* the one that is translated */

static void redundancy_survey(struct lwp_translation *now)
{
    if (lwp_redundancy_windows)
        now->block->moves = (uint16_t)lwp_redundancy_stack_words(now->in);
}

static void redundancy_enter(struct lwp_translation *now)
{
    struct lwp_ir_access access;
    UInt count = 0;
    block = (struct lwp_redundancy_block){.now = now};
    for (Int i = 0; i < now->in->stmts_used; i++)
        count += lwp_ir_access_of(now->in->tyenv, now->in->stmts[i], 0, &access);
    if (count)
        block.numbers = lwp_numbers_block(now->start, count);
    if (lwp_redundancy_windows)
        lwp_redundancy_steps_enter(&block, count);
    else if (count)
        block.base = lwp_numbers_emit(now->out, block.numbers.group);
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
static bool access_has_value(const IRSB *in, const struct lwp_ir_access *access)
{
    switch (access->data ? typeOfIRExpr(in->tyenv, access->data) : Ity_INVALID) {
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

static IRExpr *block_what(const struct lwp_ir_access *access, UInt element)
{
    return emit_what(block.now->out, block.base, block.index, after_bytes(access), element);
}

/* What is called knows the width. */
static bool is_usual(const IRSB *in, const struct lwp_ir_access *access, UInt element)
{
    UInt bytes = access->bytes;
    return !element && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
           (!(access->flags & LWPS_ACCESS_STORE) || access_has_value(in, access));
}

static void emit_access(const struct lwp_ir_access *access, bool loads, bool has_value)
{
    IRSB *out = block.now->out;
    UInt element = access->flags & LWPS_ACCESS_STORE ? lwp_store_element(block.now->in, access) : 0;
    IRExpr *what = is_usual(block.now->in, access, element) ? emit_what(out, block.base, block.index, 0, 0) /* short */
                                                            : block_what(access, element);
    if (loads)
        emit_loaded(out, access->guard, what, access);
    if (has_value)
        emit_stored(out, access->guard, what, access, element);
}

static void redundancy_access(const struct lwp_ir_access *access, UInt word)
{
    if (!block.numbers.group || lwp_ir_access_is_made_up(access->ip))
        return;
    const bool is_float = access->flags & LWPS_ACCESS_STORE && lwp_store_element(block.now->in, access);
    const struct lwp_numbered_access this = {access->ip, access->bytes, (uint8_t)(access->flags | (is_float ? LWPS_ACCESS_FLOAT : 0))};
    /* a locked add is a load and then a compare-and-swap, which loads once more */
    bool again = block.last.ip == this.ip && block.last.bytes == this.bytes && block.last.flags & LWPS_ACCESS_LOAD &&
                 this.flags & LWPS_ACCESS_STORE;
    bool loads = this.flags & LWPS_ACCESS_LOAD && !again, stores = this.flags & LWPS_ACCESS_STORE;
    bool has_value = stores && access_has_value(block.now->in, access);
    block.last = this;
    block.index = lwp_numbers_index(&block.numbers, &this);
    if (stores && !has_value)
        EMIT_CALL(block.now->out, access->guard, 2, redundancy_note, mkIRExprVec_2(emit_word(after_bytes(access)), access->address));
    if (!block.steps)
        emit_access(access, loads, has_value);
    else if (has_value)
        lwp_redundancy_step_store(&block, access, word);
    else if (loads)
        lwp_redundancy_step_load(&block, access, word);
}

static void redundancy_before(struct lwp_translation *now, const IRStmt *statement, const struct lwp_ir_access *access, UInt word)
{
    if (access)
        redundancy_access(access, word);
    else if (block.steps)
        lwp_redundancy_step_other(&block, statement);
    else if (statement->tag == Ist_AbiHint)
        EMIT_CALL(now->out, NULL, 2, redundancy_dead,
                  mkIRExprVec_2(statement->Ist.AbiHint.base, emit_word((ULong)statement->Ist.AbiHint.len)));
}

static void redundancy_after(struct lwp_translation *now, const IRStmt *statement, const struct lwp_ir_access *access)
{
    if (!block.numbers.group || !(access->flags & LWPS_ACCESS_STORE) || access_has_value(now->in, access))
        return;
    IRExpr *guard = statement->tag == Ist_CAS ? lwp_ir_swapped(now->out, statement->Ist.CAS.details) : access->guard;
    if (block.steps)
        lwp_redundancy_steps_until(&block, guard);
    EMIT_CALL(now->out, guard, 2, redundancy_compare,
              mkIRExprVec_2(block_what(access, lwp_store_element(now->in, access)), access->address));
}

static void redundancy_words(ULong *begin, ULong *end)
{
    const struct lwp_trace_block *first = (const void *)*begin;
    (void)end;
    if (lwp_trace_open && first->redundancy)
        lwp_redundancy_steps_run(first->redundancy, begin);
}

/* ---- what else happens to memory ---- */

/* Of the superblock before. */
static void redundancy_catch_up(void)
{
    if (lwp_redundancy_windows)
        lwp_trace_drain();
}

static void redundancy_forget(Addr address, SizeT bytes)
{
    if (lwp_redundancy_idle())
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

static bool redundancy_start(unsigned asked)
{
    (void)asked;
    lwp_redundancy_windows = lwp_exact_options.windows;
    if (!lwp_redundancy_counts_start())
        return false;
    if (!lwp_redundancy_windows)
        redundancy_follow_stack();
    else
        lwp_exact_process_note("Redundant accesses were counted in windows of the run: pairs that lie further apart than a window "
                               "are not among them.");
    VG_(track_pre_mem_read)(redundancy_kernel_reads);
    VG_(track_pre_mem_read_asciiz)(redundancy_kernel_reads_text);
    VG_(track_die_mem_brk)(redundancy_forget);
    return true;
}

static void redundancy_window(bool opens)
{
    if (!opens && lwp_redundancy_windows)
        lwp_redundancy_window_ends();
}

static void redundancy_thread_runs(ThreadId id, struct lwp_exact_thread *before, struct lwp_exact_thread *now)
{
    (void)id, (void)before;
    lwp_redundancy_thread_runs(now);
}

static void redundancy_write(void)
{
    if (!lwp_trace_inside)
        lwp_redundancy_counts_change();
    lwp_redundancy_counts_write();
    if (!lwp_trace_inside)
        lwp_redundancy_counts_change();
}

const struct lwp_detector lwp_redundancy_detector = {
    .option = "redundancy",
    .needs = LWP_NEEDS_WINDOW_WORDS | LWP_NEEDS_EVERY_PATH,
    .failed = "Redundant accesses were not counted: there is not enough memory.",
    .start = redundancy_start,
    .write = redundancy_write,
    .reset = lwp_redundancy_counts_clear,
    .survey = redundancy_survey,
    .enter = redundancy_enter,
    .before = redundancy_before,
    .after = redundancy_after,
    .words = redundancy_words,
    .window = redundancy_window,
    .thread_runs = redundancy_thread_runs,
    .region = lwp_redundancy_counts_change,
    .forget = redundancy_forget,
    .kernel_wrote = redundancy_forget,
    .freed = redundancy_forget,
};
