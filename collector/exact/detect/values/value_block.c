#include "collector/exact/detect/values/value_block.h"

#include "collector/exact/detect/values/value_building.h"
#include "collector/exact/detect/values/value_operators.h"
#include "collector/exact/detect/values/value_slots.h"
#include "collector/exact/detect/values/value_uses.h"
#include "format/record.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

enum { LANES = 4, OPERANDS = 32, EXITS = 1000, COMPUTATIONS = 1000, RESULTS = 8 };

/* Keys beside operators, which begin with Iop_INVALID. */
enum { KEY_CHOICE = 0x100, KEY_BYTES = 0x200, KEY_RESULTS = 0x300, KEY_LANE = 0x400, KEY_MOVED = 0x500, KEY_CALL = 1 << 20 };

/* What a temporary or an expression is: so many lanes of 8 bytes, or one of fewer. */
struct lanes {
    UInt count, bytes; /* bytes: of the whole */
    lwp_value lane[LANES];
};

static struct {
    const IRSB *in;
    const struct lwp_value_use *uses;
    struct lanes *temporaries;
    Int temporary_room;
    uint32_t (*place)(Addr ip);
    Addr ip;            /* of the instruction under way, which ends before statement `next` and has computed `results` */
    Int next;
    lwp_value results[RESULTS];
    UInt result_count;
    UShort result_bytes;
    UChar result_flags;
    struct lanes moved; /* what it loads or stores; count 0: nothing, or it moves the stack pointer (push, call) */
    bool stores, stack;
    UInt moved_access;
} now;

static uint32_t ends[EXITS];
static struct lwp_value_computation computations[COMPUTATIONS];
static struct lwp_value_block block;

/* ---- registers ---- */

static struct lanes lanes_one(UInt bytes, lwp_value value)
{
    return (struct lanes){.count = 1, .bytes = bytes, .lane = {value}};
}

static UInt bytes_lanes(UInt bytes)
{
    return bytes <= 8 ? 1 : bytes / 8;
}

static struct lanes lanes_new(UInt bytes)
{
    struct lanes made = {.count = bytes_lanes(bytes), .bytes = bytes};
    for (UInt i = 0; i < made.count; i++)
        made.lane[i] = lwp_building_new(bytes < 8 ? bytes : 8);
    return made;
}

/* Some bytes of 8 that are not the lowest 4, 2 or 1. */
static lwp_value bytes_within(lwp_value whole, UInt at, UInt bytes)
{
    if (at >= 4)
        whole = lwp_building_step(LWP_VALUE_TO_HIGH, 4, whole, LWP_BUILDING_NONE, 0);
    if (at % 4 == 0)
        return lwp_building_narrow(whole, bytes);
    return lwp_building_operator(KEY_BYTES + at % 4 * 8 + bytes, false, false, bytes, &whole, 1);
}

static struct lanes lanes_get(Int offset, UInt bytes)
{
    struct lwp_value_slots slots = lwp_value_slots_of(offset, (Int)bytes);
    UInt at = (UInt)offset % 8;
    if (!slots.count || (at && at + bytes > 8))
        return lanes_new(bytes);
    struct lanes got = {.count = bytes_lanes(bytes), .bytes = bytes};
    for (UInt i = 0; i < got.count; i++)
        got.lane[i] = lwp_building_get(slots.first + i);
    if (bytes < 8)
        got.lane[0] = bytes_within(got.lane[0], at, bytes);
    return got;
}

static void lanes_put(Int offset, const struct lanes *put)
{
    struct lwp_value_slots slots = lwp_value_slots_of(offset, (Int)put->bytes);
    UInt at = (UInt)offset % 8;
    if (!slots.count)
        return;
    if (put->bytes >= 8 && at == 0) {
        for (UInt i = 0; i < put->count; i++)
            lwp_building_put(slots.first + i, put->lane[i]);
        return;
    }
    lwp_value old = lwp_building_get(slots.first), part = put->lane[0];
    if (put->bytes < 4) {
        lwp_value both[2] = {bytes_within(old, at / 4 * 4, 4), part};
        part = lwp_building_operator(KEY_BYTES + 64 + at % 4 * 8 + put->bytes, false, false, 4, both, 2);
    }
    lwp_building_put(slots.first, at < 4 ? lwp_building_step(LWP_VALUE_SET_LOW, 8, part, old, 0)
                                         : lwp_building_step(LWP_VALUE_PAIR, 8, old, part, 0));
}

/* ---- expressions ---- */

static struct lanes lanes_constant(const IRConst *constant)
{
    switch (constant->tag) {
    case Ico_U1:
        return lanes_one(1, lwp_building_constant(constant->Ico.U1));
    case Ico_U8:
        return lanes_one(1, lwp_building_constant(constant->Ico.U8));
    case Ico_U16:
        return lanes_one(2, lwp_building_constant(constant->Ico.U16));
    case Ico_U32:
        return lanes_one(4, lwp_building_constant(constant->Ico.U32));
    case Ico_U64:
        return lanes_one(8, lwp_building_constant(constant->Ico.U64));
    case Ico_F32i:
        return lanes_one(4, lwp_building_constant(constant->Ico.F32i));
    case Ico_F64i:
        return lanes_one(8, lwp_building_constant(constant->Ico.F64i));
    case Ico_F64: {
        ULong bits;
        VG_(memcpy)(&bits, &constant->Ico.F64, sizeof bits);
        return lanes_one(8, lwp_building_constant(bits));
    }
    case Ico_V128:
    case Ico_V256: {
        UInt bits = constant->tag == Ico_V128 ? constant->Ico.V128 : constant->Ico.V256;
        struct lanes made = {.count = constant->tag == Ico_V128 ? 2 : 4};
        made.bytes = made.count * 8;
        for (UInt i = 0; i < made.count; i++) {
            ULong lane = 0; /* a bit is a byte of ones */
            for (UInt k = 0; k < 8; k++)
                lane |= (bits >> (8 * i + k) & 1) * 0xffull << 8 * k;
            made.lane[i] = lwp_building_constant(lane);
        }
        return made;
    }
    default:
        return lanes_new(4);
    }
}

static struct lanes lanes_atom(const IRExpr *atom)
{
    return atom->tag == Iex_RdTmp ? now.temporaries[atom->Iex.RdTmp.tmp] : lanes_constant(atom->Iex.Const.con);
}

/* One lane of some operands: of each the lane if it has more than one, else all of it. */
static lwp_value lane_computed(ULong key, bool commutes, UInt lane, UInt bytes, const struct lanes *operands, UInt count)
{
    lwp_value of[OPERANDS];
    bool wide = false;
    for (UInt i = 0; i < count; i++) {
        of[i] = operands[i].lane[operands[i].count > 1 ? lane : 0];
        wide = wide || operands[i].bytes >= 8;
    }
    return lwp_building_operator(key, commutes, wide, bytes < 8 ? bytes : 8, of, count);
}

static struct lanes lanes_mixed(ULong key, bool commutes, UInt bytes, const struct lanes *operands, UInt count)
{
    lwp_value all[OPERANDS] = {0};
    UInt used = 0;
    bool wide = false;
    struct lanes made = {.count = bytes_lanes(bytes), .bytes = bytes};
    for (UInt i = 0; i < count; i++) {
        wide = wide || operands[i].bytes >= 8;
        for (UInt k = 0; k < operands[i].count && used < OPERANDS; k++)
            all[used++] = operands[i].lane[k];
    }
    lwp_value mixed = lwp_building_operator(key, commutes && used == 2, wide, bytes < 8 ? bytes : 8, all, used);
    made.lane[0] = mixed;
    for (UInt i = 1; i < made.count; i++)
        made.lane[i] = lwp_building_operator(KEY_LANE + i, false, true, 8, &mixed, 1);
    return made;
}

static struct lanes lanes_low(const struct lwp_ir_operator *operator, IROp key, const struct lanes *operands, UInt count)
{
    struct lanes made = operands[0], low[2] = {operands[0]};
    UInt bytes = operator->shape == LWP_IR_LOW_32 ? 4 : 8;
    for (UInt i = 0; i < count && i < 2; i++)
        low[i] = lanes_one(bytes, operands[i].lane[0]);
    made.lane[0] = lane_computed((ULong)key, operator->commutes, 0, bytes, low, count);
    return made;
}

static struct lanes lanes_joined(UInt bytes, const struct lanes *operands, UInt count)
{
    struct lanes made = {.bytes = bytes};
    for (UInt i = count; i--;)
        for (UInt k = 0; k < operands[i].count && made.count < LANES; k++)
            made.lane[made.count++] = operands[i].lane[k];
    return made;
}

static struct lanes lanes_zeros(lwp_value low, UInt bytes)
{
    struct lanes made = {.count = bytes_lanes(bytes), .bytes = bytes};
    for (UInt i = 0; i < made.count; i++)
        made.lane[i] = i ? lwp_building_constant(0) : low;
    return made;
}

static lwp_value lane_set_low(lwp_value low, lwp_value old)
{
    return lwp_building_step(LWP_VALUE_SET_LOW, 8, low, old, 0);
}

/* `computed`: the value that the instruction has computed, if the operator does. */
static struct lanes lanes_operation(IROp key, UInt bytes, const struct lanes *operands, UInt count, struct lanes *computed)
{
    struct lwp_ir_operator operator = lwp_ir_operator(key);
    struct lanes made = operands[0];
    made.bytes = bytes;
    *computed = (struct lanes){.count = 0};
    switch (operator.shape) {
    case LWP_IR_LANEWISE:
        made.count = bytes_lanes(bytes);
        for (UInt i = 0; i < made.count; i++)
            made.lane[i] = lane_computed((ULong)key, operator.commutes, i, bytes, operands, count);
        break;
    case LWP_IR_LOW_32:
    case LWP_IR_LOW_64:
        made = lanes_low(&operator, key, operands, count);
        *computed = lanes_one(operator.shape == LWP_IR_LOW_32 ? 4 : 8, made.lane[0]);
        if (operator.shape == LWP_IR_LOW_32)
            made.lane[0] = lane_set_low(made.lane[0], operands[0].lane[0]);
        return made;
    case LWP_IR_LANE:
        made = (struct lanes){.count = bytes_lanes(bytes), .bytes = bytes};
        for (UInt i = 0; i < made.count; i++)
            made.lane[i] = operands[0].lane[operator.lane + i];
        return made;
    case LWP_IR_JOIN:
        return lanes_joined(bytes, operands, count);
    case LWP_IR_TO_32:
    case LWP_IR_TO_16:
    case LWP_IR_TO_8:
        return lanes_one(bytes, lwp_building_narrow(operands[0].lane[0], bytes));
    case LWP_IR_TO_HIGH:
        return lanes_one(bytes, bytes_within(operands[0].lane[0], 4, 4));
    case LWP_IR_WIDEN:
        return lanes_one(bytes, lwp_building_widen(operands[0].lane[0]));
    case LWP_IR_PAIR:
        return lanes_one(bytes, lwp_building_step(LWP_VALUE_PAIR, 8, operands[1].lane[0], operands[0].lane[0], 0));
    case LWP_IR_ZEROS_64:
        return lanes_zeros(operands[0].lane[0], bytes);
    case LWP_IR_ZEROS_32:
        return lanes_zeros(lwp_building_widen(lwp_building_narrow(operands[0].lane[0], 4)), bytes);
    case LWP_IR_SET_64:
        made.lane[0] = operands[1].lane[0];
        return made;
    case LWP_IR_SET_32:
        made.lane[0] = lane_set_low(operands[1].lane[0], operands[0].lane[0]);
        return made;
    case LWP_IR_LOWS:
        return (struct lanes){.count = 2, .bytes = bytes, .lane = {operands[1].lane[0], operands[0].lane[0]}};
    case LWP_IR_HIGHS:
        return (struct lanes){.count = 2, .bytes = bytes, .lane = {operands[1].lane[1], operands[0].lane[1]}};
    case LWP_IR_MIXED:
        made = lanes_mixed((ULong)key, operator.commutes, bytes, operands, count);
    }
    *computed = made;
    return made;
}

static struct lanes lanes_call(const IRExpr *call, UInt bytes)
{
    struct lanes operands[OPERANDS];
    UInt count = 0;
    for (IRExpr **at = call->Iex.CCall.args; *at && count < OPERANDS; at++)
        if ((*at)->tag == Iex_RdTmp || (*at)->tag == Iex_Const)
            operands[count++] = lanes_atom(*at);
    if (!count)
        return lanes_new(bytes);
    return lanes_mixed((ULong)call->Iex.CCall.cee->addr + KEY_CALL, false, bytes, operands, count);
}

static struct lanes lanes_choice(const IRExpr *choice, UInt bytes)
{
    struct lanes operands[3] = {lanes_atom(choice->Iex.ITE.cond), lanes_atom(choice->Iex.ITE.iftrue),
                                lanes_atom(choice->Iex.ITE.iffalse)};
    struct lanes made = {.count = bytes_lanes(bytes), .bytes = bytes};
    for (UInt i = 0; i < made.count; i++)
        made.lane[i] = lane_computed(KEY_CHOICE, false, i, bytes, operands, 3);
    return made;
}

static struct lanes lanes_load(Short access, UInt bytes)
{
    struct lanes made = {.count = bytes_lanes(bytes), .bytes = bytes};
    if (access < 0)
        return lanes_new(bytes);
    for (UInt i = 0; i < made.count; i++)
        made.lane[i] = lwp_building_load(bytes < 8 ? bytes : 8, (UInt)access, 8 * i);
    return made;
}

static struct lanes lanes_expression(const IRExpr *e, UInt bytes, Short access, struct lanes *computed)
{
    struct lanes operands[4];
    switch (e->tag) {
    case Iex_RdTmp:
        *computed = now.temporaries[e->Iex.RdTmp.tmp];
        return *computed;
    case Iex_Const:
        return lanes_constant(e->Iex.Const.con);
    case Iex_Get:
        return lanes_get(e->Iex.Get.offset, bytes);
    case Iex_Load:
        return lanes_load(access, bytes);
    case Iex_Unop:
        operands[0] = lanes_atom(e->Iex.Unop.arg);
        return lanes_operation(e->Iex.Unop.op, bytes, operands, 1, computed);
    case Iex_Binop:
        operands[0] = lanes_atom(e->Iex.Binop.arg1);
        operands[1] = lanes_atom(e->Iex.Binop.arg2);
        return lanes_operation(e->Iex.Binop.op, bytes, operands, 2, computed);
    case Iex_Triop:
        operands[0] = lanes_atom(e->Iex.Triop.details->arg1);
        operands[1] = lanes_atom(e->Iex.Triop.details->arg2);
        operands[2] = lanes_atom(e->Iex.Triop.details->arg3);
        return lanes_operation(e->Iex.Triop.details->op, bytes, operands, 3, computed);
    case Iex_Qop:
        operands[0] = lanes_atom(e->Iex.Qop.details->arg1);
        operands[1] = lanes_atom(e->Iex.Qop.details->arg2);
        operands[2] = lanes_atom(e->Iex.Qop.details->arg3);
        operands[3] = lanes_atom(e->Iex.Qop.details->arg4);
        return lanes_operation(e->Iex.Qop.details->op, bytes, operands, 4, computed);
    case Iex_ITE:
        return lanes_choice(e, bytes);
    case Iex_CCall:
        return lanes_call(e, bytes);
    default:
        return lanes_new(bytes);
    }
}

/* ---- computations ---- */

static void result_add(const struct lanes *computed, IRType type)
{
    for (UInt i = 0; i < computed->count; i++) {
        bool known = now.result_count == RESULTS;
        for (UInt k = 0; k < now.result_count; k++)
            known = known || now.results[k] == computed->lane[i];
        lwp_building_keep(computed->lane[i], now.next);
        if (!known)
            now.results[now.result_count++] = computed->lane[i];
    }
    now.result_bytes = computed->bytes > now.result_bytes ? (UShort)computed->bytes : now.result_bytes;
    now.result_flags |= type == Ity_F32 || type == Ity_F64 ? LWPS_ACCESS_FLOAT
                        : type == Ity_V128 || type == Ity_V256 ? LWPS_ACCESS_VECTOR : 0;
}

/* The instruction loads or stores the value; of several the last one is looked at. */
static void moved_note(const struct lanes *value, bool stores, Short access)
{
    if (access < 0 || now.stack)
        return;
    now.moved = *value;
    now.stores = stores;
    now.moved_access = (UInt)access;
    for (UInt i = 0; i < value->count; i++)
        lwp_building_keep(value->lane[i], now.next);
}

/* RVN (2.4): what computes nothing copies, and copies are looked at by the place they are from or to. */
static void moved_flush(void)
{
    if (!now.result_count && now.moved.count) {
        lwp_value value = now.moved.lane[0];
        if (now.moved.count > 1)
            value = lwp_building_operator(KEY_MOVED, false, true, 8, now.moved.lane, now.moved.count);
        lwp_building_moved(value, now.stores, now.moved_access, now.place(now.ip));
    }
    now.moved.count = 0;
}

/* The instruction has computed all it will before the next exit. */
static void results_flush(void)
{
    moved_flush();
    if (!now.result_count || block.computation_count == COMPUTATIONS)
        return;
    lwp_value result = now.results[0];
    if (now.result_count > 1)
        result = lwp_building_operator(KEY_RESULTS, false, false, 4, now.results, now.result_count);
    lwp_building_computed(result, block.computation_count, now.place(now.ip));
    computations[block.computation_count++] =
        (struct lwp_value_computation){now.ip, now.result_bytes, now.result_flags};
    now.result_count = now.result_bytes = now.result_flags = 0;
}

/* ---- statements ---- */

static void temporary_set(IRTemp temporary, struct lanes made)
{
    for (UInt i = 0; i < made.count; i++)
        lwp_building_keep(made.lane[i], now.uses[temporary].last);
    now.temporaries[temporary] = made;
}

static UInt temporary_bytes(IRTemp temporary)
{
    IRType type = typeOfIRTemp(now.in->tyenv, temporary);
    return type == Ity_I1 ? 1 : (UInt)sizeofIRType(type);
}

static void statement_assign(const IRStmt *statement, Short access)
{
    IRTemp to = statement->Ist.WrTmp.tmp;
    const struct lwp_value_use *use = &now.uses[to];
    struct lanes computed = {.count = 0};
    if (!use->value)
        return;
    temporary_set(to, lanes_expression(statement->Ist.WrTmp.data, temporary_bytes(to), access, &computed));
    if (statement->Ist.WrTmp.data->tag == Iex_Load)
        moved_note(&now.temporaries[to], false, access);
    if (use->computes && use->outside)
        result_add(&computed, typeOfIRTemp(now.in->tyenv, to));
}

static void statement_store(const IRExpr *data, Short access)
{
    struct lanes stored = lanes_atom(data);
    moved_note(&stored, true, access);
    for (UInt i = 0; access >= 0 && i < stored.count; i++)
        lwp_building_store(stored.lane[i], stored.bytes < 8 ? stored.bytes : 8, (UInt)access, 8 * i);
}

static void registers_new(Int offset, Int bytes)
{
    struct lwp_value_slots slots = lwp_value_slots_of(offset, bytes);
    for (UInt i = 0; i < slots.count; i++)
        lwp_building_put(slots.first + i, lwp_building_new(8));
}

static void statement_dirty(const IRDirty *call, Short access)
{
    if (call->mFx != Ifx_None && call->mFx != Ifx_Read && access >= 0)
        lwp_building_forget((UInt)access, (UInt)call->mSize);
    if (call->tmp != IRTemp_INVALID)
        temporary_set(call->tmp, lanes_new(temporary_bytes(call->tmp)));
    for (Int i = 0; i < call->nFxState; i++)
        for (Int k = 0; k <= call->fxState[i].nRepeats && call->fxState[i].fx != Ifx_Read; k++)
            registers_new(call->fxState[i].offset + k * call->fxState[i].repeatLen, call->fxState[i].size);
}

static void statement_swap(const IRCAS *cas, Short access)
{
    temporary_set(cas->oldLo, lanes_new(temporary_bytes(cas->oldLo)));
    if (cas->oldHi != IRTemp_INVALID)
        temporary_set(cas->oldHi, lanes_new(temporary_bytes(cas->oldHi)));
    if (access >= 0)
        lwp_building_forget((UInt)access, (UInt)temporary_bytes(cas->oldLo) * (cas->dataHi ? 2 : 1));
}

/* Loads that widen are taken for what they are where they do not. */
static void statement_load(const IRLoadG *load, Short access)
{
    bool whole = load->cvt == ILGop_IdentV128 || load->cvt == ILGop_Ident64 || load->cvt == ILGop_Ident32;
    temporary_set(load->dst, whole ? lanes_load(access, temporary_bytes(load->dst)) : lanes_new(temporary_bytes(load->dst)));
    if (whole)
        moved_note(&now.temporaries[load->dst], false, access);
}

static void statement_next_instruction(Int at)
{
    results_flush();
    now.ip = (Addr)now.in->stmts[at]->Ist.IMark.addr + now.in->stmts[at]->Ist.IMark.delta;
    now.stack = false;
    for (now.next = at + 1; now.next < now.in->stmts_used; now.next++) {
        const IRStmt *statement = now.in->stmts[now.next];
        if (statement->tag == Ist_IMark)
            return;
        now.stack |= statement->tag == Ist_Put && statement->Ist.Put.offset == (Int)offsetof(VexGuestAMD64State, guest_RSP);
    }
}

static void statement_walk(Int at, Short access)
{
    const IRStmt *statement = now.in->stmts[at];
    lwp_building.now = at;
    switch (statement->tag) {
    case Ist_IMark:
        statement_next_instruction(at);
        return;
    case Ist_WrTmp:
        statement_assign(statement, access);
        return;
    case Ist_Put: {
        UInt bytes = (UInt)sizeofIRType(typeOfIRExpr(now.in->tyenv, statement->Ist.Put.data));
        if (!lwp_value_slots_of(statement->Ist.Put.offset, (Int)bytes).count)
            return;
        struct lanes put = lanes_atom(statement->Ist.Put.data);
        lanes_put(statement->Ist.Put.offset, &put);
        return;
    }
    case Ist_Store:
        statement_store(statement->Ist.Store.data, access);
        return;
    case Ist_StoreG:
        statement_store(statement->Ist.StoreG.details->data, access);
        return;
    case Ist_LoadG:
        statement_load(statement->Ist.LoadG.details, access);
        return;
    case Ist_CAS:
        statement_swap(statement->Ist.CAS.details, access);
        return;
    case Ist_Dirty:
        statement_dirty(statement->Ist.Dirty.details, access);
        return;
    case Ist_Exit:
        results_flush();
        ends[block.steps.exits++] = lwp_building.count;
        lwp_building_exit();
        return;
    default:
        return;
    }
}

static void block_begin(const IRSB *in, uint32_t (*place)(Addr ip))
{
    Int count = in->tyenv->types_used;
    if (now.temporary_room < count) {
        now.temporary_room = 2 * count;
        VG_(free)(now.temporaries);
        now.temporaries = VG_(malloc)("lwp.lanes", (SizeT)now.temporary_room * sizeof *now.temporaries);
    }
    now.in = in;
    now.uses = lwp_value_uses(in);
    now.place = place;
    now.result_count = now.result_bytes = now.result_flags = 0;
    now.moved.count = 0;
    block = (struct lwp_value_block){.steps.ends = ends, .computations = computations};
    lwp_building_start();
}

/* Too large to be followed: afterwards nothing is known of registers and of what was stored. */
static void block_give_up(const Short *access)
{
    lwp_building_start();
    block.computation_count = block.steps.exits = 0;
    registers_new((Int)offsetof(VexGuestAMD64State, guest_RAX), 16 * 8);
    registers_new((Int)offsetof(VexGuestAMD64State, guest_YMM0), 16 * 32);
    for (Int i = 0; i < now.in->stmts_used; i++)
        if (access[i] >= 0)
            lwp_building_forget((UInt)access[i], 512);
}

const struct lwp_value_block *lwp_value_block_of(const IRSB *in, const Short *access, uint32_t (*place)(Addr ip))
{
    block_begin(in, place);
    for (Int i = 0; i < in->stmts_used && block.steps.exits < EXITS - 1; i++)
        statement_walk(i, access[i]);
    results_flush();
    if (in->jumpkind != Ijk_Boring && in->jumpkind != Ijk_Call && in->jumpkind != Ijk_Ret) /* rax to rdx get results */
        registers_new((Int)offsetof(VexGuestAMD64State, guest_RAX), 3 * 8);
    if (lwp_building.failed || block.steps.exits == EXITS - 1)
        block_give_up(access);
    ends[block.steps.exits] = lwp_building.count;
    block.steps.count = lwp_building.count;
    block.steps.step = lwp_building.step;
    return &block;
}
