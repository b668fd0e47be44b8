/* Goes once through a superblock, copies it, and adds:
 *  - at its start: at the entry of an allocator's function the hook of heap.c; then the countdown of instructions, and
 *    the superblock's words of the trace (trace.h), as the hook hands on those that are not written yet;
 *  - before each access: its address into the trace;
 *  - before and after each statement: what detectors do about it (detector.h);
 *  - at its end, if it calls, returns or sets the stack pointer anew: the shadow call stack (calls.h).
 * Where only windows count a plain translation for outside of them has the countdown, heap and call stack alone (duplication.h).
 * Direct calls are not followed into (guest_chase off), so that every call and every entry is an end and a start. */
#include "collector/exact/program/calls.h"
#include "collector/exact/program/heap.h"
#include "collector/exact/trace/accesses.h"
#include "collector/exact/trace/region.h"
#include "collector/exact/trace/sampling.h"
#include "collector/exact/trace/trace.h"
#include "collector/exact/trace/translation.h"
#include "collector/exact/valgrind/dead_puts.h"
#include "collector/exact/valgrind/duplication.h"
#include "format/record.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

#define REGISTER(name) ((Int)offsetof(VexGuestAMD64State, guest_##name))

/* A store to where the same instruction has loaded from, and not yet stored, is the second half of one access. */
static Int translation_loaded(const struct lwp_trace_block *block, IRExpr *const *addresses, UInt count,
                              const struct lwp_ir_access *store)
{
    for (UInt i = count; i-- && block->access[i].ip == store->ip;)
        if (!store->guard && !(block->access[i].flags & LWPS_ACCESS_STORE) && block->access[i].bytes == store->bytes &&
            eqIRAtom(addresses[i], store->address))
            return (Int)i;
    return -1;
}

/* Its instructions. */
static void translation_extent(struct lwp_translation *now)
{
    now->start = (Addr)now->in->stmts[now->first]->Ist.IMark.addr;
    for (Int i = now->first; i < now->in->stmts_used; i++) {
        const IRStmt *statement = now->in->stmts[i];
        if (statement->tag != Ist_IMark)
            continue;
        now->instructions++;
        now->next_ip = (Addr)statement->Ist.IMark.addr + statement->Ist.IMark.len;
    }
}

/* Describes the superblock for the trace, which has to be known before its first instruction is emitted. */
static void translation_survey(struct lwp_translation *now)
{
    if (!lwp_trace_accesses) {
        now->block = lwp_trace_block_new(now->start, 0);
        return;
    }
    enum { MOST = LWP_TRACE_ACCESSES };
    IRExpr *addresses[MOST];
    const IRSB *in = now->in;
    Addr ip = 0;
    UInt instructions = 0, all = 0, count = 0;
    static Short *accesses;
    static Int room;
    now->accesses = accesses = tool_room(accesses, &room, in->stmts_used, sizeof *accesses);
    for (Int i = now->first; i < in->stmts_used; i++) {
        struct lwp_ir_access access;
        all += lwp_ir_access_of(in->tyenv, in->stmts[i], ip, &access);
    }
    UInt most = all < MOST ? all : MOST, fair = now->instructions * LWP_TRACE_PER_INSTRUCTION;
    if (lwp_trace_all && most > fair)
        most = fair;
    now->block = lwp_trace_block_new(now->start, most);
    now->block->instructions = now->instructions;
    for (Int i = 0; i < in->stmts_used; i++) {
        const IRStmt *statement = in->stmts[i];
        struct lwp_ir_access access;
        accesses[i] = -1;
        if (statement->tag == Ist_IMark) {
            ip = (Addr)statement->Ist.IMark.addr + statement->Ist.IMark.delta;
            instructions++;
        }
        if (!lwp_ir_access_of(in->tyenv, statement, ip, &access))
            continue;
        Int loaded = access.flags & LWPS_ACCESS_STORE ? translation_loaded(now->block, addresses, count, &access) : -1;
        if (loaded >= 0) {
            now->block->access[loaded].flags |= LWPS_ACCESS_STORE;
            accesses[i] = (Short)loaded;
        } else if (count < most) {
            addresses[count] = access.address;
            accesses[i] = (Short)count;
            struct lwp_trace_access *site = &now->block->access[count++];
            *site = (struct lwp_trace_access){access.ip, access.bytes, access.flags, (uint8_t)(instructions - 1), 0, 0, 0};
            LWP_DETECTORS(describe, now, &access, site);
            now->block->lines += lwp_sampling_lines_most(site->bytes);
            if (statement->tag == Ist_CAS) /* without a load before: one that may fail */
                site->swap = ++now->block->swaps;
        }
    }
    now->block->count = count;
    LWP_DETECTORS(survey, now);
}

/* Count down; take room in the trace. */
static void translation_begin(struct lwp_translation *now)
{
    IRSB *out = now->out;
    if (lwp_trace_filters) {
        lwp_filter_enter(&now->filter, out, now->in, now->block);
        return;
    }
    if (lwp_duplication_now == LWP_DUPLICATION_FULL) {
        EMIT_CALL(out, NULL, 2, lwp_trace_full, mkIRExprVec_2(emit_pointer(now->block), emit_word(now->instructions)));
    } else {
        IRExpr *left = emit_binary(out, Iop_Sub64, emit_load(out, &lwp_trace_state.left), emit_word(lwp_trace_left(now->instructions)));
        emit_store(out, &lwp_trace_state.left, left);
        EMIT_CALL(out, emit_binary(out, Iop_CmpLT64S, left, emit_word(0)), 1, lwp_trace_tick,
                  mkIRExprVec_1(emit_pointer(now->block)));
    }
    now->words = emit_load(out, &lwp_trace_state.at);
    now->words_used = 1 + lwp_trace_length(now->block);
    now->stack_words = now->words_used - now->block->moves;
    if (!lwp_trace_all)
        return;
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, now->words, emit_pointer(now->block)));
    emit_store(out, &lwp_trace_state.at, emit_binary(out, Iop_Add64, now->words, emit_word(now->words_used * sizeof(ULong))));
}

static void translation_region(struct lwp_translation *now)
{
    if (lwp_region_is(now->start))
        EMIT_CALL(now->out, NULL, 1, lwp_region_entered, mkIRExprVec_1(emit_register(now->out, REGISTER(RSP))));
}

static void translation_heap(struct lwp_translation *now)
{
    enum lwp_heap_function function = lwp_heap_function(now->start);
    if (function == LWP_HEAP_NONE)
        return;
    IRSB *out = now->out;
    IRExpr *sp = emit_register(out, REGISTER(RSP)), *first = emit_register(out, REGISTER(RDI)),
           *second = emit_register(out, REGISTER(RSI)), *third = emit_register(out, REGISTER(RDX));
    EMIT_CALL(out, NULL, 0, lwp_heap_entered, mkIRExprVec_5(emit_word(function), sp, first, second, third));
}

/* The accesses come in the order of the survey; one that is not the next there was merged or left out. */
static void translation_access(struct lwp_translation *now, const struct lwp_ir_access *access, Int which)
{
    if (which != (Int)now->traced)
        return;
    IRSB *out = now->out;
    IRExpr *address = access->address;
    if (access->guard)
        address = emit_value(out, IRExpr_ITE(access->guard, address, emit_word(0)));
    if (lwp_trace_filters)
        lwp_filter_access(&now->filter, now->traced++, address);
    else
        lwp_words_store(now, 1 + now->traced++, address);
}

/* Whether the compare-and-swap stored, whose address was the last one. */
static void translation_swapped(struct lwp_translation *now, const IRCAS *cas, Addr ip)
{
    const struct lwp_trace_access *site = now->traced ? &now->block->access[now->traced - 1] : NULL;
    if (!site || !site->swap || site->ip != ip || lwp_trace_filters)
        return;
    IRExpr *stored = emit_value(now->out, IRExpr_Unop(Iop_1Uto64, lwp_ir_swapped(now->out, cas)));
    lwp_words_store(now, 1 + lwp_trace_swap(now->block, site->swap), stored);
}

/* It was not taken. */
static void translation_exit(struct lwp_translation *now)
{
    if (now->block->values)
        lwp_words_store(now, 1 + now->block->count, emit_word(++now->exits));
}

/* The superblock is left, if `guard`, NULL: anyway. */
static void translation_moved(struct lwp_translation *now, IRExpr *guard)
{
    if (now->moves.to)
        EMIT_CALL(now->out, guard, 2, lwp_calls_moved, mkIRExprVec_2(now->moves.from, now->moves.to));
}

static void translation_end(struct lwp_translation *now)
{
    IRSB *out = now->out;
    if (lwp_trace_filters)
        lwp_filter_exit(&now->filter, now->traced);
    translation_moved(now, NULL);
    if (out->jumpkind != Ijk_Call && out->jumpkind != Ijk_Ret)
        return;
    bool plain = lwp_duplication_now == LWP_DUPLICATION_PLAIN;
    IRExpr *sp = emit_register(out, REGISTER(RSP));
    if (out->jumpkind == Ijk_Call && plain)
        EMIT_CALL(out, NULL, 2, lwp_calls_call_plain, mkIRExprVec_2(emit_word(now->next_ip), sp));
    else if (out->jumpkind == Ijk_Call && lwp_calls_lazy)
        EMIT_CALL(out, NULL, 2, lwp_calls_call_lazily, mkIRExprVec_2(emit_word(now->next_ip), sp));
    else if (out->jumpkind == Ijk_Call)
        EMIT_CALL(out, NULL, 2, lwp_calls_call, mkIRExprVec_2(emit_pointer(lwp_calls_site(now->next_ip)), sp));
    else if (plain)
        EMIT_CALL(out, NULL, 2, lwp_calls_return_plain, mkIRExprVec_2(sp, emit_register(out, REGISTER(RAX))));
    else
        EMIT_CALL(out, NULL, 2, lwp_calls_return, mkIRExprVec_2(sp, emit_register(out, REGISTER(RAX))));
}

/* ---- two translations of a superblock (duplication.h) ---- */

static void translation_leave(struct lwp_translation *now, IRExpr *guard)
{
    addStmtToIRSB(now->out, IRStmt_Exit(guard, lwp_duplication_leave, IRConst_U64(now->named), now->out->offsIP));
}

/* Instructions left behind it, of those until lwp_trace_tick: an I32. */
static IRExpr *translation_left(struct lwp_translation *now, const void *at)
{
    IRExpr *left = emit_value(now->out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(at)));
    return emit_binary(now->out, Iop_Sub32, left, IRExpr_Const(IRConst_U32(now->instructions)));
}

/* In the full translation: nothing is due. What begins the region is always full. */
static void translation_full(struct lwp_translation *now)
{
    if (lwp_duplication_now != LWP_DUPLICATION_FULL || lwp_region_is(now->start))
        return;
    IRExpr *left = translation_left(now, (const UInt *)&lwp_trace_state.left + 1);
    translation_leave(now, emit_binary(now->out, Iop_CmpLE32S, IRExpr_Const(IRConst_U32(0)), left));
}

static IRSB *translation_plain(struct lwp_translation *now)
{
    const UInt *left_at = (const UInt *)&lwp_trace_state.left + 1; /* the higher half; the lower one is 0 */
    IRSB *out = now->out;
    addStmtToIRSB(out, now->in->stmts[now->first]);
    if (lwp_region_is(now->start)) {
        out->jumpkind = lwp_duplication_leave;
        out->next = emit_word(now->named);
        return out;
    }
    IRExpr *left = translation_left(now, left_at);
    translation_leave(now, emit_binary(out, Iop_CmpLT32S, left, IRExpr_Const(IRConst_U32(0))));
    translation_heap(now);
    emit_store(out, left_at, left);
    for (Int i = now->first + 1; i < now->in->stmts_used; i++) {
        IRStmt *statement = now->in->stmts[i];
        lwp_stack_moves_before(&now->moves, out, statement);
        if (statement->tag == Ist_Exit)
            translation_moved(now, statement->Ist.Exit.guard);
        if (statement->tag != Ist_AbiHint)
            addStmtToIRSB(out, statement);
    }
    translation_end(now);
    return out;
}

static void translation_statement(struct lwp_translation *now, Int index, Addr ip)
{
    IRStmt *statement = now->in->stmts[index];
    struct lwp_ir_access found, *access = lwp_ir_access_of(now->in->tyenv, statement, ip, &found) ? &found : NULL;
    Int which = access && now->accesses ? now->accesses[index] : -1;
    LWP_DETECTORS(before, now, statement, access, (UInt)(1 + which));
    if (access)
        translation_access(now, access, which);
    lwp_stack_moves_before(&now->moves, now->out, statement);
    if (statement->tag == Ist_Exit && lwp_trace_filters)
        lwp_filter_exit(&now->filter, now->traced);
    if (statement->tag == Ist_Exit)
        translation_moved(now, statement->Ist.Exit.guard);
    addStmtToIRSB(now->out, statement);
    if (statement->tag == Ist_CAS)
        translation_swapped(now, statement->Ist.CAS.details, ip);
    if (access)
        LWP_DETECTORS(after, now, statement, access);
    if (statement->tag == Ist_Exit)
        translation_exit(now);
}

static IRSB *translation_traced(struct lwp_translation *now)
{
    const IRSB *in = now->in;
    Addr ip = now->start;
    translation_survey(now);
    addStmtToIRSB(now->out, in->stmts[now->first]);
    translation_full(now);
    translation_region(now);
    translation_heap(now);
    translation_begin(now);
    LWP_DETECTORS(enter, now);
    for (Int i = now->first + 1; i < in->stmts_used; i++) {
        if (in->stmts[i]->tag == Ist_IMark)
            ip = (Addr)in->stmts[i]->Ist.IMark.addr + in->stmts[i]->Ist.IMark.delta;
        translation_statement(now, i, ip);
    }
    LWP_DETECTORS(end, now);
    translation_end(now);
    if (VG_(clo_vex_control).iropt_register_updates_default == VexRegUpdAllregsAtEachInsn)
        lwp_dead_puts_remove(now->out, now->words);
    return now->out;
}

IRSB *lwp_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
                     const VexArchInfo *host, IRType guest_word, IRType host_word)
{
    (void)layout, (void)extents, (void)host, (void)guest_word, (void)host_word;
    struct lwp_translation now = {.in = in, .out = deepCopyIRSBExceptStmts(in), .named = closure->nraddr};
    while (now.first < in->stmts_used && in->stmts[now.first]->tag != Ist_IMark)
        addStmtToIRSB(now.out, in->stmts[now.first++]);
    if (now.first == in->stmts_used)
        return in;
    translation_extent(&now);
    lwp_stack_moves_enter(&now.moves, in);
    return lwp_duplication_now == LWP_DUPLICATION_PLAIN ? translation_plain(&now) : translation_traced(&now);
}
